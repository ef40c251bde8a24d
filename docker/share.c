/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By descriptors below that of the process in /proc, and the container is looked at again when that is open: a pid
 * may be somebody else's at once, the host's even, and his namespaces would be joined. The descriptor never is.
 */
#include "docker/share.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/container.h"
#include "nsenter/ns.h"

#define PREFIX "container:"
enum { STACK = 64 << 10, MAP_TEXT = 4096 };

/* NULL: not of another container. */
static const char *named(const char *mode)
{
	return mode && str_starts(mode, PREFIX) ? mode + strlen(PREFIX) : NULL;
}

int dk_share_check(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	const char *const names[] = {named(o->ipc), named(o->pid)};

	for (size_t i = 0; i < 2; i++) {
		char id[DK_ID_SIZE];

		if (names[i] && dk_container_find_id(c, names[i], id, e) < 0)
			return -e->code;
	}
	return 0;
}

/* ---- one of them ---- */

struct other {
	struct dk_container *k;
	const char *name;    /* as given */
	const char *no_such, *not_running; /* Docker's words in front; "" */
	struct dk_record *record;
	int pid;
	int proc;            /* its directory in /proc; -1 */
};

static void close_other(struct other *o)
{
	cleanup_close(&o->proc);
}
#define auto_other __attribute__((cleanup(close_other)))

static int look(struct other *o, struct err *e)
{
	struct dk_context *c = o->k->c;
	struct dk_look l;

	if (dk_container_find(c, o->name, &o->record, &(struct err){0}) < 0)
		return dk_daemon_error(c, e, ENOENT, "%sNo such container: %s", o->no_such, o->name);
	dk_container_look(o->k->store, o->record, &l);
	if (str_eq(l.status, DK_RESTARTING))
		return dk_daemon_error(c, e, EAGAIN, "%scontainer %s is restarting", o->not_running, o->record->id);
	if (!l.pid)
		return dk_daemon_error(c, e, ESRCH, "%scontainer %s is not running", o->not_running, o->record->id);
	o->pid = l.pid;
	return 0;
}

/* It is the container's first process when it is looked at again, and the descriptor is of no other. */
static int find_process(struct other *o, struct err *e)
{
	int r = look(o, e), pid = o->pid;

	if (r == 0)
		o->proc = r = procfs_openat(o->k->host.procfs, arena_printf(o->k->c->arena, "%d", pid),
					    O_RDONLY | O_DIRECTORY, e);
	if (r >= 0)
		r = look(o, e);
	if (r == 0 && o->pid != pid)
		r = dk_daemon_error(o->k->c, e, EAGAIN, "container %s has been restarted meanwhile", o->name);
	return r;
}

static bool same_file(int x, int y)
{
	struct stat a, b;

	return fstat(x, &a) == 0 && fstat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int read_map(struct arena *a, int proc, const char *file, struct oci_id_mapping_list *ret, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	char *line, *save = NULL;

	if (io_read_file(proc, file, MAP_TEXT, &text, e) < 0)
		return -e->code;
	*ret = (struct oci_id_mapping_list){.v = arena_array(a, text.len / 4 + 1, sizeof(*ret->v))};
	for (line = text.len ? strtok_r(text.p, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		struct oci_id_mapping *m = &ret->v[ret->n];

		ret->n += sscanf(line, "%u %u %u", &m->container_id, &m->host_id, &m->size) == 3;
	}
	return 0;
}

/* Its user namespace: the first that is named gives it, the others must have the same. */
static int take_user(struct other *o, struct err *e)
{
	struct dk_share *s = &o->k->share;
	struct dk_context *c = o->k->c;
	auto_close int user = -1;

	if (ns_open_at(o->proc, "ns/user", CLONE_NEWUSER, &user, e) < 0)
		return -e->code;
	if (s->user >= 0)
		return same_file(s->user, user) ? 0
			: dk_daemon_error(c, e, EINVAL, "container %s has another user namespace than the others "
					  "whose namespaces are to be joined, and a process can be in only one",
					  o->record->id);
	if (read_map(c->arena, o->proc, "uid_map", &s->uid_maps, e) < 0 ||
	    read_map(c->arena, o->proc, "gid_map", &s->gid_maps, e) < 0)
		return -e->code;
	s->shifted = s->uid_maps.n && s->uid_maps.v[0].host_id != s->uid_maps.v[0].container_id;
	s->user = take_fd(&user);
	return 0;
}

static int take(struct other *o, const char *ns, uint64_t type, int *ret_fd, struct err *e)
{
	int r = find_process(o, e);

	if (r == 0)
		r = take_user(o, e);
	if (r == 0 && ns)
		r = ns_open_at(o->proc, ns, type, ret_fd, e);
	return r;
}

/* ---- /dev/shm ---- */

struct copier { int user, mnt, fd; /* or -errno */ };

/* What is there is the container's: no link leads out of its root, and none through a process of it. */
static int open_shm(void)
{
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), shm = -1;
	struct err e = {0};
	int copy;

	if (root < 0)
		return -errno;
	shm = path_open_in_root(root, "/dev/shm", O_PATH | O_DIRECTORY | O_NOFOLLOW, &e);
	if (shm < 0)
		return shm;
	copy = open_tree(shm, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	return copy < 0 ? -errno : copy;
}

/* With our descriptors, in the other's namespaces. */
static int copy_shm(void *arg)
{
	struct copier *c = arg;

	if ((c->user >= 0 && setns(c->user, CLONE_NEWUSER) < 0) || setns(c->mnt, CLONE_NEWNS) < 0)
		c->fd = -errno;
	else
		c->fd = open_shm();
	return 0;
}

static int run_copier(struct copier *c)
{
	auto_free char *stack = xrealloc(NULL, STACK);
	int dumpable = prctl(PR_GET_DUMPABLE);
	pid_t pid = clone(copy_shm, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, c);

	if (pid < 0)
		return -errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (dumpable == 1)
		prctl(PR_SET_DUMPABLE, 1);
	return c->fd;
}

/* A copy of the mount that is there, which only who is in its mount namespace can make. */
static int take_shm(struct other *o, struct err *e)
{
	struct dk_share *s = &o->k->share;
	struct copier c = {.user = o->k->host.privileged ? -1 : s->user, .fd = -1};
	auto_close int mnt = -1;
	struct statfs fs;
	int r;

	if (ns_open_at(o->proc, "ns/mnt", CLONE_NEWNS, &mnt, e) < 0)
		return -e->code;
	c.mnt = mnt;
	r = run_copier(&c);
	if (r < 0)
		return dk_daemon_error(o->k->c, e, -r, "can't join IPC of container %s: its /dev/shm: %s", o->name,
				       err_name(-r));
	s->shm = c.fd;
	if (fstatfs(s->shm, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return dk_daemon_error(o->k->c, e, EINVAL, "can't join IPC of container %s: its /dev/shm is no tmpfs",
				       o->name);
	return 0;
}

static int take_ipc(struct dk_container *k, const char *name, struct err *e)
{
	const char *words = arena_printf(k->c->arena, "can't join IPC of container %s: ", name);
	auto_other struct other o = {.k = k, .name = name, .no_such = words, .not_running = words, .proc = -1};
	const char *mode;

	if (take(&o, "ns/ipc", CLONE_NEWIPC, &k->share.ipc, e) < 0)
		return -e->code;
	mode = o.record->options.ipc;
	if (!str_eq(mode, "shareable") && !str_eq(mode, "host") && !named(mode))
		return dk_daemon_error(k->c, e, EINVAL, "%snon-shareable IPC (hint: use IpcMode:shareable for the donor "
				       "container)", words);
	return take_shm(&o, e);
}

/* ---- all ---- */

/* A normal user's networks are below a user namespace of their own: from there only what is below it can be joined. */
static int check_place(struct dk_container *k, struct err *e)
{
	auto_close int above = -1, own = -1;

	if (!k->network->nested || k->share.user < 0)
		return 0;
	above = ioctl(k->share.user, NS_GET_PARENT);
	own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (above >= 0 && own >= 0 && same_file(above, own))
		return 0;
	return dk_daemon_error(k->c, e, EPERM, "the container whose namespaces are to be joined is in no network, so its "
			       "user namespace is not below that of the networks: use --network none, or "
			       "--network container:");
}

int dk_share_prepare(struct dk_container *k, struct err *e)
{
	const struct dk_run_options *o = &k->record->options;
	const char *net = named(k->record->network.mode), *pid = named(o->pid), *ipc = named(o->ipc);
	auto_other struct other by_net = {.k = k, .name = net, .no_such = "", .not_running = "cannot join network: ",
					  .proc = -1};
	auto_other struct other by_pid = {.k = k, .name = pid, .not_running = "", .proc = -1};
	int r = 0;

	by_pid.no_such = arena_printf(k->c->arena, "cannot join PID of a non existing container: %s: ", pid ? pid : "");
	if (net)
		r = take(&by_net, NULL, 0, NULL, e);
	if (r == 0 && net && !same_file(k->share.user, k->network->shared[1]))
		r = dk_daemon_error(k->c, e, EAGAIN, "container %s has been restarted meanwhile", net);
	if (r == 0 && pid)
		r = take(&by_pid, "ns/pid", CLONE_NEWPID, &k->share.pid, e);
	if (r == 0 && ipc)
		r = take_ipc(k, ipc, e);
	return r == 0 ? check_place(k, e) : r;
}

void dk_share_place(const struct dk_share *s, struct rootfs_plan *p)
{
	for (size_t i = 0; s->shm >= 0 && i < p->n_mounts; i++)
		if (str_eq(p->mounts[i].target, "/dev/shm") && p->mounts[i].kind == ROOTFS_FS) {
			p->mounts[i].kind = ROOTFS_BIND;
			p->mounts[i].source = "/dev/shm of another container";
			/* what the parent has opened is closed with the plan */
			p->mounts[i].fd = p->sources_by_parent ? fcntl(s->shm, F_DUPFD_CLOEXEC, 3) : s->shm;
			return;
		}
}

void dk_share_release(struct dk_share *s)
{
	cleanup_close(&s->user);
	cleanup_close(&s->pid);
	cleanup_close(&s->ipc);
	cleanup_close(&s->shm);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * criu mounts onto mount points that it expects to be there, but a root file system that was never
 * used, or comes from an image, lacks those that create would have made. They are made by the same
 * code: all mounts are done once in a child with a mount namespace of its own, which then ends.
 */
#include "runtime/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "runtime/console.h"
#include "runtime/criu-files.h"
#include "runtime/launch-rows.h"

#define RESTORE(ctx) ((struct rt_restore *)(ctx))

enum { CGROUP_FILE = 64 << 10 };

/* ---- in mount namespaces ---- */

static int mount_once(struct rt_launch *l, struct err *e)
{
	struct rootfs_plan *p = l->plan->rootfs;
	int r;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "make a mount namespace");
	r = rootfs_open_sources(p, e);
	if (r == 0)
		r = rootfs_prepare(p, e);
	return r < 0 ? r : rootfs_mount(p, e);
}

static int repeat_attributes(struct rt_launch *l, struct err *e)
{
	if (setns(l->channel.child.pidfd, CLONE_NEWNS) < 0)
		return err_sys(e, "join the mount namespace of the restored process");
	return rootfs_repeat_attributes(l->plan->rootfs, e);
}

/* do_it may enter another mount namespace. */
static int in_child(struct rt_launch *l, int (*do_it)(struct rt_launch *l, struct err *e), struct err *e)
{
	auto_close int from = -1, to = -1;
	struct err theirs = {0};
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	from = fds[0];
	to = fds[1];
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		do_it(l, &theirs);
		_exit(io_write_all(to, &theirs, sizeof(theirs)) < 0);
	}
	cleanup_close(&to);
	if (io_read_upto(from, &theirs, sizeof(theirs)) != sizeof(theirs))
		err_set(&theirs, EIO, "the child for the mounts was killed");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (theirs.code)
		*e = theirs;
	return -theirs.code;
}

static int row_make_mount_points(void *ctx, struct err *e)
{
	return in_child(LAUNCH(ctx), mount_once, e);
}

/* ---- criu's callbacks ---- */

/* "4:memory,cpu:/path": each controller of the line is to have its root there. */
static void put_cgroup_root(char *line, struct strbuf *opts)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	names++;
	do {
		char *comma = strchr(names, ',');

		if (comma)
			*comma = '\0';
		criu_put_pair(opts, CRIU_OPT_CG_ROOT, names, path);
		names = comma ? comma + 1 : NULL;
	} while (names);
}

/* What criu makes begins in its own cgroup: it goes to the container's before it does anything. */
static int enter_cgroup(struct criu_call *c, pid_t criu, struct err *e)
{
	struct rt_launch *l = c->arg;
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = -1;
	char path[64], *save;
	int r = l->cgroup ? cg_attach(l->cgroup, criu, e) : 0;

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%ld/cgroup", (long)criu);
	fd = procfs_openat(l->host->procfs, path, O_RDONLY, e);
	if (fd < 0 || io_read_fd(fd, CGROUP_FILE, &b, path, e) < 0)
		return -e->code;
	for (char *line = b.p ? strtok_r(b.p, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		put_cgroup_root(line, &c->opts);
	return 0;
}

/* The first process is there, and is our child: from now on a failure must end it. */
static int take_init(struct rt_launch *l, pid_t pid, struct err *e)
{
	if (l->channel.child.pidfd >= 0)
		return 0;
	l->channel.child.pid = pid;
	l->channel.child.pidfd = sys_pidfd_open(pid, 0);
	return l->channel.child.pidfd < 0 ? err_sys(e, "open the first process") : 0;
}

static int on_namespaces(struct rt_launch *l, const struct criu_reply *r, int fd, struct err *e)
{
	int code = take_init(l, r->pid, e);

	(void)fd;
	if (code == 0 && row_has_prestart(l))
		code = row_run_prestart(l, e);
	if (code == 0 && row_has_create_runtime(l))
		code = row_run_create_runtime(l, e);
	return code;
}

/* Everything is made, and still stopped. */
static int on_restored(struct rt_launch *l, const struct criu_reply *r, int fd, struct err *e)
{
	(void)fd;
	if (take_init(l, r->pid, e) < 0 || in_child(l, repeat_attributes, e) < 0)
		return -e->code;
	return row_record_running(l, e);
}

static int on_console(struct rt_launch *l, const struct criu_reply *r, int fd, struct err *e)
{
	(void)r;
	if (fd < 0)
		return err_set(e, EPROTO, "criu sent no terminal");
	if (l->console_socket)
		return console_send(l->console[1], fd, "/dev/ptmx", e);
	cleanup_close(&l->console_master);
	l->console_master = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return l->console_master < 0 ? err_sys(e, "keep the terminal") : 0;
}

static int notify(struct criu_call *c, const struct criu_reply *r, int fd, struct err *e)
{
	static const struct {
		const char *script;
		int (*run)(struct rt_launch *l, const struct criu_reply *r, int fd, struct err *e);
	} callbacks[] = {
		{"setup-namespaces", on_namespaces},
		{"orphan-pts-master", on_console},
		{"post-restore", on_restored},
	};

	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (str_eq(callbacks[i].script, r->script))
			return callbacks[i].run(c->arg, r, fd, e);
	return 0;
}

/* ---- the restore ---- */

static int put_options(const struct rt_restore *r, struct criu_call *c, int images, struct err *e)
{
	const struct rt_launch *l = &r->launch;
	const struct plan *p = l->plan;
	int code = criu_options_put(r->options, &p->spec->annotations, c, e);

	criu_put_uint(&c->opts, CRIU_OPT_RST_SIBLING, true);
	criu_put_uint(&c->opts, CRIU_OPT_EVASIVE_DEVICES, true);
	criu_put_str(&c->opts, CRIU_OPT_ROOT, c->root);
	if (r->lsm_profile)
		criu_put_str(&c->opts, CRIU_OPT_LSM_PROFILE, r->lsm_profile);
	if (r->lsm_mount_context)
		criu_put_str(&c->opts, CRIU_OPT_LSM_MOUNT_CONTEXT, r->lsm_mount_context);
	if (code == 0)
		code = criu_put_restore_mounts(p, l->host->procfs, l->arena, &c->opts, e);
	if (code == 0)
		code = criu_restore_streams(images, l->arena, &c->opts, e);
	return code < 0 ? code : criu_put_restore_namespaces(p, c, e);
}

/*
 * In a user namespace criu reads the images first as our own user, then as root of that namespace. So
 * the group of that root gets the right to read them; they are what its memory was.
 */
static int share_images(const struct plan *p, int images, struct err *e)
{
	auto_close int fd = openat(images, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	gid_t gid = (gid_t)-1;
	int r = 0;

	for (size_t i = 0; i < p->gid_maps.n; i++)
		if (p->gid_maps.v[i].container_id == 0)
			gid = p->gid_maps.v[i].host_id;
	if (!d || gid == (gid_t)-1)
		return err_set(e, EINVAL, "linux.gidMappings: without group 0 nobody there can read the images");
	take_fd(&fd);
	if (fchown(images, (uid_t)-1, gid) < 0 || fchmod(images, 0710) < 0)
		r = err_sys(e, "give the image directory to the group %u", gid);
	for (struct dirent *de; r == 0 && (de = readdir(d));)
		if (str_ends(de->d_name, ".img") &&
		    (fchownat(images, de->d_name, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) < 0 ||
		     fchmodat(images, de->d_name, 0640, 0) < 0))
			r = err_sys(e, "give %s to the group %u", de->d_name, gid);
	closedir(d);
	return r;
}

static int row_restore(void *ctx, struct err *e)
{
	struct rt_restore *r = RESTORE(ctx);
	auto_criu_dirs struct criu_dirs d = CRIU_DIRS_NONE;
	struct criu_call c = {
		.what = "restore",
		.type = CRIU_RESTORE,
		.root = r->launch.plan->rootfs->root,
		.log_dir = -1,
		.log_file = "restore.log",
		.begin = enter_cgroup,
		.notify = notify,
		.arg = &r->launch,
	};
	struct criu_reply reply;
	int code = criu_open_dirs(r->options, r->launch.arena, &c, &d, e);

	if (code == 0)
		code = put_options(r, &c, d.images, e);
	if (code == 0 && row_new_userns(r))
		code = share_images(r->launch.plan, d.images, e);
	if (code == 0)
		code = criu_run(&c, &reply, e);
	if (code == 0 && r->launch.channel.child.pidfd < 0)
		code = err_set(e, EPROTO, "criu restored no process");
	strbuf_free(&c.opts);
	for (size_t i = 0; i < c.n_fds; i++)
		close(c.fds[i]);
	return code;
}

static const struct step rows[] = {
	{"reserve the id", STEP_PARENT, NULL, row_reserve_id, row_undo_reserve_id},
	{"record the container", STEP_PARENT, NULL, row_record_intent, NULL},
	{"make the cgroup", STEP_PARENT, NULL, row_make_cgroup, row_undo_make_cgroup},
	{"record the cgroup", STEP_PARENT, row_has_explicit_cgroup, row_record_intent, NULL},
	{"make the mount points", STEP_PARENT, NULL, row_make_mount_points, NULL},
	{"connect the console", STEP_PARENT, row_has_terminal, row_connect_console, row_undo_connect_console},
	{"restore the processes", STEP_PARENT, NULL, row_restore, NULL},
};

static const struct step_table table = {rows, sizeof(rows) / sizeof(rows[0]), NULL};

int rt_restore(struct rt_restore *r, struct err *e)
{
	struct rt_launch *l = &r->launch;
	int code;

	if (row_has_resctrl(l))
		return err_set(e, ENOTSUP, "linux.intelRdt: processes cannot be restored into a group");
	code = steps_run(&table, r, &l->channel, e);
	row_undo_connect_console(l); /* what was to be sent is sent */
	if (code < 0) {
		cleanup_close(&l->console_master);
		return code;
	}
	l->pid = l->channel.child.pid;
	l->pidfd = take_fd(&l->channel.child.pidfd);
	return 0;
}

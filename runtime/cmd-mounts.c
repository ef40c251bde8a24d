/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig mounts add` and `brig mounts remove`: the mounts of a running container. What comes from the
 * host is copied by us; a process that joins the container attaches it there, to targets that are
 * looked up in the container's root. It is a copy of us as in `exec` (exec.h says what that needs),
 * with one difference: it never runs a program, and so it enters no cgroup.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"
#include "json/json.h"
#include "nsenter/ns.h"
#include "base/raw.h"
#include "nsenter/signals.h"
#include "rootfs/rootfs.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/exec-join.h"
#include "runtime/self.h"
#include "spec/spec.h"

enum { MOUNTS_MAX = 48 };

struct mounts {
	struct rt_exec join; /* container, join, time_ns, zero_is_mapped */
	struct arena *arena;
	struct step_channel channel;
	const struct oci_mount_list *list;
	struct rootfs_plan *plan; /* NULL: remove */
	bool privileged;
};

struct mounts_options {
	const char *config, *type, *options;
	bool remove;
};

/* ---- the rows ---- */

static int plan_mounts(struct mounts *m, struct err *e)
{
	const struct oci_spec *config = m->join.container->doc->config;
	const struct oci_linux *l = config->linux_;
	struct oci_root root = {.path = "/"};
	struct oci_linux no_linux = {0};
	struct oci_spec s = {.mounts = *m->list, .root = &root, .linux_ = &no_linux};
	struct rootfs_options ro = {
		.bundle = m->join.container->doc->bundle,
		.user_ns = true, /* sources are opened by us, and are no peers of the host's mounts */
		.pid_ns = true, .net_ns = true, .ipc_ns = true, .cgroup_ns = true,
		.parent_privileged = true,
		.uid_maps = l->uid_mappings.v, .n_uid_maps = l->uid_mappings.n,
		.gid_maps = l->gid_mappings.v, .n_gid_maps = l->gid_mappings.n,
	};
	int r = rootfs_plan(m->arena, &s, &ro, &m->plan, e);

	if (r < 0)
		return r;
	m->plan->root = NULL; /* the container has one */
	m->plan->n_devices = 0;
	return 0;
}

static bool is_add(const void *ctx)
{
	return ((const struct mounts *)ctx)->plan != NULL;
}

static bool is_remove(const void *ctx)
{
	return !is_add(ctx);
}

/* What the process that may copy mounts says: an error, or the copies, which are in our table too. */
struct sources {
	struct err error;
	int fds[MOUNTS_MAX];
};

static _Noreturn void copy_and_tell(struct rootfs_plan *p, int pipe)
{
	struct sources s = {0};

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		err_sys(&s.error, "mounts: make a user namespace to copy the mount of the host in");
	else
		(void)rootfs_open_sources(p, &s.error);
	for (size_t i = 0; i < p->n_mounts && i < MOUNTS_MAX; i++)
		s.fds[i] = p->mounts[i].fd;
	_exit(io_write_all(pipe, (const char *)&s, sizeof(s)) < 0);
}

/*
 * A normal user may not copy a mount of the host's namespace. In a user namespace with a copy of
 * that namespace he may, and a detached copy can be attached in the container. The process shares
 * nothing with us but the table of descriptors.
 */
static int open_sources_unprivileged(struct rootfs_plan *p, struct err *e)
{
	auto_strbuf struct strbuf answer = {0};
	struct sources s;
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		copy_and_tell(p, ends[1]);
	r = pid < 0 ? err_sys(e, "clone") : 0;
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(ends[1]);
	if (r == 0)
		r = io_read_fd(ends[0], sizeof(s), &answer, "the copied mounts", e);
	close(ends[0]);
	if (r < 0)
		return r;
	if (answer.len != sizeof(s))
		return err_set(e, EPROTO, "mounts: the process that copies mounts gave no answer");
	memcpy(&s, answer.p, sizeof(s));
	for (size_t i = 0; i < p->n_mounts; i++)
		p->mounts[i].fd = s.fds[i];
	if (s.error.code)
		*e = s.error;
	return -s.error.code;
}

static int open_sources(void *ctx, struct err *e)
{
	struct mounts *m = ctx;

	return m->privileged ? rootfs_open_sources(m->plan, e) : open_sources_unprivileged(m->plan, e);
}

static int find_namespaces(void *ctx, struct err *e)
{
	struct mounts *m = ctx;
	struct sec_options so = {0};
	int r = exec_find_namespaces(&m->join, e);

	if (r == 0)
		r = exec_userns_facts(&m->join, &so, e);
	if (r == 0 && !(m->join.join & CLONE_NEWNS))
		r = err_set(e, EINVAL, "the container has no mount namespace of its own");
	return r;
}

static const struct step_table table;

static void init_main(void *arg)
{
	struct mounts *m = arg;

	steps_serve(&table, m, &m->channel);
}

static int spawn(void *ctx, struct err *e)
{
	struct mounts *m = ctx;
	struct ns_join join = {.type = m->join.join, .fd = m->join.container->pidfd};
	int keep[MOUNTS_MAX];
	struct ns_spawn s = {.joins = &join, .n_joins = 1, .cgroup_fd = -1, .main = init_main, .arg = m,
			     .keep_fds = keep};
	int r;

	for (size_t i = 0; m->plan && i < m->plan->n_mounts; i++)
		if (m->plan->mounts[i].fd >= 0)
			keep[s.n_keep_fds++] = m->plan->mounts[i].fd;
	r = steps_open(&m->channel, &s, e);
	return r < 0 ? r : ns_spawn(&s, &m->channel.child, e);
}

static bool becomes_root(const void *ctx)
{
	const struct mounts *m = ctx;

	return m->join.join & CLONE_NEWUSER && m->join.zero_is_mapped;
}

static int become_root(void *ctx, struct err *e)
{
	(void)ctx;
	return ns_become_root(false, e);
}

static int add(void *ctx, struct err *e)
{
	struct mounts *m = ctx;

	m->plan->new_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return m->plan->new_root < 0 ? err_sys(e, "open the root of the container")
				     : rootfs_mount(m->plan, e);
}

/* In its parent directory, which is looked up in the root; the mount itself is never followed. */
static int remove_one(int root, const char *target, struct err *e)
{
	char path[4096];
	auto_close int dir = -1;
	char *name;

	if (path_clean(target, path, sizeof(path)) < 0 || !(name = strrchr(path, '/')) || !name[1])
		return err_set(e, EINVAL, "unmount %s: not a path of a mount", target);
	*name++ = '\0';
	dir = path_open_in_root(root, *path ? path : "/", O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return err_wrap(e, "unmount %s", target);
	if (fchdir(dir) < 0 || umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
		return err_sys(e, "unmount %s%s", target, errno == EINVAL ? " (nothing is mounted there)" : "");
	return 0;
}

/* Backwards: the first may be below the others. */
static int remove_all(void *ctx, struct err *e)
{
	const struct mounts *m = ctx;
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = root < 0 ? err_sys(e, "open the root of the container") : 0;

	for (size_t i = m->list->n; i-- > 0 && r == 0;)
		r = remove_one(root, m->list->v[i].destination, e);
	return r;
}

static int leave(void *ctx, struct err *e)
{
	(void)ctx;
	(void)e;
	raw_exit(0);
}

static const struct step rows[] = {
	{"open the mount sources", STEP_PARENT, is_add, open_sources, NULL},
	{"find the namespaces", STEP_PARENT, NULL, find_namespaces, NULL},
	{"join the container", STEP_SPAWN, NULL, spawn, NULL},
	{"become root in the user namespace", STEP_INIT, becomes_root, become_root, NULL},
	{"mount", STEP_INIT, is_add, add, NULL},
	{"unmount", STEP_INIT, is_remove, remove_all, NULL},
	{"leave the container", STEP_INIT, NULL, leave, NULL},
};

static const struct step_table table = {rows, sizeof(rows) / sizeof(rows[0]), NULL};

static int run(struct mounts *m, struct err *e)
{
	int r = steps_run(&table, m, &m->channel, e);
	struct ns_exit x;

	if (r == 0)
		r = ns_reap(m->channel.child.pidfd, &x, NULL, e);
	steps_close(&m->channel);
	cleanup_close(&m->join.time_ns);
	if (m->plan)
		rootfs_close(m->plan);
	return r;
}

/* ---- what is asked for ---- */

/* The `mounts` of a document in the form of config.json. */
static int read_list(struct arena *a, const char *path, struct oci_mount_list *ret, struct err *e)
{
	static const struct json_field fields[] = {
		JSON_FIELD(struct oci_spec, mounts, "mounts", .required = true, .sub = &oci_mount_table),
	};
	static const struct json_table only_mounts = JSON_TABLE(struct oci_spec, fields);
	auto_strbuf struct strbuf b = {0};
	struct oci_spec s = {0};
	const struct json *v = NULL;
	int r = io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &b, e);

	if (r == 0)
		r = json_parse(strbuf_str(&b), b.len, a, &v, e);
	if (r == 0)
		r = json_read_struct(&(struct json_reader){a, "", e}, v, &only_mounts, &s);
	if (r < 0)
		return err_wrap(e, "%s", path);
	*ret = s.mounts;
	return 0;
}

static struct strv split(struct arena *a, const char *options)
{
	char *copy = arena_strdup(a, options ? options : ""), *save;
	struct strv v = {arena_array(a, strlen(copy) + 2, sizeof(char *)), 0};

	for (char *o = strtok_r(copy, ",", &save); o; o = strtok_r(NULL, ",", &save))
		v.v[v.n++] = o;
	return v;
}

/* ID SOURCE DESTINATION (add), ID DESTINATION (remove), ID FILE (add). */
static int list_of_words(struct arena *a, const struct mounts_options *o, char **words,
			 struct oci_mount_list *ret, struct err *e)
{
	struct oci_mount *m = arena_new_of(a, struct oci_mount);
	int n = 0;

	while (words[n])
		n++;
	if (o->config && n == 0)
		return read_list(a, o->config, ret, e);
	if (!o->config && !o->remove && n == 1)
		return read_list(a, words[0], ret, e);
	if (o->config || n != (o->remove ? 1 : 2))
		return err_set(e, EINVAL, o->remove ? "needs an ID and a DESTINATION, or an ID and --config FILE"
						    : "needs an ID, a SOURCE and a DESTINATION, or an ID and a FILE");
	*m = (struct oci_mount){
		.source = words[0],
		.destination = words[n - 1],
		.type = (char *)o->type,
		.options = split(a, o->options),
	};
	if (!o->type && !o->remove) {
		m->type = "bind";
		m->options.v[m->options.n++] = "rbind";
	}
	*ret = (struct oci_mount_list){m, 1};
	return 0;
}

static int check_list(const struct oci_mount_list *l, const struct rt_container *c, struct err *e)
{
	struct oci_spec s = *c->doc->config;

	if (l->n == 0 || l->n > MOUNTS_MAX)
		return err_set(e, EINVAL, "mounts: %zu of them; 1 to %d at a time", l->n, MOUNTS_MAX);
	s.mounts = *l;
	return spec_validate(&s, e);
}

static int protect_ourselves(const struct rt_container *c, const struct rt_globals *g, struct err *e)
{
	int other = exec_other_userns(c, e);

	if (other < 0)
		return other;
	return self_is_exposed(c->procfs, (pid_t)c->doc->init_pid, other) ? self_protect(g->argv, NULL, e) : 0;
}

static bool goes_away(const struct oci_mount_list *l, const struct oci_mount *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].destination, m->destination))
			return true;
	return false;
}

/* What checkpoint and restore read: the configuration with the new mounts, or without the old. */
static int save_mounts(struct arena *a, struct rt_container *c, const struct oci_mount_list *l,
		       bool remove, struct err *e)
{
	struct oci_mount_list *have = &c->doc->config->mounts;
	struct oci_mount_list now = {arena_array(a, have->n + l->n + 1, sizeof(*now.v)), 0};

	for (size_t i = 0; i < have->n; i++)
		if (!remove || !goes_away(l, &have->v[i]))
			now.v[now.n++] = have->v[i];
	for (size_t i = 0; i < l->n && !remove; i++)
		now.v[now.n++] = l->v[i];
	*have = now;
	return rt_state_save(&c->state, c->doc, e);
}

static int change_mounts(struct arena *a, const struct rt_globals *g, char **words, void *options,
			 struct err *e)
{
	const struct mounts_options *o = options;
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct oci_mount_list list;
	struct mounts m = {.join = {RT_EXEC_NONE, .container = &c}, .arena = a,
			   .channel = STEP_CHANNEL_NONE, .list = &list};
	int r = list_of_words(a, o, words + 1, &list, e);

	if (r == 0)
		r = rt_container_open_locked(a, g, words[0], &c, e);
	if (r < 0)
		return r;
	if (c.pidfd < 0 || !c.doc->config)
		return err_set(e, ESRCH, "container not running");
	r = check_list(&list, &c, e);
	if (r == 0)
		r = protect_ourselves(&c, g, e);
	m.privileged = !c.doc->rootless;
	if (r == 0 && !o->remove)
		r = plan_mounts(&m, e);
	if (r == 0)
		r = run(&m, e);
	return r < 0 ? r : save_mounts(a, &c, &list, o->remove, e);
}

static int add_or_remove(int argc, char **argv, const struct rt_globals *g, bool remove)
{
	struct mounts_options o = {.remove = remove};
	const struct cli_option options[] = {
		{"config", 'c', CLI_STRING, &o.config, "FILE", "those of the list `mounts` in FILE, as in config.json"},
		/* of add only: */
		{"type", 't', CLI_STRING, &o.type, "TYPE", "a new file system instead of a bind mount"},
		{"options", 'o', CLI_STRING, &o.options, "LIST", "ro,nosuid,... as in config.json"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = remove ? "brig mounts remove [OPTION...] ID [DESTINATION]"
					: "brig mounts add [OPTION...] ID {SOURCE DESTINATION | FILE}",
			.summary = remove ? "Unmounts something in a running container."
					  : "Mounts something into a running container.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]) - (remove ? 2 : 0),
			.min_args = 1,
			.max_args = 3,
		},
		.body = change_mounts,
		.options = &o,
	};

	return command_run(&s, argc, argv, g);
}

int cmd_mounts(int argc, char **argv, const struct rt_globals *g)
{
	const struct cli c = {
		.usage = "brig mounts {add | remove} [OPTION...] ID ...",
		.summary = "Changes the mounts of a running container; see brig mounts add --help.",
		.min_args = 1,
		.max_args = -1,
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0 && (str_eq(argv[r], "add") || str_eq(argv[r], "remove")))
		return add_or_remove(argc - r, argv + r, g, str_eq(argv[r], "remove"));
	if (r >= 0)
		err_set(&e, EINVAL, "mounts: \"%s\" is neither add nor remove", argv[r]);
	return command_failed(&e, 1);
}

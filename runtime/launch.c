/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table says what is done, by whom, in which order. The rows up to the spawn are undone in
 * reverse when a later one fails; what INIT does vanishes with its namespaces. The reasons for the
 * order of INIT's rows stand at the modules (rootfs/rootfs.h, security/security.h).
 *
 * With the tiny init the payload is INIT's child: it is cloned with CLONE_VM | CLONE_VFORK at the
 * row "start the program", runs the same last rows on its own credentials and execs, while INIT
 * waits; then INIT drops its own privileges by these rows and execs the tiny init.
 */
#include "runtime/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/idmap.h"
#include "nsenter/ns.h"
#include "nsenter/timens.h"
#include "runtime/console.h"
#include "runtime/hooks.h"
#include "runtime/payload.h"
#include "runtime/sysctl.h"
#include "runtime/tinyinit.h"
#include "spec/spec.h"

#define LAUNCH(ctx) ((struct rt_launch *)(ctx))
#define PLAN(ctx) (((const struct rt_launch *)(ctx))->plan)

static bool makes(const void *ctx, uint64_t ns)
{
	return PLAN(ctx)->new_ns & ns;
}

/* ---- PARENT: what is made on the host ---- */

static int reserve_id(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return rt_state_create(l->globals->root, l->plan->options.id, true, &l->state, e);
}

static void undo_reserve_id(void *ctx)
{
	rt_state_remove(&LAUNCH(ctx)->state);
}

/* What is known of the container at this moment; the strings live as long as the launch. */
static struct spec_state *describe(struct rt_launch *l)
{
	const struct plan *p = l->plan;
	struct spec_state *doc = arena_new_of(l->arena, struct spec_state);

	if (!l->created[0])
		spec_time_now(l->created);
	*doc = (struct spec_state){
		.version = SPEC_STATE_VERSION,
		.oci_version = p->spec->oci_version ? p->spec->oci_version : OCI_VERSION,
		.id = (char *)p->options.id,
		.bundle = (char *)p->options.bundle,
		.rootfs = (char *)(p->rootfs->root ? p->rootfs->root : "/"),
		.created = l->created,
		.phase = !l->pid ? "creating" : p->options.create ? "created" : "running",
		.annotations = p->spec->annotations,
		.ephemeral = l->ephemeral,
		.owner_pid = {true, getpid()},
		.systemd = p->options.systemd_cgroup,
		.rootless = !l->host->privileged,
	};
	return doc;
}

static void describe_cgroup(struct rt_launch *l, struct spec_state *doc)
{
	const struct plan *p = l->plan;

	if (p->cgroup->driver == CG_DRIVER_NONE)
		return;
	doc->cgroup = arena_new_of(l->arena, struct spec_state_cgroup);
	doc->cgroup->manager = p->cgroup->driver == CG_DRIVER_SYSTEMD ? "systemd" : "fs";
	doc->cgroup->paths = l->cgroup ? cg_paths(l->cgroup, l->arena)
				       : plan_cgroup_paths(l->arena, p, l->host);
}

static bool own_filter(const void *ctx)
{
	const struct sec_plan *s = PLAN(ctx)->security;

	return s->seccomp && !s->filter;
}

/* Compiling takes a millisecond or two, so programs are kept below the state directory. */
static int compile_filter(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct sec_plan *s = l->plan->security;
	struct sec_filter *f;
	auto_close int cache = -1;
	int r;

	if (mkdirat(l->state.root, ".seccomp", 0700) == 0 || errno == EEXIST)
		cache = openat(l->state.root, ".seccomp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = sec_filter_cached(l->arena, cache, s->seccomp, &f, e);
	if (r == 0)
		s->filter = f;
	return r;
}

/* Before the cgroup exists: should we be killed in between, the next command knows what to look for. */
static int record_intent(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct spec_state *doc = describe(l);

	describe_cgroup(l, doc);
	return rt_state_intend(&l->state, doc, e);
}

static int record_running(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct spec_state *doc;

	l->pid = l->channel.child.pid;
	doc = describe(l);
	describe_cgroup(l, doc);
	rt_state_fill_init(doc, l->arena, l->host->procfs, l->pid);
	if (!l->ephemeral) /* for exec, update, and the hooks of start and delete */
		doc->config = (struct oci_spec *)l->plan->spec;
	return rt_state_publish(&l->state, doc, e);
}

static int make_cgroup(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return cg_create(&l->host->cgroups, l->plan->cgroup, &l->cgroup, e);
}

static void undo_make_cgroup(void *ctx)
{
	struct rt_launch *l = ctx;
	struct err e = {0};

	if (l->cgroup && cg_destroy(l->cgroup, &e) < 0)
		log_warning("remove the cgroup: %s", e.msg);
	cg_close(l->cgroup);
	l->cgroup = NULL;
}

static bool sources_by_parent(const void *ctx)
{
	return rootfs_sources_by_parent(PLAN(ctx)->rootfs);
}

static bool sources_by_init(const void *ctx)
{
	return !sources_by_parent(ctx);
}

static int open_sources(void *ctx, struct err *e)
{
	return rootfs_open_sources(PLAN(ctx)->rootfs, e);
}

static void undo_open_sources(void *ctx)
{
	rootfs_close(PLAN(ctx)->rootfs);
}

static bool has_tiny_init(const void *ctx)
{
	return PLAN(ctx)->options.tiny_init;
}

static int prepare_tiny_init(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int fds[2];

	l->init_exe = tinyinit_open(e);
	if (l->init_exe < 0)
		return l->init_exe;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "make the status pipe");
	l->status_fd = fds[0];
	l->status_write = fds[1];
	return 0;
}

static void undo_tiny_init(void *ctx)
{
	struct rt_launch *l = ctx;

	cleanup_close(&l->init_exe);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->status_write);
}

static bool has_terminal(const void *ctx)
{
	return PLAN(ctx)->spec->process->terminal.v;
}

static int connect_console(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	if (!l->console_socket)
		return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, l->console) < 0
			       ? err_sys(e, "make a socket pair") : 0;
	l->console[1] = console_connect(l->console_socket, e);
	return l->console[1] < 0 ? l->console[1] : 0;
}

static void undo_connect_console(void *ctx)
{
	cleanup_close(&LAUNCH(ctx)->console[0]);
	cleanup_close(&LAUNCH(ctx)->console[1]);
}

static bool is_create(const void *ctx)
{
	return PLAN(ctx)->options.create;
}

/* Read and write at once: no end of file between two writers, and opening does not wait. */
static int make_start_fifo(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	if (mkfifoat(l->state.dir, "start", 0600) < 0)
		return err_sys(e, "make the fifo `start`");
	l->start_fd = openat(l->state.dir, "start", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return l->start_fd < 0 ? err_sys(e, "open the fifo `start`") : 0;
}

/* ---- hooks ---- */

static const struct oci_hook_list no_hooks;

#define HOOKS(ctx, member) (PLAN(ctx)->spec->hooks ? &PLAN(ctx)->spec->hooks->member : &no_hooks)

/* pid 0: our own, as INIT sees itself. */
static int run_hooks(struct rt_launch *l, const struct oci_hook_list *list, const char *kind,
		     const char *status, struct err *e)
{
	bool in_init = str_eq(kind, "createContainer") || str_eq(kind, "startContainer");
	struct hooks_run h = {.list = list, .kind = kind, .status = status, .state = describe(l),
			      .pid = in_init ? getpid() : l->channel.child.pid};

	return hooks_run(&h, e);
}

#define HOOK_ROWS(name, member, kind, status)                                           \
	static bool has_##name(const void *ctx)                                         \
	{                                                                               \
		return HOOKS(ctx, member)->n > 0;                                       \
	}                                                                               \
	static int run_##name(void *ctx, struct err *e)                                 \
	{                                                                               \
		return run_hooks(ctx, HOOKS(ctx, member), kind, status, e);             \
	}
HOOK_ROWS(prestart, prestart, "prestart", "creating")
HOOK_ROWS(create_runtime, create_runtime, "createRuntime", "creating")
HOOK_ROWS(create_container, create_container, "createContainer", "creating")
HOOK_ROWS(start_container, start_container, "startContainer", "created")
HOOK_ROWS(poststart, poststart, "poststart", "running")

/* ---- the spawn ---- */

static const struct step_table table;

static void init_main(void *arg)
{
	struct rt_launch *l = arg;

	steps_serve(&table, l, &l->channel);
}

static int open_joins(const struct plan *p, struct ns_join *joins, struct err *e)
{
	for (size_t i = 0; i < p->n_joins; i++) {
		int r = ns_open(p->joins[i].path, p->joins[i].flag, &joins[i].fd, e);

		if (r < 0)
			return r;
		joins[i].type = p->joins[i].flag;
		joins[i].path = p->joins[i].path;
	}
	return 0;
}

/* What INIT still needs when it is made by a joining process, which closes all else. */
static size_t kept_fds(const struct rt_launch *l, int *fds, size_t max)
{
	const int ours[] = {l->host->procfs, l->console[1], l->start_fd, l->init_exe, l->status_write,
			    l->stdio[0], l->stdio[1], l->stdio[2]};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i] > STDERR_FILENO)
			fds[n++] = ours[i];
	for (unsigned i = 0; i < l->plan->options.preserve_fds && n < max; i++)
		fds[n++] = (int)(3 + i);
	return n;
}

static int spawn_init(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct plan *p = l->plan;
	struct ns_join joins[8];
	struct ns_spawn s = {
		/* A cgroup namespace made by this clone3 would be rooted in our own cgroup
		 * (copy_cgroup_ns looks at the caller): INIT makes it once it is in its cgroup. */
		.new_ns = p->new_ns & ~(uint64_t)CLONE_NEWCGROUP,
		.joins = joins,
		.n_joins = p->n_joins,
		.cgroup_fd = cg_fd(l->cgroup),
		.share_vm = p->share_vm,
		.main = init_main,
		.arg = l,
	};
	int keep[64];
	int r;

	s.keep_fds = keep;
	s.n_keep_fds = kept_fds(l, keep, sizeof(keep) / sizeof(keep[0]));
	memset(joins, -1, sizeof(joins));
	r = open_joins(p, joins, e);
	if (r == 0)
		r = steps_open(&l->channel, &s, e);
	if (r == 0)
		r = ns_spawn(&s, &l->channel.child, e);
	if (r == 0 && s.cgroup_fd >= 0 && !l->channel.child.in_cgroup) {
		ns_child_kill(&l->channel.child);
		r = err_set(e, ENOSYS, "clone3 cannot put a process into a cgroup: Linux 5.7 or newer is needed");
	}
	for (size_t i = 0; i < p->n_joins; i++)
		if (joins[i].fd >= 0)
			close(joins[i].fd);
	return r;
}

/* ---- PARENT: what only the host's side may do for INIT ---- */

static bool new_userns(const void *ctx)
{
	return makes(ctx, CLONE_NEWUSER);
}

static struct ns_idmap *to_idmaps(struct arena *a, const struct oci_id_mapping_list *l)
{
	struct ns_idmap *m = arena_array(a, l->n + 1, sizeof(*m));

	for (size_t i = 0; i < l->n; i++)
		m[i] = (struct ns_idmap){l->v[i].container_id, l->v[i].host_id, l->v[i].size};
	return m;
}

static int write_maps(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct plan *p = l->plan;
	struct ns_idmaps m = {
		.uids = to_idmaps(l->arena, &p->uid_maps), .n_uids = p->uid_maps.n,
		.gids = to_idmaps(l->arena, &p->gid_maps), .n_gids = p->gid_maps.n,
	};

	return ns_write_maps(l->host->procfs, l->channel.child.pid, &m, ns_idmap_mode(&m), e);
}

static bool cgroup_by_pid(const void *ctx)
{
	const struct rt_launch *l = ctx;

	/* `brig plan` has no cgroup yet */
	if (!l->cgroup)
		return PLAN(ctx)->cgroup->kind == CG_V1;
	return PLAN(ctx)->cgroup->driver != CG_DRIVER_NONE && cg_fd(l->cgroup) < 0;
}

static int attach_cgroup(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return cg_attach(l->cgroup, l->channel.child.pid, e);
}

/* ---- INIT: namespaces ---- */

static bool zero_is_mapped(const void *ctx)
{
	const struct plan *p = PLAN(ctx);

	for (size_t i = 0; i < p->uid_maps.n; i++)
		if (p->uid_maps.v[i].container_id == 0)
			return makes(ctx, CLONE_NEWUSER);
	return (plan_joined(p) & CLONE_NEWUSER) != 0;
}

static int become_root(void *ctx, struct err *e)
{
	return ns_become_root(PLAN(ctx)->n_joins == 0, e);
}

static int new_session(void *ctx, struct err *e)
{
	(void)ctx; /* CVE-2017-5226: no way to the caller's terminal */
	return setsid() < 0 && errno != EPERM ? err_sys(e, "setsid") : 0;
}

static bool new_keyring(const void *ctx)
{
	return PLAN(ctx)->security->new_keyring;
}

static int join_keyring(void *ctx, struct err *e)
{
	return sec_new_keyring(PLAN(ctx)->security, LAUNCH(ctx)->host->procfs, e);
}

static bool new_cgroupns(const void *ctx)
{
	return makes(ctx, CLONE_NEWCGROUP);
}

static int make_cgroupns(void *ctx, struct err *e)
{
	(void)ctx;
	return unshare(CLONE_NEWCGROUP) < 0 ? err_sys(e, "unshare") : 0;
}

static bool new_timens(const void *ctx)
{
	return makes(ctx, CLONE_NEWTIME);
}

static size_t add_offset(struct ns_time_offset *o, size_t n, int clock,
			 const struct oci_time_offset *from)
{
	if (from)
		o[n++] = (struct ns_time_offset){clock, from->secs.v, from->nanosecs.v};
	return n;
}

static int make_timens(void *ctx, struct err *e)
{
	const struct oci_time_offsets *t = PLAN(ctx)->spec->linux_->time_offsets;
	struct ns_time_offset o[2];
	size_t n = 0;

	if (t) {
		n = add_offset(o, n, CLOCK_BOOTTIME, t->boottime);
		n = add_offset(o, n, CLOCK_MONOTONIC, t->monotonic);
	}
	return ns_new_time(LAUNCH(ctx)->host->procfs, o, n, e);
}

static bool new_netns(const void *ctx)
{
	return makes(ctx, CLONE_NEWNET);
}

static int loopback_up(void *ctx, struct err *e)
{
	(void)ctx;
	return ns_loopback_up(e);
}

static bool has_names(const void *ctx)
{
	return PLAN(ctx)->hostname || PLAN(ctx)->domainname;
}

static int set_names(void *ctx, struct err *e)
{
	const char *host = PLAN(ctx)->hostname, *domain = PLAN(ctx)->domainname;
	char hint[256];

	if (host && sethostname(host, strlen(host)) < 0) {
		if (ns_userns_hint(errno, hint, sizeof(hint)))
			return err_set(e, EPERM, "sethostname: %s", hint);
		return err_sys(e, "sethostname");
	}
	if (domain && setdomainname(domain, strlen(domain)) < 0)
		return err_sys(e, "setdomainname");
	return 0;
}

static bool has_sysctl(const void *ctx)
{
	return PLAN(ctx)->spec->linux_->sysctl.n > 0;
}

static int set_sysctl(void *ctx, struct err *e)
{
	return sysctl_apply(&PLAN(ctx)->spec->linux_->sysctl, LAUNCH(ctx)->host->procfs, e);
}

/* ---- INIT: file system ---- */

#define ROOTFS_ROW(name)                                              \
	static int row_##name(void *ctx, struct err *e)               \
	{                                                             \
		return rootfs_##name(PLAN(ctx)->rootfs, e);           \
	}
ROOTFS_ROW(prepare)
ROOTFS_ROW(mount)
ROOTFS_ROW(devices)
ROOTFS_ROW(pivot)
ROOTFS_ROW(finish)

static int go_to_cwd(void *ctx, struct err *e)
{
	return rootfs_chdir(PLAN(ctx)->rootfs, PLAN(ctx)->cwd, e);
}

static int open_console(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct oci_process *p = l->plan->spec->process;

	l->console_peer = console_open(l->plan->rootfs, p->console_size, p->user.uid, l->console[1], e);
	return l->console_peer < 0 ? l->console_peer : 0;
}

/* ---- INIT: the process ---- */

static bool has_oom_score(const void *ctx)
{
	return PLAN(ctx)->security->oom_score_adj.set;
}

static int set_oom_score(void *ctx, struct err *e)
{
	return sec_set_oom_score_adj(PLAN(ctx)->security, LAUNCH(ctx)->host->procfs, e);
}

static int set_process(void *ctx, struct err *e)
{
	const struct sec_plan *s = PLAN(ctx)->security;
	int r = sec_set_rlimits(s, 0, e);

	if (r == 0)
		r = sec_set_scheduling(s, e);
	if (r == 0)
		r = sec_set_labels(s, LAUNCH(ctx)->host->procfs, e);
	if (r == 0)
		r = sec_set_personality(s, e);
	return r < 0 ? r : sec_set_umask(s, e);
}

static bool find_home(const void *ctx)
{
	return PLAN(ctx)->find_home;
}

static int set_home(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	(void)e;

	payload_home(l->plan->security->uid, l->home, sizeof(l->home));
	l->plan->envp[l->plan->n_env] = l->home;
	return 0;
}

/* stdin, stdout and stderr; everything else is closed by the exec. */
static int set_descriptors(void *ctx, struct err *e)
{
	const struct rt_launch *l = ctx;

	for (int i = 0; i < 3; i++) {
		int fd = l->console_peer >= 0 ? l->console_peer : l->stdio[i];

		if (fd >= 0 && dup2(fd, i) < 0)
			return err_sys(e, "dup2 to %d", i);
	}
	if (sys_close_range(3 + l->plan->options.preserve_fds, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_sys(e, "close_range");
	return 0;
}

static bool filter_first(const void *ctx)
{
	return sec_filter_first(PLAN(ctx)->security);
}

static bool filter_last(const void *ctx)
{
	return PLAN(ctx)->security->filter && !filter_first(ctx);
}

static int install_filter(void *ctx, struct err *e)
{
	int listener;

	return sec_install_filter(PLAN(ctx)->security, &listener, e);
}

static int set_ids(void *ctx, struct err *e)
{
	return sec_set_ids(PLAN(ctx)->security, e);
}

static int set_caps(void *ctx, struct err *e)
{
	return sec_set_caps(PLAN(ctx)->security, e);
}

static bool die_with_parent(const void *ctx)
{
	return PLAN(ctx)->options.die_with_parent;
}

static int set_die_with_parent(void *ctx, struct err *e)
{
	return ns_die_with_parent(LAUNCH(ctx)->channel.init, e);
}

static bool no_new_privs(const void *ctx)
{
	return PLAN(ctx)->security->no_new_privs;
}

static int set_no_new_privs(void *ctx, struct err *e)
{
	return sec_set_no_new_privs(PLAN(ctx)->security, e);
}

/* What the payload does on its own credentials before its exec, with the tiny init above it. */
static int payload_main(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int r = filter_first(ctx) ? install_filter(ctx, e) : 0;

	if (r == 0)
		r = set_ids(ctx, e);
	if (r == 0)
		r = set_caps(ctx, e);
	if (r == 0 && no_new_privs(ctx))
		r = set_no_new_privs(ctx, e);
	if (r == 0 && filter_last(ctx))
		r = install_filter(ctx, e);
	return r < 0 ? r : payload_exec(l->plan->argv, l->plan->envp, e);
}

static int start_payload(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return payload_spawn(payload_main, ctx, &l->payload, e);
}

static int exec_tiny_init(void *ctx, struct err *e)
{
	const struct rt_launch *l = ctx;
	struct tinyinit t = {
		.fd = l->init_exe,
		.status_fd = l->status_write,
		.payload = l->payload,
		.uid = l->plan->security->uid,
		.gid = l->plan->security->gid,
		.pdeathsig = l->plan->options.die_with_parent ? SIGKILL : 0,
	};

	return tinyinit_exec(&t, e);
}

static int find_program(void *ctx, struct err *e)
{
	return payload_find(PLAN(ctx)->argv, PLAN(ctx)->envp, e);
}

static int wait_for_start(void *ctx, struct err *e)
{
	char c;

	while (read(LAUNCH(ctx)->start_fd, &c, 1) < 0)
		if (errno != EINTR)
			return err_sys(e, "read the fifo `start`");
	return 0;
}

static bool start_hooks_after_start(const void *ctx)
{
	return is_create(ctx) && has_start_container(ctx);
}

static bool start_hooks_at_once(const void *ctx)
{
	return !is_create(ctx) && has_start_container(ctx);
}

static bool poststart_at_once(const void *ctx)
{
	return !is_create(ctx) && has_poststart(ctx);
}

static bool is_direct(const void *ctx)
{
	return !is_create(ctx) && !has_tiny_init(ctx);
}

static bool filter_after_start(const void *ctx)
{
	return is_create(ctx) && filter_last(ctx);
}

static bool filter_at_once(const void *ctx)
{
	return !is_create(ctx) && filter_last(ctx);
}

static int exec_program(void *ctx, struct err *e)
{
	return payload_exec(PLAN(ctx)->argv, PLAN(ctx)->envp, e);
}

/* Failures of this row with "exec: " behind are about the program, not about us. */
#define START "start the program"

static const struct step rows[] = {
	{"reserve the id", STEP_PARENT, NULL, reserve_id, undo_reserve_id},
	{"compile the seccomp filter", STEP_PARENT, own_filter, compile_filter, NULL},
	{"record the container", STEP_PARENT, NULL, record_intent, NULL},
	{"make the cgroup", STEP_PARENT, NULL, make_cgroup, undo_make_cgroup},
	{"open the mount sources", STEP_PARENT, sources_by_parent, open_sources, undo_open_sources},
	{"prepare the init", STEP_PARENT, has_tiny_init, prepare_tiny_init, undo_tiny_init},
	{"connect the console", STEP_PARENT, has_terminal, connect_console, undo_connect_console},
	{"make the start fifo", STEP_PARENT, is_create, make_start_fifo, NULL},
	{"make the first process", STEP_SPAWN, NULL, spawn_init, NULL},
	{"map the ids", STEP_PARENT, new_userns, write_maps, NULL},
	{"enter the cgroup", STEP_PARENT, cgroup_by_pid, attach_cgroup, NULL},

	{"open the mount sources", STEP_INIT, sources_by_init, open_sources, NULL},
	{"become root in the user namespace", STEP_INIT, zero_is_mapped, become_root, NULL},
	{"make a session", STEP_INIT, NULL, new_session, NULL},
	{"make a session keyring", STEP_INIT, new_keyring, join_keyring, NULL},
	{"make the cgroup namespace", STEP_INIT, new_cgroupns, make_cgroupns, NULL},
	{"make the time namespace", STEP_INIT, new_timens, make_timens, NULL},
	{"bring up the loopback device", STEP_INIT, new_netns, loopback_up, NULL},
	{"set the host name", STEP_INIT, has_names, set_names, NULL},
	{"prepare the root", STEP_INIT, NULL, row_prepare, NULL},
	{"mount", STEP_INIT, NULL, row_mount, NULL},
	{"make the devices", STEP_INIT, NULL, row_devices, NULL},
	{"open the console", STEP_INIT, has_terminal, open_console, NULL},
	{"run the hooks", STEP_PARENT, has_prestart, run_prestart, NULL},
	{"run the hooks", STEP_PARENT, has_create_runtime, run_create_runtime, NULL},
	{"run the hooks", STEP_INIT, has_create_container, run_create_container, NULL},
	{"pivot the root", STEP_INIT, NULL, row_pivot, NULL},
	{"go to the working directory", STEP_INIT, NULL, go_to_cwd, NULL},
	{"set kernel parameters", STEP_INIT, has_sysctl, set_sysctl, NULL},
	{"finish the root", STEP_INIT, NULL, row_finish, NULL},
	{"set the OOM score", STEP_INIT, has_oom_score, set_oom_score, NULL},
	{"set the process attributes", STEP_INIT, NULL, set_process, NULL},
	{"find the home directory", STEP_INIT, find_home, set_home, NULL},
	{"set the descriptors", STEP_INIT, NULL, set_descriptors, NULL},
	{START, STEP_INIT, has_tiny_init, start_payload, NULL},
	{"install the seccomp filter", STEP_INIT, filter_first, install_filter, NULL},
	{"set the ids", STEP_INIT, NULL, set_ids, NULL},
	{"set the capabilities", STEP_INIT, NULL, set_caps, NULL},
	{"die with the parent", STEP_INIT, die_with_parent, set_die_with_parent, NULL},
	{"set no-new-privileges", STEP_INIT, no_new_privs, set_no_new_privs, NULL},
	{START, STEP_INIT, is_create, find_program, NULL},
	{"run the hooks", STEP_INIT, start_hooks_at_once, run_start_container, NULL},
	{"install the seccomp filter", STEP_INIT, filter_at_once, install_filter, NULL},
	{"become the init", STEP_INIT, has_tiny_init, exec_tiny_init, NULL},
	{START, STEP_INIT, is_direct, exec_program, NULL},

	{"record the process", STEP_PARENT, NULL, record_running, NULL},
	{"run the hooks", STEP_PARENT, poststart_at_once, run_poststart, NULL},

	{"wait for the start", STEP_ALONE, is_create, wait_for_start, NULL},
	{"run the hooks", STEP_ALONE, start_hooks_after_start, run_start_container, NULL},
	{"install the seccomp filter", STEP_ALONE, filter_after_start, install_filter, NULL},
	{START, STEP_ALONE, is_create, exec_program, NULL},
};

static const struct step_table table = {rows, sizeof(rows) / sizeof(rows[0]), NULL};

/* What only the set-up needed. */
static void close_private(struct rt_launch *l)
{
	rootfs_close(l->plan->rootfs);
	cleanup_close(&l->init_exe);
	cleanup_close(&l->status_write);
	cleanup_close(&l->start_fd);
	cleanup_close(&l->console[0]);
	cleanup_close(&l->console[1]);
}

static int take_console(struct rt_launch *l, struct err *e)
{
	if (l->console[0] < 0)
		return 0;
	l->console_master = console_receive(l->console[0], e);
	return l->console_master < 0 ? l->console_master : 0;
}

int rt_launch(struct rt_launch *l, struct err *e)
{
	int r;

	if (l->globals->trace_steps)
		steps_trace(STDERR_FILENO);
	r = steps_run(&table, l, &l->channel, e);
	if (r < 0) {
		l->exec_failed = str_starts(e->msg, START ": exec: ");
		close_private(l);
		steps_close(&l->channel);
		return r;
	}
	r = take_console(l, e);
	l->pid = l->channel.child.pid;
	l->pidfd = take_fd(&l->channel.child.pidfd);
	close_private(l);
	steps_close(&l->channel); /* INIT of a `create` goes on from here, by itself */
	if (r < 0) {
		struct err ignored = {0};

		rt_launch_end(l, &ignored);
	}
	return r;
}

void rt_launch_detach(struct rt_launch *l)
{
	cg_close(l->cgroup);
	l->cgroup = NULL;
	cleanup_close(&l->pidfd);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->console_master);
	rt_state_close(&l->state);
}

static void run_poststop(struct rt_launch *l)
{
	struct hooks_run h = {.list = HOOKS(l, poststop), .kind = "poststop", .status = "stopped"};

	if (!h.list->n)
		return;
	h.state = describe(l);
	hooks_run_all(&h);
}

int rt_launch_end(struct rt_launch *l, struct err *e)
{
	int r = l->cgroup ? cg_destroy(l->cgroup, e) : 0;

	cg_close(l->cgroup);
	l->cgroup = NULL;
	cleanup_close(&l->pidfd);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->console_master);
	if (r == 0)
		rt_state_remove(&l->state);
	else /* the next command tries again */
		rt_state_close(&l->state);
	run_poststop(l);
	return r;
}

void rt_launch_write_steps(struct json_writer *w, const struct plan *p)
{
	static const char *const actors[] = {"parent", "parent", "init", "init"};
	struct rt_launch l = {.plan = p};

	json_begin_array(w);
	for (size_t i = 0; i < table.n; i++) {
		if (rows[i].wanted && !rows[i].wanted(&l))
			continue;
		json_begin_object(w);
		json_member_str(w, "actor", actors[rows[i].actor]);
		json_member_str(w, "name", rows[i].name);
		json_end_object(w);
	}
	json_end_array(w);
}

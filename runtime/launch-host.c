/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the parent: what is made on the host, the spawn, and what only the host's side may do
 * for INIT. Each that makes something has an undo. */
#include "runtime/launch-rows.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/procfs.h"
#include "base/raw.h"
#include "base/str.h"
#include "nsenter/idmap.h"
#include "nsenter/ns.h"
#include "runtime/console.h"
#include "runtime/hooks.h"
#include "runtime/tinyinit.h"
#include "spec/spec.h"

int row_reserve_id(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return rt_state_create(l->globals->root, l->plan->options.id, &l->state, e);
}

void row_undo_reserve_id(void *ctx)
{
	rt_state_remove(&LAUNCH(ctx)->state);
}

struct spec_state *rt_launch_describe(struct rt_launch *l)
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
		.intel_rdt_dir = (char *)l->resctrl.ours,
	};
	return doc;
}

/* A path of the configuration may turn out to be somebody else's: until it has become ours, the sweeper
 * may only remove it when it is empty. */
static void describe_cgroup(struct rt_launch *l, struct spec_state *doc)
{
	const struct plan *p = l->plan;

	if (p->cgroup->driver == CG_DRIVER_NONE)
		return;
	doc->cgroup = arena_new_of(l->arena, struct spec_state_cgroup);
	doc->cgroup->manager = p->cgroup->driver == CG_DRIVER_SYSTEMD ? "systemd" : "fs";
	if (l->cgroup)
		doc->cgroup->paths = cg_paths(l->cgroup, l->arena);
	else if (row_has_explicit_cgroup(l))
		doc->cgroup->made = plan_cgroup_paths(l->arena, p, l->host);
	else if (!p->cgroup->explicit_path)
		doc->cgroup->paths = plan_cgroup_paths(l->arena, p, l->host);
}

bool row_own_filter(const void *ctx)
{
	const struct sec_plan *s = PLAN(ctx)->security;

	return s->seccomp && !s->filter;
}

/* Compiling takes a millisecond or two, so programs are kept below the state directory. */
int row_compile_filter(void *ctx, struct err *e)
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
int row_record_intent(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct spec_state *doc = rt_launch_describe(l);

	describe_cgroup(l, doc);
	return rt_state_record(&l->state, doc, e);
}

bool row_has_explicit_cgroup(const void *ctx)
{
	return PLAN(ctx)->cgroup->driver == CG_DRIVER_FS && PLAN(ctx)->cgroup->explicit_path;
}

bool row_has_net(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->net != NULL;
}

int row_connect_net(void *ctx, struct err *e)
{
	return sandbox_net_connect(LAUNCH(ctx)->net, &LAUNCH(ctx)->channel.child, e);
}

void row_undo_connect_net(void *ctx)
{
	sandbox_net_end(LAUNCH(ctx)->net);
}

bool row_keeps_cwd(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->keep_cwd;
}

/* INIT is in it by now. The link leads into its mount namespace. */
int row_open_cwd(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	char path[32];
	auto_close int dir = -1;

	snprintf(path, sizeof(path), "%d", l->channel.child.pid);
	dir = procfs_openat(l->host->procfs, path, O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return dir;
	l->cwd_fd = openat(dir, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return l->cwd_fd < 0 ? err_sys(e, "open the first process's working directory") : 0;
}

void row_undo_open_cwd(void *ctx)
{
	cleanup_close(&LAUNCH(ctx)->cwd_fd);
}

bool row_is_held(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->hold != NULL;
}

int row_hold(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return l->hold(l, l->hold_arg, e);
}

bool row_learns(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->learn != NULL;
}

int row_learn(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return l->learn(l, l->hold_arg, e);
}

/* By which a sweep could find it. */
bool row_has_no_cgroup(const void *ctx)
{
	return PLAN(ctx)->cgroup->driver == CG_DRIVER_NONE && !PLAN(ctx)->options.die_with_parent;
}

/* We may be killed after its exec, before its last record. */
int row_record_first(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct spec_state *doc = rt_launch_describe(l);

	rt_state_fill_init(doc, l->arena, l->host->procfs, l->channel.child.pid);
	return rt_state_record(&l->state, doc, e);
}

int row_record_running(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	struct spec_state *doc;

	l->pid = l->channel.child.pid;
	doc = rt_launch_describe(l);
	describe_cgroup(l, doc);
	rt_state_fill_init(doc, l->arena, l->host->procfs, l->pid);
	if (!l->ephemeral) /* for exec, update, and the hooks of start and delete */
		doc->config = (struct oci_spec *)l->plan->spec;
	return rt_state_record(&l->state, doc, e);
}

int row_make_cgroup(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int r = l->devices_beside
			? cg_create_without_devices(&l->host->cgroups, l->plan->cgroup, &l->cgroup, e)
			: cg_create(&l->host->cgroups, l->plan->cgroup, &l->cgroup, e);

	if (r == 0)
		l->cgroup_by_pid = l->cgroup && cg_fd(l->cgroup) < 0;
	return r;
}

bool row_devices_beside(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->devices_beside;
}

/* INIT waits for all of them (row_wait_for_beside). */
static void done_beside(struct rt_launch *l)
{
	__atomic_fetch_add(&l->beside_done, 1, __ATOMIC_RELEASE);
	raw_call(SYS_futex, (long)&l->beside_done, FUTEX_WAKE, 1);
}

/* Beside INIT, which shares our memory: raw system calls only. */
int row_load_devices(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int r = cg_set_devices(l->cgroup, l->plan->cgroup, e);

	if (r < 0)
		return r;
	done_beside(l);
	return 0;
}

void row_undo_make_cgroup(void *ctx)
{
	struct rt_launch *l = ctx;
	struct err e = {0};

	if (l->cgroup && rt_state_claim(&l->state) && cg_destroy(l->cgroup, &e) < 0)
		log_warning("remove the cgroup: %s", e.msg);
	cg_close(l->cgroup);
	l->cgroup = NULL;
}

bool row_sources_by_parent(const void *ctx)
{
	return rootfs_sources_by_parent(PLAN(ctx)->rootfs);
}

bool row_sources_by_init(const void *ctx)
{
	return !row_sources_by_parent(ctx);
}

int row_open_sources(void *ctx, struct err *e)
{
	return rootfs_open_sources(PLAN(ctx)->rootfs, e);
}

void row_undo_open_sources(void *ctx)
{
	rootfs_close(PLAN(ctx)->rootfs);
}

bool row_has_tiny_init(const void *ctx)
{
	return PLAN(ctx)->options.tiny_init;
}

int row_prepare_tiny_init(void *ctx, struct err *e)
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

void row_undo_tiny_init(void *ctx)
{
	struct rt_launch *l = ctx;

	cleanup_close(&l->init_exe);
	cleanup_close(&l->status_fd);
	cleanup_close(&l->status_write);
}

bool row_has_terminal(const void *ctx)
{
	return PLAN(ctx)->spec->process->terminal.v;
}

int row_connect_console(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	if (!l->console_socket)
		return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, l->console) < 0
			       ? err_sys(e, "make a socket pair") : 0;
	l->console[1] = console_connect(l->console_socket, e);
	return l->console[1] < 0 ? l->console[1] : 0;
}

void row_undo_connect_console(void *ctx)
{
	cleanup_close(&LAUNCH(ctx)->console[0]);
	cleanup_close(&LAUNCH(ctx)->console[1]);
}

bool row_is_create(const void *ctx)
{
	return PLAN(ctx)->options.create;
}

/* One that is there is of a container whose record somebody removed by hand. */
static int make_fifo(int dir, const char *name)
{
	int r = mkfifoat(dir, name, 0600);

	return r < 0 && errno == EEXIST && unlinkat(dir, name, 0) == 0 ? mkfifoat(dir, name, 0600) : r;
}

/* Read and write at once: no end of file between two writers, and opening does not wait. */
int row_make_start_fifo(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	auto_close int dir = rt_state_dir(&l->state, true, e);

	if (dir < 0)
		return dir;
	if (make_fifo(dir, "start") < 0)
		return err_sys(e, "make the fifo `start`");
	l->start_fd = openat(dir, "start", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return l->start_fd < 0 ? err_sys(e, "open the fifo `start`") : 0;
}

/* ---- hooks ---- */

const struct oci_hook_list rt_no_hooks;

/* pid 0: our own, as INIT sees itself. */
static int run_hooks(struct rt_launch *l, const struct oci_hook_list *list, const char *kind,
		     const char *status, struct err *e)
{
	bool in_init = str_eq(kind, "createContainer") || str_eq(kind, "startContainer");
	struct hooks_run h = {.list = list, .kind = kind, .status = status, .state = rt_launch_describe(l),
			      .pid = in_init ? getpid() : l->channel.child.pid};

	/* Should `delete --force` end the parent, INIT must not wait for its hook. */
	bool die_too = in_init && !(row_is_create(l) && str_eq(kind, "startContainer"));
	int r;

	if (die_too)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = hooks_run(&h, e);
	if (die_too)
		prctl(PR_SET_PDEATHSIG, 0);
	return r;
}

#define HOOK_ROWS(name, member, kind, status)                                           \
	bool row_has_##name(const void *ctx)                                         \
	{                                                                               \
		return HOOKS(ctx, member)->n > 0;                                       \
	}                                                                               \
	int row_run_##name(void *ctx, struct err *e)                                 \
	{                                                                               \
		return run_hooks(ctx, HOOKS(ctx, member), kind, status, e);             \
	}
HOOK_ROWS(prestart, prestart, "prestart", "creating")
HOOK_ROWS(create_runtime, create_runtime, "createRuntime", "creating")
HOOK_ROWS(create_container, create_container, "createContainer", "creating")
HOOK_ROWS(start_container, start_container, "startContainer", "created")
HOOK_ROWS(poststart, poststart, "poststart", "running")

/* ---- the spawn ---- */

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

struct fd_list { int *v; size_t n; };

static void add_fd(struct fd_list *l, int fd)
{
	if (fd > STDERR_FILENO)
		l->v[l->n++] = fd;
}

/* The mount sources that are open already. */
static void add_source_fds(struct fd_list *l, const struct rootfs_plan *r)
{
	add_fd(l, r->root_fd);
	add_fd(l, r->null_fd);
	add_fd(l, r->leaving);
	for (size_t i = 0; i < r->n_mounts; i++)
		add_fd(l, r->mounts[i].fd);
	for (size_t i = 0; i < r->n_devices; i++)
		add_fd(l, r->devices[i].fd);
}

/* What INIT still needs when it is made by a joining process, which closes all else. */
static struct fd_list kept_fds(const struct rt_launch *l)
{
	const int ours[] = {l->host->procfs, l->console[1], l->start_fd, l->init_exe, l->status_write,
			    l->stdio[0], l->stdio[1], l->stdio[2], l->listener.pair[1], l->handler};
	const size_t n_ours = sizeof(ours) / sizeof(ours[0]);
	const struct rootfs_plan *r = l->plan->rootfs;
	unsigned preserved = l->plan->options.preserve_fds;
	struct fd_list fds = {.n = 0};

	fds.v = arena_array(l->arena, n_ours + preserved + r->n_mounts + r->n_devices + 3, sizeof(int));
	for (size_t i = 0; i < n_ours; i++)
		add_fd(&fds, ours[i]);
	for (unsigned i = 0; i < preserved; i++)
		add_fd(&fds, (int)(3 + i));
	add_source_fds(&fds, r);
	return fds;
}

/*
 * INIT that was made by a joining process is undumpable, so its /proc/self belongs to the host's root
 * and is closed to it: it inherits the OOM score instead. Raising and taking back needs no privilege.
 */
static int spawn_with_oom_score(struct rt_launch *l, const struct ns_spawn *s, struct err *e)
{
	const struct opt_i32 *score = &l->plan->security->oom_score_adj;
	char before[16];
	struct err ignored = {0};
	int r;

	if (!l->plan->n_joins || !score->set)
		return ns_spawn(s, &l->channel.child, e);
	r = (int)procfs_read(l->host->procfs, "self/oom_score_adj", before, sizeof(before), e);
	if (r >= 0)
		r = sec_set_oom_score_adj(l->plan->security, l->host->procfs, e);
	if (r < 0)
		return r;
	r = ns_spawn(s, &l->channel.child, e);
	procfs_write(l->host->procfs, "self/oom_score_adj", before, &ignored);
	return r;
}

/* INIT and the parent tell each other through memory how far lo is. */
static bool can_join_net(const struct plan *p)
{
	return (p->new_ns & (CLONE_NEWNET | CLONE_NEWUSER)) == CLONE_NEWNET && rt_launch_shares_memory(p);
}

/* Who connects the network from our side looks for it at INIT before INIT's first row. Nothing is begun that
 * may not be taken: it would count in user.max_net_namespaces until it is gone, which takes a while. */
void rt_launch_begin_net(struct rt_launch *l, const struct oci_spec *s)
{
	const struct oci_namespace_list *list = s->linux_ ? &s->linux_->namespaces : NULL;
	bool wanted = false;

	for (size_t i = 0; list && i < list->n; i++) {
		if (list->v[i].path || str_eq(list->v[i].type, "user"))
			return;
		wanted |= str_eq(list->v[i].type, "network");
	}
	if (wanted && !s->linux_->net_devices.n && !l->net && !l->network && geteuid() == 0)
		ns_net_ahead_begin(&l->net_ahead, s->hooks && s->hooks->create_container.n);
}

static void take_net(struct rt_launch *l)
{
	l->netns = ns_net_ahead_take(&l->net_ahead, &l->lo_socket);
	if (!can_join_net(l->plan)) {
		cleanup_close(&l->netns);
		cleanup_close(&l->lo_socket);
	}
}

void rt_launch_drop_net(struct rt_launch *l)
{
	auto_close int fd = -1, socket = -1;

	fd = ns_net_ahead_take(&l->net_ahead, &socket);
	cleanup_close(&l->netns);
	cleanup_close(&l->lo_socket);
}

/* Not for hooks that INIT runs: those come before it waits for us. */
bool row_lo_beside(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->lo_socket >= 0;
}

/* The socket stays open: its number says who does it. */
int row_set_lo_up(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int r = ns_net_ahead_lo_up(l->lo_socket);

	if (r < 0)
		return err_set(e, -r, "set lo up: %s", err_name(-r));
	done_beside(l);
	return 0;
}

/* INIT may be at work already, so errno is left alone. */
static void raw_close_own(int *fd)
{
	if (*fd >= 0)
		raw_close(*fd);
	*fd = -1;
}

int row_spawn_init(void *ctx, struct err *e)
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
		.main = rt_launch_serve,
		.arg = l,
	};
	struct fd_list keep = {.n = 0};
	int r;

	if (p->n_joins)
		keep = kept_fds(l);
	s.keep_fds = keep.v;
	s.n_keep_fds = keep.n;
	memset(joins, -1, sizeof(joins));
	r = open_joins(p, joins, e);
	if (r == 0)
		r = steps_open(&l->channel, &s, e);
	l->channel.interrupt = l->interrupt;
	take_net(l); /* as late as can be */
	if (l->netns >= 0)
		s.new_ns &= ~(uint64_t)CLONE_NEWNET;
	if (r == 0)
		r = spawn_with_oom_score(l, &s, e);
	if (r == 0 && s.cgroup_fd >= 0 && !l->channel.child.in_cgroup) {
		ns_child_kill(&l->channel.child);
		r = err_set(e, ENOSYS, "clone3 cannot put a process into a cgroup: Linux 5.7 or newer is needed");
	}
	for (size_t i = 0; i < p->n_joins; i++)
		if (joins[i].fd >= 0)
			close(joins[i].fd);
	/* INIT has it (rootfs_plan.leaving) and lets it go before the container's own code can run: from
	 * then on nobody may have it (self.c). */
	raw_close_own(&l->exe_mount);
	l->made = r == 0;
	return r;
}

/* ---- PARENT: what only the host's side may do for INIT ---- */

bool row_new_userns(const void *ctx)
{
	return PLAN(ctx)->new_ns & CLONE_NEWUSER;
}

static struct ns_idmap *to_idmaps(struct arena *a, const struct oci_id_mapping_list *l)
{
	struct ns_idmap *m = arena_array(a, l->n + 1, sizeof(*m));

	for (size_t i = 0; i < l->n; i++)
		m[i] = (struct ns_idmap){l->v[i].container_id, l->v[i].host_id, l->v[i].size};
	return m;
}

int row_write_maps(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct plan *p = l->plan;
	struct ns_idmaps m = {
		.uids = to_idmaps(l->arena, &p->uid_maps), .n_uids = p->uid_maps.n,
		.gids = to_idmaps(l->arena, &p->gid_maps), .n_gids = p->gid_maps.n,
	};

	return ns_write_maps(l->host->procfs, l->channel.child.pid, &m, ns_idmap_mode(&m), e);
}

/* As it was when the cgroup was made: systemd's has a descriptor once the process is in it, and INIT asks
 * later than the parent. */
bool row_cgroup_by_pid(const void *ctx)
{
	const struct rt_launch *l = ctx;

	if (PLAN(ctx)->cgroup->driver == CG_DRIVER_NONE)
		return false;
	/* `brig plan` has no cgroup yet */
	if (!l->cgroup)
		return PLAN(ctx)->cgroup->kind == CG_V1 ||
		       PLAN(ctx)->cgroup->driver == CG_DRIVER_SYSTEMD;
	return l->cgroup_by_pid;
}

int row_attach_cgroup(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return cg_attach(l->cgroup, l->channel.child.pid, e);
}

/* Behind the cgroup namespace, which shows the whole of the container's cgroup. */
bool row_has_child_cgroup(const void *ctx)
{
	return PLAN(ctx)->cgroup->child != NULL;
}

int row_enter_child_cgroup(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return cg_enter_child(l->cgroup, l->plan->cgroup, l->channel.child.pid, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step table of exec, in the form of launch.c's. Rows of the parent in front of the spawn set
 * attributes of our own process that the new one inherits: its OOM score and LSM label need the
 * host's /proc, which must not be in its hands when it joins.
 */
#include "runtime/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "cgroups/resctrl.h"
#include "nsenter/ns.h"
#include "nsenter/signals.h"
#include "runtime/console.h"
#include "runtime/exec-cgroup.h"
#include "runtime/exec-join.h"
#include "runtime/payload.h"
#include "runtime/stdio.h"

#define EXEC(ctx) ((struct rt_exec *)(ctx))
#define SEC(ctx) (((const struct rt_exec *)(ctx))->security)

/* ---- PARENT, before the process is made ---- */

static int find_namespaces(void *ctx, struct err *e)
{
	return exec_find_namespaces(ctx, e);
}

static void undo_find_namespaces(void *ctx)
{
	cleanup_close(&EXEC(ctx)->time_ns);
}

static bool own_filter(const void *ctx)
{
	const struct rt_exec *x = ctx;

	return x->security->seccomp && !x->security->filter;
}

/* The program that the container's start has left in the cache. */
static int compile_filter(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	const struct oci_seccomp *s = x->security->seccomp;
	struct sec_filter *f;
	auto_close int cache = openat(x->container->state.root, ".seccomp",
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = sec_filter_cached(x->arena, cache, s, &f, e);

	if (r == 0)
		x->security->filter = f;
	return r;
}

static bool has_listener(const void *ctx)
{
	return listener_wanted(((const struct rt_exec *)ctx)->spec->linux_->seccomp);
}

static int connect_listener(void *ctx, struct err *e)
{
	return listener_connect(&EXEC(ctx)->listener, EXEC(ctx)->spec->linux_->seccomp, e);
}

static int send_listener(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	const struct rt_container *c = x->container;

	return listener_send(&x->listener, c->doc, rt_status_name(c->status), x->channel.child.pid, e);
}

static int find_cgroup(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;

	return exec_open_sub_cgroup(x->container, x->arena, x->sub_cgroups, &x->cgroup, e);
}

static bool has_sub_cgroup(const void *ctx)
{
	return ((const struct rt_exec *)ctx)->sub_cgroups->n > 0;
}

static bool has_terminal(const void *ctx)
{
	return ((const struct rt_exec *)ctx)->spec->process->terminal.v;
}

static int connect_console(void *ctx, struct err *e)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, EXEC(ctx)->console) < 0
		       ? err_sys(e, "make a socket pair") : 0;
}

static bool has_initial_affinity(const void *ctx)
{
	return SEC(ctx)->affinity_initial.v != NULL;
}

static int set_initial_affinity(void *ctx, struct err *e)
{
	return sec_set_affinity(&SEC(ctx)->affinity_initial, e);
}

static bool has_oom_score(const void *ctx)
{
	return SEC(ctx)->oom_score_adj.set;
}

/* Ours for a moment, and the new process's for good. */
static int set_oom_score(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	int procfs = x->container->procfs;

	if (procfs_read(procfs, "self/oom_score_adj", x->own_oom_score, sizeof(x->own_oom_score), e) < 0)
		return -e->code;
	return sec_set_oom_score_adj(x->security, procfs, e);
}

static int restore_oom_score(void *ctx, struct err *e)
{
	const struct rt_exec *x = ctx;
	struct err ignored = {0};
	(void)e;

	if (procfs_write(x->container->procfs, "self/oom_score_adj", x->own_oom_score, &ignored) < 0)
		log_debug("%s", ignored.msg); /* one that waits for its child may as well be killed */
	return 0;
}

static bool has_labels(const void *ctx)
{
	return SEC(ctx)->apparmor_profile || SEC(ctx)->selinux_label;
}

static int set_labels(void *ctx, struct err *e)
{
	const struct sec_plan *s = SEC(ctx);
	int procfs = EXEC(ctx)->container->procfs;

	if (s->selinux_label && *s->selinux_label && s->new_keyring &&
	    procfs_write(procfs, "self/attr/keycreate", s->selinux_label, e) < 0)
		return err_wrap(e, "label the session keyring");
	return sec_set_labels(s, procfs, e);
}

/* ---- the spawn ---- */

static const struct step_table table;

/* NULL: the container has none of its own. */
static struct cg *cgroup_of(const struct rt_exec *x)
{
	return x->cgroup ? x->cgroup : x->container->cgroup;
}

static void init_main(void *arg)
{
	struct rt_exec *x = arg;

	steps_serve(&table, x, &x->channel);
}

static int spawn_once(struct rt_exec *x, struct ns_spawn *s, struct err *e)
{
	const struct cg *cg = cgroup_of(x);

	s->cgroup_fd = cg ? cg_fd(cg) : -1;
	return ns_spawn(s, &x->channel.child, e);
}

/* Of cgroup v2, one with controllers for its children takes no process (EBUSY): where a container
 * has made it so (an init system does), it has moved itself into one of the children. */
static int spawn_beside_init(struct rt_exec *x, struct ns_spawn *s, struct err *e)
{
	int r = exec_open_init_cgroup(x->container, &x->cgroup, e);

	return r < 0 ? r : spawn_once(x, s, e);
}

static int spawn(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	struct ns_join joins[2] = {
		{.type = x->join, .fd = x->container->pidfd},
		{.type = CLONE_NEWTIME, .fd = x->time_ns},
	};
	struct ns_spawn s = {
		.joins = x->join ? joins : joins + 1,
		.n_joins = (x->join != 0) + (x->time_ns >= 0),
		.main = init_main,
		.arg = x,
	};
	int keep[64];
	int r;

	if (x->console[1] >= 0)
		keep[s.n_keep_fds++] = x->console[1];
	if (x->listener.pair[1] >= 0)
		keep[s.n_keep_fds++] = x->listener.pair[1];
	for (unsigned i = 0; i < x->preserve_fds && s.n_keep_fds < sizeof(keep) / sizeof(keep[0]); i++)
		keep[s.n_keep_fds++] = (int)(3 + i);
	s.keep_fds = keep;
	r = steps_open(&x->channel, &s, e);
	if (r < 0)
		return r;
	r = spawn_once(x, &s, e);
	if (r == -EBUSY && s.cgroup_fd >= 0 && !x->sub_cgroups->n)
		r = spawn_beside_init(x, &s, e);
	if (r == 0 && s.cgroup_fd >= 0 && !x->channel.child.in_cgroup) {
		ns_child_kill(&x->channel.child);
		return err_set(e, ENOSYS, "clone3 cannot put a process into a cgroup: Linux 5.7 or newer "
					  "is needed");
	}
	return r;
}

static bool cgroup_by_pid(const void *ctx)
{
	const struct cg *cg = cgroup_of(ctx);

	return cg && cg_fd(cg) < 0;
}

static int attach_cgroup(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;

	return cg_attach(cgroup_of(x), x->channel.child.pid, e);
}

static bool has_resctrl(const void *ctx)
{
	return ((const struct rt_exec *)ctx)->spec->linux_->intel_rdt != NULL;
}

static int enter_resctrl(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	const char *root = resctrl_mount(x->arena, x->container->procfs, e);
	struct resctrl group;

	if (!root)
		return -e->code;
	resctrl_plan(x->arena, root, x->spec->linux_->intel_rdt, x->container->state.id, &group);
	return resctrl_attach(&group, x->channel.child.pid, e);
}

static bool limits_by_parent(const void *ctx)
{
	return ((const struct rt_exec *)ctx)->limits_by_parent && SEC(ctx)->rlimits.n;
}

/* Hard limits go up only with a capability of the initial user namespace. */
static int set_limits(void *ctx, struct err *e)
{
	return sec_set_rlimits(SEC(ctx), EXEC(ctx)->channel.child.pid, e);
}

/* ---- INIT ---- */

static bool becomes_root(const void *ctx)
{
	const struct rt_exec *x = ctx;

	return x->join & CLONE_NEWUSER && x->zero_is_mapped;
}

static int become_root(void *ctx, struct err *e)
{
	(void)ctx;
	return EXEC(ctx)->security->keep_groups ? ns_become_root_with_groups(false, e)
						 : ns_become_root(false, e);
}

static int new_session(void *ctx, struct err *e)
{
	(void)ctx; /* CVE-2017-5226: no way to the caller's terminal */
	return setsid() < 0 ? err_sys(e, "setsid") : 0;
}

static bool new_keyring(const void *ctx)
{
	return SEC(ctx)->new_keyring;
}

static int join_keyring(void *ctx, struct err *e)
{
	struct sec_plan unlabelled = *SEC(ctx); /* the label is inherited from us */

	unlabelled.selinux_label = NULL;
	return sec_new_keyring(&unlabelled, -1, e);
}

static int set_process(void *ctx, struct err *e)
{
	const struct sec_plan *s = SEC(ctx);
	int r = limits_by_parent(ctx) ? 0 : sec_set_rlimits(s, 0, e);

	if (r == 0)
		r = sec_set_affinity(&s->affinity_final, e);
	if (r == 0)
		r = sec_set_scheduling(s, e);
	if (r == 0)
		r = sec_set_personality(s, e);
	return r < 0 ? r : sec_set_umask(s, e);
}

static int open_console(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	const struct oci_process *p = x->spec->process;
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), master = -1;
	int r;

	if (root < 0)
		return err_sys(e, "open the root of the container");
	x->console_peer = console_make(root, p->console_size, p->user.uid, &master, e);
	if (x->console_peer < 0)
		return x->console_peer;
	r = console_send(x->console[1], master, "/dev/ptmx", e);
	if (r < 0)
		return r;
	return ioctl(x->console_peer, TIOCSCTTY, 0) < 0
		       ? err_sys(e, "make the pty the controlling terminal") : 0;
}

/* No link of /proc leads anywhere, and what we are in afterwards lies in the container
 * (CVE-2024-21626); a missing directory is an error, for the tree is not ours to change. */
static int go_to_cwd(void *ctx, struct err *e)
{
	const char *cwd = EXEC(ctx)->spec->process->cwd;
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char buf[PATH_MAX];

	if (root < 0)
		return err_sys(e, "open the root of the container");
	fd = path_open_in_root(root, cwd, O_PATH | O_DIRECTORY, e);
	if (fd < 0)
		return err_wrap(e, "chdir to the cwd");
	if (fchdir(fd) < 0)
		return err_sys(e, "chdir to %s", cwd);
	if (syscall(SYS_getcwd, buf, sizeof(buf)) < 0)
		return err_sys(e, "check the cwd %s", cwd);
	if (*buf != '/')
		return err_set(e, EXDEV, "the cwd %s leads out of the container", cwd);
	return 0;
}

static bool find_home(const void *ctx)
{
	return ((const struct rt_exec *)ctx)->find_home;
}

static int set_home(void *ctx, struct err *e)
{
	struct rt_exec *x = ctx;
	(void)e;

	payload_home(x->security->uid, x->home, sizeof(x->home));
	x->envp[x->n_env] = x->home;
	return 0;
}

static int set_descriptors(void *ctx, struct err *e)
{
	const struct rt_exec *x = ctx;

	if (x->console_peer < 0 && stdio_own((int[]){-1, -1, -1}, x->security->uid, e) < 0)
		return -e->code;
	for (int i = 0; i < 3 && x->console_peer >= 0; i++)
		if (dup2(x->console_peer, i) < 0)
			return err_sys(e, "dup2 to %d", i);
	stdio_use_own_null();
	if (sys_close_range(3 + x->preserve_fds, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_sys(e, "close_range");
	return 0;
}

static bool filter_first(const void *ctx)
{
	return sec_filter_first(SEC(ctx));
}

static bool filter_last(const void *ctx)
{
	return SEC(ctx)->filter && !filter_first(ctx);
}

static int install_filter(void *ctx, struct err *e)
{
	int none;

	if (has_listener(ctx))
		return listener_install(&EXEC(ctx)->listener, SEC(ctx), e);
	return sec_install_filter(SEC(ctx), &none, e);
}

static bool listener_first(const void *ctx)
{
	return has_listener(ctx) && filter_first(ctx);
}

static bool listener_last(const void *ctx)
{
	return has_listener(ctx) && filter_last(ctx);
}

static int set_ids(void *ctx, struct err *e)
{
	return sec_set_ids(SEC(ctx), e);
}

static int set_caps(void *ctx, struct err *e)
{
	return sec_set_caps(SEC(ctx), e);
}

static bool no_new_privs(const void *ctx)
{
	return SEC(ctx)->no_new_privs;
}

static int set_no_new_privs(void *ctx, struct err *e)
{
	return sec_set_no_new_privs(SEC(ctx), e);
}

static int exec_program(void *ctx, struct err *e)
{
	return payload_exec(EXEC(ctx)->argv, EXEC(ctx)->envp, e);
}

/* The process that joined cannot: the pipes' owner does not exist in its user namespace. */
static bool streams_change_owner(const void *ctx)
{
	const struct oci_linux *l = EXEC(ctx)->spec->linux_;

	return EXEC(ctx)->console[0] < 0 && l && l->uid_mappings.n;
}

static int own_streams(void *ctx, struct err *e)
{
	const struct rt_exec *x = ctx;
	uid_t uid;

	if (!stdio_host_uid(&x->spec->linux_->uid_mappings, x->security->uid, &uid))
		return 0;
	return stdio_own((int[]){-1, -1, -1}, uid, e);
}

static const struct step rows[] = {
	{"find the namespaces", STEP_PARENT, NULL, find_namespaces, undo_find_namespaces},
	{"give the streams to the program", STEP_PARENT, streams_change_owner, own_streams, NULL},
	{"compile the seccomp filter", STEP_PARENT, own_filter, compile_filter, NULL},
	{"connect to the seccomp agent", STEP_PARENT, has_listener, connect_listener, NULL},
	{"open the cgroup", STEP_PARENT, has_sub_cgroup, find_cgroup, NULL},
	{"make the console", STEP_PARENT, has_terminal, connect_console, NULL},
	{"set the CPU affinity", STEP_PARENT, has_initial_affinity, set_initial_affinity, NULL},
	{"set the LSM label", STEP_PARENT, has_labels, set_labels, NULL},
	{"set the OOM score", STEP_PARENT, has_oom_score, set_oom_score, NULL},
	{"join the container", STEP_SPAWN, NULL, spawn, NULL},
	{"restore the OOM score", STEP_PARENT, has_oom_score, restore_oom_score, NULL},
	{"enter the cgroup", STEP_PARENT, cgroup_by_pid, attach_cgroup, NULL},
	{"enter the resctrl group", STEP_PARENT, has_resctrl, enter_resctrl, NULL},
	{"set the limits", STEP_PARENT, limits_by_parent, set_limits, NULL},

	{"become root in the user namespace", STEP_INIT, becomes_root, become_root, NULL},
	{"make a session", STEP_INIT, NULL, new_session, NULL},
	{"join a new keyring", STEP_INIT, new_keyring, join_keyring, NULL},
	{"set the process attributes", STEP_INIT, NULL, set_process, NULL},
	{"open the console", STEP_INIT, has_terminal, open_console, NULL},
	{"go to the working directory", STEP_INIT, NULL, go_to_cwd, NULL},
	{"find the home directory", STEP_INIT, find_home, set_home, NULL},
	{"set the descriptors", STEP_INIT, NULL, set_descriptors, NULL},
	{"install the seccomp filter", STEP_INIT, filter_first, install_filter, NULL},
	{"send the seccomp listener", STEP_PARENT, listener_first, send_listener, NULL},
	{"set the ids", STEP_INIT, NULL, set_ids, NULL},
	{"set the capabilities", STEP_INIT, NULL, set_caps, NULL},
	{"set no-new-privileges", STEP_INIT, no_new_privs, set_no_new_privs, NULL},
	{"install the seccomp filter", STEP_INIT, filter_last, install_filter, NULL},
	{"send the seccomp listener", STEP_PARENT, listener_last, send_listener, NULL},
	{"start the program", STEP_INIT, NULL, exec_program, NULL},
};

static const struct step_table table = {rows, sizeof(rows) / sizeof(rows[0]), NULL};

/* Later entries win, as a program that was started by runc would see it. */
static void plan_environment(struct rt_exec *x)
{
	const struct strv *env = &x->spec->process->env;

	x->envp = arena_array(x->arena, env->n + 2, sizeof(char *)); /* room for HOME and NULL */
	x->find_home = true;
	for (size_t i = 0; i < env->n; i++) {
		size_t key = strcspn(env->v[i], "="), at = 0;

		if (!env->v[i][key]) /* never filled from our own environment */
			continue;
		while (at < x->n_env && strncmp(x->envp[at], env->v[i], key + 1) != 0)
			at++;
		x->envp[at] = env->v[i];
		x->n_env += at == x->n_env;
		x->find_home &= !str_starts(env->v[i], "HOME=");
	}
}

static int plan_security(struct rt_exec *x, struct err *e)
{
	struct sec_host host;
	struct sec_options so = {.spec = x->spec, .host = &host, .new_keyring = x->new_keyring};
	int r = sec_host_probe(&host, e);

	if (r == 0)
		r = exec_userns_facts(x, &so, e);
	if (r == 0)
		r = sec_plan_build(x->arena, &so, &x->security, e);
	if (r == 0 && x->container_seccomp && !x->spec->linux_->seccomp)
		x->security->filter = sec_filter_container(x->arena, x->security->caps.bounding);
	x->limits_by_parent = so.new_userns && (host.cap_permitted >> CAP_SYS_RESOURCE & 1);
	return r;
}

/* It came from a process that others can see: a descriptor that is no terminal goes no further. */
static int take_console(struct rt_exec *x, struct err *e)
{
	if (x->console[0] < 0)
		return 0;
	x->console_master = console_receive(x->console[0], e);
	if (x->console_master >= 0 && !isatty(x->console_master))
		return err_set(e, EPROTO, "receive the console: it is not a terminal");
	return x->console_master < 0 ? x->console_master : 0;
}

void rt_exec_kill(struct rt_exec *x)
{
	struct ns_exit how;
	struct err ignored = {0};

	sys_pidfd_send_signal(x->pidfd, SIGKILL);
	ns_reap(x->pidfd, &how, NULL, &ignored);
}

int rt_exec(struct rt_exec *x, struct err *e)
{
	int r = plan_security(x, e);

	if (r < 0)
		return r;
	plan_environment(x);
	x->argv = x->spec->process->args.v;
	if (x->globals->trace_steps)
		steps_trace(STDERR_FILENO);
	r = steps_run(&table, x, &x->channel, e);
	if (r == 0) {
		x->pid = x->channel.child.pid;
		x->pidfd = take_fd(&x->channel.child.pidfd);
		r = take_console(x, e);
		if (r < 0)
			rt_exec_kill(x);
	}
	steps_close(&x->channel);
	cleanup_close(&x->time_ns);
	cleanup_close(&x->console[0]);
	cleanup_close(&x->console[1]);
	listener_close(&x->listener);
	return r;
}

void rt_exec_close(struct rt_exec *x)
{
	cg_close(x->cgroup);
	x->cgroup = NULL;
	cleanup_close(&x->pidfd);
	cleanup_close(&x->console_master);
}

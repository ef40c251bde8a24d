/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of INIT. It may share the parent's memory: see nsenter/steps.h for what that forbids. */
#include "runtime/launch-rows.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/raw.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/ns.h"
#include "nsenter/timens.h"
#include "runtime/console.h"
#include "runtime/handler.h"
#include "runtime/payload.h"
#include "runtime/stdio.h"
#include "runtime/sysctl.h"
#include "runtime/tinyinit.h"

static bool makes(const void *ctx, uint64_t ns)
{
	return PLAN(ctx)->new_ns & ns;
}

/* ---- namespaces ---- */

bool row_zero_is_mapped(const void *ctx)
{
	const struct plan *p = PLAN(ctx);

	for (size_t i = 0; i < p->uid_maps.n; i++)
		if (p->uid_maps.v[i].container_id == 0)
			return makes(ctx, CLONE_NEWUSER);
	return (plan_joined(p) & CLONE_NEWUSER) != 0;
}

/* Of a joined one nobody knows before: the plan asks nothing, and a path tells of no process in it. */
static int look_at_groups(void *ctx, struct err *e)
{
	char word[16];
	ssize_t r = procfs_read(LAUNCH(ctx)->host->procfs, "self/setgroups", word, sizeof(word), e);

	if (r < 0)
		return (int)r;
	return str_eq(word, "deny") ? sec_deny_groups(PLAN(ctx)->security, e) : 0;
}

int row_become_root(void *ctx, struct err *e)
{
	bool dumpable = PLAN(ctx)->n_joins == 0;

	if (plan_joined(PLAN(ctx)) & CLONE_NEWUSER && look_at_groups(ctx, e) < 0)
		return -e->code;
	return PLAN(ctx)->security->keep_groups ? ns_become_root_with_groups(dumpable, e)
						: ns_become_root(dumpable, e);
}

int row_new_session(void *ctx, struct err *e)
{
	(void)ctx; /* CVE-2017-5226: no way to the caller's terminal */
	return setsid() < 0 && errno != EPERM ? err_sys(e, "setsid") : 0;
}

bool row_new_keyring(const void *ctx)
{
	return PLAN(ctx)->security->new_keyring;
}

int row_join_keyring(void *ctx, struct err *e)
{
	return sec_new_keyring(PLAN(ctx)->security, LAUNCH(ctx)->host->procfs, e);
}

bool row_new_cgroupns(const void *ctx)
{
	return makes(ctx, CLONE_NEWCGROUP);
}

int row_make_cgroupns(void *ctx, struct err *e)
{
	(void)ctx;
	return unshare(CLONE_NEWCGROUP) < 0 ? err_sys(e, "unshare") : 0;
}

bool row_new_timens(const void *ctx)
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

int row_make_timens(void *ctx, struct err *e)
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

bool row_net_was_made(const void *ctx)
{
	return LAUNCH(ctx)->netns >= 0;
}

int row_join_net(void *ctx, struct err *e)
{
	const struct rt_launch *l = ctx;

	if (setns(l->netns, CLONE_NEWNET) < 0)
		return err_sys(e, "join it");
	/* ours; the parent has its own, under the same numbers */
	close(l->netns);
	if (l->lo_socket >= 0)
		close(l->lo_socket);
	return 0;
}

bool row_lo_is_down(const void *ctx)
{
	return makes(ctx, CLONE_NEWNET) && !row_net_was_made(ctx);
}

int row_loopback_up(void *ctx, struct err *e)
{
	(void)ctx;
	return ns_loopback_up(e);
}

bool row_has_names(const void *ctx)
{
	return PLAN(ctx)->hostname || PLAN(ctx)->domainname;
}

static int name_refused(const char *call, struct err *e)
{
	int code = errno;
	char hint[256];

	if (ns_userns_hint(code, hint, sizeof(hint)))
		return err_set(e, code, "%s: %s", call, hint);
	if (ns_filter_hint(code))
		return err_set(e, code, "%s: %s: %s", call, err_name(code), ns_filter_hint(code));
	return err_set(e, code, "%s: %s", call, err_name(code));
}

int row_set_names(void *ctx, struct err *e)
{
	const char *host = PLAN(ctx)->hostname, *domain = PLAN(ctx)->domainname;

	if (host && sethostname(host, strlen(host)) < 0) {
		if (!PLAN(ctx)->options.hostname_optional || !PLAN(ctx)->share_vm || !ns_filter_hint(errno))
			return name_refused("sethostname", e);
		LAUNCH(ctx)->no_hostname = true;
	}
	if (domain && setdomainname(domain, strlen(domain)) < 0)
		return name_refused("setdomainname", e);
	return 0;
}

bool row_has_sysctl(const void *ctx)
{
	return PLAN(ctx)->spec->linux_->sysctl.n > 0;
}

int row_set_sysctl(void *ctx, struct err *e)
{
	return sysctl_apply(&PLAN(ctx)->spec->linux_->sysctl, LAUNCH(ctx)->host->procfs, e);
}

/* ---- file system ---- */

#define ROOTFS_ROW(name)                                              \
	int row_##name(void *ctx, struct err *e)               \
	{                                                             \
		return rootfs_##name(PLAN(ctx)->rootfs, e);           \
	}
ROOTFS_ROW(prepare)
ROOTFS_ROW(mount)
ROOTFS_ROW(devices)
ROOTFS_ROW(pivot)
ROOTFS_ROW(finish)

int row_go_to_cwd(void *ctx, struct err *e)
{
	return rootfs_chdir(PLAN(ctx)->rootfs, PLAN(ctx)->cwd, e);
}

int row_open_console(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct oci_process *p = l->plan->spec->process;

	l->console_peer = console_open(l->plan->rootfs, p->console_size, p->user.uid, l->console[1], e);
	return l->console_peer < 0 ? l->console_peer : 0;
}

/* ---- the process ---- */

bool row_has_oom_score(const void *ctx)
{
	return PLAN(ctx)->security->oom_score_adj.set && !PLAN(ctx)->n_joins; /* see row_spawn_init */
}

int row_set_oom_score(void *ctx, struct err *e)
{
	return sec_set_oom_score_adj(PLAN(ctx)->security, LAUNCH(ctx)->host->procfs, e);
}

bool row_has_core_scheduling(const void *ctx)
{
	return PLAN(ctx)->options.core_scheduling;
}

int row_core_scheduling(void *ctx, struct err *e)
{
	(void)ctx;
	return sec_core_scheduling(e);
}

int row_set_process(void *ctx, struct err *e)
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

bool row_has_beside(const void *ctx)
{
	return row_devices_beside(ctx) || row_lo_beside(ctx);
}

/* Before anything foreign runs. Wakes up now and then to see whether the parent is still there. */
int row_wait_for_beside(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	uint32_t all = (uint32_t)row_devices_beside(ctx) + (uint32_t)row_lo_beside(ctx), done;
	struct timespec patience = {.tv_nsec = 100000000};

	while ((done = __atomic_load_n(&l->beside_done, __ATOMIC_ACQUIRE)) < all) {
		struct pollfd p = {.fd = l->channel.init};
		struct timespec now = {0};

		raw_call(SYS_futex, (long)&l->beside_done, FUTEX_WAIT, (long)done, (long)&patience);
		if (raw_call(SYS_ppoll, (long)&p, 1, (long)&now, 0, 8) > 0)
			return err_set(e, ECHILD, "the parent is gone");
	}
	return 0;
}

bool row_has_wall(const void *ctx)
{
	return PLAN(ctx)->wall;
}

int row_build_wall(void *ctx, struct err *e)
{
	int r = sec_set_landlock(PLAN(ctx)->wall, e);

	return r < 0 ? r : 0; /* a kernel without Landlock has one wall */
}

bool row_find_home(const void *ctx)
{
	return PLAN(ctx)->find_home;
}

int row_set_home(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	(void)e;

	payload_home(l->plan->security->uid, l->home, sizeof(l->home));
	l->plan->envp[l->plan->n_env] = l->home;
	return 0;
}

bool row_has_listen_fds(const void *ctx)
{
	return PLAN(ctx)->options.listen_fds > 0;
}

/* As we see ourselves: 1 in a pid namespace of our own. */
int row_set_listen_pid(void *ctx, struct err *e)
{
	char *entry = PLAN(ctx)->options.listen_pid;
	(void)e;

	snprintf(entry, strlen(entry) + 1, "LISTEN_PID=%d", (int)getpid());
	return 0;
}

/* stdin, stdout and stderr; everything else is closed by the exec. */
int row_set_descriptors(void *ctx, struct err *e)
{
	const struct rt_launch *l = ctx;

	if (l->console_peer < 0 && !l->host->privileged && stdio_own(l->stdio, l->plan->security->uid, e) < 0)
		return -e->code;
	for (int i = 0; i < 3; i++) {
		int fd = l->console_peer >= 0 ? l->console_peer : l->stdio[i];

		if (fd >= 0 && dup2(fd, i) < 0)
			return err_sys(e, "dup2 to %d", i);
	}
	stdio_use_own_null();
	if (sys_close_range(3 + l->plan->options.preserve_fds, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_sys(e, "close_range");
	return 0;
}

bool row_filter_first(const void *ctx)
{
	return sec_filter_first(PLAN(ctx)->security);
}

static bool filter_last(const void *ctx)
{
	return PLAN(ctx)->security->filter && !row_filter_first(ctx);
}

int row_install_filter(void *ctx, struct err *e)
{
	int none;

	if (row_has_listener(ctx))
		return listener_install(&LAUNCH(ctx)->listener, PLAN(ctx)->security, e);
	return sec_install_filter(PLAN(ctx)->security, &none, e);
}

/*
 * With the tiny init the hostile payload sees INIT, which then gets its uid, soon has no more
 * capabilities than it, and shares memory with our parent on the host. So that memory is made
 * undumpable, by the payload before its exec and by INIT again: nobody can attach to it, or reach the
 * executable and the descriptors by /proc/1. Behind the change of the uid, which resets it to the
 * sysctl fs.suid_dumpable, and need not be one (a single mapped id). The exec of the tiny init must
 * not undo it: see tinyinit.c.
 */
int row_set_ids(void *ctx, struct err *e)
{
	int r = sec_set_ids(PLAN(ctx)->security, e);

	if (r == 0 && row_has_tiny_init(ctx) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "make the memory undumpable");
	return r;
}

int row_set_caps(void *ctx, struct err *e)
{
	return sec_set_caps(PLAN(ctx)->security, e);
}

bool row_die_with_parent(const void *ctx)
{
	return PLAN(ctx)->options.die_with_parent;
}

int row_set_die_with_parent(void *ctx, struct err *e)
{
	return ns_die_with_parent(LAUNCH(ctx)->channel.init, e);
}

bool row_no_new_privs(const void *ctx)
{
	return PLAN(ctx)->security->no_new_privs;
}

int row_set_no_new_privs(void *ctx, struct err *e)
{
	return sec_set_no_new_privs(PLAN(ctx)->security, e);
}

/* What the payload does on its own credentials before its exec, with the tiny init above it. */
static int payload_main(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	int r = row_filter_first(ctx) ? row_install_filter(ctx, e) : 0;

	if (r == 0)
		r = row_set_ids(ctx, e);
	if (r == 0)
		r = row_set_caps(ctx, e);
	if (r == 0 && row_no_new_privs(ctx))
		r = row_set_no_new_privs(ctx, e);
	if (r == 0 && filter_last(ctx))
		r = row_install_filter(ctx, e);
	return r < 0 ? r : payload_exec(l->plan->argv, l->plan->envp, e);
}

int row_start_payload(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	/* What it becomes soon; the payload may look before. */
	prctl(PR_SET_NAME, "brig-init");
	return payload_spawn(payload_main, ctx, &l->payload, e);
}

int row_exec_tiny_init(void *ctx, struct err *e)
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

/* What a handler runs is its matter. */
bool row_finds_program(const void *ctx)
{
	return row_is_create(ctx) && !PLAN(ctx)->handler;
}

int row_find_program(void *ctx, struct err *e)
{
	return payload_find(PLAN(ctx)->argv, PLAN(ctx)->envp, e);
}

int row_wait_for_start(void *ctx, struct err *e)
{
	char c;

	while (read(LAUNCH(ctx)->start_fd, &c, 1) < 0)
		if (errno != EINTR)
			return err_sys(e, "read the fifo `start`");
	return 0;
}

/* It is open in us for reading, so a reader that is gone is no SIGPIPE, and there is room for it. */
void rt_launch_alone_failed(void *launch, const struct err *e)
{
	raw_call(SYS_write, LAUNCH(launch)->start_fd, (long)e, sizeof(*e));
}

bool row_start_hooks_after_start(const void *ctx)
{
	return row_is_create(ctx) && row_has_start_container(ctx);
}

bool row_start_hooks_at_once(const void *ctx)
{
	return !row_is_create(ctx) && row_has_start_container(ctx);
}

bool row_poststart_at_once(const void *ctx)
{
	return !row_is_create(ctx) && row_has_poststart(ctx);
}

bool row_is_direct(const void *ctx)
{
	return !row_is_create(ctx) && !row_has_tiny_init(ctx);
}

/* Behind the start and its hooks, but for a listener: who sends it is gone by then. */
bool row_filter_after_start(const void *ctx)
{
	return row_is_create(ctx) && filter_last(ctx) && !row_has_listener(ctx);
}

bool row_filter_at_once(const void *ctx)
{
	return filter_last(ctx) && !row_filter_after_start(ctx);
}

int row_exec_program(void *ctx, struct err *e)
{
	const struct plan *p = PLAN(ctx);

	return p->handler ? handler_exec(LAUNCH(ctx)->handler, p->argv, p->envp, e)
			  : payload_exec(p->argv, p->envp, e);
}

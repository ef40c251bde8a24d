/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain case of making INIT: nothing is joined, one clone3. From the clone on, until ns_spawn
 * returns to the driver that blocks, errno is not touched (INIT may already run and share it):
 * only raw calls below that line.
 */
#include "nsenter/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "nsenter/clone.h"
#include "nsenter/join.h"
#include "nsenter/ns.h"
#include "base/raw.h"
#include "nsenter/spawn_error.h"
#include "nsenter/timens.h"

#define ALL_NS                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |            \
	 CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWTIME)

bool ns_shares_vm(const struct ns_spawn *s)
{
	if (!s->share_vm || s->n_joins > 0 || !clone_can_share_vm())
		return false;
	return !(s->new_ns & CLONE_NEWTIME) || ns_exec_enters_time();
}

static int check(const struct ns_spawn *s, struct err *e)
{
	uint64_t seen = s->new_ns;

	if (s->new_ns & ~(uint64_t)ALL_NS)
		return err_set(e, EINVAL, "make process: flags that are no namespace types");
	for (size_t i = 0; i < s->n_joins; i++) {
		uint64_t type = s->joins[i].type;

		if (!type || type & ~(uint64_t)ALL_NS || s->joins[i].fd < 0)
			return err_set(e, EINVAL, "join namespaces: not a namespace");
		if (type & seen)
			return err_set(e, EINVAL, "join namespaces: the %s namespace is given twice "
						  "(joined, or made and joined)",
				       ns_name(type & seen) ? ns_name(type & seen) : "same");
		seen |= type;
	}
	return 0;
}

/* The kernel has no way to make a process in this cgroup, but one can be moved there. */
static bool cgroup_is_the_reason(long r)
{
	return r == -EOPNOTSUPP || r == -ENOSYS;
}

static int spawn_plain(const struct ns_spawn *s, struct ns_child *ret_child, struct err *e)
{
	const struct clone_start start = {.main = s->main, .arg = s->arg};
	struct clone_stack stack = {0};
	int pidfd = -1, r = ns_shares_vm(s) ? clone_stack_map(&stack) : 0;
	struct clone_args a, tmpl = {
		.flags = CLONE_PIDFD | (s->new_ns & ~(uint64_t)CLONE_NEWTIME),
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	bool in_cgroup = s->cgroup_fd >= 0;
	long pid;

	if (r < 0)
		return err_set(e, -r, "make process: stack: %s", err_name(-r));
	a = tmpl;
	if (in_cgroup) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)s->cgroup_fd;
	}
	pid = clone_process(&a, &start, &stack);
	if (in_cgroup && cgroup_is_the_reason(pid)) {
		in_cgroup = false;
		a = tmpl;
		pid = clone_process(&a, &start, &stack);
	}
	if (pid < 0) {
		clone_stack_unmap(&stack);
		return spawn_error((int)-pid, s, e);
	}
	*ret_child = (struct ns_child){.pid = (pid_t)pid, .pidfd = pidfd, .in_cgroup = in_cgroup,
				       .stack = stack.base, .stack_len = stack.len};
	return 0;
}

int ns_spawn(const struct ns_spawn *s, struct ns_child *ret_child, struct err *e)
{
	int r = check(s, e);

	if (r < 0)
		return r;
	return s->n_joins > 0 ? join_and_spawn(s, ret_child, e) : spawn_plain(s, ret_child, e);
}

void ns_child_release(struct ns_child *c)
{
	clone_stack_unmap(&(struct clone_stack){.base = c->stack, .len = c->stack_len});
	if (c->pidfd >= 0)
		raw_close(c->pidfd);
	*c = (struct ns_child)NS_CHILD_NONE;
}

void ns_child_kill(struct ns_child *c)
{
	siginfo_t si;

	if (c->pidfd >= 0) {
		/* By pid: it is ours and unreaped, and an outer filter may lack pidfd_send_signal. */
		raw_call(SYS_kill, c->pid, SIGKILL);
		while (raw_call(SYS_waitid, P_PIDFD, c->pidfd, (long)&si, WEXITED) == -EINTR)
			;
	}
	ns_child_release(c);
}

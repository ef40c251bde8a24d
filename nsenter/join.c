/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining namespaces that others may already live in. STAGE1 is a copy of the caller (no shared
 * memory) that first makes itself safe to be seen from inside: undumpable, so that nobody in there
 * can ptrace it or open its /proc/PID/exe and fds (CVE-2016-9962, CVE-2019-5736), and without any
 * descriptor but those it was told to keep. Then it joins, and clones INIT with CLONE_PARENT.
 *
 * Order: first everything but the user namespace, with the rights of the caller, because a
 * namespace may belong to the host's user namespace; then the user namespace; then what was refused
 * at first, with the rights that the user namespace gives (the whole of it, for an unprivileged
 * caller). A new user namespace comes last of all, with INIT's clone.
 *
 * STAGE1 stays in the caller's own pid namespace (setns concerns children only), so the pid that
 * clone returns there is the caller's view of INIT. INIT is the caller's child and unreaped, so
 * pidfd_open of that pid cannot hit another process.
 */
#include "nsenter/join.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "nsenter/clone.h"
#include "nsenter/ns.h"
#include "base/raw.h"
#include "nsenter/signals.h"
#include "nsenter/spawn_error.h"

enum { MAX_JOINS = 16, MAX_KEEP = 512 };

/* STAGE1's only message. */
struct report {
	pid_t pid;
	struct err err;
};

struct stage1 {
	const struct ns_spawn *s;
	int report; /* write end */
	bool done[MAX_JOINS];
};

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Closes all but 0-2, what is joined or kept, and the report. */
static int close_foreign(const struct stage1 *st, struct err *e)
{
	int keep[MAX_JOINS + MAX_KEEP + 2];
	unsigned from = 3;
	size_t n = 0;

	for (size_t i = 0; i < st->s->n_joins; i++)
		keep[n++] = st->s->joins[i].fd;
	for (size_t i = 0; i < st->s->n_keep_fds; i++)
		keep[n++] = st->s->keep_fds[i];
	keep[n++] = st->report;
	keep[n++] = st->s->channel_fd;
	qsort(keep, n, sizeof(keep[0]), by_number);
	for (size_t i = 0; i < n; i++) {
		unsigned fd = (unsigned)keep[i];

		if (keep[i] < 3)
			continue;
		if (fd > from && sys_close_range(from, fd - 1, 0) < 0)
			return err_sys(e, "close descriptors before joining");
		from = fd >= from ? fd + 1 : from;
	}
	if (sys_close_range(from, ~0U, 0) < 0)
		return err_sys(e, "close descriptors before joining");
	return 0;
}

static int join_error(const struct ns_join *j, struct err *e)
{
	const char *name = ns_name(j->type), *path = j->path ? j->path : "";
	const char *why = "";

	if (errno == EPERM)
		why = " (needs CAP_SYS_ADMIN in the user namespace that owns it)";
	else if (errno == ESRCH)
		why = " (its process has ended)";
	return err_set(e, errno, "join %s namespace%s%s: %s%s", name ? name : "the container's",
		       *path ? " " : "", path, err_name(errno), why);
}

/* One round over the joins that are left. EPERM is left for a later round when there is one. */
static int join_round(struct stage1 *st, bool user, bool last, struct err *e)
{
	for (size_t i = 0; i < st->s->n_joins; i++) {
		const struct ns_join *j = &st->s->joins[i];

		if (st->done[i] || !!(j->type & CLONE_NEWUSER) != user)
			continue;
		if (setns(j->fd, (int)j->type) == 0)
			st->done[i] = true;
		else if (errno != EPERM || last)
			return join_error(j, e);
	}
	return 0;
}

static int join_all(struct stage1 *st, struct err *e)
{
	bool has_user = false;
	int r;

	for (size_t i = 0; i < st->s->n_joins; i++)
		has_user |= !st->done[i] && (st->s->joins[i].type & CLONE_NEWUSER);
	r = join_round(st, false, !has_user, e);
	if (r == 0 && has_user)
		r = join_round(st, true, true, e);
	if (r == 0 && has_user)
		r = join_round(st, false, true, e);
	return r;
}

static void init_main(void *arg)
{
	const struct stage1 *st = arg;

	/*
	 * The map files of INIT belong to the host's root as long as it is undumpable, so that an
	 * unprivileged caller could not write them. With pid and user namespaces of its own, nobody
	 * inside of the joined ones can see it.
	 */
	if ((st->s->new_ns & CLONE_NEWUSER) && (st->s->new_ns & CLONE_NEWPID))
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	close(st->report);
	st->s->main(st->s->arg);
}

static int stage1_work(struct stage1 *st, pid_t *ret_pid, struct err *e)
{
	const struct clone_start start = {.main = init_main, .arg = st};
	struct clone_args a = {
		.flags = CLONE_PARENT | (st->s->new_ns & ~(uint64_t)CLONE_NEWTIME),
	};
	long pid;
	int r;

	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "make the joining process undumpable");
	r = close_foreign(st, e);
	if (r < 0)
		return r;
	r = join_all(st, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < st->s->n_joins; i++)
		close(st->s->joins[i].fd);
	pid = clone_process(&a, &start, &(struct clone_stack){0});
	/* No hints from /proc here: it may be the container's by now. */
	if (pid == -ENOMEM)
		return err_set(e, ENOMEM, "make process in the joined namespaces: no memory, or the "
					  "first process of the pid namespace has ended");
	if (pid < 0)
		return err_set(e, (int)-pid, "make process in the joined namespaces: %s",
			       err_name((int)-pid));
	*ret_pid = (pid_t)pid;
	return 0;
}

static void stage1_main(void *arg)
{
	struct stage1 *st = arg;
	struct report rep = {0};

	stage1_work(st, &rep.pid, &rep.err);
	raw_exit(write(st->report, &rep, sizeof(rep)) == sizeof(rep) ? 0 : 1);
}

/* The caller's side: STAGE1's report and end. */
static int collect(int fd, pid_t stage1, struct report *rep, struct err *e)
{
	long n = raw_read(fd, rep, sizeof(*rep));
	int status = 0;

	while (waitpid(stage1, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(*rep) && WIFSIGNALED(status))
		return err_set(e, ECHILD, "join namespaces: the joining process was killed by %s",
			       ns_signal_name(WTERMSIG(status)));
	if (n != sizeof(*rep))
		return err_set(e, ECHILD, "join namespaces: the joining process died");
	if (rep->pid <= 0)
		*e = rep->err;
	return rep->pid > 0 ? 0 : -e->code;
}

/* Rejoining the own user namespace is EINVAL for the kernel and nothing to do for us. */
static int skip_own_user_ns(struct stage1 *st, struct err *e)
{
	for (size_t i = 0; i < st->s->n_joins; i++) {
		const struct ns_join *j = &st->s->joins[i];
		int ours = j->type == CLONE_NEWUSER ? ns_is_ours(j->fd, CLONE_NEWUSER, e) : 0;

		if (ours < 0)
			return ours;
		st->done[i] = ours > 0;
	}
	return 0;
}

/* STAGE1 goes into the cgroup, INIT is born there. */
static long clone_stage1(struct stage1 *st, bool *ret_in_cgroup)
{
	const struct clone_start start = {.main = stage1_main, .arg = st};
	const struct clone_stack none = {0};
	struct clone_args a = {.exit_signal = SIGCHLD};
	long pid;

	if (st->s->cgroup_fd >= 0) {
		a.flags = CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)st->s->cgroup_fd;
		pid = clone_process(&a, &start, &none);
		*ret_in_cgroup = pid > 0;
		if (pid != -EOPNOTSUPP && pid != -ENOSYS)
			return pid;
		a = (struct clone_args){.exit_signal = SIGCHLD};
	}
	return clone_process(&a, &start, &none);
}

int join_and_spawn(const struct ns_spawn *s, struct ns_child *ret_child, struct err *e)
{
	struct stage1 st = {.s = s};
	auto_close int from_stage1 = -1;
	bool in_cgroup = false;
	struct report rep = {0};
	int r, p[2], pidfd;
	long pid;

	if (s->n_joins > MAX_JOINS || s->n_keep_fds > MAX_KEEP)
		return err_set(e, E2BIG, "join namespaces: too many namespaces or descriptors");
	r = skip_own_user_ns(&st, e);
	if (r < 0)
		return r;
	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, "join namespaces: pipe");
	from_stage1 = p[0];
	st.report = p[1];
	pid = clone_stage1(&st, &in_cgroup);
	close(p[1]);
	if (pid < 0)
		return spawn_error((int)-pid, s, e);
	r = collect(from_stage1, (pid_t)pid, &rep, e);
	if (r < 0)
		return r;
	pidfd = sys_pidfd_open(rep.pid, 0);
	if (pidfd < 0) {
		err_sys(e, "join namespaces: pidfd");
		cleanup_reap(&rep.pid);
		return -e->code;
	}
	*ret_child = (struct ns_child){.pid = rep.pid, .pidfd = pidfd, .in_cgroup = in_cgroup};
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig kill`. The words of the errors are runc's: callers match them. Processes are found and then
 * held by pidfds, so that no signal reaches a later process with the same pid.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/signals.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/pidns.h"
#include "runtime/select.h"

struct kill_request {
	const struct rt_globals *g;
	int sig;
	bool all, regex;
};

/* Second names of signals. */
static const struct { const char *name; int sig; } aliases[] = {
	{"SIGCLD", SIGCHLD}, {"SIGIOT", SIGABRT}, {"SIGPOLL", SIGIO}, {"SIGRTMIN", SYS_SIGRTMIN}, {"SIGRTMAX", 64},
};

/* "9", "KILL", "SIGKILL", "SIGRTMIN+3", or nothing, which is TERM; -1 when it is none. */
static int parse_signal(const char *s)
{
	char name[24];
	uint64_t n;

	if (!*s)
		return SIGTERM;
	if (str_u64(s, 64, &n) == 0)
		return (int)n;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcasecmp(aliases[i].name, s) == 0 || strcasecmp(aliases[i].name + 3, s) == 0)
			return aliases[i].sig;
	for (int sig = 1; sig <= 64; sig++) {
		const char *have = ns_signal_name(sig);

		if (have && (strcasecmp(have, s) == 0 || strcasecmp(have + 3, s) == 0))
			return sig;
		snprintf(name, sizeof(name), "SIGRTMIN+%d", sig - SYS_SIGRTMIN);
		if (sig >= SYS_SIGRTMIN && (strcasecmp(name, s) == 0 || strcasecmp(name + 3, s) == 0))
			return sig;
	}
	return -1;
}

static bool has_pid(const struct u32v *pids, uint32_t pid)
{
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return true;
	return false;
}

static int all_pids(const struct rt_container *c, struct arena *a, struct u32v *ret, struct err *e)
{
	return c->cgroup ? cg_procs(c->cgroup, a, ret, e) : rt_pidns_procs(a, c, ret, e);
}

/* One process of the container. What is in the list again after we have the pidfd was in it before, or the
 * pid has been used twice in that moment. */
static int signal_process(const struct rt_container *c, struct arena *a, uint32_t pid, int sig,
			  struct err *e)
{
	auto_close int pidfd = sys_pidfd_open((pid_t)pid, 0);
	struct u32v now;
	int r;

	if (pidfd < 0)
		return 0; /* it has just ended */
	r = all_pids(c, a, &now, e);
	if (r < 0)
		return r;
	if (has_pid(&now, pid) && sys_pidfd_send_signal(pidfd, sig) < 0 && errno != ESRCH)
		return err_sys(e, "send signal %d to process %u", sig, pid);
	return 0;
}

static int signal_all(const struct rt_container *c, struct arena *a, int sig, struct err *e)
{
	struct u32v pids;
	int r;

	if (sig == SIGKILL && c->cgroup)
		return cg_kill(c->cgroup, e);
	r = all_pids(c, a, &pids, e);
	for (size_t i = 0; i < pids.n && r >= 0; i++)
		r = signal_process(c, a, pids.v[i], sig, e);
	return r;
}

/* Whether the end of the first process is the end of all. */
static bool has_pid_namespace(const struct rt_container *c)
{
	const struct oci_spec *s = c->doc->config;

	for (size_t i = 0; s && s->linux_ && i < s->linux_->namespaces.n; i++)
		if (str_eq(s->linux_->namespaces.v[i].type, "pid"))
			return !s->linux_->namespaces.v[i].path;
	return !s; /* a sandbox has one */
}

static int signal_init(const struct rt_container *c, int sig, struct err *e)
{
	if (c->status == RT_STOPPED || c->pidfd < 0)
		return err_set(e, ESRCH, "container not running");
	if (sys_pidfd_send_signal(c->pidfd, sig) < 0)
		return errno == ESRCH ? err_set(e, ESRCH, "container not running")
				      : err_sys(e, "send signal %d to the container %s", sig, c->state.id);
	/* A frozen process cannot die; SIGKILL is meant. */
	if (sig == SIGKILL && c->status == RT_PAUSED)
		return cg_thaw(c->cgroup, e);
	return 0;
}

static int kill_container(const char *id, void *arg, struct err *e)
{
	const struct kill_request *q = arg;
	auto_arena struct arena *a = arena_new();
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open(a, q->g, id, &c, e);

	if (r < 0)
		return r;
	if (q->all)
		return c.cgroup || has_pid_namespace(&c) ? signal_all(&c, a, q->sig, e)
		       : c.pidfd < 0			 ? 0
							 : signal_init(&c, q->sig, e);
	r = signal_init(&c, q->sig, e);
	if (r == 0 && q->sig == SIGKILL && c.cgroup && !has_pid_namespace(&c))
		r = cg_kill(c.cgroup, e);
	return r;
}

/* "ID [SIGNAL]" */
static int kill_selected(struct arena *a, const struct rt_globals *g, char **words, void *options,
			 struct err *e)
{
	struct kill_request *q = options;

	(void)a;
	q->g = g;
	if (words[1])
		q->sig = parse_signal(words[1]);
	if (q->sig < 0)
		return err_set(e, EINVAL, "unknown signal \"%s\"", words[1]);
	return rt_select(&(struct rt_selection){g, words[0], q->regex}, kill_container, q, e);
}

int cmd_kill(int argc, char **argv, const struct rt_globals *g)
{
	struct kill_request q = {.sig = SIGTERM};
	const struct cli_option options[] = {
		{"all", 'a', CLI_FLAG, &q.all, NULL, "every process of the container, also when the first has ended"},
		{"regex", 'r', CLI_FLAG, &q.regex, NULL, "ID is an extended regular expression: all containers it matches"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig kill [OPTION...] ID [SIGNAL]",
			.summary = "Sends a signal (default SIGTERM) to the first process of a container.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
			.min_args = 1,
			.max_args = 2,
		},
		.body = kill_selected,
		.options = &q,
	};

	return command_run(&s, argc, argv, g);
}

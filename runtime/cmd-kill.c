/* SPDX-License-Identifier: Apache-2.0 */
/* `brig kill` and `brig delete`. The words of the errors are runc's: callers match them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sys.h"
#include "cgroups/resctrl.h"
#include "nsenter/signals.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/hooks.h"

/* "9", "KILL", "SIGKILL", "SIGRTMIN+3"; -1 when it is none. */
static int parse_signal(const char *s)
{
	char name[24];
	uint64_t n;

	if (str_u64(s, 64, &n) == 0)
		return (int)n;
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

static int kill_container(struct arena *a, const struct rt_globals *g, const char *id, int sig,
			  bool all, struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open(a, g, id, &c, e);

	if (r < 0)
		return r;
	if (all && sig == SIGKILL && c.cgroup)
		return cg_kill(c.cgroup, e);
	if (c.status == RT_STOPPED || c.pidfd < 0)
		return all ? 0 : err_set(e, ESRCH, "container not running");
	if (sys_pidfd_send_signal(c.pidfd, sig) < 0)
		return errno == ESRCH ? err_set(e, ESRCH, "container not running")
				      : err_sys(e, "send signal %d to the container %s", sig, id);
	/* A frozen process cannot die; SIGKILL is meant. */
	if (sig == SIGKILL && c.status == RT_PAUSED)
		return cg_thaw(c.cgroup, e);
	return 0;
}

int cmd_kill(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	bool all = false;
	const struct cli_option options[] = {
		{"all", 'a', CLI_FLAG, &all, NULL, "every process of the container, also when it has stopped"},
	};
	const struct cli c = {
		.usage = "brig kill [OPTION...] ID [SIGNAL]",
		.summary = "Sends a signal (default SIGTERM) to the first process of a container.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.min_args = 1,
		.max_args = 2,
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e), sig = SIGTERM;

	if (r == CLI_HELP)
		return 0;
	if (r >= 0 && r + 1 < argc)
		sig = parse_signal(argv[r + 1]);
	if (r >= 0 && sig < 0)
		r = err_set(&e, EINVAL, "unknown signal \"%s\"", argv[r + 1]);
	if (r >= 0)
		r = kill_container(a, g, argv[r], sig, all, &e);
	return r < 0 ? command_failed(&e, 1) : 0;
}

static void run_poststop(const struct rt_container *c)
{
	const struct oci_spec *s = c->doc->config;
	struct hooks_run h = {.kind = "poststop", .status = "stopped", .state = c->doc};

	if (!s || !s->hooks)
		return;
	h.list = &s->hooks->poststop;
	hooks_run_all(&h);
}

static int delete_container(struct arena *a, const struct rt_globals *g, const char *id, bool force,
			    struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open_locked(a, g, id, &c, e);

	if (r == -ENOENT && force)
		return 0;
	if (r < 0)
		return r;
	if (c.status != RT_STOPPED && c.status != RT_CREATED && !force)
		return err_set(e, EBUSY, "cannot delete container %s that is not stopped: %s", id,
			       rt_status_name(c.status));
	r = rt_container_kill_all(&c, e);
	if (r == 0 && c.cgroup)
		r = cg_destroy(c.cgroup, e);
	if (r == 0)
		r = resctrl_remove(c.doc->intel_rdt_dir, e);
	if (r < 0)
		return r;
	rt_state_remove(&c.state);
	run_poststop(&c);
	return 0;
}

int cmd_delete(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	bool force = false;
	const struct cli_option options[] = {
		{"force", 'f', CLI_FLAG, &force, NULL, "kill it first; a container that does not exist is no error"},
	};
	const struct cli c = {
		.usage = "brig delete [OPTION...] ID",
		.summary = "Removes a stopped container: its cgroup and its state.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.min_args = 1,
		.max_args = 1,
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0)
		r = delete_container(a, g, argv[r], force, &e);
	return r < 0 ? command_failed(&e, 1) : 0;
}

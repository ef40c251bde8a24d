/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig delete`. With --force also a container that is just being made: whoever makes it is ended
 * first, and what it leaves is waited for and removed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/select.h"

struct delete_request {
	const struct rt_globals *g;
	bool force, regex;
};

/* Afterwards nothing is made any more, and c->cgroup is what there is. */
static int end_creation(struct arena *a, struct rt_container *c, struct err *e)
{
	auto_close int pidfd = rt_state_owner(&c->state);
	struct pollfd p = {pidfd, POLLIN, 0};
	int r;

	if (pidfd >= 0 && sys_pidfd_send_signal(pidfd, SIGKILL) < 0 && errno != ESRCH)
		return err_sys(e, "end the process that creates the container %s", c->state.id);
	while (pidfd >= 0 && poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	r = rt_container_reload(a, c, e);
	/* INIT has a copy of the creator's lock until it is dead, so its end is waited for. */
	if (r == 0)
		r = c->cgroup ? cg_destroy(c->cgroup, e) : rt_container_kill_all(c, e);
	return r < 0 && r != -ENOENT ? r : rt_state_own(&c->state, pidfd >= 0, e);
}

static int delete_container(const char *id, void *arg, struct err *e)
{
	const struct delete_request *q = arg;
	auto_arena struct arena *a = arena_new();
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open_locked(a, q->g, id, &c, e);

	if (r == -ENOENT && q->force)
		return 0;
	if (r < 0)
		return r;
	if (c.status != RT_STOPPED && c.status != RT_CREATED && !q->force)
		return err_set(e, EBUSY, "cannot delete container %s that is not stopped: %s", id,
			       rt_status_name(c.status));
	r = c.status == RT_CREATING ? end_creation(a, &c, e) : rt_container_kill_all(&c, e);
	return r < 0 ? r : rt_container_remove(&c, e);
}

static int delete(struct arena *a, const struct rt_globals *g, char **words, void *options,
		  struct err *e)
{
	struct delete_request *q = options;

	(void)a;
	q->g = g;
	return rt_select(&(struct rt_selection){g, words[0], q->regex}, delete_container, q, e);
}

int cmd_delete(int argc, char **argv, const struct rt_globals *g)
{
	struct delete_request q = {0};
	const struct cli_option options[] = {
		{"force", 'f', CLI_FLAG, &q.force, NULL, "kill it first; a container that does not exist is no error"},
		{"regex", 'r', CLI_FLAG, &q.regex, NULL, "ID is an extended regular expression: all containers it matches"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig delete [OPTION...] ID",
			.summary = "Removes a stopped container: its cgroup and its state.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
			.min_args = 1,
			.max_args = 1,
		},
		.body = delete,
		.options = &q,
	};

	return command_run(&s, argc, argv, g);
}

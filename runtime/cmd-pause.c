/* SPDX-License-Identifier: Apache-2.0 */
/* `brig pause` and `brig resume`, by the freezer of the container's cgroup. */
#include <errno.h>

#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"

/* runc's words: callers match them. */
static int check_status(const struct rt_container *c, bool pause, struct err *e)
{
	if (!pause)
		return c->status == RT_PAUSED ? 0 : err_set(e, EINVAL, "container not paused");
	if (c->status == RT_RUNNING || c->status == RT_CREATED)
		return 0;
	return err_set(e, EINVAL, "container not running or created: %s", rt_status_name(c->status));
}

static int change(struct arena *a, const struct rt_globals *g, const char *id, bool pause,
		  struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open_locked(a, g, id, &c, e);

	if (r == 0)
		r = check_status(&c, pause, e);
	if (r < 0)
		return r;
	if (!c.cgroup)
		return err_set(e, ENOENT, "the container has no cgroup, so it cannot be paused");
	return pause ? cg_freeze(c.cgroup, e) : cg_thaw(c.cgroup, e);
}

static int command(int argc, char **argv, const struct rt_globals *g, bool pause)
{
	auto_arena struct arena *a = arena_new();
	const struct cli c = {
		.usage = pause ? "brig pause ID" : "brig resume ID",
		.summary = pause ? "Stops all processes of a container until `brig resume`."
				 : "Lets the processes of a paused container go on.",
		.min_args = 1,
		.max_args = 1,
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0)
		r = change(a, g, argv[r], pause, &e);
	return r < 0 ? command_failed(&e, 1) : 0;
}

int cmd_pause(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, true);
}

int cmd_resume(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, false);
}

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

static int change(struct arena *a, const struct rt_globals *g, char **words, void *options,
		  struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	const bool pause = *(bool *)options;
	int r = rt_container_open_locked(a, g, words[0], &c, e);

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
	const struct command_spec s = {
		.cli = {
			.usage = pause ? "brig pause ID" : "brig resume ID",
			.summary = pause ? "Stops all processes of a container until `brig resume`."
					 : "Lets the processes of a paused container go on.",
			.min_args = 1,
			.max_args = 1,
		},
		.body = change,
		.options = &pause,
	};

	return command_run(&s, argc, argv, g);
}

int cmd_pause(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, true);
}

int cmd_resume(int argc, char **argv, const struct rt_globals *g)
{
	return command(argc, argv, g, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker pause` and `docker unpause`, by the freezer of the container's cgroup. */
#include <errno.h>

#include "docker/commands.h"
#include "docker/control.h"
#include "docker/each.h"
#include "docker/events.h"
#include "runtime/container.h"

/* With the lock of the runtime's container: two at once do not undo each other's. */
static int change(struct dk_context *c, const char *ref, bool pause, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	struct dk_record *r;
	int code;

	if (dk_container_find(c, ref, &r, e) < 0)
		return -e->code;
	code = rt_container_open_locked(c->arena, &c->store->runtime, r->id, &k, e);
	if (code < 0 || k.pidfd < 0 || (k.status != RT_RUNNING && k.status != RT_PAUSED))
		return dk_daemon_error(c, e, ESRCH, "Container %s is not running", r->id);
	if ((k.status == RT_PAUSED) == pause)
		return dk_daemon_error(c, e, EBUSY, pause ? "Container %s is already paused" : "Container %s is not paused",
				       r->id);
	if (!k.cgroup)
		return dk_daemon_error(c, e, ENOTSUP, "Cannot pause container %s: it has no cgroup (the host has none that "
				       "may be written)", r->id);
	code = pause ? cg_freeze(k.cgroup, e) : cg_thaw(k.cgroup, e);
	if (code < 0) {
		const char *why = arena_strdup(c->arena, e->msg);

		return dk_daemon_error(c, e, -code, "Cannot %s container %s: %s", pause ? "pause" : "unpause", r->id, why);
	}
	dk_container_event(c->store, r, pause ? "pause" : "unpause", (struct dk_event_fact){0});
	return 0;
}

static int pause_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	(void)options;
	return change(c, ref, true, e);
}

static int unpause_one(struct dk_context *c, const char *ref, void *options, struct err *e)
{
	(void)options;
	return change(c, ref, false, e);
}

int dk_cmd_pause(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_each_argument(c, args, pause_one, e);
}

int dk_cmd_unpause(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_each_argument(c, args, unpause_one, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the parent that few containers have: the seccomp agent, resctrl, network devices, the
 * socket of a service manager, streams for another user. */
#include "runtime/launch-rows.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "nsenter/netdev.h"
#include "runtime/activation.h"
#include "runtime/handler.h"
#include "runtime/stdio.h"

/* ---- the seccomp agent ---- */

bool row_has_listener(const void *ctx)
{
	return listener_wanted(PLAN(ctx)->spec->linux_->seccomp);
}

int row_connect_listener(void *ctx, struct err *e)
{
	return listener_connect(&LAUNCH(ctx)->listener, PLAN(ctx)->spec->linux_->seccomp, e);
}

void row_undo_connect_listener(void *ctx)
{
	listener_close(&LAUNCH(ctx)->listener);
}

bool row_listener_first(const void *ctx)
{
	return row_has_listener(ctx) && row_filter_first(ctx);
}

bool row_listener_last(const void *ctx)
{
	return row_has_listener(ctx) && !row_filter_first(ctx);
}

int row_send_listener(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return listener_send(&l->listener, rt_launch_describe(l), "creating", l->channel.child.pid, e);
}

/* ---- resctrl ---- */

bool row_has_resctrl(const void *ctx)
{
	return PLAN(ctx)->spec->linux_->intel_rdt != NULL;
}

int row_find_resctrl(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const char *root = resctrl_mount(l->arena, l->host->procfs, e);

	if (!root)
		return -e->code;
	resctrl_plan(l->arena, root, l->plan->spec->linux_->intel_rdt, l->plan->options.id, &l->resctrl);
	return 0;
}

int row_make_resctrl(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct oci_intel_rdt *r = l->plan->spec->linux_->intel_rdt;
	struct err ignored = {0};
	int is_new = resctrl_make(&l->resctrl, r, e), code;

	if (is_new < 0)
		return is_new;
	code = resctrl_set(&l->resctrl, r, is_new, e);
	if (code < 0)
		resctrl_remove(l->resctrl.ours, &ignored);
	return code;
}

void row_undo_make_resctrl(void *ctx)
{
	struct rt_launch *l = ctx;
	struct err e = {0};

	if (rt_state_claim(&l->state) && resctrl_remove(l->resctrl.ours, &e) < 0)
		log_warning("%s", e.msg);
}

int row_enter_resctrl(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return resctrl_attach(&l->resctrl, l->channel.child.pid, e);
}

/* ---- network devices ---- */

bool row_has_net_devices(const void *ctx)
{
	return PLAN(ctx)->spec->linux_->net_devices.n > 0;
}

int row_move_net_devices(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct oci_net_device_list *from = &l->plan->spec->linux_->net_devices;
	struct ns_netdev *v = arena_array(l->arena, from->n, sizeof(*v));

	for (size_t i = 0; i < from->n; i++)
		v[i] = (struct ns_netdev){.host_name = from->v[i].host_name, .name = from->v[i].name};
	l->net_devices = v;
	return ns_move_netdevs(l->channel.child.pidfd, v, from->n, &l->net_devices_in, e);
}

/* Nobody is in the namespace any more, but it is open here. */
void row_undo_move_net_devices(void *ctx)
{
	struct rt_launch *l = ctx;
	struct err e = {0};

	if (ns_return_netdevs(l->net_devices_in, l->net_devices, l->plan->spec->linux_->net_devices.n, &e) < 0)
		log_warning("%s", e.msg);
	cleanup_close(&l->net_devices_in);
}

/* ---- the caller's network ---- */

bool row_has_network(const void *ctx)
{
	return ((const struct rt_launch *)ctx)->network != NULL;
}

int row_connect_network(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;

	return l->network(l->network_arg, l->channel.child.pidfd, e);
}

/* ---- sd_notify ---- */

bool row_has_notify(const void *ctx)
{
	return PLAN(ctx)->options.notify;
}

/* A created container gets its socket from `start`, who waits for what comes. */
int row_make_notify(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	auto_close int dir = rt_state_dir(&l->state, true, e);
	int r = dir < 0 ? dir : notify_make_dir(dir, e);

	if (r < 0 || row_is_create(ctx))
		return r;
	l->notify_fd = notify_bind(dir, e);
	return l->notify_fd < 0 ? l->notify_fd : 0;
}

void row_undo_make_notify(void *ctx)
{
	cleanup_close(&LAUNCH(ctx)->notify_fd);
}

/* ---- the standard streams ---- */

/* Where we have no rights over the payload's uid, INIT may have (row_set_descriptors). */
bool row_streams_change_owner(const void *ctx)
{
	const struct plan *p = PLAN(ctx);
	uid_t uid;

	return !row_has_terminal(ctx) && !(plan_joined(p) & CLONE_NEWUSER) &&
	       stdio_host_uid(&p->uid_maps, p->security->uid, &uid) && uid != geteuid();
}

int row_own_streams(void *ctx, struct err *e)
{
	const struct rt_launch *l = ctx;
	uid_t uid;

	stdio_host_uid(&l->plan->uid_maps, l->plan->security->uid, &uid);
	return stdio_own(l->stdio, uid, e);
}

/* ---- run.oci.handler ---- */

bool row_has_handler(const void *ctx)
{
	return PLAN(ctx)->handler != NULL;
}

int row_open_handler(void *ctx, struct err *e)
{
	struct rt_launch *l = ctx;
	const struct plan *p = l->plan;

	l->handler = handler_open(p->options.handler_dir, p->handler, &p->uid_maps, e);
	return l->handler < 0 ? l->handler : 0;
}

void row_undo_open_handler(void *ctx)
{
	cleanup_close(&LAUNCH(ctx)->handler);
}

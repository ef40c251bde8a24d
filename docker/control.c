/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/events.h"
#include "docker/wire.h"
#include "nsenter/signals.h"
#include "runtime/container.h"

enum { DEFAULT_PATIENCE = 10, STARTING_MS = 5 };

int dk_signal(struct dk_context *c, const struct dk_record *r, int sig, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;

	if (rt_container_open(c->arena, &c->store->runtime, r->id, &k, e) < 0 || k.pidfd < 0) {
		e->code = ESRCH;
		return -ESRCH;
	}
	/* Before: the monitor writes down the end that it may lead to. */
	dk_container_event_number(c->store, r, "kill", "signal", sig);
	if (sys_pidfd_send_signal(k.pidfd, sig) < 0 && errno != ESRCH)
		return dk_daemon_error(c, e, errno, "send signal %d to container %s: %s", sig, r->id, err_name(errno));
	return 0;
}

void dk_wake_monitor(struct dk_context *c, const struct dk_record *r)
{
	auto_close int fd = dk_wire_connect(dk_run_path(c->store, r->id, NULL));
	auto_strbuf struct strbuf b = {0};

	if (fd < 0)
		return; /* an attached client has none */
	dk_frame_put(&b, DK_FRAME_WAKE, NULL, 0);
	if (send(fd, b.p, b.len, MSG_NOSIGNAL) < 0)
		return; /* it is ending */
}

static int set_stopped(struct dk_record *r, void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	if (r->state.stopped_by_user || str_eq(r->options.restart, "no") || !r->options.restart)
		return 1;
	r->state.stopped_by_user = true;
	return 0;
}

int dk_forbid_restart(struct dk_context *c, const struct dk_record *r, struct err *e)
{
	int code;

	if (!r->options.restart || str_eq(r->options.restart, "no"))
		return 0;
	code = dk_record_update(c->store, r->id, set_stopped, NULL, e);
	if (code == 0)
		dk_wake_monitor(c, r);
	return code;
}

int dk_reload(struct dk_context *c, struct dk_record **r, struct err *e)
{
	return dk_record_load(c->store, (*r)->id, c->arena, r, e);
}

int dk_find_and_look(struct dk_context *c, const char *ref, struct dk_record **ret, struct dk_look *look,
		     struct err *e)
{
	int r = dk_container_find(c, ref, ret, e);

	if (r == 0)
		dk_container_look(c->store, *ret, look);
	return r;
}

/* ---- stopping ---- */

static const char *stop_signal(const struct dk_record *r, const struct dk_stop *how)
{
	if (how->signal && *how->signal)
		return how->signal;
	return r->config.stop_signal && *r->config.stop_signal ? r->config.stop_signal : "TERM";
}

static int64_t patience(const struct dk_record *r, const struct dk_stop *how)
{
	if (how->seconds.set)
		return how->seconds.v;
	return r->config.stop_timeout.set ? r->config.stop_timeout.v : DEFAULT_PATIENCE;
}

/* Whether INIT ended in this time. */
static bool ends_within(struct rt_container *k, int64_t seconds)
{
	struct pollfd p = {k->pidfd, POLLIN, 0};
	int r;

	do
		r = poll(&p, 1, seconds < 0 ? -1 : seconds > 1000000 ? 1000000000 : (int)(seconds * 1000));
	while (r < 0 && errno == EINTR);
	return r > 0;
}

/* A stopped process gets the signal only when it goes on. NOT_THERE: no such process, or not yet. */
enum { NOT_THERE = 1 };
static int end_init(struct dk_context *c, const struct dk_record *r, int sig, int64_t seconds, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	int code;

	if (rt_container_open(c->arena, &c->store->runtime, r->id, &k, e) < 0 || k.pidfd < 0) {
		*e = (struct err){0};
		return NOT_THERE;
	}
	dk_container_event_number(c->store, r, "kill", "signal", sig);
	sys_pidfd_send_signal(k.pidfd, sig);
	if (k.status == RT_PAUSED && k.cgroup && cg_thaw(k.cgroup, e) < 0)
		return -e->code;
	if (ends_within(&k, seconds))
		return 0;
	if (sig != SIGKILL)
		dk_container_event_number(c->store, r, "kill", "signal", SIGKILL);
	code = rt_container_kill_all(&k, e);
	return code < 0 ? dk_daemon_error(c, e, e->code, "Cannot kill container %s: %s", r->id, e->msg) : 0;
}

/* 1; 0: it did not run. */
static int stop(struct dk_context *c, struct dk_record *r, int sig, int64_t seconds, struct err *e)
{
	auto_close int lock = dk_owner_open(c->store, r->id);
	int code;

	if (lock < 0)
		return 0;
	if (dk_forbid_restart(c, r, e) < 0 && e->code != ENOENT)
		return -e->code;
	*e = (struct err){0};
	/* An owner without a process is ending, or only starting it (another restart): then it is awaited. */
	while ((code = end_init(c, r, sig, seconds, e)) == NOT_THERE && dk_owner_is_held(lock))
		poll(NULL, 0, STARTING_MS);
	if (code < 0)
		return code;
	dk_owner_wait(lock, &code);
	return 1;
}

int dk_stop(struct dk_context *c, struct dk_record *r, const struct dk_stop *how, struct err *e)
{
	int sig = dk_signal_number(stop_signal(r, how)), code;

	if (sig < 0)
		return dk_daemon_error(c, e, EINVAL, "Invalid signal: %s", stop_signal(r, how));
	code = stop(c, r, sig, patience(r, how), e);
	if (code == 1)
		dk_container_event(c->store, r, "stop", (struct dk_event_fact){0});
	return code < 0 ? code : 0;
}

int dk_kill_all(struct dk_context *c, struct dk_record *r, struct err *e)
{
	return stop(c, r, SIGKILL, 0, e) < 0 ? -e->code : 0;
}

/* ---- taking over ---- */

static bool is_running(const struct dk_record *r)
{
	return str_eq(r->state.status, DK_RUNNING) || str_eq(r->state.status, DK_RESTARTING);
}

int dk_take_over(struct dk_container *k, const char *ref, struct err *e)
{
	struct dk_store *s;
	int r = dk_store_open(k->c, &s, e);

	k->store = s;
	if (r == 0)
		r = dk_container_find(k->c, ref, &k->record, e);
	/* Somebody has it for a moment only (a sweep, rename, rm), unless it runs, or is being started: then the
	 * record will say so. */
	while (r == 0 && (r = dk_owner_take(s, k->record->id, false, &k->owner, e)) == -EBUSY) {
		*e = (struct err){0};
		r = dk_container_find(k->c, k->record->id, &k->record, e);
		if (r == 0 && is_running(k->record))
			return 1;
		poll(NULL, 0, STARTING_MS);
	}
	if (r < 0)
		return r;
	r = dk_container_find(k->c, k->record->id, &k->record, e);
	if (r < 0)
		dk_owner_release(&k->owner);
	return r;
}

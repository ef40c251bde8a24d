/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor's side of healthchecks: when the next probe is due. What follows from one is written down
 * by the child that ran it, so that the monitor needs no memory for it and stays as small as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "docker/events.h"
#include "docker/health.h"
#include "docker/monitor.h"
#include "docker/station.h"
#include "docker/units.h"

#define SECOND 1000000000ll
static const int64_t default_interval = 30 * SECOND, default_timeout = 30 * SECOND, default_start_interval = 5 * SECOND;
enum { DEFAULT_RETRIES = 3 };

struct watch {
	struct dk_station_task task; /* fd: the child's result */
	struct dk_container *k;
	pid_t child;                 /* 0: no probe is running */
	uint64_t started;
	char begun[DK_UNIT_MAX];
	bool starting;               /* the status is still that */
};

static const struct img_healthcheck *config(const struct watch *w)
{
	return w->k->record->config.healthcheck;
}

static int64_t or_default(int64_t v, int64_t standard)
{
	return v > 0 ? v : standard;
}

static bool in_start_period(const struct watch *w)
{
	return w->starting && config(w)->start_period > 0 &&
	       dk_now() - w->started < (uint64_t)config(w)->start_period;
}

static void plan_next(struct watch *w)
{
	int64_t interval = in_start_period(w) ? or_default(config(w)->start_interval, default_start_interval)
					      : or_default(config(w)->interval, default_interval);

	w->task.due = dk_now() + (uint64_t)interval;
}

/* ---- what follows from one ---- */

static const char *time_now(char buf[DK_UNIT_MAX])
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return dk_time_rfc3339(buf, &t);
}

static void add_entry(struct watch *w, struct arena *a, const struct dk_probe_result *r, struct dk_health *h)
{
	size_t drop = h->log.n < DK_HEALTH_LOG ? 0 : h->log.n - DK_HEALTH_LOG + 1;
	struct dk_health_entry *v = arena_array(a, DK_HEALTH_LOG, sizeof(*v));
	char now[DK_UNIT_MAX];

	h->log.n -= drop;
	if (h->log.n)
		memcpy(v, h->log.v + drop, h->log.n * sizeof(*v));
	v[h->log.n++] = (struct dk_health_entry){
		.start = w->begun, .end = arena_strdup(a, time_now(now)), .exit_code = r->code,
		.output = arena_strndup(a, r->output, r->n)};
	h->log.v = v;
}

static void judge(struct watch *w, const struct dk_probe_result *r, struct dk_health *h)
{
	if (r->code == 0) {
		h->streak = 0;
		h->status = (char *)"healthy";
		return;
	}
	if (in_start_period(w))
		return; /* such failures do not count */
	h->streak++;
	if (h->streak >= or_default(config(w)->retries, DEFAULT_RETRIES))
		h->status = (char *)"unhealthy";
}

static void conclude(struct watch *w, const struct dk_probe_result *r)
{
	auto_arena struct arena *a = arena_new();
	struct dk_container *k = w->k;
	struct dk_health h;
	const char *before;
	struct err e = {0};

	dk_health_load(k->store, k->record->id, a, &h);
	before = h.status;
	add_entry(w, a, r, &h);
	judge(w, r, &h);
	w->starting = str_eq(h.status, "starting");
	if (dk_health_save(k->store, k->record->id, &h, &e) < 0)
		log_warning("container %.12s: %s", k->record->id, e.msg);
	dk_record_refresh_name(k->store, k->c->arena, k->record);
	if (!str_eq(before, h.status))
		dk_container_event(k->store, k->record, arena_printf(a, "health_status: %s", h.status),
				   (struct dk_event_fact){0});
}

/* ---- a probe ---- */

struct report { bool starting; };

/* The child. */
static _Noreturn void probe(struct watch *w, pid_t parent, int out)
{
	struct dk_probe_result r;
	struct report report;

	cleanup_close(&w->k->owner.lock); /* the monitor owns the container, and nobody else */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	dk_probe_run(w->k->c, w->k->record, or_default(config(w)->timeout, default_timeout), &r);
	if (r.code != DK_PROBE_SKIPPED)
		conclude(w, &r);
	report.starting = w->starting;
	_exit(io_write_all(out, &report, sizeof(report)) < 0);
}

static void begin(struct watch *w)
{
	pid_t self = getpid();
	int fds[2];

	w->task.due = 0;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		plan_next(w);
		return;
	}
	time_now(w->begun);
	w->child = fork();
	if (w->child == 0)
		probe(w, self, fds[1]);
	close(fds[1]);
	w->task.fd = fds[0];
	if (w->child > 0)
		return;
	log_warning("fork for the healthcheck: %s", err_name(errno));
	cleanup_close(&w->task.fd);
	w->child = 0;
	plan_next(w);
}

/* It has written all of it at once, or died. */
static void hear(struct watch *w)
{
	struct report report;

	if (io_read_upto(w->task.fd, &report, sizeof(report)) == sizeof(report))
		w->starting = report.starting;
	cleanup_close(&w->task.fd);
	while (waitpid(w->child, NULL, 0) < 0 && errno == EINTR)
		;
	w->child = 0;
}

static void run(struct dk_station_task *t, struct dk_station *s)
{
	struct watch *w = t->arg;
	(void)s;

	if (!w->child) {
		begin(w);
		return;
	}
	hear(w);
	plan_next(w);
	dk_monitor_shed();
}

/* The container it was for has ended. */
static void give_up(struct watch *w)
{
	if (!w->child)
		return;
	kill(w->child, SIGKILL);
	while (waitpid(w->child, NULL, 0) < 0 && errno == EINTR)
		;
	cleanup_close(&w->task.fd);
	w->child = 0;
}

static struct watch watched; /* a monitor has one container */

void dk_health_end(void)
{
	give_up(&watched);
}

struct dk_station_task *dk_health_task(struct dk_container *k)
{
	auto_arena struct arena *a = arena_new();
	struct dk_health h;
	struct err e = {0};

	give_up(&watched);
	if (!dk_health_wanted(k->record))
		return NULL;
	dk_health_load(k->store, k->record->id, a, &h);
	h.status = (char *)"starting";
	h.streak = 0;
	if (dk_health_save(k->store, k->record->id, &h, &e) < 0)
		log_warning("container %.12s: %s", k->record->id, e.msg);
	watched = (struct watch){.task = {.run = run, .fd = -1}, .k = k, .started = dk_now(), .starting = true};
	watched.task.arg = &watched;
	plan_next(&watched);
	return &watched.task;
}

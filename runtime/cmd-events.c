/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig events`: JSON objects, one a line: {"type":"stats",...} at each interval, and
 * {"type":"oom","id":...} when the kernel killed a process of the container for memory. Ends when
 * the container has ended.
 *
 * Nothing is polled but the interval: v2's memory.events wakes us by poll(2) when a number in it
 * changed; v1's memory.oom_control by an eventfd, which is also told when the cgroup goes away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "json/writer.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/stats.h"

/* ---- durations of Go: "5s", "1m30s", "250ms", "1.5h" ---- */

static bool unit_of(const char **s, double *ret_ns)
{
	static const struct { const char *name; double ns; } units[] = {
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (str_starts(*s, units[i].name)) {
			*s += strlen(units[i].name);
			*ret_ns = units[i].ns;
			return true;
		}
	return false;
}

static int parse_duration(const char *text, uint64_t *ret_ns, struct err *e)
{
	double total = 0, ns;
	const char *s = text;

	while (*s) {
		char number[24];
		size_t n = strspn(s, "0123456789.");

		if (n == 0 || n >= sizeof(number))
			return err_set(e, EINVAL, "--interval: \"%s\" is not a duration like 5s", text);
		memcpy(number, s, n);
		number[n] = '\0';
		s += n;
		if (!unit_of(&s, &ns))
			return err_set(e, EINVAL, "--interval: \"%s\" is not a duration like 5s", text);
		total += strtod(number, NULL) * ns;
	}
	if (total < 1 || total > 1e18)
		return err_set(e, EINVAL, "duration interval must be greater than 0");
	*ret_ns = (uint64_t)total;
	return 0;
}

/* ---- output ---- */

static int print_line(const struct strbuf *b, struct err *e)
{
	int r = io_write_all(STDOUT_FILENO, b->p, b->len);

	return r < 0 ? err_set(e, -r, "write the event: %s", err_name(-r)) : 0;
}

static int print_event(const struct rt_container *c, const char *type, bool stats, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "type", type);
	json_member_str(&w, "id", c->state.id);
	if (stats) {
		json_key(&w, "data");
		stats_write(&w, c->cgroup);
	}
	json_end_object(&w);
	strbuf_addc(&b, '\n');
	return print_line(&b, e);
}

/* ---- out of memory ---- */

struct oom_watch {
	int fd;          /* to poll; -1: there is no memory controller */
	short events;
	bool v1;
	int64_t kills;   /* told so far */
};

static int watch_v2(const struct cg *cg, struct oom_watch *w, struct err *e)
{
	w->fd = cg_open_file(cg, CG_MEMORY, "memory.events", O_RDONLY);
	w->events = POLLPRI;
	if (w->fd == -ENOENT) {
		w->fd = -1;
		return 0;
	}
	return w->fd < 0 ? err_set(e, -w->fd, "open memory.events: %s", err_name(-w->fd)) : 0;
}

static int watch_v1(const struct cg *cg, struct oom_watch *w, struct err *e)
{
	auto_close int oom = cg_open_file(cg, CG_MEMORY, "memory.oom_control", O_RDONLY);
	auto_close int control = cg_open_file(cg, CG_MEMORY, "cgroup.event_control", O_WRONLY);
	auto_close int event = -1;
	char text[32];

	if (oom < 0 || control < 0)
		return 0;
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event < 0)
		return err_sys(e, "make an eventfd");
	snprintf(text, sizeof(text), "%d %d", event, oom);
	if (write(control, text, strlen(text)) < 0)
		return err_sys(e, "watch memory.oom_control");
	w->fd = take_fd(&event);
	w->events = POLLIN;
	w->v1 = true;
	return 0;
}

/* poll(2) wakes only for what changes after the last read. */
static void rearm(const struct oom_watch *w)
{
	char buf[512];

	if (w->fd >= 0 && pread(w->fd, buf, sizeof(buf), 0) < 0 && !w->v1)
		return; /* the cgroup is gone, and so is the container in a moment */
}

static int watch_oom(const struct rt_container *c, struct oom_watch *w, struct err *e)
{
	int r = cg_kind_of(c->cgroup) == CG_V1 ? watch_v1(c->cgroup, w, e) : watch_v2(c->cgroup, w, e);

	if (r < 0)
		return r;
	rearm(w);
	w->kills = cg_oom_kills(c->cgroup);
	return 0;
}

static int tell_oom(const struct rt_container *c, struct oom_watch *w, struct err *e)
{
	int64_t kills;
	uint64_t n;

	if (w->v1 && read(w->fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return err_sys(e, "read the eventfd");
	if (!w->v1)
		rearm(w);
	kills = cg_oom_kills(c->cgroup);
	/* The event of v1 comes at the beginning of the kill: the count may still be the old one. */
	if (kills < 0 || (kills <= w->kills && !w->v1))
		return 0;
	w->kills = kills;
	return print_event(c, "oom", false, e);
}

/* ---- the loop ---- */

static int open_timer(uint64_t ns, struct err *e)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	struct itimerspec it = {t, t};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0 || timerfd_settime(fd, 0, &it, NULL) < 0)
		return err_sys(e, "make a timer");
	return fd;
}

enum { ENDED, OOM, TICK, SOURCES };

static int follow(const struct rt_container *c, uint64_t interval, struct oom_watch *w,
		  struct err *e)
{
	auto_close int timer = open_timer(interval, e);
	struct pollfd p[SOURCES] = {
		[ENDED] = {c->pidfd, POLLIN, 0}, [OOM] = {w->fd, w->events, 0}, [TICK] = {timer, POLLIN, 0},
	};
	uint64_t ticks;
	int r = timer < 0 ? timer : 0;

	while (r == 0) {
		if (poll(p, SOURCES, -1) < 0) {
			r = errno == EINTR ? 0 : err_sys(e, "poll");
			continue;
		}
		if (p[OOM].revents)
			r = tell_oom(c, w, e);
		if (p[ENDED].revents)
			return r;
		if (r == 0 && p[TICK].revents && read(timer, &ticks, sizeof(ticks)) > 0)
			r = print_event(c, "stats", true, e);
	}
	return r;
}

struct events_options { const char *interval; bool stats; };

static int events(struct arena *a, const struct rt_globals *g, char **words, void *options,
		  struct err *e)
{
	const struct events_options *o = options;
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct oom_watch w = {.fd = -1};
	uint64_t interval = 0;
	int r = parse_duration(o->interval, &interval, e);

	if (r == 0)
		r = rt_container_open(a, g, words[0], &c, e);
	if (r < 0)
		return r;
	if (c.status == RT_STOPPED || c.status == RT_CREATING)
		return err_set(e, EINVAL, "container with id %s is not running", words[0]);
	if (!c.cgroup)
		return err_set(e, ENOENT, "%s has no cgroup, so nothing is known of it", words[0]);
	if (o->stats)
		return print_event(&c, "stats", true, e);
	r = watch_oom(&c, &w, e);
	if (r == 0)
		r = follow(&c, interval, &w, e);
	cleanup_close(&w.fd);
	return r;
}

int cmd_events(int argc, char **argv, const struct rt_globals *g)
{
	struct events_options o = {.interval = "5s"};
	const struct cli_option options[] = {
		{"stats", 0, CLI_FLAG, &o.stats, NULL, "print the numbers once and end"},
		{"interval", 0, CLI_STRING, &o.interval, "TIME", "time between two of them, as 5s or 500ms"},
	};
	const struct command_spec s = {
		.cli = {
			.usage = "brig events [OPTION...] ID",
			.summary = "Prints the resource use of a container, and when it runs out of memory.",
			.options = options,
			.n = sizeof(options) / sizeof(options[0]),
			.min_args = 1,
			.max_args = 1,
		},
		.body = events,
		.options = &o,
	};

	return command_run(&s, argc, argv, g);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker events`. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/events.h"
#include "docker/format.h"
#include "docker/prune.h"
#include "docker/units.h"

enum { BAD_FORMAT = 64 };
#define SECOND 1000000000ll

struct follow {
	struct dk_context *c;
	const struct dk_events_options *o;
	struct dk_template *format; /* NULL: text or JSON */
	bool json;
	int64_t since, until;       /* -1: none */
};

/* ---- filters ---- */

static const char *fact(const struct dk_event *ev, const char *key)
{
	for (size_t i = 0; i < ev->attributes.n; i++)
		if (str_eq(ev->attributes.v[i].key, key))
			return ev->attributes.v[i].value;
	return NULL;
}

/* health_status, exec_create and exec_start have more behind a colon. */
static bool event_fits(const struct dk_event *ev, const char *v)
{
	size_t n = strlen(v);

	return str_eq(ev->action, v) ||
	       (str_starts(ev->action, v) && ev->action[n] == ':' && !strchr(v, ':'));
}

static bool type_fits(const struct dk_event *ev, const char *v)
{
	return str_eq(ev->type, v);
}

static bool object_fits(const struct dk_event *ev, const char *v)
{
	const char *name = fact(ev, "name");

	return str_starts(ev->id, v) || (name && str_starts(name, v));
}

static bool container_fits(const struct dk_event *ev, const char *v)
{
	return type_fits(ev, "container") && object_fits(ev, v);
}

static bool network_fits(const struct dk_event *ev, const char *v)
{
	return type_fits(ev, "network") && object_fits(ev, v);
}

static bool volume_fits(const struct dk_event *ev, const char *v)
{
	return type_fits(ev, "volume") && object_fits(ev, v);
}

static bool image_fits(const struct dk_event *ev, const char *v)
{
	const char *name = fact(ev, type_fits(ev, "image") ? "name" : "image");
	size_t n = strlen(v);

	return str_eq(ev->id, v) ||
	       (name && str_starts(name, v) && (!name[n] || (name[n] == ':' && !strchr(name + n, '/'))));
}

static bool label_fits(const struct dk_event *ev, const char *v)
{
	return dk_labels_fit(&(struct str_map){&(struct str_pair){(char *)"label", (char *)v}, 1}, &ev->attributes);
}

static bool scope_fits(const struct dk_event *ev, const char *v)
{
	(void)ev;
	return str_eq(v, "local");
}

static bool nothing_fits(const struct dk_event *ev, const char *v)
{
	(void)ev;
	(void)v;
	return false;
}

static const struct {
	const char *name;
	bool (*fits)(const struct dk_event *ev, const char *v);
	bool every;
} filters[] = {
	{"config", nothing_fits, false}, {"container", container_fits, false}, {"daemon", nothing_fits, false},
	{"event", event_fits, false}, {"image", image_fits, false}, {"label", label_fits, true},
	{"network", network_fits, false}, {"node", nothing_fits, false}, {"plugin", nothing_fits, false},
	{"scope", scope_fits, false}, {"secret", nothing_fits, false}, {"service", nothing_fits, false},
	{"type", type_fits, false}, {"volume", volume_fits, false},
};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]) };

static bool fits_filter(const struct str_map *want, const struct dk_event *ev, int i)
{
	bool asked = false, fits = filters[i].every;

	for (size_t k = 0; k < want->n; k++) {
		if (!str_eq(want->v[k].key, filters[i].name))
			continue;
		asked = true;
		if (filters[i].every)
			fits = fits && filters[i].fits(ev, want->v[k].value);
		else
			fits = fits || filters[i].fits(ev, want->v[k].value);
	}
	return !asked || fits;
}

static bool fits(const struct follow *f, const struct dk_event *ev)
{
	if ((f->since >= 0 && ev->time < f->since) || (f->until >= 0 && ev->time > f->until))
		return false;
	for (int i = 0; i < FILTERS; i++)
		if (!fits_filter(&f->o->filter, ev, i))
			return false;
	return true;
}

static int check_filters(struct follow *f, struct err *e)
{
	const char *known[FILTERS + 1] = {NULL};

	for (int i = 0; i < FILTERS; i++)
		known[i] = filters[i].name;
	return dk_check_filter(f->c, &f->o->filter, known, e);
}

/* ---- printing ---- */

static void put_message(struct arena *a, struct dk_value *v, const struct dk_event *ev)
{
	bool container = type_fits(ev, "container"), old = container || type_fits(ev, "image");
	struct dk_value actor = dk_struct("events.Actor");
	const char *from = fact(ev, "image");

	*v = dk_struct("events.Message");
	dk_put(a, &actor, "ID", dk_string(ev->id));
	dk_put(a, &actor, "Attributes", dk_string_map(a, &ev->attributes, false));
	dk_put_named(a, v, "status", "Status", dk_string(old ? ev->action : ""));
	dk_put_named(a, v, "id", "ID", dk_string(old ? ev->id : ""));
	dk_put_named(a, v, "from", "From", dk_string(container && from ? from : ""));
	for (uint32_t i = 0; i < v->n; i++)
		v->members[i].omit_empty = true;
	dk_put(a, v, "Type", dk_string(ev->type));
	dk_put(a, v, "Action", dk_string(ev->action));
	dk_put(a, v, "Actor", actor);
	dk_put_named(a, v, "scope", "Scope", dk_string("local"));
	dk_put_named(a, v, "time", "Time", dk_int(ev->time / SECOND));
	dk_put_named(a, v, "timeNano", "TimeNano", dk_int(ev->time));
}

/* "2026-01-02T03:04:05.000000000+01:00": always nine digits, in the local zone. */
static void put_time(struct strbuf *b, int64_t time)
{
	time_t seconds = (time_t)(time / SECOND);
	char date[32], zone[8];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	strbuf_printf(b, "%s.%09lld", date, (long long)(time % SECOND));
	if (tm.tm_gmtoff == 0)
		strbuf_addc(b, 'Z');
	else
		strbuf_printf(b, "%.3s:%s", zone, zone + 3);
}

/* A label, a name of an image, a command of exec: no terminal is driven by them, and no line of ours is told by them. */
static void put_clean(struct arena *a, struct strbuf *b, const char *s)
{
	size_t size = 4 * strlen(s) + 8;

	strbuf_adds(b, str_escape(arena_alloc(a, size), size, s));
}

static void put_text(struct arena *a, struct strbuf *b, const struct dk_event *ev)
{
	struct dk_value facts = dk_string_map(a, &ev->attributes, false);
	const struct dk_member **sorted = dk_sorted_members(&facts);

	put_time(b, ev->time);
	strbuf_printf(b, " %s ", ev->type);
	put_clean(a, b, ev->action);
	strbuf_addc(b, ' ');
	put_clean(a, b, ev->id);
	for (uint32_t i = 0; i < facts.n; i++) {
		strbuf_adds(b, i ? ", " : " (");
		put_clean(a, b, sorted[i]->key);
		strbuf_addc(b, '=');
		put_clean(a, b, sorted[i]->value.text);
	}
	if (facts.n)
		strbuf_addc(b, ')');
	free(sorted);
}

static int print(const struct follow *f, struct arena *a, const struct dk_event *ev, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct dk_value v;
	int r = 0;

	put_message(a, &v, ev);
	if (f->json)
		dk_write_json(&b, &v, false);
	else if (f->format)
		r = dk_template_execute(f->format, &v, false, &b, e);
	else
		put_text(a, &b, ev);
	strbuf_addc(&b, '\n');
	return r < 0 ? r : dk_write_stdout(b.p, b.len, e);
}

static int parse_format(struct follow *f, struct err *e)
{
	const char *format = f->o->format;
	static const struct dk_template_options options = {.name = ""};

	if (!format || !*format)
		return 0;
	f->json = str_eq(format, "json");
	if (f->json || dk_template_parse(f->c->arena, &options, format, &f->format, e) == 0)
		return 0;
	return dk_fail(BAD_FORMAT, "Error parsing format: %s", e->msg);
}

/* ---- the command ---- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* As in Docker a bad one is an error of the engine. */
static int parse_time(struct follow *f, const char *text, int64_t *ret, struct err *e)
{
	struct timespec now, t;
	const char *why;

	clock_gettime(CLOCK_REALTIME, &now);
	*ret = -1;
	if (!text || !*text)
		return 0;
	if (dk_parse_time(text, &now, &t, e) < 0) {
		why = arena_strdup(f->c->arena, e->msg);
		return dk_daemon_error(f->c, e, EINVAL, "%s", why);
	}
	*ret = (int64_t)t.tv_sec * SECOND + t.tv_nsec;
	return 0;
}

/* All there is now. */
static int drain(const struct follow *f, struct dk_event_reader *in, struct err *e)
{
	for (;;) {
		auto_arena struct arena *a = arena_new();
		struct dk_event ev;
		int r = dk_events_next(in, a, &ev, e);

		if (r == 1 && fits(f, &ev))
			r = print(f, a, &ev, e) < 0 ? -e->code : 1;
		if (r <= 0)
			return r;
	}
}

/* Milliseconds until `until`, rounded up; -1: for ever. */
static int patience(const struct follow *f)
{
	int64_t left = f->until - now_ns();

	if (f->until < 0)
		return -1;
	return left <= 0 ? 0 : left > 3600 * SECOND ? 3600000 : (int)(left / 1000000) + 1;
}

static int follow(const struct follow *f, struct err *e)
{
	auto_event_reader struct dk_event_reader in = DK_EVENT_READER_NONE;
	struct dk_store *s;
	int r = dk_store_open(f->c, &s, e);

	if (r == 0)
		r = dk_events_open(&in, s, f->since >= 0, e);
	while (r == 0) {
		struct pollfd p = {in.watch, POLLIN, 0};
		int wait = patience(f);

		r = drain(f, &in, e);
		if (r < 0 || wait == 0)
			break;
		if (poll(&p, 1, wait) < 0 && errno != EINTR)
			r = err_sys(e, "wait for events");
	}
	return r;
}

int dk_cmd_events(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct follow f = {.c = c, .o = args->options};
	int r = parse_format(&f, e);

	if (r == 0)
		r = check_filters(&f, e);
	if (r == 0)
		r = parse_time(&f, f.o->since, &f.since, e);
	if (r == 0)
		r = parse_time(&f, f.o->until, &f.until, e);
	return r == 0 ? follow(&f, e) : r;
}

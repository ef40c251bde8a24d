/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who writes holds a shared lock on the log and has seen that it still has its name; who turns it
 * into log.1 holds the exclusive one. So nothing is written to a log behind the back of a reader
 * that has gone on to the next.
 */
#include "docker/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/lists.h"
#include "json/fields.h"

enum { LOG_MAX = 1 << 20, LINES_MAX = 64 << 20 /* an image's labels may be long */, CHUNK = 64 << 10 };

static const struct json_field fields[] = {
	JSON_FIELD(struct dk_event, time, "time", .required = true),
	JSON_FIELD(struct dk_event, type, "type", .required = true),
	JSON_FIELD(struct dk_event, action, "action", .required = true),
	JSON_FIELD(struct dk_event, id, "id", .required = true),
	JSON_FIELD(struct dk_event, attributes, "attributes"),
};
static const struct json_table table = JSON_TABLE(struct dk_event, fields);

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- writing ---- */

struct log_path { char dir[4096], log[4104], old[4104]; };

static bool make_path(struct log_path *p, const char *run)
{
	int n = snprintf(p->dir, sizeof(p->dir), "%s/docker-events", run);

	snprintf(p->log, sizeof(p->log), "%s/log", p->dir);
	snprintf(p->old, sizeof(p->old), "%s/log.1", p->dir);
	return n > 0 && (size_t)n < sizeof(p->dir);
}

static int open_log(const struct log_path *p)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(p->log, flags, 0600);

	if (fd < 0 && errno == ENOENT && (mkdir(p->dir, 0700) == 0 || errno == EEXIST))
		fd = open(p->log, flags, 0600);
	return fd;
}

/* An open log, locked; -1. */
static int lock_log(const struct log_path *p)
{
	for (;;) {
		auto_close int fd = open_log(p);
		struct stat mine, now;

		if (fd < 0 || flock(fd, LOCK_SH) < 0 || fstat(fd, &mine) < 0)
			return -1;
		if (stat(p->log, &now) < 0 || !same_file(&mine, &now))
			continue;
		/* Somebody else is writing: he, or the next one, will do it. */
		if (mine.st_size < LOG_MAX || flock(fd, LOCK_EX | LOCK_NB) < 0)
			return take_fd(&fd);
		/* Getting the other kind of lock is two steps, so it may have been done in between. */
		if (stat(p->log, &now) == 0 && same_file(&mine, &now) && rename(p->log, p->old) < 0)
			return -1;
	}
}

void dk_event_add(struct strbuf *lines, const struct dk_event *event)
{
	struct dk_event ev = *event;
	struct json_writer w;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!ev.time)
		ev.time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	json_writer_init(&w, lines, false);
	json_write_struct(&w, &table, &ev);
	strbuf_addc(lines, '\n');
}

void dk_events_write(const struct dk_roots *roots, const struct strbuf *lines)
{
	auto_close int fd = -1;
	struct log_path p;

	if (!make_path(&p, roots->run))
		return;
	fd = lock_log(&p);
	if (fd >= 0 && write(fd, lines->p, lines->len) < 0)
		return; /* see events.h */
}

void dk_event_write(const struct dk_roots *roots, const struct dk_event *event)
{
	auto_strbuf struct strbuf line = {0};

	dk_event_add(&line, event);
	dk_events_write(roots, &line);
}

void dk_object_event(const struct dk_roots *roots, const char *type, const char *action, const char *id,
		     struct dk_event_fact fact)
{
	struct str_pair pair = {(char *)fact.key, (char *)(fact.value ? fact.value : "")};
	struct dk_event ev = {.type = (char *)type, .action = (char *)action, .id = (char *)id,
			      .attributes = {&pair, fact.key ? 1 : 0}};

	dk_event_write(roots, &ev);
}

struct str_map dk_container_facts(struct arena *a, const struct dk_record *r, struct dk_event_fact fact)
{
	struct str_map m = {0};

	for (size_t i = 0; i < r->config.labels.n; i++)
		dk_map_add(a, &m, r->config.labels.v[i].key, r->config.labels.v[i].value, false); /* each is there once */
	dk_map_add(a, &m, (char *)"image", r->config.image ? r->config.image : (char *)"", true);
	dk_map_add(a, &m, (char *)"name", r->name, true);
	if (fact.key)
		dk_map_add(a, &m, (char *)fact.key, (char *)fact.value, true);
	return m;
}

void dk_container_event(const struct dk_store *s, const struct dk_record *r, const char *action,
			struct dk_event_fact fact)
{
	auto_arena struct arena *a = arena_new();
	struct dk_event ev = {.type = (char *)"container", .action = (char *)action, .id = r->id,
			      .attributes = dk_container_facts(a, r, fact)};

	dk_event_write(&s->roots, &ev);
}

void dk_container_event_number(const struct dk_store *s, const struct dk_record *r, const char *action,
			       const char *key, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	dk_container_event(s, r, action, (struct dk_event_fact){key, text});
}

/* ---- reading ---- */

static int read_old(struct dk_event_reader *r, const struct log_path *p, struct err *e)
{
	auto_close int fd = open(p->old, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat old, new;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", p->old);
	if (fstat(fd, &old) < 0 || fstat(r->fd, &new) < 0)
		return err_sys(e, "stat the events");
	/* Renamed since it was opened: it is read from r->fd anyway. */
	return same_file(&old, &new) ? 0 : io_read_fd(fd, 2 * LOG_MAX + LINES_MAX, &r->pending, p->old, e);
}

int dk_events_open(struct dk_event_reader *r, const struct dk_store *s, bool old, struct err *e)
{
	struct log_path p;

	if (!make_path(&p, s->roots.run))
		return err_set(e, ENAMETOOLONG, "the run root has too long a path");
	r->dir = arena_strdup(s->arena, p.dir);
	r->fd = open_log(&p);
	if (r->fd < 0)
		return err_sys(e, "open %s", p.log);
	r->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (r->watch < 0 || inotify_add_watch(r->watch, p.dir, IN_MODIFY | IN_CREATE) < 0)
		return err_sys(e, "watch %s", p.dir);
	if (!old)
		return lseek(r->fd, 0, SEEK_END) < 0 ? err_sys(e, "seek in %s", p.log) : 0;
	return read_old(r, &p, e);
}

/* 1: there was more. */
static int read_more(struct dk_event_reader *r, struct err *e)
{
	char room[CHUNK];
	ssize_t n = read(r->fd, room, sizeof(room));

	if (r->at) {
		memmove(r->pending.p, r->pending.p + r->at, r->pending.len - r->at + 1);
		r->pending.len -= r->at;
		r->at = 0;
	}
	if (n > 0)
		strbuf_add(&r->pending, room, (size_t)n);
	return n < 0 ? err_sys(e, "read the events") : n > 0;
}

/* 1: at the end of a log that has been followed by another, which is open now. */
static int go_on(struct dk_event_reader *r, struct err *e)
{
	auto_close int fd = -1;
	struct stat mine, now;
	struct log_path p;

	snprintf(p.log, sizeof(p.log), "%s/log", r->dir);
	fd = open(p.log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", p.log);
	if (fstat(r->fd, &mine) < 0 || fstat(fd, &now) < 0)
		return err_sys(e, "stat the events");
	if (same_file(&mine, &now))
		return 0;
	if (read_more(r, e) != 0) /* what came between its end and the rename */
		return e->code ? -e->code : 1;
	close(r->fd);
	r->fd = take_fd(&fd);
	return 1;
}

/* 1, 0; a line that is none (a full disk cut it) is passed over. */
static int take_line(struct dk_event_reader *r, struct arena *a, struct dk_event *ret)
{
	struct strbuf *b = &r->pending;
	char *end;

	while (r->at < b->len && (end = memchr(b->p + r->at, '\n', b->len - r->at))) {
		const char *line = b->p + r->at;
		size_t n = (size_t)(end - line);
		struct dk_event ev = {0};
		const struct json *doc;
		struct err bad = {0};
		bool good = json_parse(line, n, a, &doc, &bad) == 0 &&
			    json_read_struct(&(struct json_reader){a, "", &bad}, doc, &table, &ev) == 0;

		r->at += n + 1;
		if (!good)
			continue;
		*ret = ev;
		return 1;
	}
	return 0;
}

int dk_events_next(struct dk_event_reader *r, struct arena *a, struct dk_event *ret, struct err *e)
{
	char ignored[4096];
	int more = 1;

	while (more > 0) {
		if (take_line(r, a, ret))
			return 1;
		while (read(r->watch, ignored, sizeof(ignored)) > 0)
			; /* before the look, so that what comes after it wakes us */
		more = read_more(r, e);
		if (more == 0)
			more = go_on(r, e);
	}
	return more;
}

void dk_events_close(struct dk_event_reader *r)
{
	cleanup_close(&r->fd);
	cleanup_close(&r->watch);
	strbuf_free(&r->pending);
}

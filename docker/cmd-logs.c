/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker logs`. Who follows is woken by inotify: by what is written to the log, and by the owner's
 * lock file, which is closed when the owner ends, however that is.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/lists.h"
#include "docker/log-read.h"
#include "docker/units.h"

enum { BUFFER = 32 << 10, ONCE_MORE_MS = 100 };
#define SECOND 1000000000ll

struct logs {
	struct dk_context *c;
	const struct dk_logs_options *o;
	struct dk_record *record;
	int64_t since, until; /* nanoseconds; -1: none */
	bool past_until;
	struct strbuf out;    /* for the stream: */
	int stream;
};

/* ---- printing ---- */

static int flush(struct logs *l, struct err *e)
{
	static const char *const names[] = {"stdout", "stderr"};
	int r = l->out.len ? io_write_all(l->stream ? STDERR_FILENO : STDOUT_FILENO, l->out.p, l->out.len) : 0;

	l->out.len = 0;
	return r < 0 ? err_set(e, -r, "write /dev/%s: %s", names[l->stream], dk_errno_text(l->c->arena, -r)) : 0;
}

static int64_t time_of(const struct dk_log_line *line)
{
	struct timespec t;

	return dk_time_parse(line->time, &t) < 0 ? 0 : (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int print(struct logs *l, const struct dk_log_line *line, struct err *e)
{
	if (l->since >= 0 && time_of(line) < l->since)
		return 0;
	if (l->until >= 0 && time_of(line) > l->until) {
		l->past_until = true;
		return 0;
	}
	if ((line->stream != l->stream || l->out.len > BUFFER) && flush(l, e) < 0)
		return -e->code;
	l->stream = line->stream;
	if (l->o->timestamps)
		strbuf_printf(&l->out, "%s ", line->time);
	if (l->o->details) /* no attributes are kept, and what stands between them and the line is this */
		strbuf_addc(&l->out, ' ');
	strbuf_add(&l->out, line->text, line->n);
	return 0;
}

/* All there is now. */
static int drain(struct logs *l, struct dk_log_reader *in, struct err *e)
{
	struct dk_log_line line;
	int r;

	while (!l->past_until && (r = dk_log_read_next(in, &line, e)) != 0)
		if (r < 0 || print(l, &line, e) < 0)
			return -e->code;
	return flush(l, e);
}

/* ---- following ---- */

static int watch(const struct logs *l, struct err *e)
{
	auto_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const struct dk_store *s = l->c->store;
	const char *id = l->record->id;

	if (fd < 0 || inotify_add_watch(fd, dk_container_path(s, id, NULL), IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return err_sys(e, "watch container %.12s", id);
	if (inotify_add_watch(fd, dk_run_path(s, id, "owner"), IN_CLOSE_WRITE | IN_DELETE_SELF | IN_ATTRIB) < 0 &&
	    errno != ENOENT)
		return err_sys(e, "watch the owner of container %.12s", id);
	return take_fd(&fd);
}

/* Milliseconds until --until; -1: for ever. */
static int patience(const struct logs *l)
{
	struct timespec now;
	int64_t left;

	if (l->until < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	left = l->until - ((int64_t)now.tv_sec * SECOND + now.tv_nsec);
	return left <= 0 ? 0 : left > 3600 * SECOND ? 3600000 : (int)(left / 1000000) + 1;
}

static bool was_closed(const char *events, ssize_t n)
{
	const struct inotify_event *ev;

	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*ev) + ev->len)) {
		ev = (const struct inotify_event *)(events + at);
		if (ev->mask & IN_CLOSE_WRITE)
			return true;
	}
	return false;
}

/* Does the owner still answer for it? He takes the name away before he closes his file. */
static bool is_owned(int lock)
{
	struct stat st;

	return fstat(lock, &st) == 0 && st.st_nlink > 0 && dk_owner_is_held(lock);
}

/* The owner is looked at before the log: what he wrote last is seen then. The kernel tells of a close a moment
 * before it lets the lock go, so behind one there is another look. */
static int follow(struct logs *l, struct dk_log_reader *in, int lock, struct err *e)
{
	auto_close int fd = watch(l, e);
	struct pollfd p = {fd, POLLIN, 0};
	_Alignas(struct inotify_event) char events[4096];

	while (fd >= 0) {
		bool closed = false, owned;
		int wait;

		for (ssize_t n; (n = read(fd, events, sizeof(events))) > 0;)
			closed |= was_closed(events, n);
		owned = is_owned(lock);
		if (drain(l, in, e) < 0)
			return -e->code;
		wait = patience(l);
		if (!owned || l->past_until || wait == 0)
			return 0;
		if (closed && (wait < 0 || wait > ONCE_MORE_MS))
			wait = ONCE_MORE_MS;
		if (poll(&p, 1, wait) < 0 && errno != EINTR)
			return err_sys(e, "wait for the log");
	}
	return fd;
}

/* ---- the command ---- */

static int parse_time(struct logs *l, const char *name, const char *text, int64_t *ret, struct err *e)
{
	struct timespec now, t;

	clock_gettime(CLOCK_REALTIME, &now);
	*ret = -1;
	if (!text || !*text)
		return 0;
	if (dk_parse_time(text, &now, &t, e) < 0)
		return dk_error(l->c, e, EINVAL, "invalid value for \"%s\": %s", name, arena_strdup(l->c->arena, e->msg));
	*ret = (int64_t)t.tv_sec * SECOND + t.tv_nsec;
	return 0;
}

/* What is no number means all, as in Docker. */
static int64_t tail_of(const struct dk_logs_options *o)
{
	int64_t n;

	return o->tail && str_i64(o->tail, &n) == 0 && n >= 0 ? n : -1;
}

static int check_driver(struct logs *l, struct err *e)
{
	const char *own = l->record->options.log_driver;

	if (str_eq(own && *own ? own : l->c->store->config.log_driver, "none"))
		return dk_daemon_error(l->c, e, ENOTSUP, "configured logging driver does not support reading");
	return 0;
}

int dk_cmd_logs(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	auto_log_reader struct dk_log_reader in = DK_LOG_READER_NONE;
	struct logs l = {.c = c, .o = args->options};
	auto_close int lock = -1;
	int r;

	if (parse_time(&l, "since", l.o->since, &l.since, e) < 0 || parse_time(&l, "until", l.o->until, &l.until, e) < 0 ||
	    dk_container_find(c, args->argv[0], &l.record, e) < 0 || check_driver(&l, e) < 0)
		return -e->code;
	if (l.o->follow)
		lock = dk_owner_open(c->store, l.record->id);
	r = dk_log_read_open(&in, c->store, l.record->id, tail_of(l.o), e);
	if (r == 0)
		r = lock >= 0 ? follow(&l, &in, lock, e) : drain(&l, &in, e);
	strbuf_free(&l.out);
	return r;
}

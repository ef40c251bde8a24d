/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files are opened from the newest to the oldest: what is renamed meanwhile is met a second time,
 * as the same file, and not missed. When the writer has turned the log over, the newer ones are
 * found by the place that the last one has now.
 */
#include "docker/log-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { FILES_MAX = 1000, CHUNK = 64 << 10, LINE_LIMIT = 1 << 20 };

static int open_nth(const struct dk_log_reader *l, unsigned n)
{
	char name[DK_ID_SIZE + 32];

	dk_log_name(name, sizeof(name), l->id, n);
	return openat(l->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static bool same_file(int x, int y)
{
	struct stat a, b;

	return fstat(x, &a) == 0 && fstat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int add_fd(struct dk_log_reader *l, int fd, struct err *e)
{
	int *v = realloc(l->fds, (l->n + 1) * sizeof(*v));

	if (!v) {
		close(fd);
		return err_set(e, ENOMEM, "read the log: no memory");
	}
	l->fds = v;
	l->fds[l->n++] = fd;
	return 0;
}

static void reverse(struct dk_log_reader *l, size_t from)
{
	for (size_t i = from, j = l->n; i + 1 < j; i++) {
		int t = l->fds[i];

		l->fds[i] = l->fds[--j];
		l->fds[j] = t;
	}
}

/* Those newer than `last` (-1: all), oldest first, behind what is there. */
static int open_newer(struct dk_log_reader *l, int last, struct err *e)
{
	size_t from = l->n;

	for (unsigned n = 0; n < FILES_MAX; n++) {
		int fd = open_nth(l, n);

		if (fd < 0 && errno == ENOENT)
			break;
		if (fd < 0)
			return err_sys(e, "open the log of the container");
		if ((last >= 0 && same_file(fd, last)) || (l->n > from && same_file(fd, l->fds[l->n - 1]))) {
			close(fd);
			if (last >= 0)
				break;
			continue;
		}
		if (add_fd(l, fd, e) < 0)
			return -e->code;
	}
	reverse(l, from);
	return 0;
}

/* ---- the last lines ---- */

/* Puts fd where its last *left lines begin, and counts those it has off *left. */
static int seek_tail(int fd, int64_t *left, struct err *e)
{
	char buf[CHUNK];
	off_t end = lseek(fd, 0, SEEK_END), at = end;

	while (at > 0) {
		size_t n = at < (off_t)sizeof(buf) ? (size_t)at : sizeof(buf);

		if (pread(fd, buf, n, at - (off_t)n) != (ssize_t)n)
			return err_sys(e, "read the log of the container");
		for (size_t i = n; i-- > 0;) {
			off_t here = at - (off_t)(n - i);

			if (buf[i] != '\n' || here == end - 1)
				continue;
			if (--*left == 0)
				return lseek(fd, here + 1, SEEK_SET) < 0 ? err_sys(e, "seek in the log") : 0;
		}
		at -= (off_t)n;
	}
	*left -= end > 0; /* its first line has no newline in front */
	return lseek(fd, 0, SEEK_SET) < 0 ? err_sys(e, "seek in the log") : 0;
}

static int keep_tail(struct dk_log_reader *l, int64_t tail, struct err *e)
{
	size_t i = l->n;

	while (i > 0 && tail > 0)
		if (seek_tail(l->fds[--i], &tail, e) < 0)
			return -e->code;
	l->at = i;
	if (i == l->n && l->n) { /* no line at all, but what comes */
		l->at = l->n - 1;
		if (lseek(l->fds[l->at], 0, SEEK_END) < 0)
			return err_sys(e, "seek in the log");
	}
	return 0;
}

int dk_log_read_open(struct dk_log_reader *l, const struct dk_store *s, const char *id, int64_t tail, struct err *e)
{
	snprintf(l->id, sizeof(l->id), "%s", id);
	l->dir = openat(s->containers, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (l->dir < 0)
		return err_sys(e, "open container %.12s", id);
	if (open_newer(l, -1, e) < 0)
		return -e->code;
	return tail < 0 ? 0 : keep_tail(l, tail, e);
}

/* ---- lines ---- */

/* 1: there is more in pending. */
static int read_more(struct dk_log_reader *l, struct err *e)
{
	char buf[CHUNK];
	ssize_t n = read(l->fds[l->at], buf, sizeof(buf));

	if (l->taken) {
		memmove(l->pending.p, l->pending.p + l->taken, l->pending.len - l->taken + 1);
		l->pending.len -= l->taken;
		l->taken = 0;
	}
	if (n > 0)
		strbuf_add(&l->pending, buf, (size_t)n);
	return n < 0 ? err_sys(e, "read the log of the container") : n > 0;
}

/* 1: there is a newer file to go on with. */
static int go_on(struct dk_log_reader *l, struct err *e)
{
	int last = l->n ? l->fds[l->n - 1] : -1, r;

	if (l->at + 1 < l->n) {
		cleanup_close(&l->fds[l->at++]);
		l->pending.len = l->taken = 0; /* what a full disk has cut */
		return 1;
	}
	r = open_newer(l, last, e);
	if (r < 0 || l->at + 1 >= l->n)
		return r < 0 ? r : last < 0 && l->n > 0;
	return read_more(l, e) < 0 ? -e->code : 1; /* what came between its end and the rename */
}

/*
 * The parser of json/ refuses NUL, of which a program may well have written one; and a line of the log has
 * one form only: {"log":"...","stream":"stdout","time":"..."}
 */
struct cursor { const char *p, *end; };

static bool skip(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

static void put_utf8(struct strbuf *b, unsigned rune)
{
	if (rune < 0x80) {
		strbuf_addc(b, (char)rune);
		return;
	}
	if (rune >= 0x800)
		strbuf_addc(b, (char)(0xE0 | rune >> 12));
	strbuf_addc(b, (char)(rune >= 0x800 ? 0x80 | (rune >> 6 & 0x3F) : 0xC0 | rune >> 6));
	strbuf_addc(b, (char)(0x80 | (rune & 0x3F)));
}

/* Behind the backslash. What needs two \u (surrogates) is written as it is, never escaped. */
static bool unescape(struct cursor *c, struct strbuf *b)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = c->p < c->end && *c->p ? strchr(from, *c->p) : NULL;
	char digits[5] = "", *end;
	unsigned long rune;

	if (at) {
		strbuf_addc(b, to[at - from]);
		c->p++;
		return true;
	}
	if (c->end - c->p < 5 || *c->p != 'u')
		return false;
	memcpy(digits, c->p + 1, 4);
	rune = strtoul(digits, &end, 16);
	if (*end)
		return false;
	put_utf8(b, (unsigned)rune);
	c->p += 5;
	return true;
}

/* Up to the quote, which is taken too. */
static bool take_string(struct cursor *c, struct strbuf *b)
{
	while (c->p < c->end && *c->p != '"') {
		const char *plain = c->p;

		while (c->p < c->end && *c->p != '"' && *c->p != '\\')
			c->p++;
		strbuf_add(b, plain, (size_t)(c->p - plain));
		if (c->p < c->end && *c->p == '\\') {
			c->p++;
			if (!unescape(c, b))
				return false;
		}
	}
	return skip(c, "\"");
}

static bool parse(struct dk_log_reader *l, const char *text, size_t n, struct dk_log_line *ret)
{
	struct cursor c = {text, text + n};

	l->text.len = l->time.len = 0;
	if (!skip(&c, "{\"log\":\"") || !take_string(&c, &l->text) || !skip(&c, ",\"stream\":\"std"))
		return false;
	ret->stream = skip(&c, "err\"") ? 1 : 0;
	if ((!ret->stream && !skip(&c, "out\"")) || !skip(&c, ",\"time\":\"") || !take_string(&c, &l->time))
		return false;
	ret->text = strbuf_str(&l->text);
	ret->n = l->text.len;
	ret->time = strbuf_str(&l->time);
	return true;
}

static bool take_line(struct dk_log_reader *l, struct dk_log_line *ret)
{
	struct strbuf *b = &l->pending;
	char *end;

	while (l->taken < b->len && (end = memchr(b->p + l->taken, '\n', b->len - l->taken))) {
		const char *line = b->p + l->taken;
		size_t n = (size_t)(end - line);

		l->taken += n + 1;
		if (parse(l, line, n, ret))
			return true;
	}
	if (b->len - l->taken > LINE_LIMIT) /* none of ours */
		l->taken = b->len;
	return false;
}

int dk_log_read_next(struct dk_log_reader *l, struct dk_log_line *ret, struct err *e)
{
	int more = 1;

	while (more > 0) {
		if (take_line(l, ret))
			return 1;
		more = l->n ? read_more(l, e) : 0;
		if (more == 0)
			more = go_on(l, e);
	}
	return more;
}

void dk_log_read_close(struct dk_log_reader *l)
{
	for (size_t i = 0; i < l->n; i++)
		cleanup_close(&l->fds[i]);
	free(l->fds);
	l->fds = NULL;
	l->n = 0;
	cleanup_close(&l->dir);
	strbuf_free(&l->pending);
	strbuf_free(&l->text);
	strbuf_free(&l->time);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line of output is a line of the log, cut at LINE_MAX_BYTES as Docker does it (the rest follows
 * as a line of its own, and only the last piece ends with a newline). Bytes that are no UTF-8 become
 * U+FFFD, for JSON has no others.
 */
#include "docker/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "docker/units.h"
#include "json/writer.h"
#include "spec/state.h"

enum { LINE_MAX_BYTES = 16 << 10 };

void dk_log_name(char *buf, size_t size, const char *id, unsigned n)
{
	if (n)
		snprintf(buf, size, "%s-json.log.%u", id, n);
	else
		snprintf(buf, size, "%s-json.log", id);
}

static const char *option(const struct dk_store *s, const struct dk_record *r, const char *key)
{
	const struct str_map *maps[] = {&r->options.log_opts, &s->config.log_opts};

	for (size_t m = 0; m < 2; m++)
		for (size_t i = 0; i < maps[m]->n; i++)
			if (strcmp(maps[m]->v[i].key, key) == 0)
				return maps[m]->v[i].value;
	return NULL;
}

int dk_log_limits(const char *size, const char *files, struct dk_log *l, struct err *e)
{
	struct err ignored = {0};
	int64_t v;
	uint64_t n;

	l->max_files = 1;
	if (size && strcmp(size, "-1") != 0) {
		if (dk_parse_bytes(size, &v, &ignored) < 0 || v <= 0)
			return err_set(e, EINVAL, "invalid value for max-size: %s", size);
		l->max_size = (uint64_t)v;
	}
	if (files) {
		if (str_u64(files, 10000, &n) < 0 || n < 1)
			return err_set(e, EINVAL, "max-file cannot be less than 1");
		l->max_files = (unsigned)n;
	}
	return 0;
}

static int read_options(struct dk_log *l, const struct dk_store *s, const struct dk_record *r, struct err *e)
{
	const char *size = option(s, r, "max-size"), *files = option(s, r, "max-file");

	return dk_log_limits(size, files, l, e) < 0 ? err_wrap(e, "Error response from daemon") : 0;
}

static int open_file(struct dk_log *l, struct err *e)
{
	struct stat st;

	l->fd = openat(l->dir, l->name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0 || fstat(l->fd, &st) < 0)
		return err_sys(e, "open the log of the container");
	l->size = (uint64_t)st.st_size;
	return 0;
}

int dk_log_open(struct dk_log *l, const struct dk_store *s, const struct dk_record *r, struct err *e)
{
	const char *driver = r->options.log_driver && *r->options.log_driver ? r->options.log_driver
									      : s->config.log_driver;

	if (str_eq(driver, "none"))
		return 0;
	if (!str_eq(driver, "json-file") && !str_eq(driver, "local"))
		return err_set(e, ENOTSUP, "Error response from daemon: logger: no log driver named '%s' is "
			       "registered", driver);
	if (read_options(l, s, r, e) < 0)
		return -e->code;
	dk_log_name(l->name, sizeof(l->name), r->id, 0);
	l->dir = openat(s->containers, r->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return l->dir < 0 ? err_sys(e, "open the directory of the container") : open_file(l, e);
}

static void rotate(struct dk_log *l)
{
	char from[sizeof(l->name) + 16], to[sizeof(l->name) + 16];
	struct err e = {0};

	for (unsigned n = l->max_files - 1; n > 0; n--) {
		snprintf(to, sizeof(to), "%s.%u", l->name, n);
		if (n > 1)
			snprintf(from, sizeof(from), "%s.%u", l->name, n - 1);
		else
			snprintf(from, sizeof(from), "%s", l->name);
		renameat(l->dir, from, l->dir, to);
	}
	if (l->max_files == 1)
		unlinkat(l->dir, l->name, 0);
	cleanup_close(&l->fd);
	if (open_file(l, &e) < 0)
		log_warning("%s", e.msg);
}

static void write_line(struct dk_log *l, int stream, const char *data, size_t n)
{
	static const char *const streams[] = {"stdout", "stderr"};
	auto_strbuf struct strbuf b = {0};
	char now[SPEC_TIME_SIZE];
	struct json_writer w;
	int r;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_key(&w, "log");
	json_strn(&w, data, n);
	json_member_str(&w, "stream", streams[stream]);
	json_member_str(&w, "time", spec_time_now(now));
	json_end_object(&w);
	strbuf_addc(&b, '\n');
	if (l->max_size && l->size > 0 && l->size + b.len > l->max_size)
		rotate(l);
	r = l->fd < 0 ? -EBADF : io_write_all(l->fd, b.p, b.len);
	if (r < 0 && !l->broken)
		log_warning("the log of the container is not complete: %s", err_name(-r));
	l->broken |= r < 0;
	l->size += r < 0 ? 0 : b.len;
}

void dk_log_write(struct dk_log *l, int stream, const char *data, size_t n)
{
	struct strbuf *p = &l->partial[stream];

	if (l->dir < 0)
		return;
	while (n > 0) {
		const char *end = memchr(data, '\n', n);
		size_t have = end ? (size_t)(end - data) + 1 : n;

		if (have > LINE_MAX_BYTES - p->len) {
			have = LINE_MAX_BYTES - p->len;
			end = data; /* full */
		}
		strbuf_add(p, data, have);
		data += have;
		n -= have;
		if (!end)
			continue;
		write_line(l, stream, p->p, p->len);
		p->len = 0;
	}
}

void dk_log_flush(struct dk_log *l)
{
	for (int i = 0; i < 2; i++) {
		if (l->partial[i].len)
			write_line(l, i, l->partial[i].p, l->partial[i].len);
		strbuf_free(&l->partial[i]);
	}
}

void dk_log_close(struct dk_log *l)
{
	dk_log_flush(l);
	cleanup_close(&l->fd);
	cleanup_close(&l->dir);
}

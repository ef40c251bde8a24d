/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --env-file and --label-file. A line is NAME=VALUE or NAME; blanks in front go, those behind stay;
 * "#" begins a comment only at the start; there are no quotes. NAME alone takes the value from the
 * client's environment, and is left out when it has none, or when it is a label.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "json/utf8.h"

#define FILE_MAX (4u << 20)

struct line_file {
	struct dk_context *c;
	const char *path;
	struct strv *ret;
	size_t line;
	bool labels;
};

/* Go's print of a []byte: [66 61 255]. */
static int bad_utf8(const struct line_file *f, const char *s, size_t n, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&b, "%s%d", i ? " " : "", (unsigned char)s[i]);
	return dk_error(f->c, e, EINVAL, "invalid env file (%s): invalid utf8 bytes at line %zu: [%s]", f->path,
			f->line, strbuf_str(&b));
}

static bool is_utf8(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = utf8_sequence(s + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

static int add_line(const struct line_file *f, const char *s, size_t n, struct err *e)
{
	struct arena *a = f->c->arena;
	const char *value;
	char *line, *name;
	size_t end;

	if (!is_utf8(s, n))
		return bad_utf8(f, s, n, e);
	if (f->line == 1 && n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
		s += 3;
		n -= 3;
	}
	for (; n && strchr(" \t\v\f", *s); s++)
		n--;
	if (!n || *s == '#')
		return 0;
	line = arena_strndup(a, s, n);
	end = strcspn(line, "=");
	name = arena_strndup(a, line, end);
	if (!end)
		return dk_error(f->c, e, EINVAL, "invalid env file (%s): no variable name on line '%s'", f->path, line);
	if (strpbrk(name, " \t"))
		return dk_error(f->c, e, EINVAL, "invalid env file (%s): variable '%s' contains whitespaces", f->path, name);
	if (line[end])
		dk_strv_add(a, f->ret, line);
	else if (!f->labels && (value = dk_client_env(f->c, name)))
		dk_strv_add(a, f->ret, arena_printf(a, "%s=%s", name, value));
	return 0;
}

static int read_lines(struct line_file *f, const char *text, size_t size, struct err *e)
{
	for (size_t i = 0; i < size;) {
		const char *end = memchr(text + i, '\n', size - i);
		size_t n = end ? (size_t)(end - (text + i)) : size - i, next = i + n + 1;

		f->line++;
		if (n && text[i + n - 1] == '\r')
			n--;
		if (add_line(f, text + i, n, e) < 0)
			return -e->code;
		i = next;
	}
	return 0;
}

static int read_line_file(struct dk_context *c, const char *path, bool labels, struct strv *ret, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct line_file f = {.c = c, .path = path, .ret = ret, .labels = labels};
	auto_strbuf struct strbuf text = {0};
	struct err why = {0};
	struct stat st;

	if (fd < 0)
		return dk_error(c, e, errno, "open %s: %s", path, dk_errno_text(c->arena, errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return dk_error(c, e, EISDIR, "invalid env file (%s): read %s: is a directory", path, path);
	if (io_read_fd(fd, FILE_MAX, &text, path, &why) < 0)
		return dk_error(c, e, why.code, "invalid env file (%s): %s", path, why.msg);
	return read_lines(&f, strbuf_str(&text), text.len, e);
}

static size_t name_length(const char *s)
{
	return strcspn(s, "=");
}

/* The last of a name wins, at the place of the first. */
static void put_variable(struct arena *a, struct strv *list, char *entry)
{
	size_t n = name_length(entry);

	for (size_t i = 0; i < list->n; i++)
		if (name_length(list->v[i]) == n && memcmp(list->v[i], entry, n) == 0) {
			list->v[i] = entry;
			return;
		}
	dk_strv_add(a, list, entry);
}

int dk_collect_env(struct dk_context *c, const struct strv *files, const struct strv *flags,
		   struct strv *ret, struct err *e)
{
	struct strv all = {0};

	for (size_t i = 0; i < files->n; i++)
		if (read_line_file(c, files->v[i], false, &all, e) < 0)
			return -e->code;
	for (size_t i = 0; i < all.n; i++)
		put_variable(c->arena, ret, all.v[i]);
	for (size_t i = 0; i < flags->n; i++)
		put_variable(c->arena, ret, flags->v[i]);
	return 0;
}

int dk_collect_labels(struct dk_context *c, const struct strv *files, const struct strv *flags,
		      struct str_map *ret, struct err *e)
{
	struct strv all = {0};

	for (size_t i = 0; i < files->n; i++)
		if (read_line_file(c, files->v[i], true, &all, e) < 0)
			return -e->code;
	for (size_t i = 0; i < flags->n; i++)
		dk_strv_add(c->arena, &all, flags->v[i]);
	for (size_t i = 0; i < all.n; i++) {
		size_t n = name_length(all.v[i]);
		char *value = all.v[i][n] ? all.v[i] + n + 1 : all.v[i] + n;

		dk_map_add(c->arena, ret, arena_strndup(c->arena, all.v[i], n), value, true);
	}
	return 0;
}

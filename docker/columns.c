/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elastic columns: a cell ends at a tab; a column is what lines that follow each other have at the
 * same place, so lines with fewer tabs interrupt it. What stands behind the last tab is no cell.
 */
#include <string.h>

#include "docker/format.h"
#include "docker/lists.h"
#include "docker/unicode.h"

enum { WIDTH_MIN = 10, PADDING = 3, COLUMNS_MAX = 200 };

struct line { const char *text; size_t n, tabs; };

struct table {
	struct arena *a;
	struct strbuf *out;
	struct { struct line *v; size_t n; } lines;
	size_t widths[COLUMNS_MAX + 1];
};

static size_t text_width(const char *s, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n;) {
		struct dk_rune r = dk_rune_at(s + i, n - i);

		width += dk_rune_width(r.rune);
		i += r.len ? r.len : 1;
	}
	return width;
}

/* The cell of a line; behind the last tab the rest. */
static const char *cell(const struct line *l, size_t column, size_t *n)
{
	const char *s = l->text, *end = l->text + l->n;

	for (; column; column--)
		s = (const char *)memchr(s, '\t', (size_t)(end - s)) + 1;
	*n = (size_t)(end - s);
	if (memchr(s, '\t', *n))
		*n = (size_t)((const char *)memchr(s, '\t', *n) - s);
	return s;
}

static void write_lines(struct table *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct line *l = &t->lines.v[i];

		for (size_t k = 0; k <= l->tabs; k++) {
			size_t n;
			const char *s = cell(l, k, &n);

			strbuf_add(t->out, s, n);
			for (size_t w = text_width(s, n); k < l->tabs && w < t->widths[k]; w++)
				strbuf_addc(t->out, ' ');
		}
		if (i + 1 < t->lines.n)
			strbuf_addc(t->out, '\n');
	}
}

/* Lines [from, to) have `column` columns of known widths; finds out the next one's. */
static void layout(struct table *t, size_t from, size_t to, size_t column)
{
	size_t plain = from;

	for (size_t i = from; i < to && column < COLUMNS_MAX;) {
		size_t width = WIDTH_MIN, end = i, n;

		if (t->lines.v[i].tabs <= column) {
			i++;
			continue;
		}
		write_lines(t, plain, i);
		for (; end < to && t->lines.v[end].tabs > column; end++) {
			const char *s = cell(&t->lines.v[end], column, &n);
			size_t w = text_width(s, n) + PADDING;

			width = w > width ? w : width;
		}
		t->widths[column] = width;
		layout(t, i, end, column + 1);
		plain = i = end;
	}
	write_lines(t, plain, to);
}

void dk_align_columns(struct strbuf *out, const char *text, size_t n)
{
	auto_arena struct arena *a = arena_new();
	struct table t = {.a = a, .out = out};

	for (size_t i = 0; i <= n;) {
		const char *end = i < n ? memchr(text + i, '\n', n - i) : NULL;
		struct line l = {.text = text + i, .n = end ? (size_t)(end - (text + i)) : n - i};

		for (size_t k = 0; k < l.n && l.tabs < COLUMNS_MAX; k++)
			l.tabs += l.text[k] == '\t';
		*dk_list_add(a, &t.lines) = l;
		i += l.n + 1;
		if (!end)
			break;
	}
	layout(&t, 0, t.lines.n, 0);
}

char *dk_ellipsis(struct arena *a, const char *text, size_t width)
{
	size_t n = strlen(text), used = 0, i = 0;

	if (text_width(text, n) <= width)
		return arena_strdup(a, text);
	while (i < n && width) {
		struct dk_rune r = dk_rune_at(text + i, n - i);
		size_t w = dk_rune_width(r.rune);

		if (used + w > width - 1)
			break;
		used += w;
		i += r.len ? r.len : 1;
	}
	return arena_printf(a, "%.*s%s", (int)i, text, width ? "\xe2\x80\xa6" : "");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yajl 2.1 hands out decoded strings, in which some of what must be refused can no longer be seen:
 * it turns a lone surrogate into "?", lets overlong and surrogate UTF-8 pass, and a NUL would cut
 * the C string. Depth is checked here too, so that no later code meets a deep document.
 */
#include "json/scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "json/json.h"
#include "json/utf8.h"

int json_error_at(const struct json_source *s, size_t offset, const char *fmt, ...)
{
	size_t line = 1, column = 1;
	char msg[256];
	va_list ap;

	for (size_t i = 0; i < offset && i < s->len; i++) {
		column++;
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return err_set(s->e, EINVAL, "line %zu, column %zu: %s", line, column, msg);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* The value of "\uXXXX" at s[0..n), -1 when it is something else. */
static int unicode_escape(const char *s, size_t n)
{
	int v = 0;

	if (n < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int d = hex_digit(s[i]);

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

struct scanner {
	const struct json_source *source;
	const char *text;
	size_t len, pos;
	unsigned depth;
	bool in_string;
};

static int bad(const struct scanner *s, const char *what)
{
	return json_error_at(s->source, s->pos, "%s", what);
}

/* At a backslash in a string: steps over the escape. A malformed one is left for yajl to name. */
static int scan_escape(struct scanner *s)
{
	const char *p = s->text + s->pos;
	size_t left = s->len - s->pos;
	int v = unicode_escape(p, left), low;

	if (v < 0) {
		s->pos += left < 2 ? 1 : 2;
		return 0;
	}
	if (v == 0)
		return bad(s, "a string must not contain \\u0000");
	if (v < 0xd800 || v > 0xdfff) {
		s->pos += 6;
		return 0;
	}
	low = unicode_escape(p + 6, left - 6);
	if (v > 0xdbff || low < 0xdc00 || low > 0xdfff)
		return bad(s, "a surrogate without its partner is no character");
	s->pos += 12;
	return 0;
}

static int scan_ascii(struct scanner *s)
{
	char c = s->text[s->pos];

	if (c == '\0')
		return bad(s, "a NUL byte");
	if (!s->in_string && (c == '\v' || c == '\f')) /* white space for yajl, not for JSON */
		return bad(s, "a control character");
	if (c == '\\' && s->in_string)
		return scan_escape(s);
	if (c == '"')
		s->in_string = !s->in_string;
	if (!s->in_string && (c == '[' || c == '{') && ++s->depth > JSON_MAX_DEPTH)
		return bad(s, "nested too deeply");
	if (!s->in_string && (c == ']' || c == '}') && s->depth > 0)
		s->depth--;
	s->pos++;
	return 0;
}

/* Bytes that scan_ascii or the UTF-8 check look at; all others are stepped over in one loop. */
static const bool interesting[256] = {
	[0] = true,   ['\v'] = true, ['\f'] = true, ['"'] = true, ['\\'] = true,
	['['] = true, [']'] = true,  ['{'] = true,  ['}'] = true, [0x80 ... 0xff] = true,
};

int json_scan(const struct json_source *source)
{
	struct scanner s = {.source = source, .text = source->text, .len = source->len};

	for (;;) {
		int r = 0;

		while (s.pos < s.len && !interesting[(unsigned char)s.text[s.pos]])
			s.pos++;
		if (s.pos == s.len)
			break;

		if ((unsigned char)s.text[s.pos] < 0x80) {
			r = scan_ascii(&s);
		} else {
			size_t n = utf8_sequence(s.text + s.pos, s.len - s.pos);

			if (!n)
				r = bad(&s, "not valid UTF-8");
			s.pos += n;
		}
		if (r < 0)
			return r;
	}
	/* behind a complete value yajl takes the start of a string for the end of the text */
	return s.in_string ? bad(&s, "the text ends in a string") : 0;
}

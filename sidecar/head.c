/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/head.h"

#include <string.h>
#include <strings.h>

/* The library has room for so many of any kind; with more it ends the connection without a word. */
enum { HEADERS_MAX = 100 };

struct line { const char *name, *value; size_t name_len, value_len; };

struct check {
	struct head *head;
	const char *why;
	bool get, needs_length, has_length, version_13;
	bool closes, stays, upgrades; /* what Connection says */
	uint32_t seen;   /* bits of `known` */
	size_t lines;
};

size_t head_length(const char *text, size_t n)
{
	const char *end = text + n, *p = text;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		if (p < end && *p == '\n')
			return (size_t)(p + 1 - text);
		if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
			return (size_t)(p + 2 - text);
	}
	return 0;
}

static int refuse(struct check *c, int status, const char *why)
{
	c->why = why;
	return status;
}

static size_t token_length(const char *s, const char *end)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	const char *p = s;

	for (; p < end; p++) {
		unsigned char lower = (unsigned char)*p | 32;

		if (!(lower >= 'a' && lower <= 'z') && !(*p >= '0' && *p <= '9') && (!*p || !strchr(others, *p)))
			break;
	}
	return (size_t)(p - s);
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(s, word, n) == 0;
}

/* Visible characters, blanks and tabs, and whatever is above ASCII. */
static bool is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < 0x20 && s[i] != '\t') || s[i] == 0x7f)
			return false;
	return true;
}

/* ---- the request line ---- */

static int check_request_line(struct check *c, const char *s, size_t n)
{
	enum { WITH_BODY = 3 };
	/* No HEAD: the refusal's text would be taken for the next answer on a connection that stays. */
	static const char *const methods[] = {"POST", "PUT", "PATCH", "GET", "DELETE", "OPTIONS", NULL};
	const char *end = s + n, *target, *version;
	size_t method = token_length(s, end);
	int found = -1;

	target = s + method + 1;
	if (method == 0 || target >= end || target[-1] != ' ')
		return refuse(c, 400, "The request line is malformed");
	version = memchr(target, ' ', (size_t)(end - target));
	if (!version || end - version != 9 || strncmp(version, " HTTP/", 6) != 0)
		return refuse(c, 400, "The request line is malformed");
	if (strncmp(version, " HTTP/1.1", 9) != 0 && strncmp(version, " HTTP/1.0", 9) != 0)
		return refuse(c, 505, "The version is not HTTP/1.1");
	for (const char *p = target; p < version; p++)
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || strncmp(p, "%00", 3) == 0)
			return refuse(c, 400, "The request line is malformed");
	if (*target != '/')
		return refuse(c, 400, "The request's target is not a path");
	for (size_t i = 0; methods[i]; i++)
		if (strlen(methods[i]) == method && strncmp(methods[i], s, method) == 0)
			found = (int)i;
	c->needs_length = found >= 0 && found < WITH_BODY;
	c->get = found == WITH_BODY;
	c->head->one_zero = version[8] == '0';
	return found >= 0 ? 0 : refuse(c, 405, "Method Not Allowed");
}

/* ---- the lines ---- */

static int take_length(struct check *c, const struct line *l)
{
	char digits[24] = "";

	if (l->value_len < sizeof(digits))
		memcpy(digits, l->value, l->value_len);
	if (str_u64(digits, INT64_MAX, &c->head->body) < 0)
		return refuse(c, 400, "Content-Length is not a number");
	c->has_length = true;
	return 0;
}

static int take_encoding(struct check *c, const struct line *l)
{
	(void)l;
	return refuse(c, 411, "A body needs a Content-Length");
}

static int take_upgrade(struct check *c, const struct line *l)
{
	c->head->upgrade = is(l->value, l->value_len, "websocket");
	return 0;
}

static int take_version(struct check *c, const struct line *l)
{
	c->version_13 = is(l->value, l->value_len, "13");
	return 0;
}

static int take_expect(struct check *c, const struct line *l)
{
	c->head->expects = !c->head->one_zero && is(l->value, l->value_len, "100-continue");
	return 0;
}

/* Those that may be there once; take may be NULL. */
static const struct { const char *name; int (*take)(struct check *c, const struct line *l); } known[] = {
	{"host", NULL}, {"sec-websocket-key", NULL}, {"content-length", take_length},
	{"transfer-encoding", take_encoding}, {"x-zeroth-sandbox-secret", NULL}, {"origin", NULL},
	{"x-request-id", NULL}, {"upgrade", take_upgrade}, {"http2-settings", NULL},
	{"sec-websocket-version", take_version}, {"expect", take_expect},
};
enum { HOST, KEY, N_KNOWN = sizeof(known) / sizeof(known[0]) };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int split(struct check *c, const char *s, size_t n, struct line *l)
{
	*l = (struct line){.name = s, .name_len = token_length(s, s + n)};
	if (l->name_len == 0 || l->name_len == n || s[l->name_len] != ':')
		return refuse(c, 400, "A header's name is malformed");
	l->value = s + l->name_len + 1;
	l->value_len = n - l->name_len - 1;
	while (l->value_len && is_blank(l->value[0])) {
		l->value++;
		l->value_len--;
	}
	while (l->value_len && is_blank(l->value[l->value_len - 1]))
		l->value_len--;
	return 0;
}

/* In a list with commas. */
static bool has_word(const char *s, size_t n, const char *word)
{
	const char *end = s + n;

	while (s < end) {
		size_t len = token_length(s, end);

		if (is(s, len, word))
			return true;
		s += len ? len : 1;
	}
	return false;
}

static int check_line(struct check *c, const struct line *l)
{
	if (++c->lines > HEADERS_MAX)
		return refuse(c, 431, "The head has too many lines");
	if (is(l->name, l->name_len, "connection")) {
		c->closes |= has_word(l->value, l->value_len, "close");
		c->stays |= has_word(l->value, l->value_len, "keep-alive");
		c->upgrades |= has_word(l->value, l->value_len, "upgrade");
	}
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (!is(l->name, l->name_len, known[i].name))
			continue;
		if (c->seen & 1u << i)
			return refuse(c, 400, "A header that may be there once is there twice");
		c->seen |= 1u << i;
		return known[i].take ? known[i].take(c, l) : 0;
	}
	return 0;
}

/* An offer of HTTP/2 is passed over, as every server may do. */
static bool is_kept(const struct check *c, const struct line *l)
{
	return !is(l->name, l->name_len, "http2-settings") &&
	       (c->head->upgrade || !is(l->name, l->name_len, "upgrade"));
}

static int check_whole(struct check *c)
{
	if (!c->head->one_zero && !(c->seen & 1u << HOST))
		return refuse(c, 400, "There is no Host");
	if (c->head->upgrade && !c->get)
		return refuse(c, 400, "Only a GET can become a WebSocket");
	if (c->head->upgrade && (!c->upgrades || !c->version_13 || !(c->seen & 1u << KEY)))
		return refuse(c, 400, "A WebSocket needs Connection: Upgrade, a key, and version 13");
	if (!c->needs_length && c->head->body)
		return refuse(c, 400, "A request of this method has no body");
	if (c->needs_length && !c->has_length)
		return refuse(c, 411, "A body needs a Content-Length");
	c->head->last = c->closes || (c->head->one_zero && !c->stays);
	return 0;
}

static int check_lines(struct check *c, const char *text, size_t n, struct strbuf *kept)
{
	const char *p = text, *end = text + n;
	int status = 0;

	while (status == 0 && p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t len = lf > p && lf[-1] == '\r' ? (size_t)(lf - 1 - p) : SIZE_MAX;
		struct line l = {0};

		if (len == SIZE_MAX || !is_text(p, len))
			return refuse(c, 400, "A line of the head has a control character in it or no CR at its end");
		if (p == text)
			status = check_request_line(c, p, len);
		else if (len)
			status = split(c, p, len, &l);
		if (status == 0 && l.name)
			status = check_line(c, &l);
		if (!l.name || (status == 0 && is_kept(c, &l)))
			strbuf_add(kept, p, len + 2);
		p = lf + 1;
	}
	return status;
}

int head_check(const char *text, size_t n, struct head *ret, struct strbuf *kept, const char **ret_why)
{
	struct check c = {.head = ret};
	int status;

	*ret = (struct head){0};
	status = check_lines(&c, text, n, kept);
	if (status == 0)
		status = check_whole(&c);
	if (status)
		*ret_why = c.why;
	return status;
}

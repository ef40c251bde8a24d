/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/lines.h"

#include <string.h>

#include "json/utf8.h"

void lines_clean(struct strbuf *b, const char *s, size_t n)
{
	while (n > 0) {
		size_t k = utf8_sequence(s, n);

		if (k) {
			strbuf_add(b, s, k);
		} else {
			k = utf8_bad_part(s, n);
			strbuf_adds(b, "\xef\xbf\xbd");
		}
		s += k;
		n -= k;
	}
}

static void give(struct lines *l, const char *s, size_t n)
{
	auto_strbuf struct strbuf b = {0};

	lines_clean(&b, s, n);
	l->line(l->arg, strbuf_str(&b), b.len);
}

/* Not between the bytes of a character. */
static size_t whole_characters(const char *s, size_t n)
{
	for (size_t i = 0; i < 3 && n > 1 && (s[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

void lines_add(struct lines *l, const char *data, size_t n)
{
	size_t done = 0, scanned = l->rest.len;

	strbuf_add(&l->rest, data, n);
	for (;;) {
		const char *start = l->rest.p + done;
		const char *end = memchr(l->rest.p + scanned, '\n', l->rest.len - scanned);
		size_t len = end ? (size_t)(end + 1 - start) : l->rest.len - done;

		if (len > LINES_MAX + LINES_TAIL)
			len = whole_characters(start, LINES_MAX);
		else if (!end)
			break;
		give(l, start, len);
		done += len;
		if (scanned < done)
			scanned = done;
	}
	if (done)
		memmove(l->rest.p, l->rest.p + done, l->rest.len - done);
	l->rest.len -= done;
}

void lines_end(struct lines *l)
{
	if (l->rest.len)
		give(l, l->rest.p, l->rest.len);
	lines_free(l);
}

void lines_free(struct lines *l)
{
	strbuf_free(&l->rest);
}

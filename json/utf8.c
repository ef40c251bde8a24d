/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows are table 3-7 of the Unicode standard: only the second byte has a range that depends on
 * the first one.
 */
#include "json/utf8.h"

struct lead {
	unsigned char first, last; /* of the first byte */
	unsigned char low, high;   /* of the second byte */
	unsigned char size;
};

static const struct lead leads[] = {
	{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct lead *find_lead(unsigned char c)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (c >= leads[i].first && c <= leads[i].last)
			return &leads[i];
	return NULL;
}

/* How many bytes of s belong to a sequence with this lead, at most l->size. */
static size_t matching(const struct lead *l, const char *s, size_t n)
{
	size_t i = 1;

	for (; i < l->size && i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		unsigned char low = i == 1 ? l->low : 0x80, high = i == 1 ? l->high : 0xbf;

		if (c < low || c > high)
			break;
	}
	return i;
}

size_t utf8_sequence(const char *s, size_t n)
{
	const struct lead *l;

	if ((unsigned char)s[0] < 0x80)
		return 1;
	l = find_lead((unsigned char)s[0]);
	return l && matching(l, s, n) == l->size ? l->size : 0;
}

size_t utf8_bad_part(const char *s, size_t n)
{
	const struct lead *l = find_lead((unsigned char)s[0]);

	return l ? matching(l, s, n) : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as Go's strings have it: any bytes; a bad one counts as U+FFFD of length 1 (len 0 here). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/utf8.h"

struct dk_rune {
	uint32_t rune; /* 0xfffd when len is 0 */
	size_t len;
};

static inline struct dk_rune dk_rune_at(const char *s, size_t n)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	struct dk_rune r = {.rune = 0xfffd, .len = n ? utf8_sequence(s, n) : 0};

	if (!r.len)
		return r;
	r.rune = (unsigned char)s[0] & masks[r.len];
	for (size_t i = 1; i < r.len; i++)
		r.rune = r.rune << 6 | ((unsigned char)s[i] & 0x3f);
	return r;
}

/* Columns of a terminal: 0 for combining characters, 2 for East Asian wide ones. */
unsigned dk_rune_width(uint32_t rune);
/* How many runes n bytes are. */
size_t dk_rune_count(const char *s, size_t n);

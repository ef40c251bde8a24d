/* SPDX-License-Identifier: Apache-2.0 */
/* Widths for table columns: the blocks that terminals show in two cells, and combining marks. */
#include "docker/unicode.h"

struct range { uint32_t first, last; };

static int inside(uint32_t rune, const struct range *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rune >= v[i].first && rune <= v[i].last)
			return 1;
	return 0;
}

unsigned dk_rune_width(uint32_t rune)
{
	static const struct range combining[] = {
		{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3},
		{0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
	};

	if (inside(rune, combining, sizeof(combining) / sizeof(combining[0])))
		return 0;
	return inside(rune, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

size_t dk_rune_count(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; count++) {
		struct dk_rune r = dk_rune_at(s + i, n - i);

		i += r.len ? r.len : 1;
	}
	return count;
}

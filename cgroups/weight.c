/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.shares of v1 (2 to 262144, default 1024) as cpu.weight of v2 (1 to 10000, default 100).
 *
 * The curve that runtimes agree on since 2025 goes through (2, 1), (1024, 100), (262144, 10000):
 *     weight = ceil(10 ^ ((l * l + 125 * l) / 612 - 7 / 34)),   l = log2(shares)
 * In fixed point, so that no libm decides whether 1024 gives 100 or 101: the smallest weight with
 * log2(weight) >= log2(10) * exponent, found by bisection.
 */
#include "cgroups/internal.h"

/* Fractional bits of our fixed point numbers. */
#define FRAC 40
#define ONE  (INT64_C(1) << FRAC)
/* log2(10) * 2^40, rounded. */
#define LOG2_10 INT64_C(3652498566964)
/* Larger than our rounding errors, smaller than the distance of any result to an integer. */
#define SLACK (ONE >> 34)

/* log2(v) by repeated squaring: each squaring of the mantissa in [1, 2) gives one more bit. */
static int64_t fixed_log2(uint64_t v)
{
	int whole = 63 - __builtin_clzll(v);
	unsigned __int128 m = (unsigned __int128)v << (62 - whole); /* [2^62, 2^63) */
	int64_t r = (int64_t)whole << FRAC;

	for (int bit = FRAC - 1; bit >= 0; bit--) {
		m = m * m >> 62;
		if (m >> 63) {
			r |= INT64_C(1) << bit;
			m >>= 1;
		}
	}
	return r;
}

static int64_t fixed_mul(int64_t a, int64_t b)
{
	return (int64_t)(((__int128)a * b) >> FRAC);
}

unsigned cg_weight_of_shares(uint64_t shares)
{
	int64_t l, exponent, want;
	unsigned low = 1, high = 10000;

	if (shares <= 2)
		return 1;
	if (shares >= 262144)
		return 10000;
	l = fixed_log2(shares);
	exponent = (fixed_mul(l, l) + 125 * l) / 612 - 7 * ONE / 34;
	want = fixed_mul(LOG2_10, exponent) - SLACK;
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (fixed_log2(mid) >= want)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

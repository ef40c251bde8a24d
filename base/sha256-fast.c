/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86's SHA extensions: two instructions do two rounds each, and two more the message schedule; twenty
 * times as fast as the plain code, which matters for layers of hundreds of megabytes. The processor
 * is asked once, and only for long inputs: in a virtual machine each CPUID costs more than a short
 * sum. (Other architectures have no such code here yet; they take the plain one.)
 */
#include "base/sha256-fast.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* The registers hold the state in an order of their own: ABEF and CDGH. */
__attribute__((target("sha,sse4.1"))) static void blocks_x86(uint32_t h[8], const unsigned char *p, size_t n,
							     const uint32_t k[64])
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)h), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(h + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);

	for (; n > 0; n--, p += 64) {
		__m128i abef_before = abef, cdgh_before = cdgh, w[4];

#pragma GCC unroll 16
		for (int r = 0; r < 16; r++) {
			__m128i sum;

			if (r < 4)
				w[r] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * r)), swap);
			sum = _mm_add_epi32(w[r & 3], _mm_loadu_si128((const __m128i *)(k + 4 * r)));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
			if (r < 3 || r == 15)
				continue;
			/* the words of the next four rounds take the place of those sixteen rounds ago */
			w[(r + 1) & 3] = _mm_sha256msg2_epu32(
				_mm_add_epi32(_mm_sha256msg1_epu32(w[(r + 1) & 3], w[(r + 2) & 3]),
					      _mm_alignr_epi8(w[r & 3], w[(r + 3) & 3], 4)),
				w[r & 3]);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	abef = _mm_shuffle_epi32(abef, 0x1b);
	cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)h, _mm_blend_epi16(abef, cdgh, 0xf0));
	_mm_storeu_si128((__m128i *)(h + 4), _mm_alignr_epi8(cdgh, abef, 8));
}

static int can(void)
{
	static atomic_int known; /* 1 yes, 2 no */
	unsigned a, b, c, d;

	if (!known) {
		int sse = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);

		known = sse && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) ? 1 : 2;
	}
	return known == 1;
}

size_t sha256_fast_blocks(uint32_t h[8], const unsigned char *data, size_t n, const uint32_t constants[64])
{
	if (!can())
		return 0;
	blocks_x86(h, data, n, constants);
	return n;
}

#else
size_t sha256_fast_blocks(uint32_t h[8], const unsigned char *data, size_t n, const uint32_t constants[64])
{
	(void)h;
	(void)data;
	(void)n;
	(void)constants;
	return 0;
}
#endif

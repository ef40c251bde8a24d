/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants are the first 32 bits of the fractional parts of the square roots (start values)
 * and cube roots (round constants) of the first primes.
 */
#include "base/sha256.h"

#include <string.h>

#include "base/sha256-fast.h"

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

static uint32_t load(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(unsigned char *p, uint32_t v)
{
	for (int i = 3; i >= 0; i--, v >>= 8)
		p[i] = (unsigned char)v;
}

/* The message schedule: 16 words of the block, 48 mixed from them. */
static void schedule(uint32_t w[64], const unsigned char *block)
{
	for (int i = 0; i < 16; i++)
		w[i] = load(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
		uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void compress(uint32_t h[8], const unsigned char *block)
{
	uint32_t w[64], v[8];

	schedule(w, block);
	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[0], b = v[1], c = v[2], e = v[4];
		uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
		uint32_t choice = (e & v[5]) ^ (~e & v[6]);
		uint32_t t1 = v[7] + s1 + choice + round_constants[i] + w[i];
		uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
		uint32_t majority = (a & b) ^ (a & c) ^ (b & c);

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, start, sizeof(start));
	s->total = 0;
}

/* Below this the processor is not asked what it can do. */
enum { LONG = 16 << 10 };

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = s->total % 64;

	s->total += n;
	while (n > 0) {
		size_t take = 64 - have < n ? 64 - have : n;
		size_t fast = have == 0 && n >= LONG ? sha256_fast_blocks(s->h, p, n / 64, round_constants) : 0;

		if (fast > 0) {
			take = 64 * fast;
		} else if (take == 64) {
			compress(s->h, p);
		} else {
			memcpy(s->block + have, p, take);
			if (have + take == 64)
				compress(s->h, s->block);
		}
		have = (have + take) % 64;
		p += take;
		n -= take;
	}
}

void sha256_end(struct sha256 *s, unsigned char ret_digest[SHA256_SIZE])
{
	static const unsigned char padding[64] = {0x80};
	uint64_t bits = s->total * 8;
	size_t have = s->total % 64;
	unsigned char length[8];

	store(length, (uint32_t)(bits >> 32));
	store(length + 4, (uint32_t)bits);
	sha256_add(s, padding, have < 56 ? 56 - have : 120 - have);
	sha256_add(s, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		store(ret_digest + 4 * i, s->h[i]);
}

void sha256_hex(const void *data, size_t n, char ret_hex[SHA256_HEX + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, data, n);
	sha256_end(&s, digest);
	for (int i = 0; i < SHA256_SIZE; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[SHA256_HEX] = '\0';
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4). Not for secrets: the code makes no promise about its timing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_HEX = 2 * SHA256_SIZE };

struct sha256 {
	uint32_t h[8];
	uint64_t total;         /* bytes added so far */
	unsigned char block[64]; /* total % 64 of them wait here */
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
/* Ends the sum; s must be initialised again before another use. */
void sha256_end(struct sha256 *s, unsigned char ret_digest[SHA256_SIZE]);
/* All in one, as lower-case hexadecimal digits with a NUL behind them. */
void sha256_hex(const void *data, size_t n, char ret_hex[SHA256_HEX + 1]);

/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the examples of FIPS 180-4 and the standard's own long message. */
#include "base/sha256.h"

#include <stdlib.h>

#include "tests/unit/test.h"

static void check(const char *text, const char *want)
{
	char hex[SHA256_HEX + 1];

	sha256_hex(text, strlen(text), hex);
	CHECK_STR(hex, want);
}

static void standard_examples(void)
{
	check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
	      "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

/* One million times 'a', in pieces that never fit the block. */
static void long_message_in_pieces(void)
{
	static const unsigned char want[4] = {0xcd, 0xc7, 0x6e, 0x5c};
	unsigned char digest[SHA256_SIZE];
	char piece[1000];
	struct sha256 s;
	size_t left = 1000000;

	memset(piece, 'a', sizeof(piece));
	sha256_init(&s);
	for (size_t n = 1; left > 0; n = n % 997 + 1) {
		n = n < left ? n : left;
		sha256_add(&s, piece, n);
		left -= n;
	}
	sha256_end(&s, digest);
	CHECK(memcmp(digest, want, sizeof(want)) == 0);
}

/* What is long enough for the processor's own instructions, at once and in pieces that are not. */
static void long_and_short_pieces(void)
{
	enum { SIZE = 200000 };
	unsigned char *data = malloc(SIZE), fast[SHA256_SIZE], plain[SHA256_SIZE];
	struct sha256 s;

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (unsigned char)(i * 2654435761u >> 13);
	for (size_t len = SIZE - 130; len <= SIZE; len += 13) {
		sha256_init(&s);
		sha256_add(&s, data, 17); /* and not at the border of a block */
		sha256_add(&s, data + 17, len - 17);
		sha256_end(&s, fast);
		sha256_init(&s);
		for (size_t at = 0; at < len; at += 999)
			sha256_add(&s, data + at, len - at < 999 ? len - at : 999);
		sha256_end(&s, plain);
		CHECK(memcmp(fast, plain, SHA256_SIZE) == 0);
	}
	free(data);
}

/* Every length around the border of the padding gives the same in one piece and byte by byte. */
static void lengths_around_the_block(void)
{
	char text[200];

	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n < sizeof(text); n++) {
		char hex[SHA256_HEX + 1], again[SHA256_HEX + 1];
		unsigned char digest[SHA256_SIZE];
		struct sha256 s;

		sha256_hex(text, n, hex);
		sha256_init(&s);
		for (size_t i = 0; i < n; i++)
			sha256_add(&s, text + i, 1);
		sha256_end(&s, digest);
		for (int i = 0; i < SHA256_SIZE; i++)
			snprintf(again + 2 * i, 3, "%02x", digest[i]);
		CHECK_STR(again, hex);
	}
}

TEST_MAIN(TEST(standard_examples), TEST(long_message_in_pieces), TEST(long_and_short_pieces), TEST(lengths_around_the_block))

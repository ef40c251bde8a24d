/* SPDX-License-Identifier: Apache-2.0 */
/* malloc of the libc that brig is linked with, or our own for it: objects keep what was put there. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"

enum { OBJECTS = 500, ROUNDS = 200000 };

static unsigned char *object[OBJECTS];
static size_t length[OBJECTS];
static uint32_t state = 1;

static uint32_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static bool holds(size_t k, size_t n)
{
	for (size_t i = 0; i < n; i += n > 64 ? 37 : 1)
		if (object[k][i] != (unsigned char)(k + i))
			return false;
	return true;
}

static void fill(size_t k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		object[k][i] = (unsigned char)(k + i);
	length[k] = n;
}

static bool is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static bool step(size_t k, unsigned what, size_t size)
{
	size_t kept = length[k] < size ? length[k] : size;

	if (what > 1) {
		object[k] = realloc(object[k], size + 1);
		if (!object[k] || (uintptr_t)object[k] % 16 || !holds(k, kept))
			return false;
		fill(k, size);
		return true;
	}
	free(object[k]);
	object[k] = what ? calloc(1, size + 1) : NULL;
	length[k] = 0;
	return !what || (object[k] && is_zero(object[k], size));
}

static void objects_keep_their_bytes(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t r = random_number();
		size_t k = r % OBJECTS, size = (r >> 16) % 3000;

		if (i % 1000 == 0)
			size *= 200; /* a mapping of its own */
		if (!holds(k, length[k]) || !step(k, r >> 12 & 3, size)) {
			CHECK_INT(i, -1);
			return;
		}
	}
	for (size_t k = 0; k < OBJECTS; k++) {
		CHECK(holds(k, length[k]));
		free(object[k]);
	}
}

static void sizes_that_cannot_be(void)
{
	volatile size_t huge = SIZE_MAX / 2;

	CHECK(!malloc(huge));
	CHECK(!realloc(NULL, huge));
	CHECK(!calloc(huge, 16));
}

static size_t pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	size_t n = 0;

	CHECK(f && fscanf(f, "%zu", &n) == 1);
	if (f)
		fclose(f);
	return n;
}

/* As a process does that starts something again and again. It comes first: nothing else is free yet. */
static void what_grows_and_is_freed_is_used_again(void)
{
	size_t before = pages();

	for (int round = 0; round < 2000; round++) {
		void *p = NULL;

		for (size_t size = 100; size < 16000; size *= 2)
			CHECK((p = realloc(p, size)));
		free(p);
	}
	CHECK((pages() - before) * (size_t)sysconf(_SC_PAGESIZE) < 4 * 1024 * 1024);
}

TEST_MAIN(TEST(what_grows_and_is_freed_is_used_again), TEST(objects_keep_their_bytes), TEST(sizes_that_cannot_be))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit test harness: each test program is a list of functions run by TEST_MAIN, printing TAP.
 * A failed CHECK prints file, line and values, marks the test as failed and goes on.
 */
#pragma once

#include <stdio.h>
#include <string.h>

static int test_failed;

#define CHECK(cond)                                                                  \
	do {                                                                         \
		if (!(cond)) {                                                       \
			printf("# %s:%d: CHECK(%s)\n", __FILE__, __LINE__, #cond);   \
			test_failed = 1;                                             \
		}                                                                    \
	} while (0)

#define CHECK_INT(have, want)                                                        \
	do {                                                                         \
		long long have_ = (long long)(have), want_ = (long long)(want);      \
		if (have_ != want_) {                                                \
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, \
			       #have, have_, want_);                                 \
			test_failed = 1;                                             \
		}                                                                    \
	} while (0)

#define CHECK_STR(have, want)                                                        \
	do {                                                                         \
		const char *have_ = (have), *want_ = (want);                         \
		if (!have_ || strcmp(have_, want_) != 0) {                           \
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__,      \
			       __LINE__, #have, have_ ? have_ : "(null)", want_);    \
			test_failed = 1;                                             \
		}                                                                    \
	} while (0)

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(fn) {#fn, fn}

static inline int test_run(const struct test *tests, int n)
{
	int bad = 0;

	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		test_failed = 0;
		tests[i].run();
		printf("%sok %d - %s\n", test_failed ? "not " : "", i + 1, tests[i].name);
		fflush(stdout);
		bad |= test_failed;
	}
	return bad;
}

#define TEST_MAIN(...)                                                               \
	int main(void)                                                               \
	{                                                                            \
		static const struct test tests[] = {__VA_ARGS__};                    \
		return test_run(tests, (int)(sizeof(tests) / sizeof(tests[0])));     \
	}

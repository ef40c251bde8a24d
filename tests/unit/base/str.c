/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <errno.h>

#include "tests/unit/test.h"

static void numbers_are_digits_only(void)
{
	static const char *const bad[] = {"", " 1", "1 ", "+1", "-1", "0x10", "1e3", "1.0"};
	uint64_t v = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(str_u64(bad[i], UINT64_MAX, &v), -EINVAL);
	CHECK_INT(v, 7);
	CHECK_INT(str_u64("18446744073709551615", UINT64_MAX, &v), 0);
	CHECK(v == UINT64_MAX);
	CHECK_INT(str_u64("18446744073709551616", UINT64_MAX, &v), -ERANGE);
	CHECK_INT(str_u64("4294967296", UINT32_MAX, &v), -ERANGE);
}

static void signed_numbers_reach_both_ends(void)
{
	int64_t v = 0;

	CHECK_INT(str_i64("-9223372036854775808", &v), 0);
	CHECK(v == INT64_MIN);
	CHECK_INT(str_i64("9223372036854775807", &v), 0);
	CHECK(v == INT64_MAX);
	CHECK_INT(str_i64("9223372036854775808", &v), -ERANGE);
	CHECK_INT(str_i64("-", &v), -EINVAL);
	CHECK_INT(str_i64("--1", &v), -EINVAL);
}

static void ids_name_no_path_and_no_flag(void)
{
	char longest[257];

	memset(longest, 'a', 256);
	longest[256] = '\0';
	CHECK(str_valid_id("a"));
	CHECK(str_valid_id("sb-0_1.x"));
	CHECK(!str_valid_id(""));
	CHECK(!str_valid_id("-a"));
	CHECK(!str_valid_id(".."));
	CHECK(!str_valid_id("a/b"));
	CHECK(!str_valid_id("a b"));
	CHECK(!str_valid_id(longest));
	longest[255] = '\0';
	CHECK(str_valid_id(longest));
}

static void messages_carry_no_control_bytes(void)
{
	char buf[64];

	CHECK_STR(str_escape(buf, sizeof(buf), "a\n\x1b[2J\x7f"), "a\\x0a\\x1b[2J\\x7f");
	CHECK_STR(str_escape(buf, sizeof(buf), "\xc2\x9b" "x"), "\\x9bx");
	CHECK_STR(str_escape(buf, sizeof(buf), "\xc3\xa4"), "\xc3\xa4");
	CHECK_STR(str_escape(buf, 8, "\n\n\n\n\n"), "\\x0a");
}

static void a_buffer_grows_and_terminates(void)
{
	auto_strbuf struct strbuf b = {0};

	CHECK_STR(strbuf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&b, "%d,", i);
	CHECK_INT(b.len, 3890);
	CHECK_INT(b.p[b.len], 0);
}

TEST_MAIN(TEST(numbers_are_digits_only), TEST(signed_numbers_reach_both_ends),
	  TEST(ids_name_no_path_and_no_flag), TEST(messages_carry_no_control_bytes),
	  TEST(a_buffer_grows_and_terminates))

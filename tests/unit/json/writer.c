/* SPDX-License-Identifier: Apache-2.0 */
/* json_writer: layout, escaping, numbers. */
#include <math.h>
#include <float.h>

#include "json/writer.h"
#include "tests/unit/test.h"

static void write_sample(struct json_writer *w)
{
	json_begin_object(w);
	json_member_str(w, "s", "x");
	json_key(w, "list");
	json_begin_array(w);
	json_i64(w, INT64_MIN);
	json_u64(w, UINT64_MAX);
	json_bool(w, true);
	json_null(w);
	json_begin_object(w);
	json_end_object(w);
	json_end_array(w);
	json_key(w, "empty");
	json_begin_array(w);
	json_end_array(w);
	json_member_str(w, "none", NULL);
	json_end_object(w);
}

static void test_layout(void)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	write_sample(&w);
	CHECK_STR(b.p, "{\"s\":\"x\",\"list\":[-9223372036854775808,18446744073709551615,true,null,"
		       "{}],\"empty\":[],\"none\":null}");
	b.len = 0;
	json_writer_init(&w, &b, true);
	write_sample(&w);
	CHECK_STR(b.p, "{\n    \"s\": \"x\",\n    \"list\": [\n        -9223372036854775808,\n"
		       "        18446744073709551615,\n        true,\n        null,\n        {}\n"
		       "    ],\n    \"empty\": [],\n    \"none\": null\n}");
}

static const char *string_of(const char *s, size_t n)
{
	static char text[256];
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_strn(&w, s, n);
	snprintf(text, sizeof(text), "%s", b.p);
	return text;
}

#define STRING_OF(s) string_of(s, sizeof(s) - 1)

static void test_strings(void)
{
	CHECK_STR(STRING_OF(""), "\"\"");
	CHECK_STR(STRING_OF("a\"\\/\n\r\t\b\x7f\x1b"), "\"a\\\"\\\\/\\n\\r\\t\\u0008\\u007f\\u001b\"");
	CHECK_STR(STRING_OF("a\0b"), "\"a\\u0000b\"");
	CHECK_STR(STRING_OF("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
}

#define FFFD "\xef\xbf\xbd"

/* The examples of the Unicode standard, section 3.9. */
static void test_invalid_utf8(void)
{
	CHECK_STR(STRING_OF("\xff"), "\"" FFFD "\"");
	CHECK_STR(STRING_OF("a\x80z"), "\"a" FFFD "z\"");
	CHECK_STR(STRING_OF("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"),
		  "\"" FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A\"");
	CHECK_STR(STRING_OF("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"),
		  "\"" FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A\"");
	CHECK_STR(STRING_OF("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
		  "\"" FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B\"");
	CHECK_STR(STRING_OF("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"),
		  "\"" FFFD FFFD FFFD FFFD "A\"");
	CHECK_STR(STRING_OF("\xf0\x9f\x98"), "\"" FFFD "\"");
}

static const char *double_of(double v)
{
	static char text[64];
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_f64(&w, v);
	snprintf(text, sizeof(text), "%s", b.p);
	return text;
}

static void test_doubles(void)
{
	CHECK_STR(double_of(0), "0");
	CHECK_STR(double_of(500), "500");
	CHECK_STR(double_of(-3), "-3");
	CHECK_STR(double_of(0.1), "0.1");
	CHECK_STR(double_of(0.034512345), "0.034512345");
	CHECK_STR(double_of(86400.25), "86400.25");
	CHECK_STR(double_of(1e300), "1e+300");
	CHECK_STR(double_of(1.0 / 3), "0.3333333333333333");
	CHECK_STR(double_of(DBL_MAX), "1.7976931348623157e+308");
	CHECK_STR(double_of(NAN), "null");
	CHECK_STR(double_of(INFINITY), "null");
}

static void test_tree(void)
{
	static const char text[] = "{\"a\":[1.50,\"\\n\",true,null,{}],\"b\":-0}";
	auto_strbuf struct strbuf b = {0};
	auto_arena struct arena *a = arena_new();
	const struct json *v;
	struct json_writer w;
	struct err e;

	CHECK_INT(json_parse(text, strlen(text), a, &v, &e), 0);
	json_writer_init(&w, &b, false);
	json_value(&w, v);
	CHECK_STR(b.p, text);
}

TEST_MAIN(TEST(test_layout), TEST(test_strings), TEST(test_invalid_utf8), TEST(test_doubles),
	  TEST(test_tree))

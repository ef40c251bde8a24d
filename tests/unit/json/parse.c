/* SPDX-License-Identifier: Apache-2.0 */
/* json_parse: what it accepts, what it refuses, and where it says the fault is. */
#include <errno.h>

#include "base/str.h"
#include "json/json.h"
#include "tests/unit/test.h"

/* The message of a refusal; "" when the text was accepted. */
static const char *refusal_n(const char *text, size_t len)
{
	static struct err e;
	auto_arena struct arena *a = arena_new();
	const struct json *v = NULL;

	e = (struct err){0};
	if (json_parse(text, len, a, &v, &e) == 0)
		return "";
	CHECK(v == NULL);
	CHECK(e.code == EINVAL || e.code == EFBIG);
	return e.msg;
}

static const char *refusal(const char *text)
{
	return refusal_n(text, strlen(text));
}

#define CHECK_REFUSED(text, part)                                       \
	do {                                                            \
		const char *msg_ = refusal(text);                       \
		if (!strstr(msg_, part))                                \
			printf("# %s gave \"%s\"\n", text, msg_);       \
		CHECK(strstr(msg_, part) != NULL && *msg_ != '\0');     \
	} while (0)

static const struct json *parse(struct arena *a, const char *text)
{
	const struct json *v = NULL;
	struct err e = {0};

	CHECK_INT(json_parse(text, strlen(text), a, &v, &e), 0);
	CHECK_STR(e.msg, "");
	return v;
}

static void test_values(void)
{
	auto_arena struct arena *a = arena_new();
	const struct json *v = parse(a, " {\"a\": [1, -2.50e+1, true, false, null, \"x\"], \"b\": {}, "
					"\"c\": []}\n");
	const struct json *list = json_get(v, "a");

	CHECK_INT(v->type, JSON_OBJECT);
	CHECK_INT(v->n, 3);
	CHECK_INT(list->n, 6);
	CHECK_STR(list->items[0].text, "1");
	CHECK_STR(list->items[1].text, "-2.50e+1");
	CHECK(list->items[2].boolean && !list->items[3].boolean);
	CHECK_INT(list->items[4].type, JSON_NULL);
	CHECK_STR(list->items[5].text, "x");
	CHECK_INT(json_get(v, "b")->type, JSON_OBJECT);
	CHECK_INT(json_get(v, "c")->n, 0);
	CHECK(!json_get(v, "d") && !json_get(list, "a") && !json_get(NULL, "a"));
	CHECK(!json_get_str(v, "a"));
	CHECK_STR(parse(a, "\"top\"")->text, "top");
	CHECK_STR(parse(a, "12")->text, "12");
}

static void test_strings(void)
{
	auto_arena struct arena *a = arena_new();

	CHECK_STR(parse(a, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
	CHECK_STR(parse(a, "\"\\u00e9\\u20ac\\ud83d\\ude00\"")->text, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	CHECK_STR(parse(a, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"")->text,
		  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	CHECK_STR(parse(a, "\"\\\\u0000\"")->text, "\\u0000");
	CHECK_STR(parse(a, "\"/* no comment */\"")->text, "/* no comment */");
	CHECK_STR(parse(a, "{\"\": \"\"}")->items[0].key, "");
}

static void test_syntax(void)
{
	static const char *const bad[] = {
		"", " ", "{", "[", "\"", "}", "]", "[1,]", "[,1]", "{\"a\":1,}", "{\"a\"}", "{a:1}",
		"{'a':1}", "[1 2]", "{\"a\" 1}", "nul", "tru", "nulll", "True", "NaN", "Infinity",
		"-", "+1", "01", "1.", ".5", "1e", "1e+", "-Infinity", "0x10", "[1]]", "{} {}",
		"[] x", "1 2", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\t\"", "\"\n\"", "\"\x01\"",
		"// c\n1", "/* c */1", "1 // c", "[1, /* c */ 2]", "# c\n1", "\xef\xbb\xbf{}", ",", ":",
		"\"a", "\"\\", "{\"a\":}", "[\"a\":1]", "{1:2}", "{null:1}", "{[]:1}", "\f1", "\v1",
		"[]\"", "1\"", "\"a\"\"", "null \"x", "[] nul", "1 -", "{} [", "1\\", "[]\\\"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *msg = refusal(bad[i]);

		if (strncmp(msg, "line ", 5) != 0)
			printf("# accepted or no position: <%s> \"%s\"\n", bad[i], msg);
		CHECK(strncmp(msg, "line ", 5) == 0);
	}
}

static void test_positions(void)
{
	CHECK_REFUSED("{\n  \"a\": \"\\u0000\"\n}", "line 2, column 9: a string must not contain \\u0000");
	CHECK_REFUSED("{\n  \"a\": 1,\n  \"b\": x\n}", "line 3, column ");
	CHECK_REFUSED("[\"\xff\"]", "line 1, column 3: not valid UTF-8");
}

static void test_duplicates(void)
{
	auto_strbuf struct strbuf big = {0};

	CHECK_REFUSED("{\"a\":1,\"b\":2,\"a\":1}", "the key \"a\" twice");
	CHECK_REFUSED("{\"x\":[{\"a\":1,\"\\u0061\":2}]}", "the key \"a\" twice");
	CHECK_STR(refusal("{\"a\":1,\"A\":2,\"b\":{\"a\":1}}"), "");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&big, "%s\"k%d\":%d", i ? "," : "{", i, i);
	strbuf_adds(&big, "}");
	CHECK_STR(refusal(big.p), "");
	big.len--;
	strbuf_adds(&big, ",\"k500\":0}");
	CHECK_REFUSED(big.p, "the key \"k500\" twice");
}

static void test_nul_and_utf8(void)
{
	static const char *const bad[] = {
		"\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf0\x80\x80\x80\"",
		"\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"", "\"\x80\"", "\"\xe2\x82\"", "\"\xc3\"",
	};

	CHECK(strstr(refusal_n("{\"a\0b\":1}", 9), "NUL byte") != NULL);
	CHECK(strstr(refusal_n("{}\0", 3), "NUL byte") != NULL);
	CHECK_REFUSED("{\"a\\u0000b\":1}", "\\u0000");
	CHECK_REFUSED("[\"\\ud800\"]", "surrogate");
	CHECK_REFUSED("[\"\\ud800x\"]", "surrogate");
	CHECK_REFUSED("[\"\\ud800\\ud800\"]", "surrogate");
	CHECK_REFUSED("[\"\\udc00\"]", "surrogate");
	CHECK_REFUSED("[\"\\ud800\\u0041\"]", "surrogate");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_REFUSED(bad[i], "not valid UTF-8");
}

/* depth times `open`, a 1, then `close`. */
static const char *nested(int depth, const char *open, const char *close)
{
	auto_strbuf struct strbuf b = {0};

	for (int i = 0; i < depth; i++)
		strbuf_adds(&b, open);
	strbuf_adds(&b, "1");
	for (int i = 0; i < depth; i++)
		strbuf_adds(&b, close);
	return refusal(b.p);
}

static void test_depth(void)
{
	CHECK_STR(nested(64, "[", "]"), "");
	CHECK_STR(nested(64, "{\"a\":", "}"), "");
	CHECK_STR(nested(65, "[", "]"), "line 1, column 65: nested too deeply");
	CHECK(strstr(nested(65, "{\"a\":", "}"), "nested too deeply") != NULL);
	CHECK(strstr(nested(1000000, "[", "]"), "nested too deeply") != NULL);
	CHECK(strstr(nested(1000000, "[", ""), "nested too deeply") != NULL);
	CHECK_STR(refusal("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""), "");
}

static void test_sizes(void)
{
	auto_strbuf struct strbuf b = {0};
	auto_arena struct arena *a = arena_new();

	/* a string of more than 1 MiB */
	strbuf_addc(&b, '"');
	while (b.len < (1 << 20) + 10)
		strbuf_adds(&b, "0123456789abcdef");
	strbuf_addc(&b, '"');
	CHECK_INT(parse(a, b.p)->n, b.len - 2);
	/* the cap */
	while (b.len < JSON_MAX_BYTES)
		strbuf_addc(&b, ' ');
	CHECK_STR(refusal(b.p), "");
	strbuf_addc(&b, ' ');
	CHECK_REFUSED(b.p, "more than the limit of 4194304");
	/* many values */
	b.len = 0;
	strbuf_addc(&b, '[');
	for (unsigned i = 0; i < JSON_MAX_VALUES - 2; i++)
		strbuf_adds(&b, "0,");
	strbuf_adds(&b, "0]");
	CHECK_STR(refusal(b.p), "");
	b.len--;
	strbuf_adds(&b, ",0]");
	CHECK_REFUSED(b.p, "more than 524288 values");
}

static void test_integers(void)
{
	auto_arena struct arena *a = arena_new();
	uint64_t u = 7;
	int64_t i = 7;

	CHECK_INT(json_to_u64(parse(a, "18446744073709551615"), UINT64_MAX, &u), 0);
	CHECK(u == UINT64_MAX);
	CHECK_INT(json_to_u64(parse(a, "18446744073709551616"), UINT64_MAX, &u), -ERANGE);
	CHECK_INT(json_to_u64(parse(a, "65536"), 65535, &u), -ERANGE);
	CHECK_INT(json_to_u64(parse(a, "-1"), UINT64_MAX, &u), -ERANGE);
	CHECK_INT(json_to_u64(parse(a, "-99999999999999999999999"), UINT64_MAX, &u), -ERANGE);
	CHECK_INT(json_to_u64(parse(a, "1.0"), UINT64_MAX, &u), -EINVAL);
	CHECK_INT(json_to_u64(parse(a, "-1.5"), UINT64_MAX, &u), -EINVAL);
	CHECK_INT(json_to_u64(parse(a, "1e3"), UINT64_MAX, &u), -EINVAL);
	CHECK_INT(json_to_u64(parse(a, "\"1\""), UINT64_MAX, &u), -EINVAL);
	CHECK(u == UINT64_MAX);
	CHECK_INT(json_to_u64(parse(a, "-0"), UINT64_MAX, &u), 0);
	CHECK_INT(u, 0);
	CHECK_INT(json_to_i64(parse(a, "-9223372036854775808"), INT64_MIN, INT64_MAX, &i), 0);
	CHECK(i == INT64_MIN);
	CHECK_INT(json_to_i64(parse(a, "-9223372036854775809"), INT64_MIN, INT64_MAX, &i), -ERANGE);
	CHECK_INT(json_to_i64(parse(a, "9223372036854775808"), INT64_MIN, INT64_MAX, &i), -ERANGE);
	CHECK_INT(json_to_i64(parse(a, "-5"), -4, 4, &i), -ERANGE);
	CHECK_INT(json_to_i64(parse(a, "true"), -4, 4, &i), -EINVAL);
}

static void test_doubles(void)
{
	auto_arena struct arena *a = arena_new();
	double d = 0;

	CHECK_INT(json_to_f64(parse(a, "0.5"), &d), 0);
	CHECK(d == 0.5);
	CHECK_INT(json_to_f64(parse(a, "-1e3"), &d), 0);
	CHECK(d == -1000);
	CHECK_INT(json_to_f64(parse(a, "1e999"), &d), -ERANGE);
	CHECK_INT(json_to_f64(parse(a, "\"1\""), &d), -EINVAL);
	CHECK(d == -1000);
}

TEST_MAIN(TEST(test_values), TEST(test_strings), TEST(test_syntax), TEST(test_positions),
	  TEST(test_duplicates), TEST(test_nul_and_utf8), TEST(test_depth), TEST(test_sizes),
	  TEST(test_integers), TEST(test_doubles))

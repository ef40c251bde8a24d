/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables: every kind read and written, and every message. */
#include <errno.h>

#include "json/fields.h"
#include "tests/unit/test.h"

struct part { char *name; uint32_t size; };
struct part_list { struct part *v; size_t n; };
struct all {
	bool flag;
	uint32_t u32;
	uint64_t u64;
	int64_t i64;
	struct opt_bool ob;
	struct opt_i32 oi32;
	struct opt_i64 oi64;
	struct opt_u16 ou16;
	struct opt_u32 ou32;
	struct opt_u64 ou64;
	struct opt_f64 of64;
	char *str, *color;
	struct strv words, colors;
	struct u32v numbers;
	struct str_map map;
	struct part *part;
	struct part inside;
	struct part_list parts, keyed;
};

static const char *const colors[] = {"red", "blue", NULL};
static const struct json_field part_fields[] = {
	JSON_FIELD(struct part, name, "name", .required = true),
	JSON_FIELD(struct part, size, "size"),
};
static const struct json_table part_table = JSON_TABLE(struct part, part_fields);
static const struct json_field value_fields[] = {JSON_FIELD(struct part, size, "size")};
static const struct json_table value_table = JSON_TABLE(struct part, value_fields);
static const struct json_field all_fields[] = {
	JSON_FIELD(struct all, flag, "flag"),
	JSON_FIELD(struct all, u32, "u32"),
	JSON_FIELD(struct all, u64, "u64"),
	JSON_FIELD(struct all, i64, "i64"),
	JSON_FIELD(struct all, ob, "ob"),
	JSON_FIELD(struct all, oi32, "oi32"),
	JSON_FIELD(struct all, oi64, "oi64"),
	JSON_FIELD(struct all, ou16, "ou16"),
	JSON_FIELD(struct all, ou32, "ou32"),
	JSON_FIELD(struct all, ou64, "ou64"),
	JSON_FIELD(struct all, of64, "of64"),
	JSON_FIELD(struct all, str, "str"),
	JSON_FIELD(struct all, color, "color", .names = colors),
	JSON_FIELD(struct all, words, "words"),
	JSON_FIELD(struct all, colors, "colors", .names = colors),
	JSON_FIELD(struct all, numbers, "numbers"),
	JSON_FIELD(struct all, map, "map"),
	JSON_FIELD(struct all, part, "part", .sub = &part_table),
	JSON_INLINE(struct all, inside, "inside", .sub = &value_table),
	JSON_FIELD(struct all, parts, "parts", .sub = &part_table),
	JSON_KEYED(struct all, keyed, "keyed", .sub = &value_table),
};
static const struct json_table all_table = JSON_TABLE(struct all, all_fields);

static int read_all(struct arena *a, const char *text, const char *path, struct all *ret,
		    struct err *e)
{
	const struct json *v = NULL;

	*e = (struct err){0};
	CHECK_INT(json_parse(text, strlen(text), a, &v, e), 0);
	return json_read_struct(&(struct json_reader){a, path, e}, v, &all_table, ret);
}

static const char full[] =
	"{\"flag\":true,\"u32\":4294967295,\"u64\":18446744073709551615,"
	"\"i64\":-9223372036854775808,\"ob\":false,\"oi32\":-2147483648,"
	"\"oi64\":9223372036854775807,\"ou16\":65535,\"ou32\":0,\"ou64\":18446744073709551615,"
	"\"of64\":0.5,\"str\":\"\",\"color\":\"blue\",\"words\":[\"a\",\"b\"],"
	"\"colors\":[\"red\",\"blue\"],\"numbers\":[0,4294967295],\"map\":{\"k\":\"v\",\"\":\"\"},"
	"\"part\":{\"name\":\"p\",\"size\":1},\"inside\":{\"size\":2},"
	"\"parts\":[{\"name\":\"q\",\"size\":3},{\"name\":\"r\",\"size\":0}],"
	"\"keyed\":{\"eth0\":{\"size\":4},\"eth1\":{\"size\":5}}}";

static void test_round_trip(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;
	struct all all = {0};
	struct err e;

	CHECK_INT(read_all(a, full, "", &all, &e), 0);
	CHECK_INT(all.u32, UINT32_MAX);
	CHECK(all.ob.set && !all.ob.v);
	CHECK_INT(all.oi32.v, INT32_MIN);
	CHECK(all.ou32.set && all.ou32.v == 0);
	CHECK(all.words.n == 2 && !all.words.v[2]);
	CHECK_STR(all.keyed.v[1].name, "eth1");
	CHECK_INT(all.keyed.v[1].size, 5);
	CHECK_STR(all.parts.v[1].name, "r");
	CHECK_INT(all.inside.size, 2);
	json_writer_init(&w, &b, false);
	json_write_struct(&w, &all_table, &all);
	CHECK_STR(b.p, full);
}

static void test_absent(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;
	struct all all = {.u32 = 7, .str = "kept"};
	struct err e;

	CHECK_INT(read_all(a, "{\"unknown\":[1,{\"u32\":\"x\"}],\"str\":null,\"part\":null,"
			      "\"parts\":null,\"U32\":1,\"words\":[],\"map\":{}}", "", &all, &e), 0);
	CHECK(!all.ob.set && !all.oi32.set && !all.of64.set && !all.part && !all.parts.n);
	json_writer_init(&w, &b, false);
	json_write_struct(&w, &all_table, &all);
	CHECK_STR(b.p, "{\"flag\":false,\"u32\":7,\"u64\":0,\"i64\":0,\"str\":\"kept\","
		       "\"inside\":{\"size\":0}}");
}

static void test_messages(void)
{
	static const struct { const char *text, *path, *msg; } bad[] = {
		{"[]", "", "the document is an array, not an object"},
		{"[]", "process", "process: is an array, not an object"},
		{"{\"u32\":4294967296}", "user", "user.u32: 4294967296 is not a 32-bit unsigned integer"},
		{"{\"u32\":-1}", "", "u32: -1 is not a 32-bit unsigned integer"},
		{"{\"u32\":1.0}", "", "u32: 1.0 is not a 32-bit unsigned integer"},
		{"{\"u32\":1e3}", "", "u32: 1e3 is not a 32-bit unsigned integer"},
		{"{\"u32\":\"1\"}", "", "u32: is a string, not a 32-bit unsigned integer"},
		{"{\"u64\":18446744073709551616}", "", "u64: 18446744073709551616 is not a 64-bit unsigned integer"},
		{"{\"i64\":9223372036854775808}", "", "i64: 9223372036854775808 is not a 64-bit integer"},
		{"{\"oi32\":2147483648}", "", "oi32: 2147483648 is not a 32-bit integer"},
		{"{\"oi64\":-9223372036854775809}", "", "oi64: -9223372036854775809 is not a 64-bit integer"},
		{"{\"ou16\":65536}", "", "ou16: 65536 is not a 16-bit unsigned integer"},
		{"{\"ou32\":true}", "", "ou32: is a boolean, not a 32-bit unsigned integer"},
		{"{\"flag\":1}", "", "flag: is a number, not a boolean"},
		{"{\"ob\":\"true\"}", "", "ob: is a string, not a boolean"},
		{"{\"of64\":\"1\"}", "", "of64: is a string, not a number"},
		{"{\"of64\":1e999}", "", "of64: 1e999 is too large"},
		{"{\"str\":{}}", "", "str: is an object, not a string"},
		{"{\"color\":\"green\"}", "", "color: \"green\" is not one of red, blue"},
		{"{\"colors\":[\"red\",\"x\\ny\"]}", "", "colors[1]: \"x\\x0ay\" is not one of red, blue"},
		{"{\"words\":\"a\"}", "", "words: is a string, not an array of strings"},
		{"{\"words\":[\"a\",null]}", "", "words[1]: is null, not a string"},
		{"{\"numbers\":[1,-1]}", "", "numbers[1]: -1 is not a 32-bit unsigned integer"},
		{"{\"numbers\":{}}", "", "numbers: is an object, not an array of numbers"},
		{"{\"map\":[]}", "", "map: is an array, not an object of strings"},
		{"{\"map\":{\"k\":1}}", "x", "x.map.k: is a number, not a string"},
		{"{\"part\":[]}", "", "part: is an array, not an object"},
		{"{\"part\":{}}", "", "part.name: is missing"},
		{"{\"part\":{\"name\":null}}", "", "part.name: is missing"},
		{"{\"parts\":{}}", "", "parts: is an object, not an array of objects"},
		{"{\"parts\":[{\"name\":\"\"},{\"name\":\"\"},{\"size\":1}]}", "", "parts[2].name: is missing"},
		{"{\"parts\":[null]}", "", "parts[0]: is null, not an object"},
		{"{\"keyed\":[]}", "", "keyed: is an array, not an object of objects"},
		{"{\"keyed\":{\"a\\u001bb\":{\"size\":-1}}}", "", "keyed.a\\x1bb.size: -1 is not a 32-bit unsigned integer"},
		{"{\"inside\":1}", "", "inside: is a number, not an object"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		auto_arena struct arena *a = arena_new();
		struct all all = {0};
		struct err e;

		CHECK(read_all(a, bad[i].text, bad[i].path, &all, &e) < 0);
		CHECK(e.code == EINVAL || e.code == ERANGE);
		CHECK_STR(e.msg, bad[i].msg);
	}
}

/* A hostile value of a megabyte still gives one short message. */
static void test_long_values(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct all all = {0};
	struct err e;

	strbuf_adds(&b, "{\"color\":\"");
	while (b.len < 1 << 20)
		strbuf_adds(&b, "\\u001bxxxx");
	strbuf_adds(&b, "\"}");
	CHECK(read_all(a, b.p, "", &all, &e) < 0);
	CHECK(strstr(e.msg, "... is not one of red, blue") || strlen(e.msg) > 100);
	b.len = 0;
	strbuf_adds(&b, "{\"u32\":1");
	while (b.len < 1 << 20)
		strbuf_adds(&b, "0000000000");
	strbuf_adds(&b, "}");
	CHECK(read_all(a, b.p, "", &all, &e) < 0);
	CHECK(strstr(e.msg, "... is not a 32-bit unsigned integer") != NULL);
}

static void add_path(const char *path, const struct json_field *f, void *arg)
{
	(void)f;
	strbuf_printf(arg, "%s ", path);
}

static void test_walk(void)
{
	auto_strbuf struct strbuf b = {0};

	json_for_each_field(&all_table, add_path, &b);
	CHECK_STR(b.p, "flag u32 u64 i64 ob oi32 oi64 ou16 ou32 ou64 of64 str color words colors numbers "
		       "map part part.name part.size inside inside.size parts parts[].name "
		       "parts[].size keyed keyed.*.size ");
}

TEST_MAIN(TEST(test_round_trip), TEST(test_absent), TEST(test_messages), TEST(test_long_values),
	  TEST(test_walk))

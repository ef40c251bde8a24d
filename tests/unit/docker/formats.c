/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables, JSON, inspect documents, units: what they look like. The expected texts are from records
 * of Docker's client, or were printed by it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/format.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "docker/units.h"
#include "tests/unit/test.h"

/* Standard output into a file while something prints. */
static struct { int saved, file; } captured;

static void capture(void)
{
	char name[] = "/tmp/formats.XXXXXX";

	fflush(stdout);
	captured.saved = dup(STDOUT_FILENO);
	captured.file = mkstemp(name);
	unlink(name);
	dup2(captured.file, STDOUT_FILENO);
}

static char *printed(struct arena *a)
{
	static char text[65536];
	ssize_t n;

	dup2(captured.saved, STDOUT_FILENO);
	close(captured.saved);
	n = pread(captured.file, text, sizeof(text), 0);
	close(captured.file);
	return arena_strndup(a, text, n > 0 ? (size_t)n : 0);
}

struct row { const char *id, *name, *label; };

static struct dk_value get_id(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(((const struct row *)row)->id);
}

static struct dk_value get_name(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(((const struct row *)row)->name);
}

static struct dk_value get_label(struct arena *a, const void *row, const char *name)
{
	return dk_stringf(a, "%s", str_eq(name, "com.app-x") ? ((const struct row *)row)->label : "");
}

static const struct dk_column column_rows[] = {
	{"Names", "NAMES", get_name, NULL}, {"ID", "CONTAINER ID", get_id, NULL}, {"Label", NULL, NULL, get_label},
};
static const struct dk_columns columns = DK_COLUMNS("*formatter.ContainerContext", column_rows);
static const struct row rows[] = {{"0123456789ab", "brigrec-ab", "one"}, {"ba9876543210", "<x>", ""}};

/* What a format prints for n rows; an error's text. */
static const char *formatted(struct arena *a, const struct dk_format_spec *want, size_t n)
{
	struct dk_format_spec spec = *want;
	struct dk_format *f;
	struct err e = {0};
	int r;

	spec.columns = &columns;
	spec.table = "table {{.ID}}\t{{.Names}}";
	if (dk_format_open(a, &spec, &f, &e) < 0)
		return arena_strdup(a, e.msg);
	for (size_t i = 0; i < n; i++)
		if (dk_format_row(f, &rows[i], &e) < 0)
			return arena_strdup(a, e.msg);
	capture();
	r = dk_format_close(f, &e);
	return r < 0 ? arena_strdup(a, e.msg) : printed(a);
}

static void tables(void)
{
	auto_arena struct arena *a = arena_new();
	static const struct { struct dk_format_spec spec; size_t n; const char *want; } cases[] = {
		{{.format = NULL}, 0, "CONTAINER ID   NAMES\n"},
		{{.format = ""}, 2, "CONTAINER ID   NAMES\n0123456789ab   brigrec-ab\nba9876543210   <x>\n"},
		{{.format = "table"}, 1, "CONTAINER ID   NAMES\n0123456789ab   brigrec-ab\n"},
		{{.format = "table {{.Names}}\\t{{.ID}}"}, 2, "NAMES        CONTAINER ID\nbrigrec-ab   0123456789ab\n<x>          ba9876543210\n"},
		{{.format = "table {{.Names}}\t"}, 2, "NAMES        \nbrigrec-ab   \n<x>          \n"},
		{{.format = "table {{upper .Names}} {{truncate .ID 3}}"}, 1, "NAMES CONTAINER ID\nBRIGREC-AB 012\n"},
		{{.format = "table {{.Label \"com.app-x\"}}\t{{.ID}}"}, 1, "app x     CONTAINER ID\none       0123456789ab\n"},
		{{.format = "{{.ID}}\\t{{.Names}}"}, 1, "0123456789ab\tbrigrec-ab\n"},
		{{.format = "x"}, 2, "x\nx\n"},
		{{.format = "tablex"}, 1, "x\nx\n"},
		{{.format = "json"}, 2, "{\"ID\":\"0123456789ab\",\"Names\":\"brigrec-ab\"}\n{\"ID\":\"ba9876543210\",\"Names\":\"\\u003cx\\u003e\"}\n"},
		{{.format = "{{json .}}"}, 1, "{\"ID\":\"0123456789ab\",\"Names\":\"brigrec-ab\"}\n"},
		{{.format = "{{json .Names}}"}, 2, "\"brigrec-ab\"\n\"<x>\"\n"},
		{{.quiet = "{{.ID}}"}, 2, "0123456789ab\nba9876543210\n"},
		{{.format = "raw"}, 1, "raw\n"},
		{{.format = "raw", .raw = "id: {{.ID}}"}, 1, "id: 0123456789ab\n"},
		{{.format = "{{.Nope}}"}, 1, "template parsing error: template: :1:2: executing \"\" at <.Nope>: can't evaluate field Nope in type *formatter.ContainerContext"},
		{{.format = "{{.Nope}}", .ps = true}, 1, "failed to execute template: template: :1:2: executing \"\" at <.Nope>: can't evaluate field Nope in type *formatter.ContainerContext"},
		{{.format = "{{.ID", .ps = true}, 0, "failed to parse template: template: :1: unclosed action"},
		{{.format = "{{.ID"}, 0, "template parsing error: template: :1: unclosed action"},
		{{.format = "{{.Label}}"}, 1, "template parsing error: template: :1:2: executing \"\" at <.Label>: wrong number of args for Label: want 1 got 0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(formatted(a, &cases[i].spec, cases[i].n), cases[i].want);
}

static const char *aligned(struct arena *a, const char *text)
{
	auto_strbuf struct strbuf b = {0};

	dk_align_columns(&b, text, strlen(text));
	return arena_strdup(a, strbuf_str(&b));
}

static void alignment(void)
{
	auto_arena struct arena *a = arena_new();

	CHECK_STR(aligned(a, "A\tB\tC\nlong long cell\tb\tc\n"), "A                B         C\nlong long cell   b         c\n");
	/* A line without the column interrupts it. */
	CHECK_STR(aligned(a, "a long long cell\tb\nx\na\tb\n"), "a long long cell   b\nx\na         b\n");
	/* Wide characters take two columns. */
	CHECK_STR(aligned(a, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\tx\n123456789\tx\n"),
		  "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e      x\n123456789   x\n");
	CHECK_STR(aligned(a, ""), "");
	CHECK_STR(dk_ellipsis(a, "sh -c 'echo a long command line'", 20), "sh -c 'echo a long \xe2\x80\xa6");
	CHECK_STR(dk_ellipsis(a, "sleep 300", 20), "sleep 300");
}

static struct dk_value container(struct arena *a)
{
	struct dk_value doc = dk_struct("container.InspectResponse"), state = dk_struct("container.State"),
			labels = dk_dict();

	labels.text_elements = true;
	dk_put(a, &labels, "x", dk_string(""));
	dk_put(a, &labels, "a.b/c", dk_string("<v>"));
	dk_put(a, &state, "Running", dk_bool(true));
	dk_put(a, &state, "Pid", dk_int(4619));
	dk_put_omit(a, &state, "Health", dk_null_pointer("container.Health"));
	dk_put_named(a, &doc, "Id", "ID", dk_string("e1b"));
	dk_put(a, &doc, "State", state);
	dk_put(a, &doc, "Labels", labels);
	dk_put(a, &doc, "CapDrop", dk_null_array());
	dk_put(a, &doc, "Args", dk_array());
	dk_put(a, &doc, "PidsLimit", dk_null_pointer("int64"));
	return doc;
}

static const char *inspected(struct arena *a, const char *format, int n)
{
	struct dk_inspect *i;
	struct err e = {0}, first = {0};

	if (dk_inspect_open(a, format, &i, &e) != 0)
		return "64";
	for (int k = 0; k < n; k++)
		dk_inspect_add(i, container(a), first.code ? &e : &first);
	capture();
	dk_inspect_close(i, &e);
	return arena_printf(a, "%s%s", printed(a), first.msg);
}

static void inspect(void)
{
	auto_arena struct arena *a = arena_new();

	CHECK_STR(inspected(a, NULL, 0), "[]\n");
	CHECK_STR(inspected(a, "{{.X}}", 0), "\n");
	CHECK_STR(inspected(a, "{{.State.Running}}", 1), "true\n");
	CHECK_STR(inspected(a, "{{.State.Running}}", 2), "true\ntrue\n");
	CHECK_STR(inspected(a, "{{.Id}} {{.State.Pid}}", 1), "e1b 4619\n");
	CHECK_STR(inspected(a, "{{.ID}}", 1), "e1b\n");
	CHECK_STR(inspected(a, "{{.State}} {{json .State}}", 1), "{true 4619 <nil>} {\"Running\":true,\"Pid\":4619}\n");
	CHECK_STR(inspected(a, "{{.CapDrop}} {{json .CapDrop}} {{json .Args}} {{.PidsLimit}}", 1), "[] null [] <nil>\n");
	CHECK_STR(inspected(a, "{{.Labels}} {{json .Labels}} {{.Labels.nosuch}}|{{index .Labels \"nosuch\"}}|", 1),
		  "map[a.b/c:<v> x:] {\"a.b/c\":\"<v>\",\"x\":\"\"} <no value>||\n");
	CHECK_STR(inspected(a, "{{.State.Health.Status}}", 1),
		  "\ntemplate parsing error: template: :1:8: executing \"\" at <.State.Health.Status>: map has no entry for key \"Health\"");
	CHECK_STR(inspected(a, "{{.Nope}}", 1),
		  "\ntemplate parsing error: template: :1:2: executing \"\" at <.Nope>: map has no entry for key \"Nope\"");
	CHECK_STR(inspected(a, "{{if .State.Health}}a{{else}}b{{end}}", 1), "b\n");
	CHECK_STR(inspected(a, "json", 1), "[{\"Id\":\"e1b\",\"State\":{\"Running\":true,\"Pid\":4619},\"Labels\":{\"a.b/c\":\"<v>\",\"x\":\"\"},\"CapDrop\":null,\"Args\":[],\"PidsLimit\":null}]\n");
	CHECK_STR(inspected(a, "", 1), "[\n    {\n        \"Id\": \"e1b\",\n        \"State\": {\n            \"Running\": true,\n            \"Pid\": 4619\n        },\n"
				       "        \"Labels\": {\n            \"a.b/c\": \"<v>\",\n            \"x\": \"\"\n        },\n        \"CapDrop\": null,\n        \"Args\": [],\n        \"PidsLimit\": null\n    }\n]\n");
}

static void units(void)
{
	static const struct { double v; const char *human, *binary; } sizes[] = {
		{0, "0B", "0B"}, {65, "65B", "65B"}, {999, "999B", "999B"}, {1000, "1kB", "1000B"}, {10240, "10.2kB", "10KiB"},
		{201234567, "201MB", "191.9MiB"}, {999999, "1e+03kB", "976.6KiB"}, {25276000000, "25.3GB", "23.54GiB"},
	};
	static const struct { int64_t seconds; const char *want; } ages[] = {
		{0, "Less than a second"}, {1, "1 second"}, {59, "59 seconds"}, {60, "About a minute"}, {119, "About a minute"},
		{120, "2 minutes"}, {3599, "59 minutes"}, {3600, "About an hour"}, {5399, "About an hour"}, {5400, "2 hours"},
		{47 * 3600, "47 hours"}, {48 * 3600, "2 days"}, {13 * 86400, "13 days"}, {14 * 86400, "2 weeks"},
		{60 * 86400, "2 months"}, {800 * 86400L, "2 years"},
	};
	char buf[DK_UNIT_MAX];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK_STR(dk_human_size(buf, sizes[i].v), sizes[i].human);
		CHECK_STR(dk_binary_size(buf, sizes[i].v), sizes[i].binary);
	}
	CHECK_STR(dk_human_size_precision(buf, 201234567, 4), "201.2MB");
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++)
		CHECK_STR(dk_human_duration(buf, ages[i].seconds), ages[i].want);
}

static void times(void)
{
	const struct timespec now = {.tv_sec = 1000000000, .tv_nsec = 5};
	static const struct { const char *text; int64_t sec; long nsec; } good[] = {
		{"1h", 1000000000 - 3600, 0}, {"0", 0, 0}, {"1136073600.000000001", 1136073600, 1},
		{"2006-01-02T15:04:05Z", 1136214245, 0}, {"2006-01-02T15:04:05.5Z", 1136214245, 500000000},
		{"2006-01-02T15:04:05+01:00", 1136210645, 0}, {"2006-01-02", 1136160000, 0},
		{"2006-01-02T15:04", 1136214240, 0}, {"2006-01-02T15", 1136214000, 0}, {"2000-02-29T00:00:00Z", 951782400, 0},
	};
	static const char *const bad[] = {"xyz", "2006-13-01", "2006-02-30T00:00:00Z", "", "1.", "2006-01-02T25:00:00Z", "5x"};
	struct timespec t;
	struct err e = {0};
	char buf[DK_UNIT_MAX];

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_INT(dk_parse_time(good[i].text, &now, &t, &e), 0);
		CHECK_INT(t.tv_sec, good[i].sec);
		CHECK_INT(t.tv_nsec, good[i].nsec);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(dk_parse_time(bad[i], &now, &t, &e) < 0);
	CHECK_STR(e.msg, "failed to parse value as time or duration: \"5x\"");
	t = (struct timespec){.tv_sec = 1136214245, .tv_nsec = 120000000};
	CHECK_STR(dk_time_rfc3339(buf, &t), "2006-01-02T15:04:05.12Z");
	CHECK_STR(dk_time_local(buf, &t), "2006-01-02 15:04:05 +0000 UTC");
	CHECK_STR(dk_time_rfc3339(buf, &(struct timespec){0}), "0001-01-01T00:00:00Z");
	CHECK(dk_time_parse("2006-01-02T15:04:05.12Z", &t) == 0 && t.tv_nsec == 120000000);
	CHECK(dk_time_parse("0001-01-01T00:00:00Z", &t) == 0 && !t.tv_sec);
}

static void paths(void)
{
	auto_arena struct arena *a = arena_new();
	static const char *const cases[][2] = {
		{"/", "/"}, {"//", "/"}, {"/a/", "/a"}, {"/a/../b", "/b"}, {"/../x", "/x"}, {"a/../..", ".."}, {"", "."},
		{"../../a/..", "../.."}, {"/a/b/../../c", "/c"}, {"a/./b", "a/b"}, {"/a/..b", "/a/..b"}, {"..", ".."},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(dk_clean_path(a, cases[i][0]), cases[i][1]);
}

static void raw_json(void)
{
	static const char text[] = "{\"b\":[1,2.50,null,{\"x\":\"\\u0001\\u2028<\\\"\"}],\"a\":{}}";
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	const struct json *j;
	struct dk_value v;
	struct err e = {0};

	CHECK(json_parse(text, strlen(text), a, &j, &e) == 0);
	v = dk_from_json(a, j);
	dk_write_json(&b, &v, false);
	CHECK_STR(b.p, "{\"a\":{},\"b\":[1,2.50,null,{\"x\":\"\\u0001\\u2028<\\\"\"}]}");
}

TEST_MAIN(TEST(tables), TEST(alignment), TEST(inspect), TEST(units), TEST(times), TEST(paths), TEST(raw_json))

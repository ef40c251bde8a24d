/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON Schema of the sandbox spec says the same as the tables: every member of config.json but
 * the hooks is in it and no other, and every setting is an annotation of it and no other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/str.h"
#include "spec/sandbox.h"
#include "spec/spec.h"
#include "tests/unit/test.h"

static const struct json *schema;

/* Follows "$ref": "#/$defs/NAME". */
static const struct json *resolve(const struct json *node)
{
	static const char prefix[] = "#/$defs/";
	const char *ref = json_get_str(node, "$ref");

	if (!ref || !str_starts(ref, prefix))
		return node;
	return json_get(json_get(schema, "$defs"), ref + strlen(prefix));
}

/* The schema of a path like "mounts[].uidMappings[].size" or "linux.netDevices.*.name". */
static const struct json *at_path(const char *path)
{
	const struct json *node = schema;
	char copy[256], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = strtok_r(copy, ".", &save); node && p; p = strtok_r(NULL, ".", &save)) {
		bool items = str_ends(p, "[]");

		node = resolve(node);
		if (items)
			p[strlen(p) - 2] = '\0';
		node = str_eq(p, "*") ? json_get(node, "additionalProperties")
				      : json_get(json_get(node, "properties"), p);
		if (items)
			node = json_get(resolve(node), "items");
	}
	return resolve(node);
}

struct count {
	size_t fields;
};

static void check_field(const char *path, const struct json_field *f, void *arg)
{
	struct count *c = arg;
	(void)f;

	if (str_starts(path, "hooks"))
		return;
	c->fields++;
	if (!at_path(path)) {
		printf("# %s is not in the schema\n", path);
		test_failed = 1;
	}
}

/* Members below "properties", each once, whatever is referred to counted at every place. */
static size_t count_members(const struct json *node)
{
	const struct json *props, *more;
	size_t n = 0;

	node = resolve(node);
	if (!node || node->type != JSON_OBJECT)
		return 0;
	props = json_get(node, "properties");
	for (size_t i = 0; props && i < props->n; i++)
		if (!strchr("$", props->items[i].key[0]))
			n += 1 + (str_eq(props->items[i].key, "annotations")
					  ? 0
					  : count_members(&props->items[i]));
	n += count_members(json_get(node, "items"));
	more = json_get(node, "additionalProperties");
	return n + (more && more->type == JSON_OBJECT ? count_members(more) : 0);
}

static void members(void)
{
	struct count c = {0};

	json_for_each_field(&oci_spec_table, check_field, &c);
	CHECK(c.fields > 150);
	CHECK_INT(count_members(schema), c.fields);
}

static void settings(void)
{
	const struct json *a = at_path("annotations"), *props = json_get(a, "properties");
	const struct json *names = json_get(json_get(json_get(a, "propertyNames"), "then"), "enum");

	CHECK_INT(props->n, sandbox_n_settings);
	CHECK_INT(names->n, sandbox_n_settings);
	for (size_t i = 0; i < sandbox_n_settings; i++) {
		char key[64];
		bool named = false;

		snprintf(key, sizeof(key), "%s%s", SANDBOX_ANNOTATION, sandbox_settings[i].name);
		for (size_t k = 0; k < names->n; k++)
			named |= str_eq(names->items[k].text, key);
		if (!named || !json_get(props, key)) {
			printf("# %s is not in the schema\n", key);
			test_failed = 1;
		}
	}
}

static void choices(void)
{
	for (size_t i = 0; i < sandbox_n_settings; i++) {
		const struct sandbox_setting *s = &sandbox_settings[i];
		const struct json *list;
		char key[64];

		if (s->kind != SANDBOX_CHOICE)
			continue;
		snprintf(key, sizeof(key), "%s%s", SANDBOX_ANNOTATION, s->name);
		list = json_get(json_get(json_get(at_path("annotations"), "properties"), key), "enum");
		for (size_t k = 0; s->choices[k]; k++)
			CHECK(list && k < list->n && str_eq(list->items[k].text, s->choices[k]));
	}
}

/* Every example is read, and completed as it stands. */
static void examples(void)
{
	static const char *const files[] = {
		"hello", "limits", "root-filesystem", "data-and-outputs", "environment", "stdin",
	};
	const struct sandbox_host host = {0};
	const char *dir = getenv("srcdir");

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		auto_arena struct arena *a = arena_new();
		auto_strbuf struct strbuf b = {0};
		struct err e = {0};
		struct sandbox sb;
		int r = io_read_file(AT_FDCWD,
				     arena_printf(a, "%s/contrib/examples/%s.json",
						  dir ? dir : ".", files[i]),
				     JSON_MAX_BYTES, &b, &e);

		if (r == 0)
			r = sandbox_parse(strbuf_str(&b), b.len, a, &sb, &e);
		if (r == 0)
			r = sandbox_defaults(a, &sb, &host, &e);
		if (r < 0)
			printf("# %s: %s\n", files[i], e.msg);
		CHECK_INT(r, 0);
	}
}

static int load(struct arena *a)
{
	const char *dir = getenv("srcdir");
	struct strbuf b = {0};
	struct err e = {0};
	int r = io_read_file(AT_FDCWD, arena_printf(a, "%s/spec/sandbox.schema.json", dir ? dir : "."),
			     JSON_MAX_BYTES, &b, &e);

	if (r == 0)
		r = json_parse(strbuf_str(&b), b.len, a, &schema, &e);
	strbuf_free(&b);
	if (r < 0)
		printf("Bail out! %s\n", e.msg);
	return r;
}

int main(void)
{
	static const struct test tests[] = {TEST(members), TEST(settings), TEST(choices), TEST(examples)};
	auto_arena struct arena *a = arena_new();

	return load(a) < 0 ? 99 : test_run(tests, sizeof(tests) / sizeof(tests[0]));
}

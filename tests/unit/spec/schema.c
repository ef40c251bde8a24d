/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field tables against the flattened schemas of runtime-spec 1.3 (schema-keys.txt, made by
 * tools/check-schema), in both directions: every key is there, with the same type, the same
 * `required` and the same names, but for the differences that are listed here with their reason.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/io.h"
#include "spec/features.h"
#include "spec/spec.h"
#include "tests/unit/spec/describe.h"
#include "tests/unit/test.h"

enum { REQUIRED = 1, NAMES = 2, ONLY_OURS = 4 };

static const struct { const char *path; int what; } differences[] = {
	/* the text says REQUIRED, the schema forgot */
	{"config linux.memoryPolicy.mode", REQUIRED},
	{"config linux.personality.domain", REQUIRED},
	{"config linux.resources.blockIO.throttleReadBpsDevice[].rate", REQUIRED},
	{"config linux.resources.blockIO.throttleWriteBpsDevice[].rate", REQUIRED},
	{"config linux.resources.blockIO.throttleReadIOPSDevice[].rate", REQUIRED},
	{"config linux.resources.blockIO.throttleWriteIOPSDevice[].rate", REQUIRED},
	/* the text says OPTIONAL */
	{"config linux.resources.pids.limit", REQUIRED},
	/* the schema has a pattern */
	{"config linux.devices[].type", NAMES},
	{"config process.rlimits[].type", NAMES},
	/* docker and podman send "rprivate" and the like */
	{"config linux.rootfsPropagation", NAMES},
	/* in the text of features-linux.md, not in the schema */
	{"features linux.memoryPolicy", ONLY_OURS},
	{"features linux.memoryPolicy.modes", ONLY_OURS},
	{"features linux.memoryPolicy.flags", ONLY_OURS},
	{"features linux.intelRdt.schemata", ONLY_OURS},
	{"features linux.intelRdt.monitoring", ONLY_OURS},
};

static int difference_of(const char *path)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (strcmp(differences[i].path, path) == 0)
			return differences[i].what;
	return 0;
}

/* One key of the schemas or of the tables. */
struct key {
	char *path, *kind;
	bool required;
	char **names; /* NULL: any */
	bool seen;
};

struct keys {
	struct arena *a;
	const char *document;
	struct key v[512];
	size_t n;
};

static struct key *find(struct keys *k, const char *path)
{
	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->v[i].path, path) == 0)
			return &k->v[i];
	return NULL;
}

static void add_field(const char *path, const struct json_field *f, void *arg)
{
	struct keys *k = arg;

	if (k->n == sizeof(k->v) / sizeof(k->v[0]))
		abort();
	k->v[k->n++] = (struct key){
		.path = arena_printf(k->a, "%s %s", k->document, path),
		.kind = arena_strdup(k->a, describe_kind(f)),
		.required = f->required,
		.names = (char **)f->names,
	};
}

static char **split(struct arena *a, char *text, const char *by)
{
	char **v = arena_array(a, 64, sizeof(*v));
	size_t n = 0;

	for (char *p = strtok(text, by); p && n < 63; p = strtok(NULL, by))
		v[n++] = p;
	return v;
}

/* "<document> <path> <kind> [required] [a|b|c]" */
static void add_line(struct keys *k, char *line)
{
	char **word = split(k->a, line, " ");
	struct key *key = &k->v[k->n++];

	*key = (struct key){.path = arena_printf(k->a, "%s %s", word[0], word[1]), .kind = word[2]};
	key->required = word[3] && strcmp(word[3], "required") == 0;
	word += key->required ? 4 : 3;
	if (*word)
		key->names = split(k->a, *word, "|");
}

static void read_schema(struct keys *k)
{
	auto_strbuf struct strbuf text = {0};
	const char *srcdir = getenv("srcdir");
	char *path = arena_printf(k->a, "%s/tests/unit/spec/schema-keys.txt", srcdir ? srcdir : ".");
	struct err e = {0};

	if (io_read_file(AT_FDCWD, path, 1 << 20, &text, &e) < 0)
		printf("# %s\n", e.msg);
	for (char *p = text.p, *end; p && (end = strchr(p, '\n')) && k->n < 512; p = end + 1)
		add_line(k, arena_strndup(k->a, p, (size_t)(end - p)));
}

static bool same_kind(const char *schema, const char *ours)
{
	return strcmp(schema, ours) == 0 || (strcmp(schema, "integer") == 0 && strstr(ours, "int"));
}

static size_t count(char **names)
{
	size_t n = 0;

	while (names && names[n])
		n++;
	return n;
}

static bool same_names(char **schema, char **ours)
{
	if (count(schema) != count(ours))
		return false;
	for (size_t i = 0; schema && schema[i]; i++)
		if (str_index((const char *const *)ours, schema[i]) < 0)
			return false;
	return true;
}

static void complain(const char *path, const char *what)
{
	printf("# %s: %s\n", path, what);
	test_failed = 1;
}

static void compare(struct key *schema, struct keys *ours)
{
	struct key *own = find(ours, schema->path);
	int differs = difference_of(schema->path);

	if (!own) {
		complain(schema->path, "is in the schema, not in the tables");
		return;
	}
	own->seen = true;
	if (!same_kind(schema->kind, own->kind))
		complain(schema->path, "has another type in the schema");
	if ((schema->required != own->required) != ((differs & REQUIRED) != 0))
		complain(schema->path, "`required` differs from the schema, or no longer does");
	if (!same_names(schema->names, own->names) != ((differs & NAMES) != 0))
		complain(schema->path, "the names differ from the schema, or no longer do");
}

static void test_both_directions(void)
{
	auto_arena struct arena *a = arena_new();
	static struct keys schema, ours;

	schema.a = ours.a = a;
	read_schema(&schema);
	ours.document = "config";
	json_for_each_field(&oci_spec_table, add_field, &ours);
	ours.document = "features";
	json_for_each_field(&oci_features_table, add_field, &ours);
	CHECK(schema.n > 200);
	for (size_t i = 0; i < schema.n; i++)
		compare(&schema.v[i], &ours);
	for (size_t i = 0; i < ours.n; i++)
		if (ours.v[i].seen == ((difference_of(ours.v[i].path) & ONLY_OURS) != 0))
			complain(ours.v[i].path, "is in the tables, not in the schema, or now it is");
}

TEST_MAIN(TEST(test_both_directions))

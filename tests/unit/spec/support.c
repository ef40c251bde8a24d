/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc/config-support.md is made from the field tables: `support --write` prints it, and as a test
 * the program checks that the file in the tree is what it would print.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "spec/annotations.h"
#include "spec/spec.h"
#include "tests/unit/spec/describe.h"
#include "tests/unit/test.h"

static const char head[] =
	"# config.json: the properties that brig reads\n\n"
	"Made from the field tables in spec/ by `tests/unit/spec/support --write`; the test of that\n"
	"name fails when this file is out of date. Every Linux property of the OCI runtime-spec "
	OCI_VERSION "\nis here. Other properties are ignored, as the spec demands; so are the sections "
	"of other\nplatforms (`windows`, `solaris`, `vm`, `zos`, `freebsd`). A value of another type, "
	"out of range\nor not in its list is an error.\n\n"
	"`[x]` is an array of x, `{x}` an object with values x under any key, `.*` one of its values.\n\n"
	"| property | type | required | values |\n| --- | --- | --- | --- |\n";

static void add_row(const char *path, const struct json_field *f, void *arg)
{
	struct strbuf *b = arg;

	strbuf_printf(b, "| `%s` | %s | %s |", path, describe_kind(f), f->required ? "yes" : "");
	for (size_t i = 0; f->names && f->names[i]; i++)
		strbuf_printf(b, "%s `%s`", i ? "," : "", f->names[i]);
	strbuf_adds(b, " |\n");
}

static const char annotations_head[] =
	"\n## Annotations\n\n"
	"Those that begin with `run.oci.` are crun's. `run.oci.seccomp.plugins` and `run.oci.systemd.force_cgroup_v1` are\n"
	"errors, and all others have no effect.\n\n"
	"| annotation | meaning |\n| --- | --- |\n";

static void make(struct strbuf *b)
{
	strbuf_adds(b, head);
	json_for_each_field(&oci_spec_table, add_row, b);
	strbuf_adds(b, annotations_head);
	for (const struct spec_annotation_info *i = spec_annotations; i->key; i++)
		strbuf_printf(b, "| `%s` | %s |\n", i->key, i->meaning);
}

static void test_document_is_current(void)
{
	auto_strbuf struct strbuf want = {0}, have = {0};
	const char *srcdir = getenv("srcdir");
	char path[4096];
	struct err e = {0};

	make(&want);
	snprintf(path, sizeof(path), "%s/doc/config-support.md", srcdir ? srcdir : ".");
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, &have, &e), 0);
	CHECK_STR(e.msg, "");
	CHECK(strcmp(strbuf_str(&have), want.p) == 0);
}

static void test_manual_has_the_annotations(void)
{
	auto_strbuf struct strbuf text = {0};
	const char *srcdir = getenv("srcdir");
	char path[4096], *to;
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/man/brig.1", srcdir ? srcdir : ".");
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, &text, &e), 0);
	to = text.p;
	for (const char *from = text.p; from && *from; from++)
		if (*from != '\\')
			*to++ = *from;
	if (to)
		*to = '\0';
	for (const struct spec_annotation_info *i = spec_annotations; i->key; i++)
		if (!text.p || !strstr(text.p, i->key)) {
			printf("# man/brig.1 has no %s\n", i->key);
			CHECK(false);
		}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {TEST(test_document_is_current), TEST(test_manual_has_the_annotations)};
	auto_strbuf struct strbuf b = {0};

	if (argc != 2 || strcmp(argv[1], "--write") != 0)
		return test_run(tests, 2);
	make(&b);
	return io_write_all(STDOUT_FILENO, b.p, b.len) < 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates on a document. Each line of
 * templates.txt is a JSON array of a template and what comes out, which is what Docker's client
 * (28.2.2) made of the same template on the same document. With an argument the program prints what
 * comes out of that.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/template.h"
#include "tests/unit/test.h"

/* As `context inspect` has it, with the names of Docker's types. */
static struct dk_value document(struct arena *a)
{
	struct dk_value doc = dk_struct("context.contextWithTLSListing"), meta = dk_struct("store.Metadata"),
			inner = dk_struct("command.DockerContext"), endpoints = dk_dict(),
			docker = dk_struct("context.EndpointMetaBase"), storage = dk_struct("store.StorageInfo");

	dk_put(a, &inner, "Description", dk_string("d\xc3\xa9scription \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"));
	dk_put_named(a, &inner, NULL, "AdditionalFields", dk_null_dict());
	dk_put(a, &docker, "Host", dk_string("unix:///x"));
	dk_put(a, &docker, "SkipTLSVerify", dk_bool(false));
	docker.boxed = true;
	dk_put(a, &endpoints, "docker", docker);
	dk_put(a, &meta, "Name", dk_string("c1"));
	dk_put(a, &meta, "Metadata", inner);
	dk_put(a, &meta, "Endpoints", endpoints);
	dk_put(a, &storage, "MetadataPath", dk_string("/meta/c1"));
	dk_put(a, &storage, "TLSPath", dk_string("/tls/c1"));
	dk_put(a, &doc, "Name", dk_string("c1"));
	dk_put(a, &doc, "Metadata", meta);
	dk_put(a, &doc, "Endpoints", endpoints);
	dk_put(a, &doc, "TLSMaterial", dk_dict());
	dk_put(a, &doc, "Storage", storage);
	return doc;
}

static void result_of(struct arena *a, const char *text, struct strbuf *b)
{
	struct dk_template_options o = {.name = ""};
	struct dk_value doc = document(a);
	struct dk_template *t;
	struct err e = {0};

	if (dk_template_parse(a, &o, text, &t, &e) < 0) {
		strbuf_printf(b, "64 %s", e.msg);
	} else if (dk_template_execute(t, &doc, false, b, &e) < 0) {
		b->len = 0;
		strbuf_printf(b, "1 %s", e.msg);
	}
}

static void table(void)
{
	const char *dir = getenv("srcdir");
	char path[4096], *rest;
	auto_strbuf struct strbuf text = {0};
	struct err e = {0};
	int lines = 0;

	snprintf(path, sizeof(path), "%s/tests/unit/docker/templates.txt", dir ? dir : ".");
	CHECK(io_read_file(AT_FDCWD, path, 1 << 20, &text, &e) == 0);
	if (!text.p)
		return;
	for (char *line = strtok_r(text.p, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
		auto_arena struct arena *a = arena_new();
		auto_strbuf struct strbuf have = {0};
		const struct json *j = NULL;

		CHECK(json_parse(line, strlen(line), a, &j, &e) == 0);
		if (!j)
			return;
		result_of(a, j->items[0].text, &have);
		CHECK_STR(strbuf_str(&have), j->items[1].text);
	}
	CHECK(lines > 200);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {TEST(table)};
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};

	if (argc == 1)
		return test_run(tests, 1);
	result_of(a, argv[1], &b);
	fwrite(strbuf_str(&b), 1, b.len, stdout);
	return 0;
}

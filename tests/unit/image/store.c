/* SPDX-License-Identifier: Apache-2.0 */
/* The store by itself: images without layers are added, named, found, renamed and removed. */
#include "image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/test.h"

#define ID_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "sha256:aaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define CHAIN_OF_TWO "sha256:0afac888389c625e1d6fd9984f9b367c9c523de8922b999e2eb2873634ba5cb4"
#define DIFF "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char root[] = "/tmp/unit-image-store-XXXXXX";

static void remove_root(void)
{
	static const char *const names[] = {
		"images/index.json", "images/oci-layout", "images/lock", "images/blobs/sha256", "images/blobs",
		"images/layers", "images/ids", "images/refs", "images/tmp", "images", ".",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[200];

		snprintf(path, sizeof(path), "%s/%s", root, names[i][0] == '.' ? "" : names[i]);
		if (remove(path) < 0 && errno != ENOENT)
			printf("# %s is left\n", path);
	}
}

static void add(const struct img_store *s, const char *id, const char *created)
{
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_layer layer = {.diff_id = arena_strdup(a, DIFF), .size = 7};
	struct img_image i = {.id = arena_strdup(a, id), .created = arena_strdup(a, created), .size = 7};

	i.layers.v = &layer;
	i.layers.n = 1;
	img_chain_ids(a, &i);
	CHECK_INT(img_add(s, &i, &e), 0);
	arena_free(a);
}

static int tag(const struct img_store *s, const char *id, const char *name)
{
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_ref ref;
	int r = img_ref_parse(a, name, &ref, &e);

	r = r < 0 ? r : img_tag(s, id, &ref, &e);
	arena_free(a);
	return r;
}

static int untag(const struct img_store *s, const char *name)
{
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_ref ref;
	int r = img_ref_parse(a, name, &ref, &e);

	r = r < 0 ? r : img_untag(s, &ref, &e);
	arena_free(a);
	return r;
}

/* The id that text resolves to, or NULL. */
static const char *find(const struct img_store *s, const char *text)
{
	static char id[600];
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_image i;
	int r = img_resolve(s, text, a, &i, &e);

	snprintf(id, sizeof(id), "%s", r == 1 ? i.id : r == -ENOTUNIQ ? "several" : r < 0 ? e.msg : "none");
	arena_free(a);
	return id;
}

static void empty(void)
{
	struct img_store s;
	struct err e = {0};
	struct arena *a = arena_new();
	struct img_list list;

	CHECK_INT(img_store_open(&s, "/nonexistent", &e), 0);
	CHECK_INT(s.dir, -1);
	CHECK_STR(find(&s, "busybox"), "none");
	CHECK_STR(find(&s, "abc"), "none");
	CHECK_STR(find(&s, "UPPER"),
		  "invalid reference format: repository name (library/UPPER) must be lowercase");
	CHECK(strncmp(find(&s, "host"), "sha256:", 7) == 0);
	CHECK_INT(img_list(&s, a, &list, &e), 0);
	CHECK_INT(list.n, 0);
	CHECK_INT(untag(&s, "x"), 0);
	arena_free(a);
}

static void names(void)
{
	struct img_store s;
	struct err e = {0};

	CHECK_INT(img_store_create(&s, root, &e), 0);
	add(&s, ID_A, "2026-01-01T00:00:00Z");
	add(&s, ID_B, "2026-01-02T00:00:00.5Z");
	CHECK_STR(find(&s, "one"), "none");
	CHECK_INT(tag(&s, ID_A, "one"), 0);
	CHECK_INT(tag(&s, ID_A, "ex.org/a/b:2"), 0);
	CHECK_INT(tag(&s, ID_A, "one@" DIFF), 0);
	CHECK_STR(find(&s, "one"), ID_A);
	CHECK_STR(find(&s, "docker.io/library/one:latest"), ID_A);
	CHECK_STR(find(&s, "ex.org/a/b:2"), ID_A);
	CHECK_STR(find(&s, "one@" DIFF), ID_A);
	CHECK_STR(find(&s, "ex.org/a/b"), "none");
	CHECK_INT(tag(&s, ID_A, "one"), 0); /* again, the same file */
	CHECK_INT(tag(&s, ID_B, "one"), 0); /* moves */
	CHECK_STR(find(&s, "one"), ID_B);
	CHECK_STR(find(&s, "ex.org/a/b:2"), ID_A);
	CHECK_INT(tag(&s, ID_B, "host"), -EBUSY);
	CHECK_INT(tag(&s, DIFF, "none"), -ENOENT);
	img_store_close(&s);
}

static void ids(void)
{
	struct img_store s;
	struct err e = {0};

	CHECK_INT(img_store_open(&s, root, &e), 0);
	CHECK_STR(find(&s, "aaaa"), ID_A);
	CHECK_STR(find(&s, "aaab"), ID_B);
	CHECK_STR(find(&s, "aaa"), "several");
	CHECK_STR(find(&s, "sha256:aaab"), ID_B);
	CHECK_STR(find(&s, ID_A), ID_A);
	CHECK_STR(find(&s, ID_A + 7), ID_A);
	CHECK_STR(find(&s, DIFF), "none");
	CHECK_INT(tag(&s, ID_B, "aaaa"), 0); /* a name comes before an id */
	CHECK_STR(find(&s, "aaaa"), ID_B);
	CHECK_INT(untag(&s, "aaaa"), 1);
	img_store_close(&s);
}

static void listing(void)
{
	struct img_store s;
	struct err e = {0};
	struct arena *a = arena_new();
	struct img_list l;

	CHECK_INT(img_store_open(&s, root, &e), 0);
	CHECK_INT(img_list(&s, a, &l, &e), 0);
	CHECK_INT(l.n, 2);
	if (l.n == 2) {
		CHECK_STR(l.v[0].image.id, ID_B);
		CHECK_INT(l.v[0].tags.n, 1);
		CHECK_STR(l.v[0].tags.v[0], "one:latest");
		CHECK_INT(l.v[1].tags.n, 1);
		CHECK_STR(l.v[1].tags.v[0], "ex.org/a/b:2");
		CHECK_INT(l.v[1].digests.n, 1);
		CHECK_STR(l.v[1].digests.v[0], "one@" DIFF);
		CHECK_STR(img_layer_dirs(&s, a, &l.v[0].image).v[0],
			  arena_printf(a, "%s/images/layers/0123456789abcdef0123/diff", root));
		CHECK_INT(img_names(&s, a, &l.v[0], &e), 0);
		CHECK_STR(l.v[0].tags.v[0], "one:latest");
	}
	arena_free(a);
	img_store_close(&s);
}

static void removal(void)
{
	struct img_store s;
	struct err e = {0};
	struct arena *a = arena_new();
	struct img_image i;

	CHECK_INT(img_store_open(&s, root, &e), 0);
	CHECK_INT(img_by_id(&s, ID_A, a, &i, &e), 1);
	CHECK(img_still_there(&s, &i));
	CHECK_INT(untag(&s, "ex.org/a/b:2"), 1);
	CHECK_INT(untag(&s, "ex.org/a/b:2"), 0);
	CHECK_INT(untag(&s, "one@" DIFF), 1);
	CHECK_INT(img_remove(&s, ID_A, false, &e), 1);
	CHECK_INT(img_remove(&s, ID_A, false, &e), 0);
	CHECK(!img_still_there(&s, &i));
	CHECK_INT(untag(&s, "one"), 1);
	CHECK_INT(img_remove(&s, ID_B, false, &e), 1);
	CHECK_STR(find(&s, "one"), "none");
	arena_free(a);
	img_store_close(&s);
}

static void locks(void)
{
	struct img_store s;
	struct err e = {0};
	int one, two, three;

	CHECK_INT(img_store_open(&s, root, &e), 0);
	one = img_lock(&s, false, true, &e);
	two = img_lock(&s, false, false, &e);
	CHECK(one >= 0 && two >= 0);
	three = img_lock(&s, true, false, &e);
	CHECK_INT(three, -EWOULDBLOCK);
	close(one);
	close(two);
	three = img_lock(&s, true, false, &e);
	CHECK(three >= 0);
	close(three);
	img_store_close(&s);
	remove_root();
}

static void config(void)
{
	static const char text[] =
		"{\"created\":\"2026-01-01T00:00:00Z\",\"os\":\"linux\",\"config\":{\"Env\":[\"A=1\",\"HOME\","
		"\"=x\"],\"Cmd\":[\"a\",\"b\"],\"Entrypoint\":null,\"Labels\":{\"k\":\"v\"},\"Volumes\":"
		"{\"/data\":{}},\"ExposedPorts\":{\"80/tcp\":{}},\"Healthcheck\":{\"Test\":[\"NONE\"],"
		"\"Interval\":30000000000},\"Unknown\":1},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\""
		DIFF "\",\"" ID_A "\"]}}";
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_image i = {0}, again;
	struct strbuf b = {0};

	CHECK_INT(img_read_config(a, text, strlen(text), &i, &e), 0);
	i.id = arena_strdup(a, ID_B);
	img_write_record(&i, &b);
	CHECK_INT(img_read_record(a, b.p, b.len, &again, &e), 0);
	CHECK_INT(again.config.env.n, 1);
	CHECK_STR(again.config.env.v[0], "A=1");
	CHECK_INT(again.config.cmd.n, 2);
	CHECK_STR(again.config.volumes.v[0].name, "/data");
	CHECK_STR(again.config.exposed_ports.v[0].name, "80/tcp");
	CHECK_STR(again.config.labels.v[0].value, "v");
	CHECK_INT(again.config.healthcheck->interval, 30000000000);
	CHECK_INT(again.layers.n, 2);
	CHECK_STR(again.layers.v[0].diff_id, ID_A); /* top first */
	CHECK_STR(again.layers.v[1].chain, DIFF);
	/* the sum of "sha256:0123... sha256:aaaa...", by sha256sum */
	CHECK_STR(again.layers.v[0].chain, CHAIN_OF_TWO);
	strbuf_free(&b);
	arena_free(a);
}

static void bad_config(void)
{
	static const char *const cases[] = {
		"{}", "[]", "{\"rootfs\":{\"diff_ids\":[\"../../etc\"]}}", "{\"rootfs\":{\"diff_ids\":[1]}}",
		"{\"rootfs\":{\"diff_ids\":[\"" DIFF "x\"]}}", "{\"rootfs\":1}",
		"{\"rootfs\":{\"diff_ids\":[]},\"config\":{\"Env\":\"A=1\"}}",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena *a = arena_new();
		struct err e = {0};
		struct img_image image = {0};

		CHECK(img_read_config(a, cases[i], strlen(cases[i]), &image, &e) < 0);
		CHECK(strncmp(e.msg, "the image's configuration: ", 27) == 0);
		arena_free(a);
	}
}

/* A hostile image with 200000 of them took minutes of every command. */
static void too_many(void)
{
	auto_strbuf struct strbuf b = {0};

	for (int n = 4096; n <= 4097; n++) {
		struct arena *a = arena_new();
		struct img_image image = {0};
		struct err e = {0};

		strbuf_adds(&b, "{\"rootfs\":{\"diff_ids\":[]},\"config\":{\"Labels\":{");
		for (int i = 0; i < n; i++)
			strbuf_printf(&b, "%s\"%d\":\"\"", i ? "," : "", i);
		strbuf_adds(&b, "}}}");
		CHECK_INT(img_read_config(a, b.p, b.len, &image, &e), n == 4096 ? 0 : -E2BIG);
		b.len = 0;
		arena_free(a);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(empty), TEST(names), TEST(ids), TEST(listing), TEST(removal), TEST(locks), TEST(config),
		TEST(bad_config), TEST(too_many),
	};

	if (!mkdtemp(root))
		return 1;
	return test_run(tests, sizeof(tests) / sizeof(*tests));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image/reference.h"

#include "tests/unit/test.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void normal_forms(void)
{
	static const char *const cases[][3] = {
		{"busybox", "docker.io/library/busybox:latest", "busybox:latest"},
		{"busybox:1.2", "docker.io/library/busybox:1.2", "busybox:1.2"},
		{"a/b", "docker.io/a/b:latest", "a/b:latest"},
		{"docker.io/a", "docker.io/library/a:latest", "a:latest"},
		{"index.docker.io/x/y:t", "docker.io/x/y:t", "x/y:t"},
		{"localhost/x", "localhost/x:latest", "localhost/x:latest"},
		{"localhost:5000/x", "localhost:5000/x:latest", "localhost:5000/x:latest"},
		{"localhost:5000/x:t", "localhost:5000/x:t", "localhost:5000/x:t"},
		{"Host/x", "Host/x:latest", "Host/x:latest"},
		{"ex.org/a/b/c", "ex.org/a/b/c:latest", "ex.org/a/b/c:latest"},
		{"docker.io/library/a/b", "docker.io/library/a/b:latest", "library/a/b:latest"},
		{"a__b-c---d.e", "docker.io/library/a__b-c---d.e:latest", "a__b-c---d.e:latest"},
		{"x:UPPER_.-", "docker.io/library/x:UPPER_.-", "x:UPPER_.-"},
		{"x@sha256:" HEX64, "docker.io/library/x@sha256:" HEX64, "x@sha256:" HEX64},
		{"x:t@sha256:" HEX64, "docker.io/library/x@sha256:" HEX64, "x@sha256:" HEX64},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena *a = arena_new();
		struct err e = {0};
		struct img_ref r;

		CHECK_INT(img_ref_parse(a, cases[i][0], &r, &e), 0);
		if (!e.code) {
			CHECK_STR(img_ref_full(a, &r), cases[i][1]);
			CHECK_STR(img_ref_familiar(a, &r), cases[i][2]);
		}
		arena_free(a);
	}
}

static void refusals(void)
{
	static const char *const cases[][2] = {
		{"", "invalid reference format"},
		{":t", "invalid reference format"},
		{"/x", "invalid reference format"},
		{"x/", "invalid reference format"},
		{"a//b", "invalid reference format"},
		{"../x", "invalid reference format"},
		{"a/../b", "invalid reference format"},
		{"-x", "invalid reference format"},
		{"x-", "invalid reference format"},
		{"a___b", "invalid reference format"},
		{"a..b", "invalid reference format"},
		{"x:", "invalid reference format"},
		{"x:-t", "invalid reference format"},
		{"x:t:u", "invalid reference format"},
		{"x y", "invalid reference format"},
		{"x%y", "invalid reference format"},
		{"x@sha256:abc", "invalid reference format"},
		{"x@md5:" HEX64, "invalid reference format"},
		{"a-.org/x", "invalid reference format"},
		{"ex.org:port/x", "invalid reference format"},
		{"UPPER:x", "invalid reference format: repository name (library/UPPER) must be lowercase"},
		{"a/UPPER", "invalid reference format: repository name (a/UPPER) must be lowercase"},
		{HEX64, "invalid repository name (" HEX64
			"), cannot specify 64-byte hexadecimal strings"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena *a = arena_new();
		struct err e = {0};
		struct img_ref r;

		CHECK(img_ref_parse(a, cases[i][0], &r, &e) < 0);
		CHECK_STR(e.msg, cases[i][1]);
		arena_free(a);
	}
}

static void long_names(void)
{
	char name[600];
	struct arena *a = arena_new();
	struct err e = {0};
	struct img_ref r;

	memset(name, 'a', sizeof(name));
	name[250] = '\0';
	CHECK(img_ref_parse(a, name, &r, &e) < 0);
	CHECK_STR(e.msg, "repository name must not be more than 255 characters");
	memset(name, 'a', sizeof(name));
	name[599] = '\0';
	CHECK(img_ref_parse(a, name, &r, &e) < 0);
	memcpy(name, "x:", 2);
	name[2 + 128] = '\0';
	CHECK_INT(img_ref_parse(a, name, &r, &e), 0);
	memset(name + 2, 'a', 129);
	name[2 + 129] = '\0';
	CHECK(img_ref_parse(a, name, &r, &e) < 0);
	arena_free(a);
}

static void digests(void)
{
	CHECK(img_digest_valid("sha256:" HEX64));
	CHECK(!img_digest_valid("sha256:" HEX64 "0"));
	CHECK(!img_digest_valid("sha256:../../../../etc"));
	CHECK(!img_digest_valid("sha512:" HEX64));
	CHECK(!img_digest_valid(HEX64));
}

TEST_MAIN(TEST(normal_forms), TEST(refusals), TEST(long_names), TEST(digests))

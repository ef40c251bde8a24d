/* SPDX-License-Identifier: Apache-2.0 */
/* Which images a Dockerfile names. */
#include "base/str.h"
#include "docker/build-file.h"
#include "tests/unit/test.h"

static char *env[] = {(char *)"FROM_ENV=e:1", NULL};

/* The images, each with a blank behind it. */
static const char *images(struct arena *a, const char *text, const struct strv *given)
{
	auto_strbuf struct strbuf b = {0};
	struct strv names = dk_build_images(a, text, given, env);

	for (size_t i = 0; i < names.n; i++)
		strbuf_printf(&b, "%s ", names.v[i]);
	return arena_strdup(a, strbuf_str(&b));
}

static void names(void)
{
	static const char *const cases[][2] = {
		{"FROM a", "a "},
		{"# syntax=x\n\n  from  a:1  AS  one\nRUN x\n", "a:1 "},
		{"FROM --platform=$BUILDPLATFORM a@sha256:0 AS one\nFROM one\nFROM b\n", "a@sha256:0 b "},
		{"FROM scratch\nCOPY --from=c /x /y\nCOPY --chown=1 --from=d /x /y\n", "c d "},
		{"FROM a as One\nFROM a\nCOPY --from=one /x /y\nCOPY --from=0 /x /y", "a "},
		{"FROM a\nRUN --mount=type=bind,from=b,target=/x --mount=from=c ls --from=d\n", "a b c "},
		{"FROM \\\n  # within\n  a \\\n as x\nFROM b \\\n", "a b "},
		{"RUN echo FROM x\nFROM a\r\nENTRYPOINT FROM y\n", "a "},
		{"FROM", ""}, {"", ""}, {"FROM --x", ""}, {"\\", ""}, {"FROM \\", ""},
	};
	auto_arena struct arena *a = arena_new();
	struct strv none = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(images(a, cases[i][0], &none), cases[i][1]);
}

static void variables(void)
{
	static const char *const cases[][2] = {
		{"ARG B=b:1\nFROM $B", "b:1 "},
		{"ARG B=\"b:1\" C=${B}x\nFROM ${C}-y", "b:1x-y "},
		{"ARG G\nFROM ${G}", "given "},
		{"ARG G=other\nFROM ${G}", "given "},
		{"FROM ${G}", ""}, /* without ARG it is not there */
		{"ARG FROM_ENV\nFROM $FROM_ENV", "e:1 "},
		{"FROM ${X:-x:1}\nFROM ${X:+y}z", "x:1 z "},
		{"ARG X=v\nFROM ${X:-x}\nFROM ${X:+y}z", "v yz "},
		{"FROM a\nARG B=b\nFROM $B", "a "}, /* it belongs to the stage */
		{"FROM ${", "${ "}, {"FROM $", "$ "}, {"FROM ${}", "${} "},
	};
	auto_arena struct arena *a = arena_new();
	char *words[] = {(char *)"G=given", (char *)"FROM_ENV"};
	struct strv given = {.v = words, .n = 2};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(images(a, cases[i][0], &given), cases[i][1]);
}

TEST_MAIN(TEST(names), TEST(variables))

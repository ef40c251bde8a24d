/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines as callers of runc and crun write them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/str.h"
#include "runtime/cli.h"
#include "tests/unit/test.h"

enum { MAX = 16 };

static struct { bool detach, tty; const char *bundle, *file; unsigned n; struct cli_list env; } got;
static char *args[MAX];
static int first, count;

/* The words of `line`; what is left of them is args[first] to args[count - 1]. */
static int parse(const char *line, int max_args)
{
	static char text[256];
	const struct cli_option options[] = {
		{"detach", 'd', CLI_FLAG, &got.detach, NULL, NULL}, {"tty", 't', CLI_FLAG, &got.tty, NULL, NULL},
		{"bundle", 'b', CLI_STRING, &got.bundle, "DIR", NULL}, {"file", 0, CLI_STRING, &got.file, "FILE", NULL},
		{"number", 'n', CLI_UINT, &got.n, "N", NULL}, {"env", 'e', CLI_LIST, &got.env, "K=V", NULL},
	};
	const struct cli c = {.usage = "x", .summary = "x", .options = options,
			      .n = sizeof(options) / sizeof(options[0]), .max_args = max_args};
	struct err e = {0};
	char *save = NULL;

	free(got.env.v);
	memset(&got, 0, sizeof(got));
	snprintf(text, sizeof(text), "%s", line);
	count = 1;
	args[0] = (char *)"x";
	for (char *w = strtok_r(text, " ", &save); w && count < MAX; w = strtok_r(NULL, " ", &save))
		args[count++] = w;
	first = cli_parse(&c, count, args, &e);
	return first;
}

/* All that is left, with blanks. */
static const char *left(void)
{
	static char text[256];

	text[0] = '\0';
	for (int i = first; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > first ? " " : "", args[i]);
	return text;
}

static void forms(void)
{
	CHECK(parse("--detach --bundle /a -n 3 -e A=1 --env=B=2 id", 1) > 0);
	CHECK(got.detach && got.n == 3 && got.env.n == 2);
	CHECK_STR(got.bundle, "/a");
	CHECK_STR(got.env.v[1], "B=2");
	CHECK_STR(left(), "id");
	CHECK(parse("-detach -bundle=/a --tty=false -e=A=1 -", 1) > 0);
	CHECK(got.detach && !got.tty);
	CHECK_STR(got.env.v[0], "A=1");
	CHECK_STR(left(), "-");
	CHECK_INT(parse("--detach=maybe id", 1), -EINVAL);
	CHECK_INT(parse("--number -1 id", 1), -EINVAL);
	CHECK_INT(parse("--unknown id", 1), -EINVAL);
	CHECK_INT(parse("id --bundle", 1), -EINVAL);
	CHECK_INT(parse("id id", 1), -EINVAL);
	CHECK_INT(parse("--d id", 1), -EINVAL);
}

static void letters(void)
{
	CHECK(parse("-td -b/dir id", 1) > 0);
	CHECK(got.tty && got.detach);
	CHECK_STR(got.bundle, "/dir");
	CHECK(parse("-dtb/dir id", 1) > 0);
	CHECK_STR(got.bundle, "/dir");
	CHECK_INT(parse("-dx id", 1), -EINVAL);
	CHECK_INT(parse("-dtb /dir", 1), -EINVAL);
}

/* runc sorts its arguments, but for the command of an exec. */
static void options_behind_words(void)
{
	CHECK(parse("id 9 --detach -b /a --file=f", 2) > 0);
	CHECK(got.detach);
	CHECK_STR(got.bundle, "/a");
	CHECK_STR(left(), "id 9");
	CHECK_STR(args[1], "--detach");
	CHECK_STR(args[3], "/a");
	CHECK(parse("id -t -- -d", 2) > 0);
	CHECK(got.tty && !got.detach);
	CHECK_STR(left(), "id -d");
	CHECK(parse("-d id sh -t --tty", -1) > 0);
	CHECK(!got.tty);
	CHECK_STR(left(), "id sh -t --tty");
	CHECK(parse("-d -- -t sh", -1) > 0);
	CHECK(!got.tty);
	CHECK_STR(left(), "-t sh");
}

TEST_MAIN(TEST(forms), TEST(letters), TEST(options_behind_words))

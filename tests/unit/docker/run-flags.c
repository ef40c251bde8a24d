/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines of create: what they mean, or why they are refused. Each line of run-flags.txt is
 * the words, a tab, and the result; all of them were compared with what Docker's client (28.2.2)
 * sends to its engine, or prints. With words as arguments the program prints their result.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "tests/unit/docker/options.h"
#include "tests/unit/test.h"

static char *env[] = {(char *)"HOME=/root", (char *)"SET=from client", NULL};

static void result_of(struct strbuf *b, int argc, char **argv)
{
	auto_arena struct arena *a = arena_new();
	struct dk_context c = {.arena = a, .env = env};
	static const struct dk_command create = {.flags = &dk_create_flags};
	struct dk_args args = {.command = &create, .path = "docker create"};
	struct dk_parser p = {.c = &c, .table = &dk_create_flags, .given = args.given, .stop_at_argument = true};
	struct dk_value v;
	struct err e = {0};

	args.options = p.options = arena_alloc(a, dk_create_flags.options_size);
	if (dk_parse_defaults(&p, &e) < 0 || dk_parse_flags(&p, argc, argv, &e) < 0) {
		strbuf_printf(b, "flag: %s", dk_error_text(&c, &e));
		return;
	}
	args.argc = p.argc;
	args.argv = p.argv;
	if (dk_run_check(&c, &args, &e) < 0) {
		strbuf_printf(b, "docker: %s", dk_error_text(&c, &e));
		return;
	}
	v = options_value(a, args.options);
	dk_write_json(b, &v, false);
}

/* Words are separated by blanks; '...' keeps them. */
static int split(char *line, char **argv, int max)
{
	int n = 0;

	for (char *s = line; *s && n < max;) {
		char *out = s;
		bool quoted = false;

		argv[n++] = out;
		for (; *s && (quoted || *s != ' '); s++)
			if (*s == '\'')
				quoted = !quoted;
			else
				*out++ = *s;
		s += *s == ' ';
		*out = '\0';
	}
	return n;
}

static void table(void)
{
	const char *dir = getenv("srcdir");
	char path[4096], *argv[64], *rest;
	auto_strbuf struct strbuf text = {0};
	struct err e = {0};
	int lines = 0;

	snprintf(path, sizeof(path), "%s/tests/unit/docker/run-flags.txt", dir ? dir : ".");
	CHECK(io_read_file(AT_FDCWD, path, 1 << 20, &text, &e) == 0);
	if (!text.p)
		return;
	for (char *line = strtok_r(text.p, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
		auto_strbuf struct strbuf have = {0};
		char *want = strchr(line, '\t');

		CHECK(want != NULL);
		if (!want)
			return;
		*want++ = '\0';
		CHECK(chdir("/") == 0);
		result_of(&have, split(line, argv, 63), argv);
		CHECK_STR(have.p, want);
	}
	CHECK(lines > 300);
}

/* NAME alone is the client's variable in --env-file, nothing in --label-file; of a record of
 * comma-separated values only the first line counts. */
static void files(void)
{
	static const char text[] = "\xef\xbb\xbf" "A=1\r\n  SET\nUNSET\n # x\nB= x # y\n";
	char path[] = "/tmp/run-flags-XXXXXX";
	auto_strbuf struct strbuf env_have = {0}, labels = {0}, mount = {0};
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	result_of(&env_have, 3, (char *[]){(char *)"--env-file", path, (char *)"img", NULL});
	result_of(&labels, 3, (char *[]){(char *)"--label-file", path, (char *)"img", NULL});
	result_of(&mount, 3, (char *[]){(char *)"--mount", (char *)"type=tmpfs,dst=/x\nro", (char *)"img", NULL});
	CHECK_STR(env_have.p, "{\"AttachStderr\":true,\"AttachStdout\":true,\"Env\":[\"A=1\",\"SET=from client\","
			      "\"B= x # y\"],\"Image\":\"img\"}");
	CHECK_STR(labels.p, "{\"AttachStderr\":true,\"AttachStdout\":true,\"Image\":\"img\",\"Labels\":{\"A\":\"1\","
			    "\"B\":\" x # y\"}}");
	CHECK_STR(mount.p, "{\"AttachStderr\":true,\"AttachStdout\":true,\"Image\":\"img\",\"Mounts\":["
			   "{\"Target\":\"/x\",\"Type\":\"tmpfs\"}]}");
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {TEST(table), TEST(files)};
	auto_strbuf struct strbuf b = {0};

	if (argc == 1)
		return test_run(tests, sizeof(tests) / sizeof(tests[0]));
	result_of(&b, argc - 1, argv + 1);
	puts(b.p);
	return 0;
}

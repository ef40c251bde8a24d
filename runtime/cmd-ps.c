/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig ps`: the pids come from the cgroup (in our pid namespace), without one from the container's
 * pid namespace; the table is that of the host's
 * ps, of which the lines of other processes are left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "json/writer.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"
#include "runtime/pidns.h"

enum { TABLE_MAX = 64 << 20 };

static void print_json(const struct u32v *pids)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_array(&w);
	for (size_t i = 0; i < pids->n; i++)
		json_u64(&w, pids->v[i]);
	json_end_array(&w);
	puts(b.p);
}

/* The first word of *line, which is moved behind it; its length, 0 at the end of the line. */
static size_t next_word(const char **line, const char **ret_word)
{
	const char *p = *line + strspn(*line, " \t");
	size_t n = strcspn(p, " \t");

	*ret_word = p;
	*line = p + n;
	return n;
}

/* Which column is headed PID; -1: none. */
static int pid_column(const char *header)
{
	const char *word;
	size_t n;

	for (int i = 0; (n = next_word(&header, &word)) > 0; i++)
		if (n == 3 && memcmp(word, "PID", 3) == 0)
			return i;
	return -1;
}

static bool has_pid(const char *line, int column, const struct u32v *pids)
{
	const char *word = "";
	size_t n = 0;
	char digits[16];
	uint64_t pid;

	for (int i = 0; i <= column; i++)
		n = next_word(&line, &word);
	if (n == 0 || n >= sizeof(digits))
		return false;
	memcpy(digits, word, n);
	digits[n] = '\0';
	if (str_u64(digits, UINT32_MAX, &pid) < 0)
		return false;
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return true;
	return false;
}

static int print_table(char *text, const struct u32v *pids, struct err *e)
{
	char *save, *line = strtok_r(text, "\n", &save);
	int column = line ? pid_column(line) : -1;

	if (column < 0)
		return err_set(e, EINVAL, "couldn't find PID field in ps output");
	puts(line);
	while ((line = strtok_r(NULL, "\n", &save)))
		if (has_pid(line, column, pids))
			puts(line);
	return 0;
}

static _Noreturn void exec_ps(int out, char **args)
{
	static const char *const paths[] = {"/bin/ps", "/usr/bin/ps"};

	dup2(out, STDOUT_FILENO);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		execv(paths[i], args);
	_exit(EXIT_NOT_FOUND);
}

static pid_t start_ps(int out, char **args)
{
	pid_t pid = vfork();

	if (pid == 0)
		exec_ps(out, args);
	return pid;
}

/* The output of the host's ps with these options. */
static int run_ps(char **args, struct strbuf *out, struct err *e)
{
	int p[2], status = 0, r;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	pid = start_ps(p[1], args);
	close(p[1]);
	r = pid < 0 ? err_sys(e, "vfork") : io_read_fd(p[0], TABLE_MAX, out, "the output of ps", e);
	close(p[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND)
		return err_set(e, ENOENT, "ps is not installed (package procps); --format json needs none");
	if (r == 0 && status != 0)
		return err_set(e, EINVAL, "ps failed");
	return r;
}

static int list(struct arena *a, const struct rt_globals *g, const char *id, struct u32v *ret,
		struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	int r = rt_container_open(a, g, id, &c, e);

	if (r < 0)
		return r;
	if (!c.doc->cgroup || !c.doc->cgroup->paths.n)
		return rt_pidns_procs(a, &c, ret, e);
	return c.cgroup ? cg_procs(c.cgroup, a, ret, e) : 0;
}

/* args: of ps, with "ps" in front. */
static int show(const struct u32v *pids, char **args, struct err *e)
{
	auto_strbuf struct strbuf table = {0};
	char *all[] = {"ps", "-ef", NULL};
	int r = run_ps(args[1] ? args : all, &table, e);

	return r < 0 ? r : print_table(table.p ? table.p : (char[]){""}, pids, e);
}

int cmd_ps(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	const char *format = "table";
	const struct cli_option options[] = {
		{"format", 'f', CLI_STRING, &format, "table|json", "json: an array of the pids"},
	};
	const struct cli c = {
		.usage = "brig ps [OPTION...] ID [PS-OPTION...]",
		.summary = "Lists the processes of a container. PS-OPTIONs go to ps (default: -ef).",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
		.min_args = 1,
		.max_args = -1,
	};
	struct err e = {0};
	struct u32v pids = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	if (r >= 0 && !str_eq(format, "table") && !str_eq(format, "json"))
		r = err_set(&e, EINVAL, "invalid format option");
	if (r < 0)
		return command_failed(&e, 1);
	if (list(a, g, argv[r], &pids, &e) < 0)
		return command_failed(&e, 1);
	if (str_eq(format, "json")) {
		print_json(&pids);
		return 0;
	}
	argv[r] = "ps";
	return show(&pids, argv + r, &e) < 0 ? command_failed(&e, 1) : 0;
}

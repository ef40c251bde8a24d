/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker top`: the table of the host's ps, of which the lines of other processes are left out. Which
 * these are is known by the column PID, so there has to be one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/events.h"
#include "docker/format.h"
#include "docker/lists.h"
#include "runtime/container.h"
#include "runtime/pidns.h"

enum { TABLE_MAX = 64 << 20, WIDTH = 20, PADDING = 3, NOT_THERE = 127 };

struct table {
	struct arena *a;
	struct strv titles;
	struct { struct strv *v; size_t n; } rows;
	size_t pid; /* column */
};

/* ---- ps ---- */

static _Noreturn void exec_ps(int out, int says, char **argv)
{
	static const char *const paths[] = {"/bin/ps", "/usr/bin/ps"};

	dup2(out, STDOUT_FILENO);
	dup2(says, STDERR_FILENO);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		execv(paths[i], argv);
	_exit(NOT_THERE);
}

static pid_t start_ps(int out, int says, char **argv)
{
	pid_t pid = vfork();

	if (pid == 0)
		exec_ps(out, says, argv);
	return pid;
}

/* The first line of what it said is the reason, as Docker gives it; else its status. */
static int ps_failed(struct dk_context *c, int says, int status, struct err *e)
{
	char line[300];
	ssize_t n = pread(says, line, sizeof(line) - 1, 0);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
		return dk_daemon_error(c, e, ENOENT, "ps: executable file not found (it is in the package procps)");
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return *line ? dk_daemon_error(c, e, EINVAL, "ps: %s", line)
		     : dk_daemon_error(c, e, EINVAL, "ps: exit status %d", WEXITSTATUS(status));
}

static int run_ps(struct dk_context *c, char **argv, struct strbuf *out, struct err *e)
{
	auto_close int says = memfd_create("brig-message", MFD_CLOEXEC);
	int p[2], status = 0, r;
	pid_t pid;

	if (says < 0 || pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	pid = start_ps(p[1], says, argv);
	close(p[1]);
	r = pid < 0 ? err_sys(e, "vfork") : io_read_fd(p[0], TABLE_MAX, out, "the output of ps", e);
	close(p[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	return status ? ps_failed(c, says, status, e) : 0;
}

/* ---- the table ---- */

/* At most `max` words, the last one with what follows it; runs of blanks become one, as in Docker. */
static struct strv split(struct arena *a, char *line, size_t max)
{
	struct strv l = {0};

	for (char *save, *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (max && l.n == max)
			l.v[l.n - 1] = arena_printf(a, "%s %s", l.v[l.n - 1], word);
		else
			dk_strv_add(a, &l, word);
	}
	return l;
}

static bool is_ours(const char *text, const struct u32v *pids)
{
	uint64_t pid;

	if (str_u64(text, UINT32_MAX, &pid) < 0)
		return false;
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return true;
	return false;
}

static int parse(struct dk_context *c, struct table *t, char *text, const struct u32v *pids, struct err *e)
{
	char *save, *line = strtok_r(text, "\n", &save);

	t->titles = line ? split(t->a, line, 0) : (struct strv){0};
	for (t->pid = 0; t->pid < t->titles.n; t->pid++)
		if (str_eq(t->titles.v[t->pid], "PID"))
			break;
	if (t->pid >= t->titles.n)
		return dk_daemon_error(c, e, EINVAL, "Couldn't find PID field in ps output");
	while ((line = strtok_r(NULL, "\n", &save))) {
		struct strv row = split(t->a, line, t->titles.n);

		if (row.n > t->pid && is_ours(row.v[t->pid], pids))
			*dk_list_add(t->a, &t->rows) = row;
	}
	return 0;
}

/* Columns, not bytes; a column is as wide as what is in it, but for the last. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}

static void put_row(struct strbuf *b, const struct strv *row, const size_t *widths)
{
	for (size_t i = 0; i < row->n; i++) {
		strbuf_adds(b, row->v[i]);
		for (size_t k = width_of(row->v[i]); i + 1 < row->n && k < widths[i]; k++)
			strbuf_addc(b, ' ');
	}
	strbuf_addc(b, '\n');
}

static int print(const struct table *t, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	size_t *widths = arena_array(t->a, t->titles.n, sizeof(*widths));

	for (size_t i = 0; i < t->titles.n; i++) {
		widths[i] = width_of(t->titles.v[i]);
		for (size_t k = 0; k < t->rows.n; k++)
			if (i < t->rows.v[k].n && width_of(t->rows.v[k].v[i]) > widths[i])
				widths[i] = width_of(t->rows.v[k].v[i]);
		widths[i] = widths[i] + PADDING > WIDTH ? widths[i] + PADDING : WIDTH;
	}
	put_row(&b, &t->titles, widths);
	for (size_t k = 0; k < t->rows.n; k++)
		put_row(&b, &t->rows.v[k], widths);
	return dk_write_stdout(b.p, b.len, e);
}

/* ---- the command ---- */

static int find_pids(struct dk_context *c, const char *ref, struct u32v *ret, struct err *e)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	struct dk_record *r;

	if (dk_container_find(c, ref, &r, e) < 0)
		return -e->code;
	if (rt_container_open(c->arena, &c->store->runtime, r->id, &k, e) < 0 || k.pidfd < 0)
		return dk_daemon_error(c, e, ESRCH, "Container %s is not running", r->id);
	dk_container_event(c->store, r, "top", (struct dk_event_fact){0});
	return k.cgroup ? cg_procs(k.cgroup, c->arena, ret, e) : rt_pidns_procs(c->arena, &k, ret, e);
}

/* A column that only calls itself PID would show other processes. */
static int check_words(struct dk_context *c, char **words, struct err *e)
{
	for (; *words; words++)
		for (const char *p = *words; (p = strstr(p, "=PID")); p++) {
			size_t n = 0;

			while (p - n > *words && p[-1 - (ptrdiff_t)n] != ',' && p[-1 - (ptrdiff_t)n] != ' ')
				n++;
			if (n != 3 || strncmp(p - 3, "pid", 3) != 0)
				return dk_daemon_error(c, e, EINVAL, "specifying \"%.*s=PID\" is not allowed", (int)n, p - n);
		}
	return 0;
}

int dk_cmd_top(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static char *standard[] = {(char *)"ps", (char *)"-ef", NULL};
	struct table t = {.a = c->arena};
	auto_strbuf struct strbuf text = {0};
	struct u32v pids = {0};
	char **argv = standard;
	int r;

	if (args->argc > 1) { /* in the place of the container's name */
		argv = arena_array(c->arena, (size_t)args->argc + 1, sizeof(char *));
		memcpy(argv, args->argv, (size_t)args->argc * sizeof(char *));
		argv[0] = (char *)"ps";
	}
	r = check_words(c, argv + 1, e);
	if (r == 0)
		r = find_pids(c, args->argv[0], &pids, e);
	if (r == 0)
		r = run_ps(c, argv, &text, e);
	if (r == 0)
		r = parse(c, &t, text.len ? text.p : (char[]){""}, &pids, e);
	return r == 0 ? print(&t, e) : r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `brig state` and `brig list`: what is known of one container, or of all. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "runtime/cli.h"
#include "runtime/commands.h"
#include "runtime/container.h"

static pid_t pid_of(const struct rt_container *c)
{
	return c->status == RT_STOPPED ? 0 : (pid_t)c->doc->init_pid;
}

static int print_state(struct arena *a, const struct rt_globals *g, char **words, void *options,
		       struct err *e)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	auto_strbuf struct strbuf out = {0};
	struct json_writer w;
	int r = rt_container_open(a, g, words[0], &c, e);

	(void)options;
	if (r < 0)
		return r;
	json_writer_init(&w, &out, true);
	spec_state_write_oci(&w, c.doc, rt_status_name(c.status), pid_of(&c));
	strbuf_addc(&out, '\n');
	r = io_write_all(STDOUT_FILENO, out.p, out.len);
	return r < 0 ? err_set(e, -r, "write the state: %s", err_name(-r)) : 0;
}

int cmd_state(int argc, char **argv, const struct rt_globals *g)
{
	const struct command_spec s = {
		.cli = {
			.usage = "brig state ID",
			.summary = "Prints the state of a container as JSON (runtime-spec).",
			.min_args = 1,
			.max_args = 1,
		},
		.body = print_state,
	};

	return command_run(&s, argc, argv, g);
}

#define HEADER "%-24s %-8s %-9s %-36s %-30s %s\n"
#define ROW    "%-24s %-8ld %-9s %-36s %-30s %s\n"

struct listing {
	struct arena *arena;
	const struct rt_globals *globals;
	bool quiet, json;
	struct json_writer w;
	struct strbuf out;
};

/* Whose state it is, as runc has it: a name, or "#UID" for an id without one. Not by getpwuid, which
 * loads modules. */
static const char *owner_of(struct arena *a, const struct rt_container *c)
{
	FILE *f = fopen("/etc/passwd", "re");
	const char *name = "";
	struct passwd *pw;
	struct stat st;

	if (fstat(c->state.record, &st) == 0)
		name = arena_printf(a, "#%u", st.st_uid);
	while (f && *name == '#' && (pw = fgetpwent(f)))
		if (pw->pw_uid == st.st_uid)
			name = arena_strdup(a, pw->pw_name);
	if (f)
		fclose(f);
	return name;
}

static int list_one(const char *id, void *arg)
{
	auto_container struct rt_container c = RT_CONTAINER_NONE;
	struct listing *l = arg;
	const char *status, *owner;
	struct err e = {0};

	if (rt_container_open(l->arena, l->globals, id, &c, &e) < 0)
		return 0; /* deleted meanwhile, or never finished */
	if (l->quiet) {
		strbuf_printf(&l->out, "%s\n", id);
		return 0;
	}
	status = rt_status_name(c.status);
	owner = owner_of(l->arena, &c);
	if (l->json)
		spec_state_write_listed(&l->w, c.doc, status, pid_of(&c), owner);
	else
		strbuf_printf(&l->out, ROW, id, (long)pid_of(&c), status, c.doc->bundle,
			      c.doc->created, owner);
	return 0;
}

static int print_list(struct listing *l, struct err *e)
{
	int r;

	json_writer_init(&l->w, &l->out, false);
	if (l->json && !l->quiet)
		json_begin_array(&l->w);
	else if (!l->quiet)
		strbuf_printf(&l->out, HEADER, "ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER");
	r = rt_container_each(l->globals, list_one, l, e);
	if (r < 0)
		return r;
	if (l->json && !l->quiet) {
		json_end_array(&l->w);
		strbuf_addc(&l->out, '\n');
	}
	r = io_write_all(STDOUT_FILENO, strbuf_str(&l->out), l->out.len);
	return r < 0 ? err_set(e, -r, "write the list: %s", err_name(-r)) : 0;
}

int cmd_list(int argc, char **argv, const struct rt_globals *g)
{
	auto_arena struct arena *a = arena_new();
	struct listing l = {.arena = a, .globals = g};
	const char *format = "table";
	const struct cli_option options[] = {
		{"format", 'f', CLI_STRING, &format, "table|json", "how to print"},
		{"quiet", 'q', CLI_FLAG, &l.quiet, NULL, "only the ids"},
	};
	const struct cli c = {
		.usage = "brig list [OPTION...]",
		.summary = "Lists the containers below the state directory.",
		.options = options,
		.n = sizeof(options) / sizeof(options[0]),
	};
	struct err e = {0};
	int r = cli_parse(&c, argc, argv, &e);

	if (r == CLI_HELP)
		return 0;
	l.json = str_eq(format, "json");
	if (r >= 0 && !l.json && !str_eq(format, "table"))
		r = err_set(&e, EINVAL, "--format: \"%s\" is neither table nor json", format);
	if (r >= 0)
		r = print_list(&l, &e);
	strbuf_free(&l.out);
	return r < 0 ? command_failed(&e, 1) : 0;
}

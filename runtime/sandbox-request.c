/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options are the settings of spec/sandbox-settings.c plus those of this file; both go into one
 * table for parsing and for --help.
 */
#include "runtime/sandbox-request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "runtime/cli.h"

enum { SECRET_MAX = 64 * 1024, SECRETS_MAX = 8, MAX_SETTINGS = 32 };

struct flags {
	const char *spec, *result, *rootfs, *workdir, *user, *in, *out, *err, *terminal, *job, *copy_out;
	struct cli_list env, secrets, binds, copy_in;
	bool best_effort, core_scheduling, no_init, cache_key, plan;
	/* By index in sandbox_settings. */
	const char *values[MAX_SETTINGS];
	struct cli_list lists[MAX_SETTINGS];
};

/* ---- the pieces of the command line ---- */

static void add_env(struct arena *a, struct oci_process *p, const struct cli_list *l)
{
	struct strv env = {.v = arena_array(a, p->env.n + l->n + 1, sizeof(char *))};

	for (; env.n < p->env.n; env.n++)
		env.v[env.n] = p->env.v[env.n];
	for (size_t i = 0; i < l->n; i++)
		env.v[env.n++] = (char *)l->v[i];
	p->env = env;
}

/* UID or UID:GID. */
static int set_user(struct oci_user *u, const char *text, struct err *e)
{
	char uid[16] = "";
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	uint64_t u_id = 0, g_id = 0;
	int r = -EINVAL;

	if (n < sizeof(uid)) {
		memcpy(uid, text, n);
		r = str_u64(uid, UINT32_MAX - 1, &u_id);
	}
	if (r == 0)
		r = str_u64(colon ? colon + 1 : uid, UINT32_MAX - 1, &g_id);
	if (r < 0)
		return err_set(e, EINVAL, "--user: \"%.40s\" is not UID or UID:GID, in numbers", text);
	u->uid = (uint32_t)u_id;
	u->gid = (uint32_t)g_id;
	return 0;
}

/* SRC:DST or SRC:DST:ro or SRC:DST:rw. */
static int add_bind(struct arena *a, struct oci_mount *m, const char *text, struct err *e)
{
	const char *dst = strchr(text, ':'), *mode = dst ? strchr(dst + 1, ':') : NULL;
	char **options = arena_array(a, 3, sizeof(char *));

	if (!dst || dst == text || dst[1] != '/' ||
	    (mode && !str_eq(mode + 1, "ro") && !str_eq(mode + 1, "rw")))
		return err_set(e, EINVAL, "--bind: \"%.80s\" is not SRC:DST, SRC:DST:ro or SRC:DST:rw "
					  "with an absolute DST", text);
	options[0] = arena_strdup(a, "rbind");
	options[1] = arena_strdup(a, mode ? mode + 1 : "ro");
	*m = (struct oci_mount){
		.source = arena_strndup(a, text, (size_t)(dst - text)),
		.destination = arena_strndup(a, dst + 1, mode ? (size_t)(mode - dst - 1)
							      : strlen(dst + 1)),
		.type = arena_strdup(a, "bind"),
		.options = {options, 2},
	};
	return 0;
}

static int add_binds(struct arena *a, struct oci_mount_list *mounts, const struct cli_list *l,
		     struct err *e)
{
	struct oci_mount *v = arena_array(a, mounts->n + l->n, sizeof(*v));

	if (mounts->n)
		memcpy(v, mounts->v, mounts->n * sizeof(*v));
	mounts->v = v;
	for (size_t i = 0; i < l->n; i++) {
		int r = add_bind(a, &v[mounts->n], l->v[i], e);

		if (r < 0)
			return r;
		mounts->n++;
	}
	return 0;
}

/* ---- secrets ---- */

/* "fd:N" or "file:PATH". Messages never show the content. */
static int read_secret(const char *from, struct strbuf *b, struct err *e)
{
	auto_close int fd = -1;
	uint64_t n;

	if (str_starts(from, "file:"))
		return io_read_file(AT_FDCWD, from + 5, SECRET_MAX, b, e);
	if (!str_starts(from, "fd:") || str_u64(from + 3, INT32_MAX, &n) < 0 || n <= STDERR_FILENO)
		return err_set(e, EINVAL, "\"%.80s\" is not fd:N (N from 3 on) or file:PATH", from);
	fd = (int)n;
	return io_read_fd(fd, SECRET_MAX, b, from, e);
}

static int add_secret(struct arena *a, struct sandbox_request *q, const char *text, struct err *e)
{
	struct strv *names = &q->sb.options.secrets;
	const char *equals = strchr(text, '=');
	auto_strbuf struct strbuf b = {0};
	int r;

	if (!equals)
		return err_set(e, EINVAL, "--secret: it is NAME=fd:N or NAME=file:PATH");
	names->v[names->n] = arena_strndup(a, text, (size_t)(equals - text));
	r = read_secret(equals + 1, &b, e);
	if (r == 0 && b.len && strlen(b.p) != b.len)
		r = err_set(e, EINVAL, "the content has a NUL byte");
	if (r < 0)
		return err_wrap(e, "--secret %.40s", names->v[names->n]);
	q->secrets[names->n] = (struct sandbox_secret){
		arena_strndup(a, strbuf_str(&b), b.len), b.len};
	names->n++;
	if (b.p)
		explicit_bzero(b.p, b.cap);
	return 0;
}

static int add_secrets(struct arena *a, struct sandbox_request *q, const struct cli_list *l,
		       struct err *e)
{
	if (l->n > SECRETS_MAX)
		return err_set(e, E2BIG, "--secret: at most %d", SECRETS_MAX);
	q->secrets = arena_array(a, l->n + 1, sizeof(q->secrets[0]));
	q->sb.options.secrets.v = arena_array(a, l->n + 1, sizeof(char *));
	for (size_t i = 0; i < l->n; i++) {
		int r = add_secret(a, q, l->v[i], e);

		if (r < 0)
			return r;
	}
	return 0;
}

void sandbox_request_forget(struct sandbox_request *q)
{
	for (size_t i = 0; i < q->sb.options.secrets.n; i++)
		explicit_bzero(q->secrets[i].text, q->secrets[i].len);
}

/* ---- the spec ---- */

static int read_spec(struct arena *a, const char *path, struct sandbox *sb, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r;

	if (!path) {
		sandbox_empty(a, sb);
		return 0;
	}
	if (str_eq(path, "-"))
		r = io_read_fd(STDIN_FILENO, JSON_MAX_BYTES, &b, "the sandbox spec from stdin", e);
	else
		r = io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &b, e);
	if (r == 0)
		r = sandbox_parse(strbuf_str(&b), b.len, a, sb, e);
	return r < 0 ? err_wrap(e, "sandbox spec") : 0;
}

/* "fd:N", open, or NULL. */
static int read_fd(const char *option, const char *text, int *ret, struct err *e)
{
	uint64_t n;

	if (!text)
		return 0;
	if (!str_starts(text, "fd:") || str_u64(text + 3, INT32_MAX, &n) < 0 || n <= STDERR_FILENO)
		return err_set(e, EINVAL, "--%s: \"%.80s\" is not fd:N (N from 3 on)", option, text);
	/* No program of ours has it by accident, and the sandbox's gets no descriptor beyond 2. */
	if (fcntl((int)n, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, "--%s: descriptor %d", option, (int)n);
	*ret = (int)n;
	return 0;
}

/* What goes through descriptors of the caller, and the files of the working directory. */
static int apply_channels(struct arena *a, const struct flags *f, struct sandbox_request *q,
			  struct err *e)
{
	int r = read_fd("stdout", f->out, &q->stdout_fd, e);

	if (r == 0)
		r = read_fd("stderr", f->err, &q->stderr_fd, e);
	if (r == 0)
		r = read_fd("terminal", f->terminal, &q->terminal_fd, e);
	if (r == 0)
		r = read_fd("job", f->job, &q->job_fd, e);
	if (r == 0 && q->terminal_fd && (f->in || q->stdout_fd || q->stderr_fd))
		r = err_set(e, EINVAL, "--terminal: the terminal is all three streams, no --stdin, --stdout "
				       "or --stderr beside it");
	q->copy_out = f->copy_out;
	return r < 0 ? r : sandbox_copies_read(a, &f->copy_in, &q->copies, e);
}

static int apply_settings(struct arena *a, const struct flags *f, struct sandbox_options *o,
			  struct err *e)
{
	for (size_t i = 0; i < sandbox_n_settings; i++) {
		const char *name = sandbox_settings[i].name;
		int r = f->values[i] ? sandbox_set(o, a, name, f->values[i], e) : 0;

		for (size_t k = 0; r == 0 && k < f->lists[i].n; k++)
			r = sandbox_set(o, a, name, f->lists[i].v[k], e);
		if (r < 0)
			return r;
	}
	if (f->best_effort)
		o->best_effort = (struct opt_bool){true, true};
	if (f->core_scheduling)
		o->core_scheduling = (struct opt_bool){true, true};
	if (f->no_init)
		o->init = (struct opt_bool){true, false};
	return 0;
}

static int apply_stdin(const struct flags *f, struct sandbox_request *q, struct err *e)
{
	if (!f->in)
		return 0;
	if (str_eq(f->in, "-") && str_eq(f->spec, "-"))
		return err_set(e, EINVAL, "--stdin -: stdin has the spec already");
	q->sb.options.stdin_text = NULL;
	q->stdin_path = str_eq(f->in, "none") ? NULL : f->in;
	return 0;
}

static int apply(struct arena *a, const struct flags *f, struct sandbox_request *q, struct err *e)
{
	struct oci_spec *s = q->sb.spec;
	int r = apply_settings(a, f, &q->sb.options, e);

	if (f->rootfs)
		s->root->path = (char *)f->rootfs;
	if (f->workdir)
		s->process->cwd = (char *)f->workdir;
	add_env(a, s->process, &f->env);
	if (r == 0 && f->user)
		r = set_user(&s->process->user, f->user, e);
	if (r == 0)
		r = add_binds(a, &s->mounts, &f->binds, e);
	if (r == 0)
		r = apply_stdin(f, q, e);
	if (r == 0)
		r = apply_channels(a, f, q, e);
	return r < 0 ? r : add_secrets(a, q, &f->secrets, e);
}

/* ---- the table ---- */

static size_t add_settings(struct flags *f, struct cli_option *options)
{
	size_t n = 0;

	for (size_t i = 0; i < sandbox_n_settings; i++) {
		const struct sandbox_setting *s = &sandbox_settings[i];
		bool list = s->kind == SANDBOX_NAMES;

		if (!s->help)
			continue;
		options[n++] = (struct cli_option){
			.name = s->name,
			.kind = list ? CLI_LIST : CLI_STRING,
			.target = list ? (void *)&f->lists[i] : (void *)&f->values[i],
			.arg = s->arg,
			.help = s->help,
		};
	}
	return n;
}

static int parse_flags(int argc, char **argv, struct flags *f, struct err *e)
{
	const struct cli_option own[] = {
		{"spec", 's', CLI_STRING, &f->spec, "FILE|-", "the sandbox spec (JSON)"},
		{"result", 'r', CLI_STRING, &f->result, "FILE|-", "where the result goes (default stdout)"},
		{"rootfs", 0, CLI_STRING, &f->rootfs, "DIR", "root file system (default: the host's programs)"},
		{"workdir", 'w', CLI_STRING, &f->workdir, "DIR", "working directory in the sandbox"},
		{"user", 'u', CLI_STRING, &f->user, "UID[:GID]", "ids in the sandbox (default 1000:1000)"},
		{"env", 'e', CLI_LIST, &f->env, "NAME=VALUE", "set a variable (repeatable)"},
		{"bind", 0, CLI_LIST, &f->binds, "SRC:DST[:rw]", "show a path of the host, read-only (repeatable)"},
		{"secret", 0, CLI_LIST, &f->secrets, "NAME=FROM",
		 "a file " SANDBOX_SECRETS "/NAME from fd:N or file:PATH (repeatable)"},
		{"stdin", 0, CLI_STRING, &f->in, "FILE|-|none", "standard input (default none)"},
		{"stdout", 0, CLI_STRING, &f->out, "fd:N", "standard output goes there as it comes, not into the result"},
		{"stderr", 0, CLI_STRING, &f->err, "fd:N", "the same for standard error"},
		{"terminal", 0, CLI_STRING, &f->terminal, "fd:N", "a terminal; a socket gets its other end"},
		{"job", 0, CLI_STRING, &f->job, "fd:N", "prepare all, then read what to run (JSON) from there"},
		{"copy-in", 0, CLI_LIST, &f->copy_in, "PATH:NAME", "a copy in the working directory (repeatable)"},
		{"copy-out", 0, CLI_STRING, &f->copy_out, "DIR", "the files left in the working directory go to DIR"},
		{"best-effort", 0, CLI_FLAG, &f->best_effort, NULL, "limits that cannot be enforced are warnings"},
		{"core-scheduling", 0, CLI_FLAG, &f->core_scheduling, NULL, "no other program on the same core at the same time"},
		{"no-init", 0, CLI_FLAG, &f->no_init, NULL, "the program is pid 1 itself"},
		{"cache-key", 0, CLI_FLAG, &f->cache_key, NULL, "print the key of the environment, run nothing"},
		{"plan", 0, CLI_FLAG, &f->plan, NULL, "print what would be done, run nothing"},
	};
	enum { N_OWN = sizeof(own) / sizeof(own[0]) };
	struct cli_option options[N_OWN + MAX_SETTINGS];
	struct cli c = {
		.usage = "brig sandbox [OPTION...] [-- COMMAND ARG...]",
		.summary = "Runs a program in a hardened sandbox and prints one JSON object about how it went.\n"
			   "What neither the spec nor an option says is set to the safe default.\n"
			   "SIZE is in powers of 1024 (64m, 1.5g), TIME in seconds or with a unit (500ms, 2m).",
		.options = options,
		.max_args = -1,
	};

	memcpy(options, own, sizeof(own));
	c.n = N_OWN + add_settings(f, options + N_OWN);
	return cli_parse(&c, argc, argv, e);
}

int sandbox_request_parse(struct arena *a, int argc, char **argv, struct sandbox_request *ret,
			  struct err *e)
{
	static char *job[] = {(char *)"--job", NULL};
	struct flags f = {0};
	int r = parse_flags(argc, argv, &f, e), first = r;

	*ret = (struct sandbox_request){
		.result_path = f.result && !str_eq(f.result, "-") ? f.result : NULL,
		.print_key = f.cache_key,
		.print_plan = f.plan,
	};
	if (r < 0 || r == CLI_HELP)
		return r;
	r = read_spec(a, f.spec, &ret->sb, e);
	if (r == 0)
		r = apply(a, &f, ret, e);
	if (r == 0 && !f.spec && !f.job && first == argc && !ret->sb.options.image)
		return err_set(e, EINVAL, "which program? Give --spec or a command (see --help)");
	if (r == 0 && first < argc)
		ret->sb.spec->process->args = (struct strv){argv + first, (size_t)(argc - first)};
	else if (r == 0 && ret->job_fd) /* the job has it; until then this stands for it */
		ret->sb.spec->process->args = (struct strv){job, 1};
	return r;
}

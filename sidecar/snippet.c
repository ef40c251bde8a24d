/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python gets its code through standard input, so that an interpreter can be there before the code
 * is (pool.c); other languages get a file, whose name begins with a dot and is never listed.
 *
 * A client that does not read stops its own program: nothing more is taken from the sandbox than
 * UNSENT_HIGH bytes ahead of the client.
 */
#include "sidecar/snippet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sidecar/access.h"
#include "sidecar/config.h"
#include "sidecar/lines.h"
#include "sidecar/loop.h"
#include "sidecar/pool.h"
#include "sidecar/run.h"

enum { UNSENT_HIGH = 256 * 1024, FIRST_MESSAGE_MS = 30000, SNIPPET_UID = 1001 };

static const char python_run[] = {
#include "sidecar/python-run.inc"
	, 0};

struct job {
	struct conn *c;        /* NULL: it went away */
	struct run *run;
	struct rundir *dir;
	struct lines out, err;
	struct loop_timer wait; /* for the first message */
	bool as_json, given;
};

/* ---- messages to the client ---- */

static void send_json(struct conn *c, struct strbuf *b)
{
	conn_send(c, b->p, b->len);
}

void snippet_send_error(struct conn *c, const char *why)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "error", why);
	json_end_object(&w);
	send_json(c, &b);
}

void snippet_send_line(struct conn *c, const struct snippet_line *l)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	if (!l->as_json) {
		conn_send(c, l->text, l->n);
		return;
	}
	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "type", l->type);
	json_key(&w, "data");
	json_strn(&w, l->text, l->n);
	json_end_object(&w);
	send_json(c, &b);
}

static void out_line(void *arg, const char *text, size_t n)
{
	struct job *j = arg;

	if (j->c)
		snippet_send_line(j->c, &(struct snippet_line){"stdout", text, n, j->as_json});
}

static void err_line(void *arg, const char *text, size_t n)
{
	struct job *j = arg;

	if (j->c)
		snippet_send_line(j->c, &(struct snippet_line){"stderr", text, n, j->as_json});
}

static void member_optional(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	if (v < 0)
		json_null(w);
	else
		json_f64(w, v);
}

static void send_process_complete(struct job *j, const struct run_result *r)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "status", "process_complete");
	json_member_i64(&w, "exit_code", r->returncode);
	json_member_str(&w, "execution_id", rundir_id(j->dir));
	member_optional(&w, "duration_seconds", r->duration);
	member_optional(&w, "cpu_seconds", r->cpu_seconds);
	member_optional(&w, "memory_peak_bytes", r->memory_peak ? (double)r->memory_peak : -1);
	json_member_bool(&w, "oom_killed", r->oom_killed);
	json_member_bool(&w, "output_truncated", r->stdout_cut || r->stderr_cut);
	json_end_object(&w);
	send_json(j->c, &b);
}

static bool is_listed(const struct run_file *f)
{
	return f->name[0] != '.' && !strstr(f->name, "/.");
}

static void put_url(struct strbuf *b, const char *id, const char *name)
{
	strbuf_printf(b, "/files/%s/", id);
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || strchr("-._~/", c))
			strbuf_addc(b, *name);
		else
			strbuf_printf(b, "%%%02X", c);
	}
}

/* filename, id and url: as the service that this replaces names them. */
static void write_file(struct json_writer *w, const char *id, const struct run_file *f)
{
	auto_strbuf struct strbuf url = {0};

	put_url(&url, id, f->name);
	json_begin_object(w);
	json_member_str(w, "name", f->name);
	json_member_u64(w, "size", f->size);
	json_member_str(w, "sha256", f->sha256);
	json_member_str(w, "filename", f->name);
	json_member_str(w, "id", url.p + strlen("/files/"));
	json_member_str(w, "url", url.p);
	json_end_object(w);
}

static void send_complete(struct job *j, const struct run_result *r)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "status", "complete");
	json_member_str(&w, "execution_id", rundir_id(j->dir));
	json_key(&w, "uploaded_files");
	json_begin_array(&w);
	for (size_t i = 0; i < r->n_files; i++)
		if (is_listed(&r->files[i]))
			write_file(&w, rundir_id(j->dir), &r->files[i]);
	json_end_array(&w);
	json_end_object(&w);
	send_json(j->c, &b);
}

/* ---- the run ---- */

static void free_job(struct job *j)
{
	loop_stop_timer(&j->wait);
	lines_free(&j->out);
	lines_free(&j->err);
	free(j);
}

static void output(void *owner, enum run_stream stream, const char *data, size_t n)
{
	struct job *j = owner;

	lines_add(stream == RUN_STDOUT ? &j->out : &j->err, data, n);
	if (j->c && conn_unsent(j->c) > UNSENT_HIGH)
		run_pause(j->run, true);
}

static void all_sent(void *owner)
{
	struct job *j = owner;

	if (j->run)
		run_pause(j->run, false);
}

static void tell_end(struct job *j, const struct run_result *r)
{
	static const char late[] = "Execution timed out.";

	if (r->status == RUN_COMPLETED && !(r->error && (r->returncode == 127 || r->returncode == 126))) {
		send_process_complete(j, r);
		send_complete(j, r);
		conn_close(j->c, CLOSE_DONE, "");
	} else if (r->status == RUN_TIMED_OUT) {
		snippet_send_error(j->c, late);
		conn_close(j->c, CLOSE_TIME_LIMIT, late);
	} else {
		snippet_send_error(j->c, r->error ? r->error : "the service is being stopped");
		conn_close(j->c, r->status == RUN_STOPPED ? CLOSE_BUSY : CLOSE_FAILED, "");
	}
}

/* What is not listed is not served either. */
static void keep_listed(struct job *j, const struct run_result *r)
{
	auto_arena struct arena *a = arena_new();
	struct run_file *files = arena_array(a, r->n_files + 1, sizeof(*files));
	size_t n = 0;

	for (size_t i = 0; i < r->n_files && j->c; i++)
		if (is_listed(&r->files[i]))
			files[n++] = r->files[i];
	rundir_keep(j->dir, files, n);
}

static void ended(void *owner, const struct run_result *r)
{
	struct job *j = owner;

	j->run = NULL;
	lines_end(&j->out);
	lines_end(&j->err);
	if (j->c)
		tell_end(j, r);
	keep_listed(j, r);
	free_job(j);
}

static void out_moved(void *owner, const char *path)
{
	rundir_use_pool(((struct job *)owner)->dir, path);
}

static const struct run_events events = {.output = output, .out_moved = out_moved, .ended = ended};

static void gone(void *owner)
{
	struct job *j = owner;

	j->c = NULL;
	if (j->run)
		run_stop(j->run);
	else
		free_job(j);
}

/* ---- the start ---- */

void snippet_default_spec(struct box_spec *s)
{
	const char *rootfs = config_rootfs("default"), *cwd = config_workdir(rootfs);
	static struct str_pair env[] = {
		{(char *)"HOME", NULL},
		{(char *)"MPLBACKEND", (char *)"Agg"},
		{(char *)"MPLCONFIGDIR", (char *)"/tmp/matplotlib"},
		{(char *)"XDG_CACHE_HOME", (char *)"/tmp/cache"},
		{(char *)"PYTHONDONTWRITEBYTECODE", (char *)"1"},
	};

	env[0].value = (char *)cwd;
	*s = (struct box_spec){
		.rootfs = rootfs,
		.cwd = cwd,
		.uid = SNIPPET_UID,
		.env = {env, sizeof(env) / sizeof(env[0])},
		.memory_bytes = config.memory_mb << 20,
		.pids = config.max_processes,
		.output_limit = config.output_limit,
		.ports = config.open_ports,
		.outputs = config.outputs,
		.has_stdin = true,
	};
}

static void python_spec(struct box_spec *s)
{
	static char *args[] = {(char *)"python3", (char *)"-c", (char *)python_run, NULL};

	snippet_default_spec(s);
	s->args = (struct strv){args, 3};
	s->copy_out = "";
}

void snippet_prepare_pool(void)
{
	struct box_spec s;

	python_spec(&s);
	pool_keep(&s, config.pool_python);
}

/* What python-run.py reads first. */
static void python_input(const struct snippet *s, struct strbuf *b)
{
	auto_strbuf struct strbuf env = {0};

	for (size_t i = 0; i < s->env.n; i++) {
		strbuf_printf(&env, "%s=%s", s->env.v[i].key, s->env.v[i].value);
		strbuf_addc(&env, '\0');
	}
	strbuf_printf(b, "%zu %zu\n", env.len, s->code_len);
	strbuf_add(b, strbuf_str(&env), env.len);
	strbuf_add(b, s->code, s->code_len);
}

static int put_files(struct job *j, struct arena *a, const struct snippet *s, struct box_spec *spec)
{
	static const char *const names[] = {
		[SNIPPET_BASH] = ".brigd-main.sh", [SNIPPET_NODE] = ".brigd-main.js"};
	struct box_file *files = arena_array(a, s->n_files + 1, sizeof(*files));
	struct strbuf code = {(char *)s->code, s->code_len, 0};
	char path[RUNDIR_PATH_MAX];

	for (size_t i = 0; i <= s->n_files; i++) {
		bool main = i == s->n_files;
		const char *name = main ? names[s->language] : s->files[i].name;

		if (main && s->language == SNIPPET_PYTHON)
			break;
		if (rundir_put(j->dir, name, main ? &code : &s->files[i].data, path) < 0)
			return -EIO;
		files[spec->n_files++] = (struct box_file){arena_strdup(a, path), arena_strdup(a, name)};
	}
	spec->files = files;
	return 0;
}

static struct str_map join_env(struct arena *a, const struct str_map *x, const struct str_map *y)
{
	struct str_map m = {arena_array(a, x->n + y->n + 1, sizeof(*m.v)), 0};

	for (size_t i = 0; i < x->n; i++)
		m.v[m.n++] = x->v[i];
	for (size_t i = 0; i < y->n; i++)
		m.v[m.n++] = y->v[i];
	return m;
}

static int start(struct job *j, const struct snippet *s, struct err *e)
{
	static char *bash[] = {(char *)"bash", (char *)".brigd-main.sh", NULL};
	static char *node[] = {(char *)"node", (char *)".brigd-main.js", NULL};
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf input = {0};
	struct run_request q = {.events = &events, .owner = j, .interpreter = s->language == SNIPPET_PYTHON};

	python_spec(&q.spec);
	q.spec.timeout_ms = s->timeout_ms;
	if (put_files(j, a, s, &q.spec) < 0)
		return err_set(e, EIO, "the files cannot be written");
	if (s->language == SNIPPET_PYTHON) {
		python_input(s, &input);
	} else {
		q.spec.args = (struct strv){s->language == SNIPPET_BASH ? bash : node, 2};
		q.spec.env = join_env(a, &q.spec.env, &s->env);
	}
	q.spec.copy_out = rundir_out(j->dir);
	strbuf_add(&input, s->input, s->input_len);
	q.input = input.p;
	q.input_len = input.len;
	return run_submit(&q, &j->run, e);
}

static void refuse(struct job *j, const char *why, int code)
{
	struct conn *c = j->c;

	if (j->dir)
		rundir_remove(j->dir);
	snippet_send_error(c, why);
	conn_close(c, code, "");
	free_job(j);
}

static void too_late(struct loop_timer *t)
{
	refuse(CONTAINER_OF(t, struct job, wait), "there was no code in 30 seconds", CLOSE_INVALID);
}

void snippet_opened(struct conn *c)
{
	struct job *j = xrealloc(NULL, sizeof(*j));

	*j = (struct job){.c = c, .out = {.line = out_line, .arg = j}, .err = {.line = err_line, .arg = j},
			  .wait = {.due = too_late}};
	loop_set_timer(&j->wait, FIRST_MESSAGE_MS);
	c->owner = j;
	c->gone = gone;
	conn_on_sent(c, all_sent);
}

void snippet_message(struct conn *c)
{
	auto_arena struct arena *a = arena_new();
	struct snippet *s = arena_new_of(a, struct snippet);
	struct job *j = c->owner;
	struct err e = {0};
	int r;

	if (!j || j->given)
		return; /* one is enough */
	j->given = true;
	loop_stop_timer(&j->wait);
	r = snippet_parse(a, strbuf_str(&c->body), c->body.len, s, &e);
	if (r == 0) {
		j->as_json = s->as_json;
		j->dir = rundir_make(c->subject, &e);
		r = j->dir ? start(j, s, &e) : -e.code;
	}
	snippet_free(s);
	if (r < 0)
		refuse(j, e.msg, r == -EAGAIN ? CLOSE_BUSY : r == -EINVAL ? CLOSE_INVALID : CLOSE_FAILED);
}

/* ---- files ---- */

static const char *type_of(const char *name)
{
	static const struct { const char *end, *type; } types[] = {
		{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"},
		{".gif", "image/gif"}, {".webp", "image/webp"}, {".svg", "image/svg+xml"},
		{".txt", "text/plain; charset=utf-8"}, {".csv", "text/csv; charset=utf-8"},
		{".json", "application/json"}, {".pdf", "application/pdf"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_ends(name, types[i].end))
			return types[i].type;
	return "application/octet-stream";
}

/* As an attachment, and in a sandbox of the browser's: it is what a hostile program wrote. */
void snippet_file(struct conn *c)
{
	char *id = c->path + strlen("/files/"), *slash = strchr(id, '/');
	const char *why;
	uint64_t size = 0;
	int status, fd = -ENOENT;

	why = access_check(c, &status);
	if (why) {
		conn_reply_detail(c, status, why);
		return;
	}
	if (slash) {
		*slash = '\0';
		fd = rundir_file(id, slash + 1, c->subject, &size);
		*slash = '/';
	}
	if (fd < 0) {
		conn_reply_detail(c, 404, "File not found");
		return;
	}
	conn_reply(c, &(struct reply){
		.status = 200, .type = type_of(c->path), .fd = fd, .has_fd = true, .len = size,
		.headers = "content-disposition: attachment\r\n"
			   "content-security-policy: sandbox; default-src 'none'\r\n"});
}

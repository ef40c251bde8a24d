/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: a message may take config.max_exec_ms (or less, if it says so); then the interpreter is
 * interrupted, and if that does not help within INTERRUPT_MS, killed with its session. A session
 * without messages ends after config.session_idle_s.
 *
 * The interpreter tells the end of a message in its output, on both streams, by a line with a random
 * number that was given to it with the message: so all output of the message is in front of it. The
 * code could say that line itself, and would deceive nobody but its own client.
 */
#include "sidecar/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "json/json.h"
#include "sidecar/config.h"
#include "sidecar/lines.h"
#include "sidecar/loop.h"
#include "sidecar/run.h"
#include "sidecar/snippet.h"
#include "sidecar/terminal.h"

enum { UNSENT_HIGH = 256 * 1024, INTERRUPT_MS = 2000 };

static const char python_session[] = {
#include "sidecar/python-session.inc"
	, 0};

enum kind { NOT_YET, PYTHON, SHELL };

struct session {
	struct conn *c;          /* NULL: it went away */
	struct run *run;
	enum kind kind;
	struct lines out, err;
	struct terminal terminal;
	struct loop_timer idle, limit;
	char nonce[17], execution_id[33];
	bool busy, as_json, out_ended, err_ended, timed_out, interrupted;
	int exit_code;
	uint64_t began_ns;
};

static size_t n_sessions;

/* ---- messages ---- */

static void send_text(struct session *s, const char *type, const char *key, const char *text, size_t n)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	if (!s->c)
		return;
	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "type", type);
	json_key(&w, key);
	json_strn(&w, text, n);
	json_end_object(&w);
	conn_send(s->c, b.p, b.len);
}

static void pause_if_unread(struct session *s)
{
	if (!s->c || conn_unsent(s->c) <= UNSENT_HIGH)
		return;
	if (s->kind == SHELL)
		terminal_pause(&s->terminal, true);
	else if (s->run)
		run_pause(s->run, true);
}

static void all_sent(void *owner)
{
	struct session *s = owner;

	if (s->kind == SHELL)
		terminal_pause(&s->terminal, false);
	else if (s->run)
		run_pause(s->run, false);
}

static void set_idle(struct session *s)
{
	loop_set_timer(&s->idle, config.session_idle_s * 1000);
}

/* ---- the interpreter ---- */

static void send_process_complete(struct session *s)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "status", "process_complete");
	json_member_i64(&w, "exit_code", s->exit_code);
	json_member_str(&w, "execution_id", s->execution_id);
	json_member_f64(&w, "duration_seconds", (double)(loop_now() - s->began_ns) / 1e9);
	json_member_bool(&w, "timed_out", s->timed_out);
	json_end_object(&w);
	conn_send(s->c, b.p, b.len);
}

static void message_ended(struct session *s)
{
	loop_stop_timer(&s->limit);
	s->busy = false;
	if (!s->c)
		return;
	if (s->timed_out)
		snippet_send_error(s->c, "Execution timed out.");
	send_process_complete(s);
	set_idle(s);
}

/* The end of a message in a line: cut off, and the exit code noted. */
static bool take_mark(struct session *s, const char *text, size_t *n)
{
	char mark[32];
	size_t len = (size_t)snprintf(mark, sizeof(mark), "\x1e%s:", s->nonce);
	const char *at = s->busy && *n > len ? memmem(text, *n, mark, len) : NULL;

	if (!at)
		return false;
	s->exit_code = atoi(at + len);
	*n = (size_t)(at - text);
	return true;
}

static void send_line(struct session *s, const char *type, const char *text, size_t n)
{
	if (s->c && n)
		snippet_send_line(s->c, &(struct snippet_line){type, text, n, s->as_json});
}

static void out_line(void *arg, const char *text, size_t n)
{
	struct session *s = arg;
	bool ended = take_mark(s, text, &n);

	send_line(s, "stdout", text, n);
	s->out_ended |= ended;
	if (ended && s->err_ended)
		message_ended(s);
}

static void err_line(void *arg, const char *text, size_t n)
{
	struct session *s = arg;
	bool ended = take_mark(s, text, &n);

	send_line(s, "stderr", text, n);
	s->err_ended |= ended;
	if (ended && s->out_ended)
		message_ended(s);
}

static void late(struct loop_timer *t)
{
	struct session *s = CONTAINER_OF(t, struct session, limit);

	s->timed_out = true;
	if (s->interrupted || run_write(s->run, "interrupt\n", 10) < 0) {
		run_time_out(s->run);
		return;
	}
	s->interrupted = true;
	loop_set_timer(t, INTERRUPT_MS);
}

static void give_code(struct session *s, const struct snippet *m)
{
	char head[64];
	uint64_t random[3];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort();
	snprintf(s->nonce, sizeof(s->nonce), "%016" PRIx64, random[0]);
	snprintf(s->execution_id, sizeof(s->execution_id), "%016" PRIx64 "%016" PRIx64, random[1],
		 random[2]);
	snprintf(head, sizeof(head), "run %s %zu\n", s->nonce, m->code_len);
	if (run_write(s->run, head, strlen(head)) < 0 || run_write(s->run, m->code, m->code_len) < 0) {
		snippet_send_error(s->c, "the interpreter has ended");
		return;
	}
	s->as_json = m->as_json;
	s->busy = true;
	s->out_ended = s->err_ended = s->timed_out = s->interrupted = false;
	s->began_ns = loop_now();
	loop_stop_timer(&s->idle);
	loop_set_timer(&s->limit, m->timeout_ms);
}

/* ---- the run ---- */

static void free_session(struct session *s)
{
	n_sessions--;
	loop_stop_timer(&s->idle);
	loop_stop_timer(&s->limit);
	lines_free(&s->out);
	lines_free(&s->err);
	terminal_close(&s->terminal);
	free(s);
}

static void output(void *owner, enum run_stream stream, const char *data, size_t n)
{
	struct session *s = owner;

	lines_add(stream == RUN_STDOUT ? &s->out : &s->err, data, n);
	pause_if_unread(s);
}

static void got_terminal(void *owner, int master)
{
	struct session *s = owner;
	struct err e;

	if (terminal_open(&s->terminal, master, &e) < 0)
		run_stop(s->run);
}

static void ended(void *owner, const struct run_result *r)
{
	struct session *s = owner;
	const char *why = r->error ? r->error : "the session has ended";

	lines_end(&s->out);
	lines_end(&s->err);
	if (s->c) {
		if (s->kind == SHELL && r->status == RUN_COMPLETED)
			send_text(s, "closed", "content", "", 0);
		else
			snippet_send_error(s->c, s->timed_out ? "Execution timed out." : why);
		conn_close(s->c, s->timed_out ? CLOSE_TIME_LIMIT
			   : r->status == RUN_FAILED ? CLOSE_FAILED : CLOSE_DONE, "");
	}
	free_session(s);
}

static const struct run_events events = {.output = output, .terminal = got_terminal, .ended = ended};

static int start(struct session *s, enum kind kind, struct err *e)
{
	static char *python[] = {(char *)"python3", (char *)"-c", (char *)python_session, NULL};
	static char *shell[] = {(char *)"bash", (char *)"--norc", (char *)"-i", NULL};
	struct str_pair env[16];
	struct run_request q = {.events = &events, .owner = s, .keep_input_open = true};

	snippet_default_spec(&q.spec);
	q.spec.timeout_ms = BOX_NO_TIMEOUT; /* messages have limits, and idleness */
	q.spec.output_limit = 1ull << 40;
	q.spec.args = kind == SHELL ? (struct strv){shell, 3} : (struct strv){python, 3};
	q.spec.terminal = kind == SHELL;
	q.spec.has_stdin = kind == PYTHON;
	if (kind == SHELL) {
		memcpy(env, q.spec.env.v, q.spec.env.n * sizeof(*env));
		env[q.spec.env.n++] = (struct str_pair){(char *)"TERM", (char *)"xterm-256color"};
		env[q.spec.env.n++] = (struct str_pair){(char *)"PS1", (char *)TERMINAL_PROMPT};
		env[q.spec.env.n++] = (struct str_pair){
			(char *)"PROMPT_COMMAND", (char *)TERMINAL_PROMPT_COMMAND};
		q.spec.env.v = env;
	}
	s->kind = kind;
	return run_submit(&q, &s->run, e);
}

/* ---- the shell ---- */

static void terminal_output(struct terminal *t, const char *text, size_t n)
{
	struct session *s = CONTAINER_OF(t, struct session, terminal);

	send_text(s, "shell_output", "content", text, n);
	pause_if_unread(s);
}

static void command_ended(struct terminal *t, int exit_code)
{
	struct session *s = CONTAINER_OF(t, struct session, terminal);
	auto_strbuf struct strbuf b = {0};

	if (!s->busy || !s->c) /* it was typed at */
		return;
	s->busy = false;
	strbuf_printf(&b, "{\"type\":\"command_complete\",\"content\":\"\",\"exit_code\":%d}", exit_code);
	conn_send(s->c, b.p, b.len);
}

static void terminal_closed(struct terminal *t)
{
	(void)t; /* the result comes */
}

static void type(struct session *s, const char *text, size_t n)
{
	if (terminal_type(&s->terminal, text, n) < 0)
		snippet_send_error(s->c, "too much is typed at once");
}

static void do_command(struct session *s, const struct json *m)
{
	const char *command = json_get_str(m, "command");

	s->busy = true;
	type(s, command ? command : "", command ? strlen(command) : 0);
	type(s, "\n", 1);
}

static void do_input(struct session *s, const struct json *m)
{
	const char *data = json_get_str(m, "data");

	type(s, data ? data : "", data ? strlen(data) : 0);
}

static void do_resize(struct session *s, const struct json *m)
{
	uint64_t rows = 0, columns = 0;
	const struct json *r = json_get(m, "rows"), *c = json_get(m, "cols");

	if (r && c && json_to_u64(r, 1000, &rows) == 0 && json_to_u64(c, 1000, &columns) == 0)
		terminal_resize(&s->terminal, (unsigned)rows, (unsigned)columns);
	else
		snippet_send_error(s->c, "resize: rows and cols are numbers up to 1000");
}

static void do_ping(struct session *s, const struct json *m)
{
	(void)m;
	conn_send(s->c, "{\"type\":\"pong\"}", 15);
}

static void do_interrupt(struct session *s, const struct json *m)
{
	(void)m;
	if (s->kind == SHELL)
		type(s, "\003", 1);
	else if (s->busy && s->run)
		run_write(s->run, "interrupt\n", 10);
}

static void do_disconnect(struct session *s, const struct json *m)
{
	struct conn *c = s->c;
	(void)m;

	s->c = NULL;
	if (s->run)
		run_stop(s->run);
	else
		free_session(s);
	conn_close(c, CLOSE_DONE, "");
}

static const struct { const char *name; bool shell; void (*run)(struct session *, const struct json *); }
actions[] = {
	{"shell_command", true, do_command}, {"input", true, do_input}, {"resize", true, do_resize},
	{"interrupt", false, do_interrupt}, {"ping", false, do_ping}, {"disconnect", false, do_disconnect},
};

/* ---- the connection ---- */

static void refuse(struct session *s, const char *why, int code)
{
	struct conn *c = s->c;

	snippet_send_error(c, why);
	s->c = NULL;
	if (s->run)
		run_stop(s->run);
	else
		free_session(s);
	conn_close(c, code, "");
}

static void idle(struct loop_timer *t)
{
	refuse(CONTAINER_OF(t, struct session, idle), "the session was idle for too long", CLOSE_DONE);
}

static void gone(void *owner)
{
	struct session *s = owner;

	s->c = NULL;
	if (s->run)
		run_stop(s->run);
	else
		free_session(s);
}

void session_opened(struct conn *c)
{
	struct session *s = xrealloc(NULL, sizeof(*s));

	*s = (struct session){
		.c = c, .out = {.line = out_line, .arg = s}, .err = {.line = err_line, .arg = s},
		.idle = {.due = idle}, .limit = {.due = late},
		.terminal = {.fd = {.fd = -1}, .output = terminal_output, .command_ended = command_ended,
			     .closed = terminal_closed},
	};
	c->owner = s;
	c->gone = gone;
	conn_on_sent(c, all_sent);
	if (n_sessions++ >= config.max_sessions)
		refuse(s, "too many sessions", CLOSE_BUSY);
	else
		set_idle(s);
}

static void act(struct session *s, const struct json *m, const char *action)
{
	struct err e = {0};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (!str_eq(actions[i].name, action))
			continue;
		if (actions[i].shell && s->kind == PYTHON) {
			snippet_send_error(s->c, "this session is an interpreter");
			return;
		}
		if (actions[i].shell && s->kind == NOT_YET && start(s, SHELL, &e) < 0) {
			refuse(s, e.msg, CLOSE_BUSY);
			return;
		}
		if (s->kind != PYTHON || !s->busy)
			set_idle(s);
		actions[i].run(s, m);
		return;
	}
	snippet_send_error(s->c, "Unknown action");
}

static void run_code(struct session *s)
{
	auto_arena struct arena *a = arena_new();
	struct snippet *m = arena_new_of(a, struct snippet);
	struct err e = {0};
	int r = snippet_parse(a, strbuf_str(&s->c->body), s->c->body.len, m, &e);

	if (r == 0 && (s->kind == SHELL || s->busy))
		r = err_set(&e, EBUSY, s->busy && s->kind == PYTHON ? "the last message is not done yet"
								     : "this session is a shell");
	if (r == 0 && (m->language != SNIPPET_PYTHON || m->n_files || m->env.n || m->input_len))
		r = err_set(&e, EINVAL, "a session takes Python code, without files, env and stdin");
	if (r < 0) {
		snippet_send_error(s->c, e.msg);
	} else if (s->kind == NOT_YET && start(s, PYTHON, &e) < 0) {
		snippet_free(m);
		refuse(s, e.msg, CLOSE_BUSY);
		return;
	} else {
		give_code(s, m);
	}
	snippet_free(m);
}

void session_message(struct conn *c)
{
	auto_arena struct arena *a = arena_new();
	struct session *s = c->owner;
	const struct json *m = NULL;
	struct err e;
	const char *action;

	if (!s)
		return;
	if (json_parse(strbuf_str(&c->body), c->body.len, a, &m, &e) < 0) {
		snippet_send_error(c, "Invalid JSON input");
		return;
	}
	action = json_get_str(m, "action");
	if (action)
		act(s, m, action);
	else
		run_code(s);
}

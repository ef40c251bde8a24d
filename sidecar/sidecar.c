/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One execution belongs to the connection that asked for it: when that goes away, the sandbox is
 * killed. Whoever cancels gets his answer when the sandbox is gone.
 */
#include "sidecar/sidecar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "sidecar/config.h"
#include "sidecar/loop.h"
#include "sidecar/metrics.h"
#include "sidecar/records.h"
#include "sidecar/request.h"
#include "sidecar/run.h"
#include "sidecar/secret.h"

struct waiter { struct waiter *next; struct conn *c; };

struct execution {
	struct record *record;
	struct run *run;
	struct conn *c;          /* NULL: it went away */
	struct waiter *waiters;  /* those that cancelled */
};

bool sidecar_authorise(struct conn *c)
{
	if (secret_equal(config.sidecar_secret, c->secret))
		return true;
	conn_reply_detail(c, 401, "Invalid sandbox sidecar credentials");
	return false;
}

static void reply_record(struct conn *c, const struct record *r, const char *id)
{
	auto_strbuf struct strbuf b = {0};

	records_write(&b, r, id);
	conn_reply(c, &(struct reply){.status = 200, .body = b.p, .len = b.len});
}

/* ---- the run ---- */

static void output(void *owner, enum run_stream stream, const char *data, size_t n)
{
	struct execution *x = owner;

	strbuf_add(stream == RUN_STDOUT ? &x->record->out : &x->record->err, data, n);
}

static void add_line(struct strbuf *b, const char *prefix, const char *text)
{
	if (b->len && b->p[b->len - 1] != '\n')
		strbuf_addc(b, '\n');
	strbuf_printf(b, "%s%s", prefix, text);
}

/* Memory for what is there, not for what might have come. */
static void trim(struct strbuf *b)
{
	if (!b->len) {
		strbuf_free(b);
		return;
	}
	b->cap = b->len + 1;
	b->p = xrealloc(b->p, b->cap);
}

static void fill_record(struct record *r, const struct run_result *result)
{
	static const enum record_status statuses[] = {
		[RUN_COMPLETED] = RECORD_COMPLETED, [RUN_TIMED_OUT] = RECORD_FAILED,
		[RUN_STOPPED] = RECORD_CANCELLED, [RUN_FAILED] = RECORD_FAILED};

	r->status = statuses[result->status];
	if (result->status == RUN_COMPLETED && result->returncode != 0)
		r->status = RECORD_FAILED;
	r->has_returncode = result->status != RUN_STOPPED;
	r->returncode = result->status == RUN_FAILED ? 125 : result->returncode;
	r->timed_out = result->status == RUN_TIMED_OUT;
	r->stdout_cut = result->stdout_cut;
	r->stderr_cut = result->stderr_cut;
	r->oom_killed = result->oom_killed;
	r->duration = result->duration;
	r->cpu_seconds = result->cpu_seconds;
	r->memory_peak = result->memory_peak;
	if (r->timed_out)
		add_line(&r->err, "", "Execution timed out");
	else if (result->error && result->status != RUN_STOPPED)
		add_line(&r->err, "brig: ", result->error);
	trim(&r->out);
	trim(&r->err);
}

static void waiter_gone(void *owner)
{
	((struct waiter *)owner)->c = NULL;
}

static void answer_waiters(struct execution *x)
{
	static const char body[] = "{\"status\":\"cancelled\"}";

	while (x->waiters) {
		struct waiter *w = x->waiters;

		x->waiters = w->next;
		if (w->c)
			conn_reply(w->c, &(struct reply){.status = 200, .body = body, .len = strlen(body)});
		free(w);
	}
}

static void ended(void *owner, const struct run_result *result)
{
	struct execution *x = owner;

	fill_record(x->record, result);
	if (x->c)
		reply_record(x->c, x->record, x->record->id);
	records_end(x->record);
	answer_waiters(x);
	free(x);
}

static const struct run_events events = {.output = output, .ended = ended};

/* ---- POST /execute ---- */

static void client_gone(void *owner)
{
	struct execution *x = owner;

	x->c = NULL;
	run_stop(x->run);
}

void sidecar_default_spec(struct box_spec *s)
{
	*s = (struct box_spec){
		.cwd = "/workspace",
		.memory_bytes = config.memory_mb << 20,
		.pids = config.max_processes,
		.output_limit = config.output_limit,
		.has_stdin = true,
	};
}

static void make_request(const struct execute_request *q, struct run_request *run)
{
	struct box_spec *s = &run->spec;

	sidecar_default_spec(s);
	s->args = q->command;
	s->env = q->environment;
	s->cwd = q->working_directory;
	s->timeout_ms = (uint64_t)(q->timeout_seconds * 1000 + 0.999);
	s->cpus = q->cpu_cores;
	s->rootfs = config_rootfs(q->image);
	if (str_eq(s->cwd, "/workspace"))
		s->cwd = config_workdir(s->rootfs);
	if (strcmp(q->image, "host") != 0)
		s->image = q->image;
	if (q->memory_mb)
		s->memory_bytes = q->memory_mb << 20;
	if (q->max_processes)
		s->pids = q->max_processes;
	if (q->network_access)
		s->ports = "all";
	run->input = q->input_text;
	run->input_len = q->input_text ? strlen(q->input_text) : 0;
}

static void refuse_busy(struct conn *c, const char *why)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "detail", why);
	json_end_object(&w);
	conn_reply(c, &(struct reply){
		.status = 429, .body = b.p, .len = b.len, .headers = "retry-after: 1\r\n"});
}

static struct record *add_record(struct conn *c, const char *id)
{
	int code = 0;
	struct record *r = records_add(id, &code);

	if (!r && code == -EEXIST)
		conn_reply_detail(c, 409, "execution_id was used before");
	else if (!r)
		conn_reply_detail(c, 503, "No further execution_id can be remembered: restart brigd");
	return r;
}

void sidecar_execute(struct conn *c)
{
	auto_strbuf struct strbuf detail = {0};
	struct run_request run = {.events = &events};
	struct execute_request q;
	struct execution *x;
	struct record *r;
	struct err e = {0};

	if (execute_request_parse(c->a, strbuf_str(&c->body), c->body.len, &q, &detail) < 0) {
		conn_reply(c, &(struct reply){.status = 422, .body = detail.p, .len = detail.len});
		return;
	}
	if (q.timeout_seconds > (double)config.max_timeout_s)
		q.timeout_seconds = (double)config.max_timeout_s;
	r = add_record(c, q.execution_id);
	if (!r)
		return;
	x = xrealloc(NULL, sizeof(*x));
	*x = (struct execution){.record = r, .c = c};
	make_request(&q, &run);
	run.owner = x;
	if (run_submit(&run, &x->run, &e) < 0) {
		records_withdraw(r);
		free(x);
		refuse_busy(c, e.msg);
		return;
	}
	r->running = x;
	c->owner = x;
	c->gone = client_gone;
	strbuf_free(&c->body);
}

/* ---- /executions/ID and its end ---- */

void sidecar_status(struct conn *c)
{
	const char *id = c->path + strlen("/executions/");
	struct record *r = records_find(id), old;

	if (r)
		reply_record(c, r, id);
	else if (records_find_old(id, &old))
		reply_record(c, &old, id);
	else
		conn_reply_detail(c, 404, "Execution not found");
}

void sidecar_cancel(struct conn *c)
{
	static const char end[] = "/cancel", body[] = "{\"status\":\"cancelled\"}";
	const char *id = c->path + strlen("/executions/");
	struct record *r = NULL, old;
	struct waiter *w;

	if (!str_ends(c->path, end)) {
		conn_reply_detail(c, 404, "Not Found");
		return;
	}
	id = arena_strndup(c->a, id, strlen(id) < strlen(end) ? 0 : strlen(id) - strlen(end));
	r = records_find(id);
	if (!r && !records_find_old(id, &old)) {
		conn_reply_detail(c, 404, "Execution not found");
		return;
	}
	if (!r || !r->running) {
		conn_reply(c, &(struct reply){.status = 200, .body = body, .len = strlen(body)});
		return;
	}
	w = xrealloc(NULL, sizeof(*w));
	*w = (struct waiter){((struct execution *)r->running)->waiters, c};
	((struct execution *)r->running)->waiters = w;
	c->owner = w;
	c->gone = waiter_gone;
	run_stop(((struct execution *)r->running)->run);
}

void sidecar_metrics(struct conn *c)
{
	auto_strbuf struct strbuf b = {0};

	metrics_write(&b);
	conn_reply(c, &(struct reply){
		.status = 200, .type = "text/plain; version=0.0.4", .body = b.p, .len = b.len});
}

/* ---- /health: whether a sandbox can be started, found out by starting one ---- */

enum { PROBE_FRESH_S = 5 };

static struct {
	struct run *run;
	struct waiter *waiters;
	uint64_t at_ns;
	bool good;
} probe;

static void reply_health(struct conn *c)
{
	const char *body = probe.good ? "{\"status\":\"ok\",\"docker_available\":true}"
				      : "{\"status\":\"ok\",\"docker_available\":false}";

	conn_reply(c, &(struct reply){.status = 200, .body = body, .len = strlen(body)});
}

static void probe_ended(void *owner, const struct run_result *result)
{
	(void)owner;
	probe.run = NULL;
	probe.at_ns = loop_now();
	probe.good = result->status == RUN_COMPLETED && result->returncode == 0;
	while (probe.waiters) {
		struct waiter *w = probe.waiters;

		probe.waiters = w->next;
		if (w->c)
			reply_health(w->c);
		free(w);
	}
}

static int start_probe(void)
{
	static const struct run_events probe_events = {.ended = probe_ended};
	static char *args[] = {(char *)"true", NULL};
	struct run_request q = {.events = &probe_events, .owner = &probe};
	struct err e;

	sidecar_default_spec(&q.spec);
	q.spec.has_stdin = false;
	q.spec.args = (struct strv){args, 1};
	q.spec.timeout_ms = 10000;
	return run_submit(&q, &probe.run, &e);
}

void sidecar_health(struct conn *c)
{
	struct waiter *w;

	/* Behind all that wait it would come too late: that they run is an answer, too. */
	if (!probe.run && run_running() >= config.max_running)
		probe.good = probe.at_ns == 0 || probe.good;
	else if (!probe.run && (probe.at_ns == 0 || loop_now() - probe.at_ns > PROBE_FRESH_S * 1000000000ull) &&
	    start_probe() < 0)
		probe.good = probe.at_ns != 0 && probe.good; /* busy: what was known last */
	if (!probe.run) {
		reply_health(c);
		return;
	}
	w = xrealloc(NULL, sizeof(*w));
	*w = (struct waiter){probe.waiters, c};
	probe.waiters = w;
	c->owner = w;
	c->gone = waiter_gone;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run has ended when the result, stdout and stderr have all come to their ends: brig holds the
 * other ends of all three until it exits. A brig that does not end after it was told to is killed;
 * its sandbox dies with it, and what it left is removed by the next one.
 */
#include "sidecar/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "json/fields.h"
#include "sidecar/config.h"
#include "sidecar/loop.h"
#include "sidecar/metrics.h"
#include "sidecar/pool.h"

enum {
	RESULT_MAX = 256 * 1024,
	INPUT_MAX = 8 << 20,
	STOP_GRACE_MS = 5000,  /* for brig to end its sandbox */
	LATE_MS = 5000,        /* for brig to notice the time limit by itself */
};

struct run {
	struct arena *a;
	const struct run_events *events;
	void *owner;            /* NULL: run_leave */
	struct box_spec spec;
	struct box box;
	struct loop_fd out, err, result, in, terminal;
	struct loop_timer timer;
	struct strbuf input, result_text;
	size_t input_done;
	uint64_t submitted_ns, given_ns;
	bool keep_input_open, interpreter, warm, started, paused, queued;
	enum run_status stopped; /* RUN_STOPPED or RUN_TIMED_OUT; RUN_COMPLETED: not */
	struct run *prev, *next; /* in the queue, or among the active */
};

static struct run queue = {.prev = &queue, .next = &queue};
static struct run active = {.prev = &active, .next = &active};
static size_t n_running, n_waiting;
static bool draining;

size_t run_running(void)
{
	return n_running;
}

size_t run_waiting(void)
{
	return n_waiting;
}

/* ---- the end ---- */

static void free_run(struct run *r)
{
	loop_stop_timer(&r->timer);
	loop_close(&r->out);
	loop_close(&r->err);
	loop_close(&r->result);
	loop_close(&r->in);
	loop_close(&r->terminal);
	box_close(&r->box);
	strbuf_free(&r->input);
	strbuf_free(&r->result_text);
	arena_free(r->a);
}

static void append(struct run *list, struct run *r)
{
	r->prev = list->prev;
	r->next = list;
	r->prev->next = r;
	list->prev = r;
}

static void unlink_run(struct run *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
}

static void activate(struct run *r)
{
	unlink_run(r);
	append(&active, r);
	r->queued = false;
	n_waiting--;
	n_running++;
}

static void finish(struct run *r, const struct run_result *result)
{
	const struct run_events *events = r->events;
	void *owner = r->owner;

	unlink_run(r);
	if (r->queued)
		n_waiting--;
	else
		n_running--;
	metrics_ended(result);
	if (owner)
		events->ended(owner, result);
	free_run(r);
	run_start_waiting();
}

static void fail(struct run *r, const char *error)
{
	struct run_result result = {.status = RUN_FAILED, .returncode = -1, .duration = -1,
				    .cpu_seconds = -1, .error = error};

	if (r->stopped != RUN_COMPLETED)
		result.status = r->stopped;
	finish(r, &result);
}

/* ---- the result ---- */

struct file_row { char *name; uint64_t size; char *sha256; };
struct document {
	char *status, *error;
	struct opt_i32 returncode;
	struct opt_bool oom_killed;
	bool stdout_truncated, stderr_truncated;
	uint64_t stdout_bytes, stderr_bytes;
	struct opt_f64 duration, cpu;
	struct opt_u64 memory;
	struct { struct file_row *v; size_t n; } files;
};

static const struct json_field file_fields[] = {
	JSON_FIELD(struct file_row, name, "name", .required = true),
	JSON_FIELD(struct file_row, size, "size"),
	JSON_FIELD(struct file_row, sha256, "sha256"),
};
static const struct json_table file_table = JSON_TABLE(struct file_row, file_fields);

static const struct json_field document_fields[] = {
	JSON_FIELD(struct document, status, "status", .required = true),
	JSON_FIELD(struct document, error, "error"),
	JSON_FIELD(struct document, returncode, "returncode"),
	JSON_FIELD(struct document, oom_killed, "oom_killed"),
	JSON_FIELD(struct document, stdout_truncated, "stdout_truncated"),
	JSON_FIELD(struct document, stderr_truncated, "stderr_truncated"),
	JSON_FIELD(struct document, stdout_bytes, "stdout_bytes"),
	JSON_FIELD(struct document, stderr_bytes, "stderr_bytes"),
	JSON_FIELD(struct document, duration, "duration_seconds"),
	JSON_FIELD(struct document, cpu, "cpu_seconds"),
	JSON_FIELD(struct document, memory, "memory_peak_bytes"),
	JSON_FIELD(struct document, files, "files", .sub = &file_table),
};
static const struct json_table document_table = JSON_TABLE(struct document, document_fields);

static enum run_status judge(const struct run *r, const struct document *d)
{
	if (str_eq(d->status, "timed_out") || str_eq(d->status, "cpu_limit"))
		return RUN_TIMED_OUT;
	/* It may have come to its end before it heard that it should. */
	if (r->stopped != RUN_COMPLETED && !str_eq(d->status, "exited"))
		return r->stopped;
	/* 126 and 127: the program is missing, which is the caller's affair and has an exit code. */
	if (str_eq(d->status, "setup_failed") && !d->returncode.set)
		return RUN_FAILED;
	return RUN_COMPLETED;
}

static void take_files(struct arena *a, const struct document *d, struct run_result *result)
{
	struct run_file *files = arena_array(a, d->files.n + 1, sizeof(*files));

	for (size_t i = 0; i < d->files.n; i++)
		files[i] = (struct run_file){d->files.v[i].name, d->files.v[i].sha256, d->files.v[i].size};
	result->files = files;
	result->n_files = d->files.n;
}

static void end(struct run *r)
{
	struct document d = {0};
	const struct json *v = NULL;
	struct run_result result = {0};
	struct err e = {0};

	if (json_parse(strbuf_str(&r->result_text), r->result_text.len, r->a, &v, &e) < 0 ||
	    json_read_struct(&(struct json_reader){r->a, "", &e}, v, &document_table, &d) < 0) {
		fail(r, "the sandbox ended without a result");
		return;
	}
	result = (struct run_result){
		.status = judge(r, &d),
		.returncode = d.returncode.set ? d.returncode.v : -1,
		.oom_killed = d.oom_killed.v,
		.stdout_cut = d.stdout_truncated,
		.stderr_cut = d.stderr_truncated,
		.duration = d.duration.set ? d.duration.v : -1,
		.cpu_seconds = d.cpu.set ? d.cpu.v : -1,
		.memory_peak = d.memory.v,
		.error = d.error,
	};
	if (result.status == RUN_TIMED_OUT)
		result.returncode = -1;
	if (r->warm && r->interpreter) /* brig counts from the preparation */
		result.duration = (double)(loop_now() - r->given_ns) / 1e9;
	if (d.stdout_truncated)
		metrics_cut(d.stdout_bytes - r->spec.output_limit);
	if (d.stderr_truncated)
		metrics_cut(d.stderr_bytes - r->spec.output_limit);
	take_files(r->a, &d, &result);
	finish(r, &result);
}

static void end_when_all_ended(struct run *r)
{
	if (r->out.fd < 0 && r->err.fd < 0 && r->result.fd < 0)
		end(r);
}

/* ---- its descriptors ---- */

static void read_output(struct run *r, struct loop_fd *f, enum run_stream stream)
{
	char buf[16384];
	ssize_t n = read(f->fd, buf, sizeof(buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		if (r->owner && r->events->output)
			r->events->output(r->owner, stream, buf, (size_t)n);
		return;
	}
	loop_close(f);
	end_when_all_ended(r);
}

static void out_ready(struct loop_fd *f, uint32_t events)
{
	(void)events;
	read_output(CONTAINER_OF(f, struct run, out), f, RUN_STDOUT);
}

static void err_ready(struct loop_fd *f, uint32_t events)
{
	(void)events;
	read_output(CONTAINER_OF(f, struct run, err), f, RUN_STDERR);
}

static void result_ready(struct loop_fd *f, uint32_t events)
{
	struct run *r = CONTAINER_OF(f, struct run, result);
	char buf[16384];
	ssize_t n = read(f->fd, buf, sizeof(buf));
	(void)events;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && r->result_text.len + (size_t)n <= RESULT_MAX) {
		strbuf_add(&r->result_text, buf, (size_t)n);
		return;
	}
	loop_close(f);
	end_when_all_ended(r);
}

static void feed(struct run *r)
{
	size_t left = r->input.len - r->input_done;
	ssize_t n = left ? write(r->in.fd, r->input.p + r->input_done, left) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		r->input_done += (size_t)n;
	if (n < 0 || (r->input_done == r->input.len && !r->keep_input_open)) {
		loop_close(&r->in);
		return;
	}
	if (r->input_done == r->input.len)
		r->input.len = r->input_done = 0;
	loop_change(&r->in, r->input.len ? EPOLLOUT : 0);
}

/* Without events only errors come: the reader is gone. */
static void in_ready(struct loop_fd *f, uint32_t events)
{
	struct run *r = CONTAINER_OF(f, struct run, in);

	if (events & (EPOLLERR | EPOLLHUP))
		loop_close(f);
	else
		feed(r);
}

static void terminal_ready(struct loop_fd *f, uint32_t events)
{
	struct run *r = CONTAINER_OF(f, struct run, terminal);
	union { struct cmsghdr align; char buf[CMSG_SPACE(sizeof(int))]; } control;
	char name[64];
	struct iovec iov = {name, sizeof(name)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(f->fd, &m, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int master;
	(void)events;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	loop_close(f);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&master, CMSG_DATA(c), sizeof(int));
	if (r->owner)
		r->events->terminal(r->owner, master);
	else
		close(master);
}

static int watch(struct run *r, struct err *e)
{
	struct { struct loop_fd *f; int *fd; uint32_t events; void (*ready)(struct loop_fd *, uint32_t); }
	fds[] = {
		{&r->out, &r->box.out, EPOLLIN, out_ready},
		{&r->err, &r->box.err, EPOLLIN, err_ready},
		{&r->result, &r->box.result, EPOLLIN, result_ready},
		{&r->in, &r->box.in, EPOLLOUT, in_ready},
		{&r->terminal, &r->box.terminal, EPOLLIN, terminal_ready},
	};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i].fd < 0)
			continue;
		fds[i].f->ready = fds[i].ready;
		if (loop_add(fds[i].f, *fds[i].fd, fds[i].events, e) < 0)
			return -e->code;
		*fds[i].fd = -1;
	}
	return 0;
}

/* ---- stopping ---- */

static void overdue(struct loop_timer *t)
{
	struct run *r = CONTAINER_OF(t, struct run, timer);

	if (r->queued) {
		fail(r, NULL);
	} else if (r->stopped != RUN_COMPLETED) {
		box_kill(&r->box);
	} else {
		run_time_out(r);
	}
}

static void stop(struct run *r, enum run_status why)
{
	if (r->stopped != RUN_COMPLETED)
		return;
	r->stopped = why;
	if (r->paused)
		run_pause(r, false);
	if (r->queued) {
		loop_set_timer(&r->timer, 0);
		return;
	}
	box_stop(&r->box);
	loop_set_timer(&r->timer, STOP_GRACE_MS);
}

void run_stop(struct run *r)
{
	stop(r, RUN_STOPPED);
}

void run_time_out(struct run *r)
{
	stop(r, RUN_TIMED_OUT);
}

void run_leave(struct run *r)
{
	r->owner = NULL;
	run_stop(r);
}

/* ---- starting ---- */

static void answered(struct box *b)
{
	struct run *r = CONTAINER_OF(b, struct run, box);

	if (b->failed)
		fail(r, err_name(b->failed));
}

static void write_job(struct run *r, struct strbuf *b)
{
	struct json_writer w;
	auto_strbuf struct strbuf entry = {0};

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	json_key(&w, "args");
	json_begin_array(&w);
	for (size_t i = 0; i < r->spec.args.n; i++)
		json_str(&w, r->spec.args.v[i]);
	json_end_array(&w);
	json_key(&w, "env");
	json_begin_array(&w);
	for (size_t i = 0; i < r->spec.env.n; i++) {
		entry.len = 0;
		strbuf_printf(&entry, "%s=%s", r->spec.env.v[i].key, r->spec.env.v[i].value);
		json_str(&w, entry.p);
	}
	json_end_array(&w);
	json_member_u64(&w, "timeout_ms", r->spec.timeout_ms);
	json_end_object(&w);
}

/* A job is small unless its arguments are not: those that do not fit into the pipe start cold. */
static bool give_job(struct run *r, struct box *prepared)
{
	auto_strbuf struct strbuf b = {0};

	if (prepared->job < 0)
		return true;
	write_job(r, &b);
	if (b.len > 60000 || write(prepared->job, b.p, b.len) != (ssize_t)b.len)
		return false;
	cleanup_close(&prepared->job);
	return true;
}

static bool start_warm(struct run *r)
{
	char out[POOL_PATH_MAX];
	struct box b;

	if (!pool_take(&r->spec, &b, out))
		return false;
	if (out[0])
		r->events->out_moved(r->owner, out);
	if (!give_job(r, &b)) {
		box_close(&b);
		return false;
	}
	r->box = b;
	r->warm = true;
	return true;
}

static void begin(struct run *r)
{
	struct err e = {0};
	uint64_t limit = r->spec.timeout_ms;

	r->timer.due = overdue;
	r->given_ns = loop_now();
	if (!start_warm(r)) {
		r->box.answered = answered;
		if (box_start(&r->box, &r->spec, &e) < 0) {
			fail(r, e.msg);
			return;
		}
	}
	if (watch(r, &e) < 0) {
		fail(r, e.msg);
		return;
	}
	/* brig has the limit, too, except of an interpreter that has been there for a while. */
	if (limit && limit != BOX_NO_TIMEOUT)
		loop_set_timer(&r->timer, r->warm && r->interpreter ? limit : limit + LATE_MS);
	if (r->owner && r->events->started)
		r->events->started(r->owner);
	metrics_started((double)(loop_now() - r->submitted_ns) / 1e9, r->warm);
}

/* One that fails at once ends up here again: that is left to the loop below, however many there are. */
void run_start_waiting(void)
{
	static bool at_it;

	if (at_it)
		return;
	at_it = true;
	while (n_running < config.max_running && queue.next != &queue && !draining && box_room()) {
		struct run *r = queue.next;

		activate(r);
		loop_stop_timer(&r->timer);
		if (r->stopped != RUN_COMPLETED)
			fail(r, NULL);
		else
			begin(r);
	}
	at_it = false;
}

static void turn(struct loop_timer *t)
{
	struct run *r = CONTAINER_OF(t, struct run, timer);

	if (r->stopped != RUN_COMPLETED || draining) {
		r->stopped = RUN_STOPPED;
		fail(r, NULL);
		return;
	}
	t->due = overdue;
	run_start_waiting();
}

static struct strv copy_strv(struct arena *a, const struct strv *v)
{
	struct strv c = {arena_array(a, v->n + 1, sizeof(char *)), v->n};

	for (size_t i = 0; i < v->n; i++)
		c.v[i] = arena_strdup(a, v->v[i]);
	return c;
}

static const char *copy_str(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static void copy_spec(struct arena *a, const struct box_spec *s, struct box_spec *c)
{
	struct box_file *files = arena_array(a, s->n_files + 1, sizeof(*files));

	*c = *s;
	c->image = copy_str(a, s->image);
	c->rootfs = copy_str(a, s->rootfs);
	c->cwd = copy_str(a, s->cwd);
	c->ports = copy_str(a, s->ports);
	c->outputs = copy_str(a, s->outputs);
	c->copy_out = copy_str(a, s->copy_out);
	c->args = copy_strv(a, &s->args);
	c->env.v = arena_array(a, s->env.n + 1, sizeof(*c->env.v));
	for (size_t i = 0; i < s->env.n; i++)
		c->env.v[i] = (struct str_pair){arena_strdup(a, s->env.v[i].key),
						arena_strdup(a, s->env.v[i].value)};
	for (size_t i = 0; i < s->n_files; i++)
		files[i] = (struct box_file){arena_strdup(a, s->files[i].path),
					     arena_strdup(a, s->files[i].name)};
	c->files = files;
}

int run_submit(const struct run_request *q, struct run **ret, struct err *e)
{
	struct arena *a;
	struct run *r;

	if (draining || (n_running >= config.max_running && n_waiting >= config.max_queue))
		return err_set(e, EAGAIN, draining ? "the service is being stopped"
						   : "too many executions are running and waiting");
	a = arena_new();
	r = arena_new_of(a, struct run);
	*r = (struct run){
		.a = a, .events = q->events, .owner = q->owner, .box = BOX_NONE,
		.out = {.fd = -1}, .err = {.fd = -1}, .result = {.fd = -1}, .in = {.fd = -1},
		.terminal = {.fd = -1}, .timer = {.due = turn}, .submitted_ns = loop_now(),
		.keep_input_open = q->keep_input_open, .interpreter = q->interpreter, .queued = true,
	};
	copy_spec(a, &q->spec, &r->spec);
	strbuf_add(&r->input, q->input_len ? q->input : "", q->input_len);
	append(&queue, r);
	n_waiting++;
	loop_set_timer(&r->timer, 0);
	*ret = r;
	return 0;
}

int run_write(struct run *r, const char *data, size_t n)
{
	if (!r->queued && r->in.fd < 0)
		return -EPIPE;
	if (r->input.len + n > INPUT_MAX)
		return -EFBIG;
	strbuf_add(&r->input, data, n);
	if (!r->queued)
		loop_change(&r->in, EPOLLOUT);
	return 0;
}

void run_pause(struct run *r, bool pause)
{
	uint32_t events = pause ? 0 : EPOLLIN;

	if (pause && r->stopped != RUN_COMPLETED)
		return;
	r->paused = pause;
	loop_change(&r->out, events);
	loop_change(&r->err, events);
}

void run_drain(void)
{
	draining = true;
	for (struct run *r = queue.next; r != &queue; r = r->next)
		run_stop(r);
}

void run_stop_all(void)
{
	for (struct run *r = active.next; r != &active; r = r->next)
		run_stop(r);
}

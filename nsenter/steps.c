/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: parent to INIT an order {RUN first..last | RELEASE}, INIT to parent a report {row, err}.
 * A good report is 8 bytes, a bad one carries the struct err. One datagram each, SOCK_SEQPACKET, so
 * there is no framing and a hang-up is seen at once.
 *
 * Both sides compute the batches from the same table with the same functions, so INIT knows without
 * a message what it may start with, and can tell a wrong order from a right one.
 *
 * Where INIT is: it writes the number of its row to memory that the parent sees (its own field when
 * memory is shared, a shared page when it is not). When something is joined nothing may be shared;
 * then the last row is a batch of its own, so that its end of file still means just that row.
 */
#include "nsenter/steps.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "base/log.h"
#include "base/raw.h"
#include "nsenter/clone.h"
#include "nsenter/signals.h"

enum { MAX_ROWS = 128, NO_ROW = UINT32_MAX };

enum order_op { ORDER_RUN = 1, ORDER_RELEASE };

struct order {
	uint32_t op, first, last;
};

struct report {
	uint32_t row, failed;
	struct err err; /* only sent when failed */
};

static int trace_fd = -1;

void steps_trace(int fd)
{
	trace_fd = fd;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const char *const actors[] = {"parent", "parent", "beside", "init", "init"};

static void trace_row(const struct step_table *t, size_t row, int64_t since)
{
	int64_t ns = now_ns() - since;
	char line[160];
	int n = snprintf(line, sizeof(line), "%s\t%lld.%03d\t%s\t%zu\n", actors[t->rows[row].actor],
			 (long long)(ns / 1000), (int)(ns % 1000), t->rows[row].name, row);

	if (n > 0)
		raw_call(SYS_write, trace_fd, (long)line,
			 n < (int)sizeof(line) ? n : (int)sizeof(line) - 1);
}

static int run_row(const struct step_table *t, size_t row, void *ctx, struct err *e)
{
	int64_t since = trace_fd >= 0 ? now_ns() : 0;
	int r;

	e->code = 0;
	r = t->rows[row].run(ctx, e);
	if (trace_fd >= 0)
		trace_row(t, row, since);
	if (r < 0 && e->code == 0)
		err_set(e, -r, "%s", err_name(-r));
	return r < 0 ? -e->code : 0;
}

/* --- what both sides compute from the table --- */

static bool applies(const struct step_table *t, const void *ctx, size_t row)
{
	return !t->rows[row].wanted || t->rows[row].wanted(ctx);
}

/* The first row from `from` on that applies; t->n when there is none. */
static size_t next_row(const struct step_table *t, const void *ctx, size_t from)
{
	while (from < t->n && !applies(t, ctx, from))
		from++;
	return from;
}

/* The same, without rows that run beside INIT's. */
static size_t next_in_turn(const struct step_table *t, const void *ctx, size_t from)
{
	from = next_row(t, ctx, from);
	while (from < t->n && t->rows[from].actor == STEP_BESIDE)
		from = next_row(t, ctx, from + 1);
	return from;
}

/* The row that is the exec: the last INIT row that applies, unless INIT goes on alone. */
static size_t exec_row(const struct step_table *t, const void *ctx)
{
	size_t exec = t->n;

	for (size_t i = next_row(t, ctx, 0); i < t->n; i = next_row(t, ctx, i + 1)) {
		if (t->rows[i].actor == STEP_INIT)
			exec = i;
		else if (t->rows[i].actor == STEP_ALONE)
			return t->n;
	}
	return exec;
}

/* The end of the batch that begins with `first`. */
static size_t batch_last(const struct step_table *t, const void *ctx, const struct step_channel *c,
			 size_t first)
{
	size_t last = first, exec = c->at ? t->n : exec_row(t, ctx);

	for (size_t i = next_row(t, ctx, first + 1); i < t->n; i = next_row(t, ctx, i + 1)) {
		if (t->rows[i].actor != STEP_INIT || i == exec)
			break;
		last = i;
	}
	return last;
}

/* --- the channel --- */

int steps_open(struct step_channel *c, struct ns_spawn *s, struct err *e)
{
	struct step_channel new = STEP_CHANNEL_NONE;
	int p[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) < 0)
		return err_sys(e, "channel to the container's first process");
	new.parent = p[0];
	new.init = p[1];
	*c = new;
	if (ns_shares_vm(s)) {
		c->at = &c->at_here;
	} else if (s->n_joins == 0) {
		void *page = mmap(NULL, sizeof(*c->at), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED) {
			err_sys(e, "channel to the container's first process: mmap");
			steps_close(c);
			return -e->code;
		}
		c->at = page;
		c->at_mapped = true;
	}
	if (c->at)
		*c->at = NO_ROW;
	s->channel_fd = c->init;
	return 0;
}

void steps_close(struct step_channel *c)
{
	bool stays = c->released && c->child.stack;

	if (c->parent >= 0 && !stays)
		raw_close(c->parent);
	if (c->init >= 0 && !c->init_closed)
		raw_close(c->init);
	if (c->at_mapped)
		munmap((void *)c->at, sizeof(*c->at));
	if (c->child.pidfd >= 0)
		raw_close(c->child.pidfd);
	c->child.pidfd = -1;
	if (!stays) /* else INIT still reads it */
		*c = (struct step_channel)STEP_CHANNEL_NONE;
}

static long send_message(int fd, const void *m, size_t n)
{
	long r;

	do
		r = raw_call(SYS_sendto, fd, (long)m, (long)n, MSG_NOSIGNAL);
	while (r == -EINTR);
	return r;
}

/* --- INIT's side --- */

/* By write, not sendto: a seccomp filter may be in force already, and a profile that stops a program
 * from writing is a rare one. (A parent that is gone ends us by SIGPIPE; as it should.) */
static bool send_report(int fd, const struct report *rep, size_t n)
{
	long r;

	while ((r = raw_call(SYS_write, fd, (long)rep, (long)n)) == -EINTR)
		;
	return r == (long)n;
}

static _Noreturn void report_failure(int fd, size_t row, const struct err *e)
{
	struct report rep = {.row = (uint32_t)row, .failed = 1, .err = *e};

	send_report(fd, &rep, sizeof(rep));
	raw_exit(1);
}

static void run_batch(const struct step_table *t, void *ctx, const struct step_channel *c,
		      size_t first, size_t last)
{
	struct report ok = {.row = (uint32_t)last};
	struct err e = {0};

	for (size_t i = first; i <= last; i = next_row(t, ctx, i + 1)) {
		if (c->at)
			*c->at = (uint32_t)i;
		if (run_row(t, i, ctx, &e) < 0)
			report_failure(c->init, i, &e);
	}
	if (last == exec_row(t, ctx)) {
		err_set(&e, ENOEXEC, "returned without exec");
		report_failure(c->init, last, &e);
	}
	/* A filter may refuse that as well. Without a word the parent would wait for it. */
	if (!send_report(c->init, &ok, offsetof(struct report, err)))
		raw_exit(1);
}

/* An order that does not follow from the table, or goes backwards, is refused. */
static bool order_is_right(const struct step_table *t, const void *ctx,
			   const struct step_channel *c, const struct order *o, size_t done)
{
	if (o->first >= t->n || o->first < done || !applies(t, ctx, o->first))
		return false;
	return t->rows[o->first].actor == STEP_INIT && o->last == batch_last(t, ctx, c, o->first);
}

/* The parent has let us go; its end of the channel closes when it exits. */
static _Noreturn void run_alone(const struct step_table *t, void *ctx,
				const struct step_channel *c, size_t from)
{
	struct err e = {0};
	struct order o;

	while (raw_read(c->init, &o, sizeof(o)) > 0)
		;
	for (size_t i = next_row(t, ctx, from); i < t->n; i = next_row(t, ctx, i + 1)) {
		if (t->rows[i].actor != STEP_ALONE || run_row(t, i, ctx, &e) == 0)
			continue;
		err_wrap(&e, "%s", t->rows[i].name);
		if (t->alone_failed)
			t->alone_failed(ctx, &e);
		raw_exit(1);
	}
	raw_exit(1);
}

static size_t spawn_row(const struct step_table *t, const void *ctx)
{
	size_t i = next_row(t, ctx, 0);

	while (i < t->n && t->rows[i].actor != STEP_SPAWN)
		i = next_row(t, ctx, i + 1);
	return i;
}

_Noreturn void steps_serve(const struct step_table *t, void *ctx, const struct step_channel *c)
{
	size_t done = spawn_row(t, ctx) + 1, first = next_in_turn(t, ctx, done);
	struct err e = {0};
	struct order o;

	/* Closed by number: the field belongs to the parent, who may share it. */
	raw_close(c->parent);
	if (first < t->n && t->rows[first].actor == STEP_INIT) {
		done = batch_last(t, ctx, c, first) + 1;
		run_batch(t, ctx, c, first, done - 1);
	}
	while (raw_read(c->init, &o, sizeof(o)) == sizeof(o)) {
		if (o.op == ORDER_RELEASE)
			run_alone(t, ctx, c, done);
		if (o.op != ORDER_RUN || !order_is_right(t, ctx, c, &o, done)) {
			err_set(&e, EPROTO, "refused: not a row of the container's first process, "
					    "or out of order");
			report_failure(c->init, o.first, &e);
		}
		run_batch(t, ctx, c, o.first, o.last);
		done = o.last + 1;
	}
	raw_exit(1);
}

/* --- the parent's side --- */

struct driver {
	const struct step_table *t;
	void *ctx;
	struct step_channel *c;
	size_t started; /* the row INIT started with by itself, t->n = none */
	size_t logged;  /* the rows before this one are in the log */
	bool done[MAX_ROWS];
};

/* INIT has hung up where it must not: how did it end, and in which row? */
static int init_died(struct driver *d, size_t first, size_t last, struct err *e)
{
	uint32_t at = d->c->at ? *d->c->at : NO_ROW;
	struct ns_exit x;
	char how[64];
	int r;

	/* It is dying already; the signal changes nothing then, and keeps us from waiting for ever
	 * if it is not. */
	raw_call(SYS_kill, d->c->child.pid, SIGKILL);
	r = ns_reap(d->c->child.pidfd, &x, NULL, e);
	if (r < 0)
		return r;
	ns_child_release(&d->c->child);
	ns_exit_text(&x, how, sizeof(how));
	if (at >= first && at <= last)
		return err_set(e, ECHILD, "%s: the container's first process %s",
			       d->t->rows[at].name, how);
	if (first == last)
		return err_set(e, ECHILD, "%s: the container's first process %s",
			       d->t->rows[first].name, how);
	return err_set(e, ECHILD, "%s ... %s: the container's first process %s",
		       d->t->rows[first].name, d->t->rows[last].name, how);
}

static int bad_report(struct driver *d, size_t first, const struct report *rep, struct err *e)
{
	size_t row = rep->row < d->t->n ? rep->row : first;

	*e = rep->err;
	e->msg[sizeof(e->msg) - 1] = '\0';
	if (e->code <= 0)
		e->code = EPROTO;
	return err_wrap(e, "%s", d->t->rows[row].name);
}

/* True when the caller wants to stop before INIT has answered. */
static bool interrupted(const struct step_channel *c)
{
	struct pollfd p[] = {{c->parent, POLLIN, 0}, {c->interrupt, POLLIN, 0}};
	long r;

	if (c->interrupt < 0)
		return false;
	do
		r = raw_call(SYS_ppoll, (long)p, 2, 0, 0, 8);
	while (r == -EINTR);
	return r > 0 && !p[0].revents && p[1].revents;
}

/* Waits for the answer to the batch first..last. */
static int await(struct driver *d, size_t first, size_t last, struct err *e)
{
	size_t exec = exec_row(d->t, d->ctx);
	struct report rep;
	long n;

	if (interrupted(d->c))
		return err_set(e, EINTR, "%s: interrupted", d->t->rows[first].name);
	n = raw_read(d->c->parent, &rep, sizeof(rep));

	if (n == 0 || n == -ECONNRESET) {
		if (last == exec && (!d->c->at || *d->c->at == exec))
			return 0;
		return init_died(d, first, last, e);
	}
	if (n == sizeof(rep) && rep.failed)
		return bad_report(d, first, &rep, e);
	if (n != offsetof(struct report, err) || rep.failed || rep.row != last)
		return err_set(e, EPROTO, "%s: unexpected answer of the container's first process",
			       d->t->rows[first].name);
	return 0;
}

/* The rows before `first` that run while INIT does. */
static int run_beside(struct driver *d, size_t first, struct err *e)
{
	size_t from = first;
	int r = 0;

	while (from > 0 && (d->t->rows[from - 1].actor == STEP_BESIDE ||
			    !applies(d->t, d->ctx, from - 1)))
		from--;
	for (; from < first && r == 0; from++)
		if (d->t->rows[from].actor == STEP_BESIDE && applies(d->t, d->ctx, from))
			r = run_row(d->t, from, d->ctx, e) < 0
				    ? err_wrap(e, "%s", d->t->rows[from].name) : 0;
	return r;
}

/* *row is the first row of the batch, and becomes its last. */
static int parent_batch(struct driver *d, size_t *row, struct err *e)
{
	size_t first = *row, last = batch_last(d->t, d->ctx, d->c, first);
	struct order o = {.op = ORDER_RUN, .first = (uint32_t)first, .last = (uint32_t)last};

	*row = last;
	if (d->c->child.pidfd < 0)
		return err_set(e, EPROTO, "%s: no process has been made for it",
			       d->t->rows[first].name);
	if (d->started != first && send_message(d->c->parent, &o, sizeof(o)) < 0)
		return init_died(d, first, last, e);
	if (run_beside(d, first, e) < 0)
		return -e->code;
	return await(d, first, last, e);
}

static int release(struct driver *d, size_t row, struct err *e)
{
	struct order o = {.op = ORDER_RELEASE};

	if (d->c->child.pidfd < 0)
		return err_set(e, EPROTO, "%s: no process has been made for it",
			       d->t->rows[row].name);
	if (send_message(d->c->parent, &o, sizeof(o)) < 0)
		return init_died(d, row, row, e);
	d->c->released = true;
	return 0;
}

static int parent_row(struct driver *d, size_t i, struct err *e)
{
	const struct step *row = &d->t->rows[i];
	int r = run_row(d->t, i, d->ctx, e);

	if (r < 0)
		return err_wrap(e, "%s", row->name);
	d->done[i] = true;
	if (row->actor != STEP_SPAWN)
		return 0;
	/* With our copy of INIT's end closed, its death is seen as end of file. */
	raw_close(d->c->init);
	d->c->init_closed = true;
	i = next_in_turn(d->t, d->ctx, i + 1);
	if (i < d->t->n && d->t->rows[i].actor == STEP_INIT)
		d->started = i;
	return 0;
}

/* For --debug: the rows up to `last`, which are done. Not while INIT works in our memory. */
static void log_rows(struct driver *d, size_t last)
{
	if (!log_enabled(LOG_LEVEL_DEBUG))
		return;
	for (; d->logged <= last; d->logged = next_row(d->t, d->ctx, d->logged + 1))
		if (applies(d->t, d->ctx, d->logged))
			log_debug("%s: %s", actors[d->t->rows[d->logged].actor],
				  d->t->rows[d->logged].name);
}

static int drive(struct driver *d, struct err *e)
{
	int r = 0;

	for (size_t i = next_row(d->t, d->ctx, 0); i < d->t->n && r == 0;
	     i = next_row(d->t, d->ctx, i + 1)) {
		switch (d->t->rows[i].actor) {
		case STEP_PARENT:
		case STEP_SPAWN:
			r = parent_row(d, i, e);
			break;
		case STEP_INIT:
			r = parent_batch(d, &i, e);
			break;
		case STEP_BESIDE:
			continue; /* when its INIT rows have their order */
		case STEP_ALONE:
			return release(d, i, e);
		}
		if (r == 0 && d->t->rows[i].actor != STEP_SPAWN)
			log_rows(d, i);
	}
	return r;
}

static void undo(struct driver *d)
{
	for (size_t i = d->t->n; i-- > 0;) {
		if (d->done[i] && d->t->rows[i].undo)
			d->t->rows[i].undo(d->ctx);
	}
}

/* After the exec INIT does not use our memory any more. */
static void free_stack(struct ns_child *c)
{
	clone_stack_unmap(&(struct clone_stack){.base = c->stack, .len = c->stack_len});
	c->stack = NULL;
}

int steps_run(const struct step_table *t, void *ctx, struct step_channel *c, struct err *e)
{
	struct driver d = {.t = t, .ctx = ctx, .c = c, .started = t->n};
	int r;

	if (t->n > MAX_ROWS)
		return err_set(e, E2BIG, "the step table has more than %d rows", MAX_ROWS);
	r = drive(&d, e);
	if (r < 0) {
		ns_child_kill(&c->child);
		undo(&d);
		return r;
	}
	if (exec_row(t, ctx) < t->n)
		free_stack(&c->child);
	return 0;
}

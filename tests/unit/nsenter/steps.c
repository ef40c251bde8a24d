/* SPDX-License-Identifier: Apache-2.0 */
/* The step driver: order, batches, errors, deaths, end of file. Runs without privileges. */
#include "nsenter/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nsenter/signals.h"
#include "tests/unit/nsenter/spawner.h"
#include "tests/unit/test.h"

static int undone[64], n_undone;

/* Row k of the table is this function with its own number. */
static int act(struct box *b, int k, struct err *e)
{
	mark(b, k);
	if (b->die_at == k)
		kill(getpid(), SIGKILL);
	if (b->fail_at == k)
		return err_set(e, EDOM, "row %d fails", k);
	return 0;
}

#define ROW(k)                                          \
	static int row##k(void *ctx, struct err *e)     \
	{                                               \
		return act(ctx, k, e);                  \
	}                                               \
	__attribute__((unused)) static void undo##k(void *ctx) \
	{                                               \
		(void)ctx;                              \
		undone[n_undone++] = k;                 \
	}
ROW(0) ROW(1) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8)
ROW(9)

static int row2(void *ctx, struct err *e)
{
	mark(ctx, 2);
	return row_spawn(ctx, e);
}

static int row10(void *ctx, struct err *e)
{
	int r = act(ctx, 10, e);

	return r < 0 ? r : row_exec(ctx, e);
}

static int row11(void *ctx, struct err *e)
{
	return act(ctx, 11, e);
}

static bool never(const void *ctx)
{
	(void)ctx;
	return false;
}

#define PARENT(k) {"p" #k, STEP_PARENT, NULL, row##k, undo##k}
#define INIT(k) {"i" #k, STEP_INIT, NULL, row##k, NULL}

static const struct step at_once_rows[] = {
	PARENT(0), PARENT(1), {"spawn", STEP_SPAWN, NULL, row2, NULL},
	{"i3", STEP_INIT, never, row3, NULL}, INIT(4), INIT(5), PARENT(6), INIT(7),
	{"p8", STEP_PARENT, never, row8, undo8}, INIT(9), {"exec", STEP_INIT, NULL, row10, NULL},
	PARENT(1), /* after the exec */
};
static const struct step waiting_rows[] = {
	PARENT(0), PARENT(1), {"spawn", STEP_SPAWN, NULL, row2, NULL}, PARENT(3), INIT(4), INIT(5),
	PARENT(6), PARENT(7), INIT(8), INIT(9), {"exec", STEP_INIT, NULL, row10, NULL},
	{"p11", STEP_PARENT, NULL, row11, NULL},
};
static const struct step_table at_once = {at_once_rows, 12, NULL};
static const struct step_table waiting = {waiting_rows, 12, NULL};

static void check_trail(const struct box *b, const int *want, int n)
{
	CHECK_INT(b->seen->n_trail, n);
	for (int i = 0; i < n && i < b->seen->n_trail; i++)
		CHECK_INT(b->seen->trail[i], want[i]);
}

static int exit_code(struct box *b)
{
	struct ns_exit x = {.status = -1};
	struct err e;

	if (b->chan.child.pidfd < 0 || ns_reap(b->chan.child.pidfd, &x, NULL, &e) < 0)
		return -1;
	return x.signal ? 128 + x.signal : x.status;
}

static bool no_children(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void order(void)
{
	static const int first[] = {0, 1, 2, 4, 5, 6, 7, 9, 10, 1};
	static const int second[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	struct err e = {0};
	struct box b;

	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &at_once, 0, vm);
		CHECK_INT(steps_run(&at_once, &b, &b.chan, &e), 0);
		check_trail(&b, first, 10);
		CHECK_INT(exit_code(&b), 0);
		CHECK(b.chan.child.stack == NULL);
		box_free(&b);
		box_init(&b, &waiting, 0, vm);
		CHECK_INT(steps_run(&waiting, &b, &b.chan, &e), 0);
		check_trail(&b, second, 12);
		CHECK_INT(exit_code(&b), 0);
		box_free(&b);
	}
	CHECK(no_children());
}

/* Each row fails once: the error has its name, what was done is undone backwards. */
static void failures(void)
{
	struct err e;
	struct box b;
	char want[64];

	for (int k = 0; k < 24; k++) {
		const struct step *row = &waiting_rows[k / 2];
		int last = -1;

		if (k / 2 == 2)
			continue;
		e = (struct err){0};
		n_undone = 0;
		box_init(&b, &waiting, 0, k % 2);
		b.fail_at = k / 2;
		CHECK_INT(steps_run(&waiting, &b, &b.chan, &e), -EDOM);
		CHECK_INT(e.code, EDOM);
		snprintf(want, sizeof(want), "%s: row %d fails", row->name, k / 2);
		CHECK_STR(e.msg, want);
		for (int i = 0; i < n_undone; i++) {
			CHECK(last < 0 || undone[i] < last);
			CHECK(undone[i] < k / 2);
			last = undone[i];
		}
		CHECK_INT(n_undone, k / 2 == 0 ? 0 : k / 2 == 1 ? 1 : k / 2 == 3 ? 2 :
					k / 2 <= 6 ? 3 : k / 2 == 7 ? 4 : 5);
		CHECK_INT(b.chan.child.pidfd, -1);
		CHECK(no_children());
		box_free(&b);
	}
}

/* SIGKILL in each INIT row but the exec: the row and the death are named. */
static void deaths(void)
{
	static const int rows[] = {4, 5, 8, 9};
	struct err e;
	struct box b;
	char want[128];

	for (int k = 0; k < 8; k++) {
		int row = rows[k / 2];

		e = (struct err){0};
		box_init(&b, &waiting, 0, k % 2);
		b.die_at = row;
		CHECK_INT(steps_run(&waiting, &b, &b.chan, &e), -ECHILD);
		snprintf(want, sizeof(want), "i%d: the container's first process was killed by "
					     "SIGKILL (out of memory?)", row);
		CHECK_STR(e.msg, want);
		CHECK(no_children());
		box_free(&b);
	}
}

static void exec_fails(void)
{
	static const char *const argv[] = {"/does/not/exist", NULL};
	struct err e = {0};
	struct box b;

	box_init(&b, &waiting, 0, true);
	b.argv = argv;
	CHECK_INT(steps_run(&waiting, &b, &b.chan, &e), -ENOENT);
	CHECK_STR(e.msg, "exec: /does/not/exist: No such file or directory");
	CHECK(no_children());
	box_free(&b);
}

static int exits(void *ctx, struct err *e)
{
	(void)ctx, (void)e;
	_exit(3);
}

static int nothing(void *ctx, struct err *e)
{
	(void)ctx, (void)e;
	return 0;
}

static void ends_of_file(void)
{
	static const struct step early[] = {
		{"spawn", STEP_SPAWN, NULL, row2, NULL},
		{"one", STEP_INIT, NULL, exits, NULL},
		{"exec", STEP_INIT, NULL, row10, NULL},
	};
	static const struct step no_exec[] = {
		{"spawn", STEP_SPAWN, NULL, row2, NULL},
		{"exec", STEP_INIT, NULL, nothing, NULL},
	};
	static const struct step_table early_table = {early, 3, NULL}, no_exec_table = {no_exec, 2, NULL};
	struct err e = {0};
	struct box b;

	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &early_table, 0, vm);
		CHECK_INT(steps_run(&early_table, &b, &b.chan, &e), -ECHILD);
		CHECK_STR(e.msg, "one: the container's first process exited with status 3");
		box_free(&b);
		box_init(&b, &no_exec_table, 0, vm);
		CHECK_INT(steps_run(&no_exec_table, &b, &b.chan, &e), -ENOEXEC);
		CHECK_STR(e.msg, "exec: returned without exec");
		box_free(&b);
	}
	CHECK(no_children());
}

struct raw_order {
	uint32_t op, first, last;
};

struct raw_report {
	uint32_t row, failed;
	struct err err;
};

/* INIT against a parent that gives wrong orders: op, first, last; it must refuse and exit 1. */
static void refuse(const struct raw_order *orders, int n)
{
	struct raw_report rep;
	struct err e;
	struct box b;
	ssize_t got = 0;

	box_init(&b, &waiting, 0, false);
	CHECK_INT(row_spawn(&b, &e), 0);
	close(b.chan.init);
	b.chan.init_closed = true;
	for (int i = 0; i < n; i++) {
		CHECK(send(b.chan.parent, &orders[i], sizeof(orders[i]), MSG_NOSIGNAL) > 0);
		got = read(b.chan.parent, &rep, sizeof(rep));
		if (i < n - 1)
			CHECK_INT(got, 8);
	}
	CHECK_INT(got, sizeof(rep));
	CHECK(rep.failed && rep.err.code == EPROTO);
	CHECK_INT(exit_code(&b), 1);
	box_free(&b);
}

static void refusals(void)
{
	refuse((struct raw_order[]){{1, 3, 3}}, 1);             /* a PARENT row */
	refuse((struct raw_order[]){{1, 4, 9}}, 1);             /* beyond the batch */
	refuse((struct raw_order[]){{1, 4, 4}}, 1);             /* less than it */
	refuse((struct raw_order[]){{1, 4000000000U, 4}}, 1);   /* outside of the table */
	refuse((struct raw_order[]){{7, 4, 5}}, 1);             /* no such order */
	refuse((struct raw_order[]){{1, 4, 5}, {1, 4, 5}}, 2);  /* again */
	CHECK(no_children());
}

/* The parent goes away: INIT ends by itself, whatever it waits for. */
static void parent_gone(void)
{
	struct err e;
	struct box b;

	box_init(&b, &waiting, 0, false);
	CHECK_INT(row_spawn(&b, &e), 0);
	close(b.chan.parent);
	b.chan.parent = -1;
	CHECK_INT(exit_code(&b), 1);
	box_free(&b);
}

static int alone_row(void *ctx, struct err *e)
{
	struct box *b = ctx;

	(void)e;
	mark(b, 50);
	return b->fail_at == 50 ? err_set(e, EDOM, "bad start") : 0;
}

static void alone_failed(void *ctx, const struct err *e)
{
	if (strcmp(e->msg, "start: bad start") == 0)
		mark(ctx, 51);
}

static void alone(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row2, NULL}, INIT(4), PARENT(6),
		{"start", STEP_ALONE, NULL, alone_row, NULL},
		{"exec", STEP_ALONE, NULL, row_exec, NULL},
	};
	static const struct step_table t = {rows, 5, alone_failed};
	static const int before[] = {2, 4, 6}, after[] = {2, 4, 6, 50}, bad[] = {2, 4, 6, 50, 51};
	struct err e = {0};
	struct box b;

	for (int fail = 0; fail < 2; fail++) {
		box_init(&b, &t, 0, false);
		b.fail_at = fail ? 50 : -1;
		CHECK_INT(steps_run(&t, &b, &b.chan, &e), 0);
		check_trail(&b, before, 3); /* it waits for our end */
		close(b.chan.parent);
		b.chan.parent = -1;
		CHECK_INT(exit_code(&b), fail);
		if (fail)
			check_trail(&b, bad, 5);
		else
			check_trail(&b, after, 4);
		box_free(&b);
	}
}

/* With shared memory INIT must not go on before the other side has exited, not just closed. */
static void alone_shared(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row2, NULL},
		{"start", STEP_ALONE, NULL, alone_row, NULL},
		{"exec", STEP_ALONE, NULL, row_exec, NULL},
	};
	static const struct step_table t = {rows, 3, NULL};
	static struct box b;
	struct seen *seen;
	struct err e;
	int status;
	pid_t parent;

	box_init(&b, &t, 0, true);
	seen = b.seen;
	CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	parent = fork();
	if (parent == 0) {
		int r = steps_run(&t, &b, &b.chan, &e);
		bool shared = b.chan.child.stack;

		steps_close(&b.chan);
		usleep(50000);
		_exit(r == 0 && (!shared || seen->n_trail == 1) ? 0 : 1);
	}
	CHECK(waitpid(parent, &status, 0) == parent);
	CHECK_INT(status, 0);
	CHECK(waitpid(-1, &status, 0) > 0);
	CHECK_INT(status, 0);
	CHECK_INT(seen->n_trail, 2);
	box_free(&b);
}

static void no_init_at_all(void)
{
	static const struct step rows[] = {PARENT(0), PARENT(1)};
	static const struct step_table t = {rows, 2, NULL};
	static const struct step orphan[] = {PARENT(0), INIT(4)};
	static const struct step_table bad = {orphan, 2, NULL};
	struct err e = {0};
	struct box b;

	box_init(&b, &t, 0, true);
	CHECK_INT(steps_run(&t, &b, &b.chan, &e), 0);
	CHECK_INT(steps_run(&bad, &b, &b.chan, &e), -EPROTO);
	CHECK_STR(e.msg, "i4: no process has been made for it");
	box_free(&b);
}

static void trace(void)
{
	char buf[2048] = "";
	struct err e;
	struct box b;
	int p[2];

	CHECK_INT(pipe2(p, O_CLOEXEC), 0);
	steps_trace(p[1]);
	box_init(&b, &at_once, 0, true);
	CHECK_INT(steps_run(&at_once, &b, &b.chan, &e), 0);
	steps_trace(-1);
	CHECK_INT(exit_code(&b), 0);
	CHECK(read(p[0], buf, sizeof(buf) - 1) > 0);
	CHECK(strstr(buf, "\ti4\t") && strstr(buf, "\tspawn\t2\n") && strncmp(buf, "parent\t", 7) == 0);
	close(p[0]);
	close(p[1]);
	box_free(&b);
}

TEST_MAIN(TEST(order), TEST(failures), TEST(deaths), TEST(exec_fails), TEST(ends_of_file),
	  TEST(refusals), TEST(parent_gone), TEST(alone),
	  TEST(alone_shared), TEST(no_init_at_all), TEST(trace))

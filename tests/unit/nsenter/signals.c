/* SPDX-License-Identifier: Apache-2.0 */
/* The foreground wait: what is forwarded, how an end is told, and dying with the parent. */
#include "nsenter/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "nsenter/ns.h"
#include "tests/unit/nsenter/spawner.h"
#include "tests/unit/test.h"

/* Runs `sh -c script` to its end while we get `sig` (0 = none), which is to be forwarded. */
static struct ns_exit wait_for(const char *script, int sig, struct rusage *usage)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	struct ns_exit x = {.status = -1};
	struct err e = {0};
	sigset_t old;
	struct box b;
	struct ns_wait w = {.sigfd = ns_signals_open(&old, &e)};

	CHECK(w.sigfd >= 0);
	box_init(&b, &no_maps, 0, true);
	b.argv = argv;
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), 0);
	w.pidfd = b.chan.child.pidfd;
	if (sig)
		kill(getpid(), sig);
	CHECK_INT(ns_wait(&w, &x, usage, &e), 0);
	close(w.sigfd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	box_free(&b);
	return x;
}

static void ends(void)
{
	struct rusage usage = {0};
	struct ns_exit x = wait_for("exit 7", 0, &usage);
	char buf[64];

	CHECK(x.status == 7 && x.signal == 0);
	CHECK(usage.ru_maxrss > 0);
	CHECK_STR(ns_exit_text(&x, buf, sizeof(buf)), "exited with status 7");
	x = wait_for("kill -9 $$", 0, NULL);
	CHECK(x.signal == SIGKILL && x.status == 0);
	CHECK_STR(ns_exit_text(&x, buf, sizeof(buf)), "was killed by SIGKILL (out of memory?)");
	x = wait_for("kill -40 $$", 0, NULL);
	CHECK_STR(ns_exit_text(&x, buf, sizeof(buf)), "was killed by signal 40");
}

static void forwarded(void)
{
	static const int sigs[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, 45};

	/* A signal that we get before the program is there arrives all the same. */
	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		CHECK_INT(wait_for("sleep 20", sigs[i], NULL).signal, sigs[i]);
	CHECK_INT(wait_for("sleep 0.1; exit 3", SIGWINCH, NULL).status, 3);
}

/* A caller that ignores SIGCHLD would let the kernel reap INIT, and its status were lost. */
static void ignored_sigchld(void)
{
	signal(SIGCHLD, SIG_IGN);
	CHECK_INT(wait_for("exit 5", 0, NULL).status, 5);
}

static int handled;

static bool handle(int sig, void *arg)
{
	(void)arg;
	handled = sig;
	return sig == SIGWINCH;
}

static void handler(void)
{
	struct err e = {0};
	sigset_t old;
	int fd = ns_signals_open(&old, &e);
	struct ns_wait w = {.sigfd = fd, .handle = handle};
	struct ns_exit x;
	pid_t pid = fork();

	if (pid == 0) {
		kill(getppid(), SIGWINCH);
		usleep(20000);
		_exit(4);
	}
	w.pidfd = sys_pidfd_open(pid, 0);
	CHECK_INT(ns_wait(&w, &x, NULL, &e), 0);
	CHECK_INT(x.status, 4);
	CHECK_INT(handled, SIGWINCH);
	CHECK_INT(ns_signals_next(fd), 0);
	close(w.pidfd);
	close(fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* --- dying with the parent --- */

static int row_die_with_parent(void *ctx, struct err *e)
{
	struct box *b = ctx;

	return ns_die_with_parent(b->chan.init, e);
}

static int row_wait_for_hangup(void *ctx, struct err *e)
{
	struct box *b = ctx;
	struct pollfd p = {.fd = b->chan.init};

	(void)e;
	/* The driver's parent is killed while we are here, before the prctl. */
	poll(&p, 1, 20000);
	return 0;
}

static const struct step die_rows[] = {
	{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
	{"die with parent", STEP_INIT, NULL, row_die_with_parent, NULL},
	{"exec", STEP_INIT, NULL, row_exec, NULL},
};
static const struct step race_rows[] = {
	{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
	{"wait", STEP_INIT, NULL, row_wait_for_hangup, NULL},
	{"die with parent", STEP_INIT, NULL, row_die_with_parent, NULL},
	{"exec", STEP_INIT, NULL, row_exec, NULL},
};
static const struct step_table die_table = {die_rows, 3, NULL}, race_table = {race_rows, 4, NULL};

/* A process that runs the table, says INIT's pid and is killed; then INIT must be gone. */
static void parent_killed(const struct step_table *t, bool before_exec)
{
	static const char *const argv[] = {"/bin/sleep", "20", NULL};
	pid_t *init = mmap(NULL, sizeof(*init), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	int p[2], status;
	pid_t parent;
	char c;

	CHECK_INT(pipe(p), 0);
	CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	parent = fork();
	if (parent == 0) {
		struct err e;
		struct box b;

		box_init(&b, t, 0, false);
		b.argv = argv;
		if (before_exec) {
			row_spawn(&b, &e);
			*init = b.chan.child.pid;
			_exit(0);
		}
		if (steps_run(t, &b, &b.chan, &e) == 0)
			*init = b.chan.child.pid;
		if (write(p[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	if (!before_exec) {
		CHECK_INT(read(p[0], &c, 1), 1);
		kill(parent, SIGKILL);
	}
	CHECK(waitpid(parent, &status, 0) == parent);
	CHECK(*init > 0);
	CHECK(waitpid(*init, &status, 0) == *init); /* hangs when it lives on */
	/* Before the exec either the error or, when the parent is still at dying, the signal. */
	CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
	      (before_exec && WIFEXITED(status) && WEXITSTATUS(status) == 1));
	close(p[0]);
	close(p[1]);
	munmap(init, sizeof(*init));
}

static void die_with_parent(void)
{
	parent_killed(&die_table, false);
	parent_killed(&race_table, true);
}

TEST_MAIN(TEST(ends), TEST(forwarded), TEST(ignored_sigchld), TEST(handler), TEST(die_with_parent))

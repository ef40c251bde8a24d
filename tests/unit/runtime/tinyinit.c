/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiny init as pid 1 of real user and pid namespaces: status, orphans, forwarded signals, what
 * it gave up, and its end with its parent. Without user namespaces the tests say so and pass.
 */
#include "runtime/tinyinit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/test.h"

struct box {
	pid_t init;
	int status_fd;
	int talk[2]; /* the payload's pipe to the test */
};

/* In the new namespaces: the payload as a child, then the tiny init. */
static _Noreturn void be_init(int fd, int status_fd, int pdeathsig, void (*payload)(int), int talk)
{
	struct tinyinit t = {.fd = fd, .status_fd = status_fd, .uid = 65534, .gid = 65534,
			     .pdeathsig = pdeathsig};
	sigset_t all, none;
	struct err e;

	/* As the launch does: what comes before the tiny init listens must not be lost. */
	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);
	t.payload = fork();
	if (t.payload == 0) {
		sigprocmask(SIG_SETMASK, &none, NULL);
		close(status_fd);
		payload(talk);
		_exit(0);
	}
	tinyinit_exec(&t, &e);
	fprintf(stderr, "%s\n", e.msg);
	_exit(99);
}

static bool box_start(struct box *b, void (*payload)(int), int pdeathsig)
{
	struct clone_args args = {.flags = CLONE_NEWUSER | CLONE_NEWPID, .exit_signal = SIGCHLD};
	struct err e;
	int fd = tinyinit_open(&e), status[2];

	CHECK(fd >= 0);
	CHECK(pipe2(status, O_CLOEXEC) == 0 && pipe2(b->talk, O_CLOEXEC) == 0);
	b->init = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (b->init == 0)
		be_init(fd, status[1], pdeathsig, payload, b->talk[1]);
	close(fd);
	close(status[1]);
	close(b->talk[1]);
	b->status_fd = status[0];
	if (b->init > 0)
		return true;
	printf("# no user namespaces here: %s\n", strerror(errno));
	return false;
}

/* The payload's status; -1 when the init ended without one. */
static int box_end(struct box *b)
{
	int status = -1, init_status;
	ssize_t n = read(b->status_fd, &status, sizeof(status));

	CHECK(waitpid(b->init, &init_status, 0) == b->init);
	close(b->status_fd);
	close(b->talk[0]);
	return n == sizeof(status) ? status : -1;
}

static void exit_seven(int talk)
{
	(void)talk;
	_exit(7);
}

static void exit_status(void)
{
	struct box b;
	int status;

	if (!box_start(&b, exit_seven, 0))
		return;
	status = box_end(&b);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 7);
}

static void kill_self(int talk)
{
	(void)talk;
	raise(SIGTERM);
	pause();
}

static void signal_status(void)
{
	struct box b;
	int status;

	if (!box_start(&b, kill_self, 0))
		return;
	status = box_end(&b);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGTERM);
}

/* Leaves 50 orphans, which pid 1 must reap; then one that would live on. */
static void make_orphans(int talk)
{

	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				_exit(i);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (fork() == 0) {
		pause();
		_exit(0);
	}
	(void)!write(talk, "x", 1);
	_exit(3);
}

static void orphans(void)
{
	struct box b;
	int status;
	char c;

	if (!box_start(&b, make_orphans, 0))
		return;
	status = box_end(&b);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	/* box_end closed the pipe; a second box shows that its end closes when all is dead. */
	if (!box_start(&b, make_orphans, 0))
		return;
	CHECK_INT(read(b.talk[0], &c, 1), 1);
	CHECK_INT(read(b.talk[0], &c, 1), 0);
	box_end(&b);
}

static void on_term(int sig)
{
	_exit(sig == SIGTERM ? 42 : 43);
}

static void wait_for_term(int talk)
{
	signal(SIGTERM, on_term);
	(void)!write(talk, "x", 1);
	pause();
	_exit(1);
}

static void forwards_signals(void)
{
	struct box b;
	int status;
	char c;

	if (!box_start(&b, wait_for_term, 0))
		return;
	CHECK_INT(read(b.talk[0], &c, 1), 1);
	kill(b.init, SIGTERM);
	status = box_end(&b);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 42);
}

static void wait_forever(int talk)
{
	(void)!write(talk, "x", 1);
	pause();
}

static void status_line(pid_t pid, const char *key, char *buf, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			snprintf(buf, size, "%s", line + strlen(key) + 2);
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
}

/* The init gives up its privileges after the payload has begun: wait until its filter is there. */
static void wait_for_filter(pid_t pid)
{
	char buf[256];

	for (int i = 0; i < 1000; i++) {
		status_line(pid, "Seccomp", buf, sizeof(buf));
		if (strcmp(buf, "2") == 0)
			return;
		poll(NULL, 0, 1);
	}
}

static void gives_up_privileges(void)
{
	char buf[256], path[64];
	struct box b;
	char c;

	if (!box_start(&b, wait_forever, 0))
		return;
	CHECK_INT(read(b.talk[0], &c, 1), 1);
	wait_for_filter(b.init);
	status_line(b.init, "Seccomp", buf, sizeof(buf));
	CHECK_STR(buf, "2");
	status_line(b.init, "NoNewPrivs", buf, sizeof(buf));
	CHECK_STR(buf, "1");
	status_line(b.init, "CapPrm", buf, sizeof(buf));
	CHECK_STR(buf, "0000000000000000");
	status_line(b.init, "Name", buf, sizeof(buf));
	CHECK_STR(buf, "brig-init");
	snprintf(path, sizeof(path), "/proc/%d/fd/1", b.init);
	CHECK(access(path, F_OK) < 0);
	kill(b.init, SIGKILL);
	CHECK_INT(box_end(&b), -1);
}

/* A process between the test and the init dies; pid 1 and all below it must follow. */
static void dies_with_parent(void)
{
	int life[2];
	pid_t middle;
	char c;

	CHECK(pipe2(life, O_CLOEXEC) == 0);
	middle = fork();
	if (middle == 0) {
		struct box b;

		close(life[0]); /* life[1] is inherited by the payload alone, exec closes it in init */
		if (!box_start(&b, wait_forever, SIGKILL))
			_exit(0);
		(void)!read(b.talk[0], &c, 1);
		wait_for_filter(b.init);
		_exit(0);
	}
	close(life[1]);
	CHECK(waitpid(middle, NULL, 0) == middle);
	CHECK_INT(read(life[0], &c, 1), 0);
	close(life[0]);
}

static void memfd_is_sealed(void)
{
	struct err e;
	int fd = tinyinit_open(&e);

	CHECK(fd >= 0);
	CHECK(write(fd, "x", 1) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 0) < 0);
	close(fd);
}

TEST_MAIN(TEST(exit_status), TEST(signal_status), TEST(orphans), TEST(forwards_signals),
	  TEST(gives_up_privileges), TEST(dies_with_parent), TEST(memfd_is_sealed))

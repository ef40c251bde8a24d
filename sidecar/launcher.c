/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"

enum { SEND_MS = 5000 };
enum { END_MS = 5000 }; /* for sandboxes whose brigd is gone */
enum { FIRST_FD = 16 }; /* what comes in never has a number that a child's descriptor gets */

static int channel = -1;
static pid_t launcher;

/* ---- the launcher ---- */

struct child_setup {
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
};

static int prepare(struct child_setup *s, const int *fds, size_t n)
{
	sigset_t none, all;
	int r = 0;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&s->actions);
	posix_spawnattr_init(&s->attr);
	posix_spawnattr_setflags(&s->attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						   POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&s->attr, &none);
	posix_spawnattr_setsigdefault(&s->attr, &all);
	posix_spawnattr_setpgroup(&s->attr, 0);
	for (size_t i = 0; i < n && r == 0; i++)
		r = posix_spawn_file_actions_adddup2(&s->actions, fds[i], (int)(i < 2 ? i : i + 1));
	return r;
}

static int start_child(const char *brig, char **argv, const int *fds, size_t n)
{
	struct child_setup s;
	pid_t pid;
	int r = prepare(&s, fds, n), pidfd;

	if (r == 0)
		r = posix_spawn(&pid, brig, &s.actions, &s.attr, argv, environ);
	posix_spawn_file_actions_destroy(&s.actions);
	posix_spawnattr_destroy(&s.attr);
	if (r)
		return -r;
	pidfd = sys_pidfd_open(pid, 0); /* it is not reaped before the next turn */
	return pidfd < 0 ? -errno : pidfd;
}

static void answer(int pidfd)
{
	int code = pidfd < 0 ? pidfd : 0;
	struct iovec iov = {&code, sizeof(code)};
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (pidfd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &pidfd, sizeof(int));
	}
	if (sendmsg(channel, &m, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* One datagram; the number of bytes, 0 at the end. */
static ssize_t receive(char *buf, size_t size, int *fds, size_t *n_fds)
{
	union { struct cmsghdr align; char buf[CMSG_SPACE(LAUNCH_FDS_MAX * sizeof(int))]; } control;
	struct iovec iov = {buf, size};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC);

	*n_fds = 0;
	for (struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *n_fds * sizeof(int));
	}
	return n;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether there are others that have not ended. */
static bool reap(void)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG);
	} while (pid > 0);
	return pid == 0;
}

/* brigd is gone, or about to: its sandboxes end because nobody reads their results. They get the
 * time to remove what they made, as long as a service manager spares us. */
static _Noreturn void end(int signals)
{
	struct pollfd p = {.fd = signals, .events = POLLIN};
	struct signalfd_siginfo si;
	int64_t until = now_ms() + END_MS;

	while (reap()) {
		int64_t left = until - now_ms();

		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			break;
		while (read(signals, &si, sizeof(si)) > 0)
			;
	}
	_exit(0);
}

static void serve_one(const char *brig, char *buf, int signals)
{
	char *argv[256];
	int fds[LAUNCH_FDS_MAX], pidfd;
	size_t n_fds, n = 0;
	ssize_t len = receive(buf, LAUNCH_BYTES_MAX, fds, &n_fds);

	if (len <= 0)
		end(signals);
	for (char *p = buf; p < buf + len && n < 255; p += strlen(p) + 1)
		argv[n++] = p;
	argv[n] = NULL;
	pidfd = start_child(brig, argv, fds, n_fds);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	answer(pidfd);
	cleanup_close(&pidfd);
}

static _Noreturn void serve(const char *brig)
{
	char *buf = xrealloc(NULL, LAUNCH_BYTES_MAX + 1);
	struct pollfd p[2] = {{.fd = channel, .events = POLLIN}, {.events = POLLIN}};
	struct signalfd_siginfo si;
	sigset_t all, child;

	prctl(PR_SET_NAME, "brigd-launcher");
	sigfillset(&all); /* a Ctrl-C is brigd's business */
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	p[1].fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	for (int fd = open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0 && fd < FIRST_FD;)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	buf[LAUNCH_BYTES_MAX] = '\0';
	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		while (read(p[1].fd, &si, sizeof(si)) > 0)
			;
		reap();
		if (p[0].revents)
			serve_one(brig, buf, p[1].fd);
	}
}

/* ---- brigd ---- */

int launcher_start(const char *brig, struct err *e)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "start the launcher: socketpair");
	pid = fork();
	if (pid < 0)
		return err_sys(e, "start the launcher: fork");
	launcher = pid;
	channel = pair[pid == 0];
	close(pair[pid != 0]);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		/* What a sandbox's brig has to say is in its result. */
		if (null < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(1);
		serve(brig);
	}
	return 0;
}

void launcher_stop(void)
{
	shutdown(channel, SHUT_RDWR);
	while (waitpid(launcher, NULL, 0) < 0 && errno == EINTR)
		;
}

int launcher_descriptor(void)
{
	return channel;
}

int launcher_send(const struct launch_request *q, struct err *e)
{
	union { struct cmsghdr align; char buf[CMSG_SPACE(LAUNCH_FDS_MAX * sizeof(int))]; } control = {0};
	auto_strbuf struct strbuf b = {0};
	struct iovec iov;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			   .msg_controllen = CMSG_SPACE(q->n_fds * sizeof(int))};

	for (size_t i = 0; i < q->argv->n; i++)
		strbuf_add(&b, q->argv->v[i], strlen(q->argv->v[i]) + 1);
	if (b.len > LAUNCH_BYTES_MAX || q->n_fds > LAUNCH_FDS_MAX)
		return err_set(e, E2BIG, "start a sandbox: too many arguments");
	iov = (struct iovec){b.p, b.len};
	control.align = (struct cmsghdr){CMSG_LEN(q->n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.align), q->fds, q->n_fds * sizeof(int));
	/* It takes one after the other, and never waits for us: there is room for its answers. */
	while (sendmsg(channel, &m, MSG_NOSIGNAL) < 0) {
		struct pollfd p = {.fd = channel, .events = POLLOUT};

		if (errno != EAGAIN || poll(&p, 1, SEND_MS) == 0)
			return err_sys(e, "ask the launcher to start a sandbox");
	}
	return 0;
}

int launcher_receive(int *ret_pidfd)
{
	union { struct cmsghdr align; char buf[CMSG_SPACE(sizeof(int))]; } control;
	int code = 0;
	struct iovec iov = {&code, sizeof(code)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *c;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	*ret_pidfd = code;
	c = CMSG_FIRSTHDR(&m);
	if (code == 0 && c)
		memcpy(ret_pidfd, CMSG_DATA(c), sizeof(int));
	return 1;
}

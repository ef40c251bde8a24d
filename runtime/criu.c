/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a restore criu needs the root to be a mount point. That mount is made in a mount namespace of
 * criu's own, so nobody else sees it and nothing is left when somebody is killed.
 *
 * criu looks for directories of the request (images_dir_fd) in /proc/PID/fd of whoever made the
 * socket. They must be of its mount namespace, for it mounts something below them. So the child makes
 * the pair of sockets, which is then by and to itself, and sends us the other end.
 */
#include "runtime/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/sys.h"
#include "runtime/console.h"

/* The largest request of libcriu, and what criu itself has as a limit for replies. */
enum { MESSAGE_MAX = 64 << 10, LOG_TAIL = 64 << 10, SOCKET_FD = 3, NOT_FOUND = 127, NO_ROOT = 126 };

/* Callers may leave PATH out of our environment. */
static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* ---- the child ---- */

static bool make_root(const char *root)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	       mount(root, root, NULL, MS_BIND | MS_REC, NULL) == 0;
}

static bool open_dirs(const struct criu_call *c, int *ret_images, int *ret_work)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

	*ret_images = *ret_work = -1;
	if (!c->image_path)
		return true;
	*ret_work = open(c->work_path ? c->work_path : c->image_path, flags);
	*ret_images = open(c->image_path, flags);
	return *ret_images >= 0 && *ret_work >= 0;
}

struct placed { int from, to; };

/* First above all numbers that are to be given out, so that none is overwritten before it is moved. */
static bool place_fds(struct placed *p, size_t n)
{
	const int last = CRIU_FIRST_FD + CRIU_MAX_FDS;

	for (size_t i = 0; i < n; i++)
		if (p[i].from >= 0 && (p[i].from = fcntl(p[i].from, F_DUPFD_CLOEXEC, last)) < 0)
			return false;
	sys_close_range(SOCKET_FD, (unsigned)last - 1, 0);
	for (size_t i = 0; i < n; i++)
		if (p[i].from >= 0 && dup2(p[i].from, p[i].to) < 0)
			return false;
	sys_close_range((unsigned)last, ~0u, CLOSE_RANGE_CLOEXEC);
	return true;
}

static bool connect_and_place(const struct criu_call *c, int us)
{
	struct placed p[CRIU_MAX_FDS + 3];
	struct err ignored = {0};
	size_t n = 0;
	int pair[2], images, work;

	if (!open_dirs(c, &images, &work) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    console_send(us, pair[1], "criu", &ignored) < 0)
		return false;
	p[n++] = (struct placed){pair[0], SOCKET_FD};
	p[n++] = (struct placed){images, CRIU_IMAGES_FD};
	p[n++] = (struct placed){work, CRIU_WORK_FD};
	for (size_t i = 0; i < c->n_fds; i++)
		p[n++] = (struct placed){c->fds[i], CRIU_FIRST_FD + (int)i};
	return place_fds(p, n);
}

static _Noreturn void become_criu(const struct criu_call *c, int us, pid_t parent)
{
	char *const argv[] = {"criu", "swrk", "3", NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (c->die_with_us && (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent))
		_exit(NO_ROOT);
	if ((c->root && !make_root(c->root)) || !connect_and_place(c, us))
		_exit(NO_ROOT);
	if (!getenv("PATH"))
		setenv("PATH", default_path, 1);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? NOT_FOUND : NO_ROOT);
}

/* ---- messages ---- */

static int send_message(int sock, const struct strbuf *b, struct err *e)
{
	/* EPIPE: criu is gone; the reply that is missing then tells why. */
	if (send(sock, strbuf_str(b), b->len, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return err_sys(e, "send a request to criu");
	return 0;
}

/* 1 with a reply, 0 when criu has closed the socket. *ret_fd: what came along, else -1. */
static int receive_reply(int sock, struct criu_reply *ret, int *ret_fd, struct err *e)
{
	auto_free char *buf = xrealloc(NULL, MESSAGE_MAX);
	struct iovec iov = {buf, MESSAGE_MAX};
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	struct cmsghdr *c;
	ssize_t n;

	while ((n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (n < 0 && errno != ECONNRESET)
		return err_sys(e, "receive the reply of criu");
	if (n <= 0)
		return 0;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return err_set(e, EMSGSIZE, "the reply of criu is too long");
	return criu_parse_reply(buf, (size_t)n, ret, e) < 0 ? -e->code : 1;
}

static int answer_notification(struct criu_call *c, int sock, const struct criu_reply *r, int fd,
			       struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};
	int code = c->notify ? c->notify(c, r, fd, e) : 0;

	log_debug("criu: %s", r->script);
	criu_put_notify_done(&b, code == 0);
	if (code < 0) {
		send_message(sock, &b, &ignored);
		return code;
	}
	return send_message(sock, &b, e);
}

/* ---- errors ---- */

/* Without "(00.123456) " and, for processes in the container, their pid. */
static const char *without_time(const char *line)
{
	const char *p = *line == '(' ? strchr(line, ')') : NULL;

	return p ? p + 1 + strspn(p + 1, " ") : line;
}

/* Of an error that is in the log already. */
static bool is_consequence(const char *line)
{
	return strstr(line, "Restoring FAILED") || strstr(line, "Dumping FAILED") ||
	       strstr(line, "cgroupd: recv req");
}

/* The last two lines with "Error" of the log's end; an empty text when there are none. */
static void last_errors(char *log, char *out, size_t size)
{
	const char *last = NULL, *before = NULL;
	char *save;

	for (char *line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strstr(line, "Error (") || is_consequence(line))
			continue;
		before = last;
		last = without_time(line);
	}
	snprintf(out, size, "%s%s%s", before ? before : "", before ? "; " : "", last ? last : "");
}

static void read_errors(const struct criu_call *c, char *out, size_t size)
{
	auto_close int fd = c->log_dir < 0 ? -1 : openat(c->log_dir, c->log_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	auto_free char *log = xrealloc(NULL, LOG_TAIL + 1);
	off_t length = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n = -1;

	*out = '\0';
	if (length >= 0 && lseek(fd, length > LOG_TAIL ? length - LOG_TAIL : 0, SEEK_SET) >= 0)
		n = io_read_upto(fd, log, LOG_TAIL);
	if (n <= 0)
		return;
	log[n] = '\0';
	last_errors(log, out, size);
}

static int refused(const struct criu_call *c, const struct criu_reply *r, struct err *e)
{
	char errors[256], clean[320];
	int code = r->cr_errno > 0 ? r->cr_errno : EIO;

	read_errors(c, errors, sizeof(errors));
	str_escape(clean, sizeof(clean), *errors ? errors : r->errmsg);
	if (!*clean)
		return err_set(e, code, "%s: criu failed (%s), see %s", c->what, err_name(code),
			       c->log_path ? c->log_path : "its messages, and `criu check`");
	return err_set(e, code, "%s: criu failed: %s (see %s)", c->what, clean,
		       c->log_path ? c->log_path : "`criu check`");
}

/* criu ended without a reply. */
static int vanished(const struct criu_call *c, int status, struct err *e)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return err_set(e, ENOENT, "%s: needs CRIU, and there is no program criu in PATH: install the "
					  "package criu", c->what);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_ROOT)
		return err_set(e, EPERM, "%s: criu cannot be started: this needs root", c->what);
	if (WIFSIGNALED(status))
		return err_set(e, EIO, "%s: criu was killed by signal %d", c->what, WTERMSIG(status));
	return refused(c, &(struct criu_reply){0}, e);
}

/* ---- the conversation ---- */

/* 1: *ret is the reply; 0: there is none; -errno: a callback failed. */
static int talk(struct criu_call *c, int sock, struct criu_reply *ret, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r;

	if (c->type == CRIU_FEATURE_CHECK)
		criu_put_feature_check(&b);
	else
		criu_put_request(&b, c->type, &c->opts);
	r = send_message(sock, &b, e);
	if (r < 0)
		return r;
	for (;;) {
		auto_close int fd = -1;

		r = receive_reply(sock, ret, &fd, e);
		if (r <= 0 || ret->type != CRIU_NOTIFY || !ret->success)
			return r;
		r = answer_notification(c, sock, ret, fd, e);
		if (r < 0)
			return r;
	}
}

/* Our end of criu's socket, or -1: the child has ended. */
static int receive_socket(int from)
{
	struct pollfd p = {from, POLLIN, 0};
	struct err ignored = {0};
	int fd;

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	fd = p.revents & POLLIN ? console_receive(from, &ignored) : -1;
	return fd < 0 ? -1 : fd;
}

static int reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int criu_run(struct criu_call *c, struct criu_reply *ret, struct err *e)
{
	auto_close int ours = -1, theirs = -1, sock = -1;
	struct criu_reply reply = {0};
	int pair[2], r, status;
	pid_t pid, parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "make a socket pair");
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		become_criu(c, theirs, parent);
	cleanup_close(&theirs);
	sock = receive_socket(ours);
	r = sock >= 0 && c->begin ? c->begin(c, pid, e) : 0;
	if (r == 0 && sock >= 0)
		r = talk(c, sock, &reply, e);
	cleanup_close(&sock); /* makes it end, also behind a pre-dump, where it waits for more */
	status = reap(pid);
	if (r < 0)
		return r;
	if (r == 0)
		return vanished(c, status, e);
	if (!reply.success)
		return refused(c, &reply, e);
	*ret = reply;
	return 0;
}

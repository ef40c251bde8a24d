/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No path is used for the pty: the master is opened in-root and checked to be on a devpts, the
 * peer comes from TIOCGPTPEER (CVE-2025-52565, CVE-2026-88264 class).
 */
#include "runtime/console.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/sys.h"
#include "nsenter/signals.h"

int console_connect(const char *path, struct err *e)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	auto_close int dir = open(path, O_PATH | O_CLOEXEC);
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (dir < 0)
		return err_sys(e, "open the socket %s", path);
	if (fd < 0)
		return err_sys(e, "make a unix socket");
	/* sun_path holds 108 bytes; callers have longer ones */
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d", dir);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_sys(e, "connect to the socket %s", path);
	return take_fd(&fd);
}

int console_send(int socket, int fd, const char *name, struct err *e)
{
	struct iovec iov = {(char *)name, strlen(name)};
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? err_sys(e, "send %.32s", name) : 0;
}

int console_receive(int socket, struct err *e)
{
	char data[64];
	struct iovec iov = {data, sizeof(data)};
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
		return err_sys(e, "receive the console");
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return err_set(e, EPROTO, "receive the console: no descriptor came");
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* The master of a new pty on the container's devpts. */
static int open_master(int root, struct err *e)
{
	auto_close int fd = path_open_in_root(root, "dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK, e);
	struct statfs fs;
	int unlock = 0;

	if (fd < 0)
		return err_wrap(e, "process.terminal: needs a devpts mount at /dev/pts");
	if (fstatfs(fd, &fs) < 0 || fs.f_type != DEVPTS_SUPER_MAGIC)
		return err_set(e, EINVAL, "process.terminal: /dev/pts is not a devpts mount");
	if (ioctl(fd, TIOCSPTLCK, &unlock) < 0)
		return err_sys(e, "unlock the pty");
	if (fcntl(fd, F_SETFL, O_RDWR) < 0)
		return err_sys(e, "fcntl of the pty");
	return take_fd(&fd);
}

/* As the caller wants it, else as its own terminal has it, before the program can ask. */
static bool first_size(const struct oci_console_size *size, struct winsize *ret)
{
	*ret = (struct winsize){0};
	if (size && size->width && size->height) {
		ret->ws_row = (unsigned short)size->height;
		ret->ws_col = (unsigned short)size->width;
		return true;
	}
	return ioctl(STDIN_FILENO, TIOCGWINSZ, ret) == 0 && ret->ws_row && ret->ws_col;
}

int console_make(int root, const struct oci_console_size *size, uid_t owner, int *ret_master,
		 struct err *e)
{
	auto_close int master = open_master(root, e), peer = -1;
	struct winsize ws;

	if (master < 0)
		return master;
	peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (peer < 0)
		return err_sys(e, "open the peer of the pty");
	if (first_size(size, &ws) && ioctl(master, TIOCSWINSZ, &ws) < 0)
		return err_sys(e, "set the size of the pty");
	if (fchown(peer, owner, (gid_t)-1) < 0)
		return err_sys(e, "change the owner of the pty");
	*ret_master = take_fd(&master);
	return take_fd(&peer);
}

int console_open(struct rootfs_plan *rootfs, const struct oci_console_size *size, uid_t owner,
		 int socket, struct err *e)
{
	auto_close int master = -1, peer = console_make(rootfs->new_root, size, owner, &master, e);
	int r;

	if (peer < 0)
		return peer;
	r = rootfs_bind_console(rootfs, peer, e);
	if (r == 0)
		r = console_send(socket, master, "/dev/ptmx", e);
	if (r < 0)
		return r;
	if (ioctl(peer, TIOCSCTTY, 0) < 0)
		return err_sys(e, "make the pty the controlling terminal");
	return take_fd(&peer);
}

/* ---- the foreground relay ---- */

static void copy_size(int master)
{
	struct winsize ws;

	/* A terminal without a size (a pty that nobody has set) leaves that of process.consoleSize. */
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row && ws.ws_col)
		ioctl(master, TIOCSWINSZ, &ws);
}

/* Copies what is there; false at the end of the stream. *ret_last: the last byte copied, if not NULL. */
static bool copy_some(int from, int to, char *ret_last)
{
	char buf[4096];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n > 0 && ret_last)
		*ret_last = buf[n - 1];
	return n > 0 && io_write_all(to, buf, (size_t)n) == 0;
}

/* A file or pipe that has ended is the end of the input for who reads the terminal; a line that was begun
 * needs the first one for itself. */
static void end_input(int master, char last)
{
	struct termios t;

	if (tcgetattr(master, &t) < 0 || t.c_cc[VEOF] == _POSIX_VDISABLE)
		return;
	if (last != '\n')
		(void)io_write_all(master, &t.c_cc[VEOF], 1);
	(void)io_write_all(master, &t.c_cc[VEOF], 1);
}

static void forward_signals(int sigfd, int pidfd, int master)
{
	int sig;

	while ((sig = ns_signals_next(sigfd)) > 0) {
		if (sig == SIGWINCH)
			copy_size(master);
		else
			sys_pidfd_send_signal(pidfd, sig);
	}
}

enum { FROM_US, FROM_CONTAINER, SIGNALS, EXITED, SOURCES };

/* Until the container is gone and what it wrote is copied. */
static void relay(struct pollfd *p)
{
	int master = p[FROM_CONTAINER].fd;
	char last = '\n';

	for (;;) {
		/* the last output is read after the exit, without waiting for other holders */
		int n = poll(p, SOURCES, p[EXITED].fd < 0 ? 0 : -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		if (p[FROM_CONTAINER].revents && !copy_some(master, STDOUT_FILENO, NULL))
			p[FROM_CONTAINER].fd = -1;
		if (p[FROM_US].revents && !copy_some(STDIN_FILENO, master, &last)) {
			p[FROM_US].fd = -1;
			end_input(master, last);
		}
		if (p[SIGNALS].revents)
			forward_signals(p[SIGNALS].fd, p[EXITED].fd, master);
		if (p[EXITED].revents)
			p[EXITED].fd = p[SIGNALS].fd = p[FROM_US].fd = -1;
	}
}

int console_relay(int master, int sigfd, int pidfd, struct err *e)
{
	struct pollfd p[SOURCES] = {
		[FROM_US] = {STDIN_FILENO, POLLIN, 0},
		[FROM_CONTAINER] = {master, POLLIN, 0},
		[SIGNALS] = {sigfd, POLLIN, 0},
		[EXITED] = {pidfd, POLLIN, 0},
	};
	struct termios saved, raw;
	bool tty = tcgetattr(STDIN_FILENO, &saved) == 0;

	if (tty) {
		raw = saved;
		cfmakeraw(&raw);
		if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0)
			return err_sys(e, "put the terminal into raw mode");
		copy_size(master);
	}
	relay(p);
	if (tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	return 0;
}

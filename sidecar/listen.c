/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "sidecar/config.h"
#include "sidecar/loop.h"

enum { MAX_LISTENERS = 16, FIRST_PASSED = 3, AGAIN_MS = 200 };

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static struct loop_fd listeners[MAX_LISTENERS];
static size_t n_listeners;
static void (*on_accepted)(int fd);

/* Small answers at once; and a peer whose machine is gone is noticed within a minute. All of it fails on
 * unix sockets. */
static void set_options(int fd)
{
	static const struct { int level, name, value; } options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 30},
		{IPPROTO_TCP, TCP_KEEPINTVL, 10}, {IPPROTO_TCP, TCP_KEEPCNT, 3},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static void accept_again(struct loop_timer *t)
{
	(void)t;
	listen_accept(true);
}

static struct loop_timer again = {.due = accept_again};

static void ready(struct loop_fd *f, uint32_t events)
{
	int fd = accept4(f->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	(void)events;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
		listen_accept(false); /* it would stay ready */
		loop_set_timer(&again, AGAIN_MS);
	}
	if (fd < 0)
		return;
	set_options(fd);
	on_accepted(fd);
}

static int add(int fd, struct err *e)
{
	struct loop_fd *f = &listeners[n_listeners];

	if (n_listeners == MAX_LISTENERS)
		return err_set(e, E2BIG, "at most %d listening sockets", MAX_LISTENERS);
	*f = (struct loop_fd){.fd = -1, .ready = ready};
	if (loop_add(f, fd, EPOLLIN, e) < 0)
		return -e->code;
	n_listeners++;
	return 0;
}

/* "127.0.0.1:8001", "[::1]:8001". */
static int parse_address(const char *text, union address *a, socklen_t *len)
{
	char host[64];
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool six = n > 2 && text[0] == '[' && text[n - 1] == ']';
	uint64_t port;

	if (n == 0 || n >= sizeof(host) || str_u64(colon + 1, 65535, &port) < 0)
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)(six ? n - 2 : n), text + six);
	*a = (union address){0};
	*len = six ? sizeof(a->in6) : sizeof(a->in);
	if (six) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host, &a->in6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &a->in.sin_addr) == 1 ? 0 : -EINVAL;
}

/* A socket that nobody listens on any more is in the way: a file of another kind is not ours. */
static int unix_address(const char *path, union address *a, socklen_t *len, struct err *e)
{
	struct stat st;

	if (strlen(path) >= sizeof(a->un.sun_path))
		return err_set(e, ENAMETOOLONG, "--listen: the path of a unix socket is too long");
	*a = (union address){.un = {.sun_family = AF_UNIX}};
	memcpy(a->un.sun_path, path, strlen(path) + 1);
	*len = sizeof(a->un);
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
		auto_close int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(probe, &a->any, *len) < 0 && errno == ECONNREFUSED)
			unlink(path);
	}
	return 0;
}

static int listen_on(const char *text, struct err *e)
{
	bool is_unix = str_starts(text, "unix:");
	union address a;
	socklen_t len;
	auto_close int fd = -1;
	int one = 1;
	mode_t mask;
	int r;

	if (is_unix && unix_address(text + 5, &a, &len, e) < 0)
		return -e->code;
	if (!is_unix && parse_address(text, &a, &len) < 0)
		return err_set(e, EINVAL, "--listen: \"%.80s\" is not IP:PORT, [IP]:PORT or unix:PATH", text);
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "listen on %.80s", text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	mask = umask(0177); /* a unix socket is for its owner */
	r = bind(fd, &a.any, len);
	umask(mask);
	if (r < 0 || listen(fd, 512) < 0)
		return err_sys(e, "listen on %.80s", text);
	r = add(fd, e);
	if (r == 0)
		take_fd(&fd);
	return r;
}

static int take_passed(size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		int fd = FIRST_PASSED + (int)i;

		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return err_sys(e, "LISTEN_FDS: descriptor %d", fd);
		if (add(fd, e) < 0)
			return -e->code;
	}
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	return 0;
}

/* sd_listen_fds(3), for us only. */
static size_t passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	uint64_t p, n;

	if (!pid || !count || str_u64(pid, INT32_MAX, &p) < 0 || (pid_t)p != getpid() ||
	    str_u64(count, MAX_LISTENERS, &n) < 0)
		return 0;
	return n;
}

int listen_open(void (*accepted)(int fd), struct err *e)
{
	static char *defaults[] = {(char *)"127.0.0.1:8001", (char *)"127.0.0.1:9100"};
	struct strv list = config.listen.n ? config.listen : (struct strv){defaults, 2};
	size_t n = passed();

	on_accepted = accepted;
	if (n)
		return take_passed(n, e);
	for (size_t i = 0; i < list.n; i++)
		if (listen_on(list.v[i], e) < 0)
			return -e->code;
	return 0;
}

void listen_accept(bool on)
{
	for (size_t i = 0; i < n_listeners; i++)
		loop_change(&listeners[i], on ? EPOLLIN : 0);
}

void listen_close(void)
{
	for (size_t i = 0; i < n_listeners; i++) {
		union address a = {0};
		socklen_t len = sizeof(a);

		if (getsockname(listeners[i].fd, &a.any, &len) == 0 && a.any.sa_family == AF_UNIX &&
		    config.listen.n && a.un.sun_path[0])
			unlink(a.un.sun_path);
		loop_close(&listeners[i]);
	}
	n_listeners = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The manager finds the unit of a message by its sender, who must not be gone before it has looked:
 * that is what the barrier is for (sd_notify_barrier(3)). */
#include "runtime/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/bundle.h"
#include "runtime/console.h"

enum { FDS_MAX = 1024, MESSAGE_MAX = 4096, BARRIER_MS = 5000, PID_DIGITS = 12 };

#define NOTIFY_SOCK "notify/notify.sock"

/* The sockets that are meant for this process. */
static unsigned listen_fds(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	uint64_t p, count;

	if (!pid || !n || str_u64(pid, INT32_MAX, &p) < 0 || (pid_t)p != getpid())
		return 0;
	return str_u64(n, FDS_MAX, &count) < 0 ? 0 : (unsigned)count;
}

static void add_env(struct plan_options *o, char *entry)
{
	o->extra_env.v[o->extra_env.n++] = entry;
}

static void plan_listen(struct arena *a, struct plan_options *o)
{
	const char *names = getenv("LISTEN_FDNAMES");

	o->listen_fds = listen_fds();
	if (!o->listen_fds)
		return;
	o->preserve_fds += o->listen_fds;
	o->listen_pid = arena_printf(a, "LISTEN_PID=%*s", PID_DIGITS, "1");
	add_env(o, arena_printf(a, "LISTEN_FDS=%u", o->listen_fds));
	add_env(o, o->listen_pid);
	if (names)
		add_env(o, arena_printf(a, "LISTEN_FDNAMES=%s", names));
}

static void plan_notify(struct arena *a, const struct rt_globals *g, struct plan_options *o)
{
	static char *options[] = {"bind", "ro", "nosuid", "noexec", "nodev", NULL};
	const char *host = getenv("NOTIFY_SOCKET");

	if (!host || (*host != '/' && *host != '@'))
		return;
	o->notify = true;
	o->extra_mount = arena_new_of(a, struct oci_mount);
	*o->extra_mount = (struct oci_mount){
		.destination = "/run/notify",
		.type = "bind",
		.source = arena_printf(a, "%s/%s/%s/notify", g->root, RT_STATE_FILES, o->id),
		.options = {options, 5},
	};
	add_env(o, "NOTIFY_SOCKET=/run/" NOTIFY_SOCK);
}

int activation_check_fds(unsigned preserve_fds, struct err *e)
{
	if (preserve_fds > FDS_MAX)
		return err_set(e, EINVAL, "--preserve-fds: %u is more than %d", preserve_fds, FDS_MAX);
	return rt_check_preserved(listen_fds() + preserve_fds, e);
}

void activation_plan(struct arena *a, const struct rt_globals *g, struct plan_options *o)
{
	o->extra_env = (struct strv){arena_array(a, 5, sizeof(char *)), 0};
	plan_listen(a, o);
	plan_notify(a, g, o);
}

int notify_make_dir(int dir, struct err *e)
{
	if (mkdirat(dir, "notify", 0755) < 0 || fchmodat(dir, "notify", 0755, 0) < 0)
		return err_sys(e, "make the directory of the notify socket");
	return 0;
}

int notify_bind(int dir, struct err *e)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(e, "make the notify socket");
	/* sun_path holds 108 bytes; state directories may be deeper */
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/" NOTIFY_SOCK, dir);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_sys(e, "bind the notify socket");
	/* whatever user the container runs as; nobody else gets to the directory */
	if (fchmodat(dir, NOTIFY_SOCK, 0777, 0) < 0)
		return err_sys(e, "chmod the notify socket");
	return take_fd(&fd);
}

/* A whole line of the message. */
static bool says_ready(const char *message)
{
	for (const char *l = message; *l; l += strcspn(l, "\n"), l += *l == '\n')
		if (strncmp(l, "READY=1", 7) == 0 && (l[7] == '\n' || !l[7]))
			return true;
	return false;
}

/* 1: ready; 0: the container has ended. */
static int await_ready(int fd, int pidfd)
{
	struct pollfd p[] = {{fd, POLLIN, 0}, {pidfd, POLLIN, 0}};
	char message[MESSAGE_MAX + 1];

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return 0;
		if (p[0].revents) {
			ssize_t n = recv(fd, message, MESSAGE_MAX, MSG_DONTWAIT);

			message[n > 0 ? n : 0] = '\0';
			if (says_ready(message))
				return 1;
		} else if (p[1].revents) {
			return 0;
		}
	}
}

static int connect_to_manager(struct err *e)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t n = path ? strlen(path) : 0;

	if (n == 0 || n >= sizeof(addr.sun_path))
		return err_set(e, EINVAL, "NOTIFY_SOCKET: is not a path of a socket");
	memcpy(addr.sun_path, path, n);
	if (*path == '@')
		addr.sun_path[0] = '\0'; /* abstract */
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		return err_sys(e, "NOTIFY_SOCKET: connect to %s", path);
	return take_fd(&fd);
}

/* Returns when the manager has closed its copy of the pipe, all that was said before being done. */
static void await_barrier(int manager)
{
	struct err ignored = {0};
	int fds[2];
	struct pollfd p = {.events = 0};

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	if (console_send(manager, fds[1], "BARRIER=1", &ignored) == 0) {
		close(take_fd(&fds[1]));
		p.fd = fds[0];
		poll(&p, 1, BARRIER_MS);
	}
	cleanup_close(&fds[1]);
	close(fds[0]);
}

static int tell_manager(pid_t pid, struct err *e)
{
	auto_close int fd = connect_to_manager(e);
	char text[64];

	if (fd < 0)
		return fd;
	if (pid)
		snprintf(text, sizeof(text), "MAINPID=%ld\nREADY=1", (long)pid);
	else
		snprintf(text, sizeof(text), "READY=1");
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return err_sys(e, "NOTIFY_SOCKET: send");
	await_barrier(fd);
	return 0;
}

int notify_wait(int fd, int pidfd, pid_t pid, struct err *e)
{
	return await_ready(fd, pidfd) ? tell_manager(pid, e) : 0;
}

int notify_wait_in_child(int fd, int pidfd, struct err *e)
{
	struct err ignored = {0};
	pid_t us = getpid(), child = fork();

	if (child < 0)
		return err_sys(e, "fork");
	if (child > 0)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != us)
		_exit(1);
	_exit(notify_wait(fd, pidfd, 0, &ignored) < 0);
}

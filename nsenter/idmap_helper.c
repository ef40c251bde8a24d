/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only privileged programs that we ever start: by absolute path, with numbers as arguments, an
 * empty environment, default signals and no descriptor but 0-2. What they say on stderr becomes the
 * error, cut and escaped.
 */
#include "nsenter/idmap_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"

enum { STDERR_CAP = 300 };

static char **make_argv(struct arena *a, const char *path, pid_t pid, const struct ns_idmap *m,
			size_t n)
{
	char **argv = arena_array(a, 3 + 3 * n, sizeof(char *));
	size_t k = 0;

	argv[k++] = arena_strdup(a, path);
	argv[k++] = arena_printf(a, "%d", pid);
	for (size_t i = 0; i < n; i++) {
		argv[k++] = arena_printf(a, "%u", m[i].inside);
		argv[k++] = arena_printf(a, "%u", m[i].outside);
		argv[k++] = arena_printf(a, "%u", m[i].count);
	}
	return argv;
}

/* In the child of vfork: system calls only, and execve's errno comes back. */
static int become(char **argv, int stderr_fd)
{
	static char *const no_env[] = {NULL};
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* fails for those that nobody can change */
	sigemptyset(&none);
	/* 0-2 are open (runtime/main.c), so neither of the two is one of them. */
	if (null < 0 || dup2(null, 0) < 0 || dup2(stderr_fd, 1) < 0 || dup2(stderr_fd, 2) < 0 ||
	    sys_close_range(3, ~0U, 0) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return errno;
	execve(argv[0], argv, no_env);
	return errno;
}

/* 0 or a positive errno. Not posix_spawn: musl's cannot close the other descriptors. */
static int start(pid_t *ret_pid, char **argv, int stderr_fd)
{
	volatile int code = 0;
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all); /* a handler of ours must not run in the child, on our stack */
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = vfork();
	if (pid == 0) {
		code = become(argv, stderr_fd);
		_exit(127);
	}
	if (pid < 0)
		code = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (pid > 0 && code)
		waitpid(pid, NULL, 0);
	*ret_pid = pid;
	return code;
}

/* What it said, in one line. */
static void read_words(int fd, char *ret_text, size_t size)
{
	char buf[STDERR_CAP + 1];
	ssize_t n = io_read_upto(fd, buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	str_escape(ret_text, size, buf);
}

int idmap_helper(const char *what, pid_t pid, const struct ns_idmap *m, size_t n, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	char *path = arena_printf(a, "/usr/bin/new%smap", what);
	char words[STDERR_CAP + 1];
	int p[2], status = 0, r;
	auto_close int from = -1;
	pid_t helper;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, "write the %s map: pipe", what);
	from = p[0];
	r = start(&helper, make_argv(a, path, pid, m, n), p[1]);
	close(p[1]);
	if (r == ENOENT)
		return err_set(e, ENOENT, "write the %s map: it has more than the own id, and %s is "
					  "not installed (Debian: package uidmap)", what, path);
	if (r > 0)
		return err_set(e, r, "write the %s map: %s: %s", what, path, err_name(r));
	read_words(from, words, sizeof(words));
	close(take_fd(&from)); /* a talkative helper gets SIGPIPE, not us a dead-lock */
	while (waitpid(helper, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(e, EPERM, "write the %s map: %s (does /etc/sub%s give this user the range?)",
		       what, *words ? words : "the helper failed", what);
}

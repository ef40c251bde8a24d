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
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"

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

/* 0 or a positive errno, as posix_spawn itself. */
static int start(pid_t *ret_pid, char **argv, int stderr_fd)
{
	static char *const no_env[] = {NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t set;
	int r;

	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&fa, stderr_fd, 1);
	posix_spawn_file_actions_adddup2(&fa, stderr_fd, 2);
	posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&at, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&at, &set);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn(ret_pid, argv[0], &fa, &at, argv, no_env);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	return r;
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

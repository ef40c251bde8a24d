/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"

enum { PASSWD_MAX = 1 << 20, FIELD_MAX = 255 };

/* name:password:uid:gid:gecos:home:shell -> true when the uid fits; home is copied. */
static bool passwd_line(char *line, uid_t uid, char *home, size_t size)
{
	char *field[7] = {line}, *p = line;
	uint64_t v;
	int n = 1;

	for (; *p && n < 7; p++)
		if (*p == ':') {
			*p = '\0';
			field[n++] = p + 1;
		}
	if (n < 6 || str_u64(field[2], UINT_MAX, &v) < 0 || v != uid)
		return false;
	if (field[5][0] != '/' || strlen(field[5]) > FIELD_MAX)
		return false;
	snprintf(home, size, "HOME=%s", field[5]);
	return true;
}

/* Lines longer than the buffer are skipped. */
static bool search_passwd(int fd, uid_t uid, char *home, size_t size)
{
	char buf[4096];
	size_t have = 0, total = 0;
	bool skip = false;

	for (;;) {
		ssize_t r = io_read_upto(fd, buf + have, sizeof(buf) - 1 - have);
		char *line = buf, *end;

		if (r <= 0 || (total += (size_t)r) > PASSWD_MAX)
			return false;
		have += (size_t)r;
		buf[have] = '\0';
		for (; (end = memchr(line, '\n', have - (size_t)(line - buf))); line = end + 1) {
			*end = '\0';
			if (!skip && passwd_line(line, uid, home, size))
				return true;
			skip = false;
		}
		have -= (size_t)(line - buf);
		if (have == sizeof(buf) - 1) {
			skip = true;
			have = 0;
		}
		memmove(buf, line, have);
	}
}

void payload_home(uid_t uid, char *buf, size_t size)
{
	auto_close int fd = sys_openat2(AT_FDCWD, "/etc/passwd", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
					0, RESOLVE_NO_MAGICLINKS);
	struct stat st;

	snprintf(buf, size, "HOME=/");
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= PASSWD_MAX)
		search_passwd(fd, uid, buf, size);
}

static const char *path_of(char **envp)
{
	for (; *envp; envp++)
		if (str_starts(*envp, "PATH="))
			return *envp + 5;
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

/* What is tried on a path: 0 or an errno. */
typedef int attempt(const char *path, char **argv, char **envp);

static int attempt_exec(const char *path, char **argv, char **envp)
{
	execve(path, argv, envp);
	return errno;
}

static int attempt_access(const char *path, char **argv, char **envp)
{
	struct stat st;
	(void)argv;
	(void)envp;

	if (stat(path, &st) < 0 || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return errno;
	return S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? EISDIR : EACCES;
}

/* Tries every directory; the errno that tells most: EACCES over ENOENT. */
static int try_path(attempt *try, char **argv, char **envp)
{
	const char *dir = path_of(envp);
	int code = ENOENT;

	while (*dir) {
		size_t n = strcspn(dir, ":");
		char full[PATH_MAX];
		int r = ENOENT;

		if (n > 0 && (size_t)snprintf(full, sizeof(full), "%.*s/%s", (int)n, dir, argv[0]) <
				     sizeof(full))
			r = try(full, argv, envp);
		if (r == 0)
			return 0;
		if (r != ENOENT && r != ENOTDIR && r != EISDIR)
			code = r;
		if (code != ENOENT && code != EACCES)
			return code;
		dir += n;
		dir += *dir == ':';
	}
	return code;
}

static int look_up(attempt *try, char **argv, char **envp, struct err *e)
{
	char name[128];
	int code;

	str_escape(name, sizeof(name), argv[0]);
	if (!argv[0][0])
		return err_set(e, ENOENT, "exec: \"\": executable file not found in $PATH");
	if (!strchr(argv[0], '/')) {
		code = try_path(try, argv, envp);
		if (code == ENOENT)
			return err_set(e, code, "exec: \"%s\": executable file not found in $PATH", name);
	} else {
		code = try(argv[0], argv, envp);
	}
	if (code == 0)
		return 0;
	return err_set(e, code, "exec: \"%s\": %s", name, err_name(code));
}

int payload_exec(char **argv, char **envp, struct err *e)
{
	return look_up(attempt_exec, argv, envp, e);
}

int payload_find(char **argv, char **envp, struct err *e)
{
	return look_up(attempt_access, argv, envp, e);
}

static _Noreturn void run_payload(int (*fn)(void *ctx, struct err *e), void *ctx, struct err *e)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid(); /* of its own: "kill 0" must not reach the init */
	fn(ctx, e);
	_exit(1);
}

int payload_spawn(int (*fn)(void *ctx, struct err *e), void *ctx, pid_t *ret_pid, struct err *e)
{
	sigset_t all, old;
	pid_t pid;

	/* Kept across our exec: a signal that comes before the tiny init listens waits for it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	e->code = 0;
	pid = vfork();
	if (pid == 0)
		run_payload(fn, ctx, e);
	if (pid < 0)
		err_sys(e, "vfork");
	if (e->code) {
		if (pid > 0)
			waitpid(pid, NULL, 0);
		sigprocmask(SIG_SETMASK, &old, NULL);
		return -e->code;
	}
	*ret_pid = pid;
	return 0;
}

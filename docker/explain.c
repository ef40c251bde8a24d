/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a start failed, in the words that Docker's callers look for: they tell "not found" from "may
 * not be executed" by them, and so does the exit code of `run`.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/container.h"

#define DAEMON "Error response from daemon: "
#define OCI_CREATE \
	"failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "

const char *dk_exec_words(struct arena *a, const char *msg, int code)
{
	const char *exec = strstr(msg, "exec: \""), *name, *end;
	char *program;

	if (!exec)
		return NULL;
	name = exec + strlen("exec: \"");
	end = strrchr(name, '"');
	program = arena_strndup(a, name, end ? (size_t)(end - name) : 0);
	if (strstr(exec, "not found in $PATH"))
		return arena_printf(a, "exec: \"%s\": executable file not found in $PATH", program);
	if (code == ENOENT || code == ENOTDIR)
		return arena_printf(a, "exec: \"%s\": stat %s: %s", program, program,
				    code == ENOENT ? "no such file or directory" : "not a directory");
	if (code == EACCES || code == EPERM || code == EISDIR)
		return arena_printf(a, "exec: \"%s\": permission denied", program);
	return arena_printf(a, "exec: \"%s\": %s", program, err_name(code));
}

/* A bind whose ends do not fit. */
static bool is_kind_mismatch(const char *msg, int code)
{
	return (code == ENOTDIR || code == EINVAL) && strstr(msg, "one is a directory and the other is not");
}

/* msg: "mount: mount TARGET: attach SOURCE (one is..." */
static int explain_mismatch(struct dk_container *k, const char *msg, int code, struct err *e)
{
	const char *target = strstr(msg, "mount /"), *source = strstr(msg, ": attach "), *end = strstr(msg, " (one is");
	struct arena *a = k->c->arena;

	if (!target || !source || !end || source < target || end < source)
		return dk_error(k->c, e, code, DAEMON "%s", msg);
	target += strlen("mount ");
	target = arena_strndup(a, target, (size_t)(source - target));
	source += strlen(": attach ");
	source = arena_strndup(a, source, (size_t)(end - source));
	return dk_error(k->c, e, code, DAEMON OCI_CREATE "error during container init: error mounting \"%s\" to rootfs "
			"at \"%s\": not a directory: unknown: Are you trying to mount a directory onto a file (or "
			"vice-versa)? Check if the specified host path exists and is the expected type", source, target);
}

int dk_explain_start(struct dk_container *k, struct err *e)
{
	struct arena *a = k->c->arena;
	char *msg = arena_strdup(a, e->msg);
	int code = e->code;
	const char *words;

	if (str_starts(msg, DAEMON))
		return -code;
	words = k->launch.exec_failed ? dk_exec_words(a, msg, code) : NULL;
	if (words)
		return dk_error(k->c, e, code, DAEMON OCI_CREATE "%s: unknown", words);
	if (str_starts(msg, "go to the working directory") && code == ENOTDIR)
		return dk_error(k->c, e, code, DAEMON "Cannot mkdir: %s is not a directory",
				k->record->config.workdir);
	if (is_kind_mismatch(msg, code))
		return explain_mismatch(k, msg, code, e);
	return dk_error(k->c, e, code, DAEMON "%s", msg);
}

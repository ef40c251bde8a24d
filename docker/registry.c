/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See registry.h. skopeo's last line on stderr has the reason in a logger's form: time="..."
 * level=fatal msg="..."; what Docker would say begins in it at the request that failed.
 */
#include "docker/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/remove.h"

enum { MESSAGE_CAP = 256 << 10 };

static const char *config_dir(struct dk_context *c)
{
	const char *dir = c->config_dir && *c->config_dir ? c->config_dir : getenv("DOCKER_CONFIG");
	const char *home = getenv("HOME");

	return dir && *dir ? dir : home ? arena_printf(c->arena, "%s/.docker", home) : NULL;
}

void dk_registry_auth(struct dk_context *c, struct strv *argv, bool make)
{
	const char *dir = config_dir(c), *file;

	if (!dir)
		return;
	if (make)
		mkdir(dir, 0700);
	file = arena_printf(c->arena, "%s/config.json", dir);
	if (!make && access(file, R_OK) < 0)
		return;
	dk_args_add(c, argv, "--authfile");
	dk_args_add(c, argv, file);
}

bool dk_registry_is_local(const char *domain)
{
	return str_starts(domain, "localhost:") || str_eq(domain, "localhost") || str_starts(domain, "127.") ||
	       str_starts(domain, "[::1]");
}

/* The text of msg="..." in the last line, without the backslashes. */
static const char *reason(struct dk_context *c, char *text)
{
	char *line, *msg, *request, *out;

	while (str_ends(text, "\n"))
		text[strlen(text) - 1] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	msg = strstr(line, "msg=\"");
	if (!msg)
		return line;
	out = msg = arena_strdup(c->arena, msg + strlen("msg=\""));
	for (char *p = msg; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		*out++ = *p;
	}
	*out = '\0';
	request = strstr(msg, "Get \"");
	return request ? request : msg;
}

int dk_run_skopeo(struct dk_context *c, const struct strv *argv, struct strbuf *captured, struct err *e)
{
	auto_close int message = memfd_create("brig-message", MFD_CLOEXEC);
	struct dk_program p = {.in = -1, .out = -1, .captured = captured};
	auto_strbuf struct strbuf b = {0};
	int r;

	if (message < 0)
		return err_sys(e, "make a file in memory");
	p.err = message;
	r = dk_run_program(c, argv, "skopeo", &p, e);
	if (r <= 0)
		return r;
	if (lseek(message, 0, SEEK_SET) < 0 || io_read_fd(message, MESSAGE_CAP, &b, "message", e) < 0)
		return err_set(e, EIO, "skopeo failed");
	strbuf_addc(&b, '\n');
	return dk_daemon_error(c, e, EIO, "%s", reason(c, b.p));
}

int dk_scratch(struct dk_context *c, char **ret_path, struct err *e)
{
	const char *tmp = getenv("TMPDIR");

	*ret_path = arena_printf(c->arena, "%s/brig-transfer-XXXXXX", tmp && *tmp ? tmp : "/var/tmp");
	return mkdtemp(*ret_path) ? 0 : err_sys(e, "make a directory in %s", tmp && *tmp ? tmp : "/var/tmp");
}

void dk_scratch_remove(const char *path)
{
	struct err ignored = {0};

	dk_remove_tree(AT_FDCWD, path, &ignored);
}

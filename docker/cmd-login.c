/* SPDX-License-Identifier: Apache-2.0 */
/* `docker login` and `docker logout`: skopeo checks the credentials and keeps them in Docker's file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/commands.h"
#include "docker/registry.h"

enum { PASSWORD_CAP = 64 << 10 };

/* "https://host/v1/" and "host": the host; without a server Docker's own. */
static const char *server(struct dk_context *c, const struct dk_args *args)
{
	const char *name = args->argc ? args->argv[0] : "docker.io", *scheme = strstr(name, "://");

	if (scheme)
		name = scheme + strlen("://");
	return arena_strndup(c->arena, name, strcspn(name, "/"));
}

/* The password goes to skopeo by stdin, never by its arguments, which everybody can read. */
static int log_in(struct dk_context *c, const struct dk_args *args, const char *password, size_t len, struct err *e)
{
	const struct dk_login_options *o = args->options;
	const char *name = server(c, args);
	auto_strbuf struct strbuf out = {0};
	struct strv argv = {0};
	auto_close int fd = -1;
	char *path;

	fd = dk_text_file(c->arena, password, len, &path, e);
	if (fd < 0)
		return fd;
	if (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
		return err_sys(e, "hand the password over");
	dk_args_add(c, &argv, "skopeo");
	dk_args_add(c, &argv, "login");
	dk_registry_auth(c, &argv, true);
	if (dk_registry_is_local(name))
		dk_args_add(c, &argv, "--tls-verify=false");
	dk_args_add(c, &argv, "--username");
	dk_args_add(c, &argv, o->username);
	dk_args_add(c, &argv, "--password-stdin");
	dk_args_add(c, &argv, name);
	if (dk_run_skopeo(c, &argv, &out, e) != 0)
		return -e->code;
	printf("Login Succeeded\n");
	return 0;
}

int dk_cmd_login(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_login_options *o = args->options;
	auto_strbuf struct strbuf b = {0};
	bool has_user = o->username && *o->username, has_password = o->password && *o->password;

	if (has_password) {
		fprintf(stderr, "WARNING! Using --password via the CLI is insecure. Use --password-stdin.\n");
		if (o->password_stdin)
			return dk_error(c, e, EINVAL, "--password and --password-stdin are mutually exclusive");
		if (has_user)
			return log_in(c, args, o->password, strlen(o->password), e);
	}
	if (!o->password_stdin)
		return dk_error(c, e, ENOTTY, "Error: Cannot perform an interactive login from a non TTY device");
	if (!has_user)
		return dk_error(c, e, EINVAL, "Must provide --username with --password-stdin");
	if (io_read_fd(STDIN_FILENO, PASSWORD_CAP, &b, "password", e) < 0)
		return -e->code;
	while (b.len && (b.p[b.len - 1] == '\n' || b.p[b.len - 1] == '\r'))
		b.p[--b.len] = '\0';
	return log_in(c, args, strbuf_str(&b), b.len, e);
}

int dk_cmd_logout(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const char *name = server(c, args);
	auto_strbuf struct strbuf out = {0};
	struct strv argv = {0};
	struct err ignored = {0};

	(void)e;
	printf("Removing login credentials for %s\n", args->argc ? args->argv[0] : "https://index.docker.io/v1/");
	fflush(stdout);
	dk_args_add(c, &argv, "skopeo");
	dk_args_add(c, &argv, "logout");
	dk_registry_auth(c, &argv, false);
	dk_args_add(c, &argv, name);
	/* that there were none is no failure */
	dk_run_skopeo(c, &argv, &out, &ignored);
	return 0;
}

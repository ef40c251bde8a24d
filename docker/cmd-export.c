/* SPDX-License-Identifier: Apache-2.0 */
/* `docker export` and `docker diff`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/commands.h"
#include "docker/container-view.h"

/* Without volumes, tmpfs and kernel file systems: the layers, also of a container that runs. */
static int export_to(struct dk_view *v, int out, struct err *e)
{
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = out};
	struct strv lower, argv = {0};
	char *upper;

	if (dk_view_layers(v, &lower, &upper, e) < 0)
		return -e->code;
	dk_args_add(v->c, &argv, "pack");
	for (size_t i = 0; i < lower.n + (upper ? 1 : 0); i++) {
		dk_args_add(v->c, &argv, "--lower");
		dk_args_add(v->c, &argv, upper && i == 0 ? upper : lower.v[i - (upper ? 1 : 0)]);
	}
	return dk_run_brig_image(v->c, &argv, &p, e);
}

static int export_file(struct dk_view *v, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? arena_strndup(v->c->arena, path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
	char *tmp = arena_printf(v->c->arena, "%s.docker_temp_%ld", path, (long)getpid());
	auto_close int fd = -1;
	struct stat st;
	int r;

	if (dir && stat(dir, &st) < 0)
		return dk_error(v->c, e, errno, "failed to export container: invalid output path: directory \"%s\" "
				"does not exist", dir);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		tmp = NULL;
	fd = open(tmp ? tmp : path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return dk_error(v->c, e, errno, "open %s: %s", path, err_name(errno));
	r = export_to(v, fd, e);
	if (tmp && r == 0 && rename(tmp, path) < 0)
		r = err_sys(e, "rename %s", tmp);
	if (tmp && r != 0)
		unlink(tmp);
	return r;
}

int dk_cmd_export(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_export_options *o = args->options;
	bool file = o->output && *o->output;
	struct dk_view v;
	int r;

	if (!file && isatty(STDOUT_FILENO))
		return dk_error(c, e, EINVAL, "cowardly refusing to save to a terminal. Use the -o flag or redirect");
	r = dk_view_open(c, args->argv[0], &v, e);
	if (r == 0)
		r = file ? export_file(&v, o->output, e) : export_to(&v, -1, e);
	dk_view_close(&v);
	return r;
}

static int diff(struct dk_view *v, struct err *e)
{
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	struct strv lower, argv = {0};
	char *upper;

	if (dk_view_layers(v, &lower, &upper, e) < 0)
		return -e->code;
	if (!upper)
		return 0;
	dk_args_add(v->c, &argv, "diff");
	for (size_t i = 0; i < lower.n; i++) {
		dk_args_add(v->c, &argv, "--lower");
		dk_args_add(v->c, &argv, lower.v[i]);
	}
	dk_args_add(v->c, &argv, upper);
	return dk_run_brig_image(v->c, &argv, &p, e);
}

int dk_cmd_diff(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct dk_view v;
	int r;

	if (!*args->argv[0])
		return dk_error(c, e, EINVAL, "Container name cannot be empty");
	r = dk_view_open(c, args->argv[0], &v, e);
	if (r == 0)
		r = diff(&v, e);
	dk_view_close(&v);
	return r;
}

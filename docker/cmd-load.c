/* SPDX-License-Identifier: Apache-2.0 */
/* `docker load` and `docker save`: brig-image does the work. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/commands.h"
#include "docker/happenings.h"
#include "docker/image-program.h"

enum { IDS_MAX = 1 << 20 };

/* brig-image has written the ids of the images there. */
static void tell_loaded(struct dk_context *c, int ids)
{
	auto_strbuf struct strbuf text = {0};
	struct err ignored = {0};
	char *line, *save = NULL;

	if (lseek(ids, 0, SEEK_SET) < 0 || io_read_fd(ids, IDS_MAX, &text, "the ids", &ignored) < 0 || !text.len)
		return;
	for (line = strtok_r(text.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		dk_image_event(&c->store->roots, "load", line, line, NULL);
}

int dk_cmd_load(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_load_options *o = args->options;
	struct dk_program p = {.in = -1, .out = -1};
	struct strv argv = {0};
	auto_close int ids = -1;
	char *path;
	int r;

	if ((!o->input || !*o->input) && isatty(STDIN_FILENO))
		return dk_error(c, e, EINVAL, "requested load from stdin, but stdin is empty");
	dk_args_add(c, &argv, "load");
	if (o->quiet)
		dk_args_add(c, &argv, "--quiet");
	ids = dk_text_file(c->arena, "", 0, &path, e);
	if (ids < 0)
		return ids;
	dk_args_add(c, &argv, "--ids");
	dk_args_add(c, &argv, arena_printf(c->arena, "%d", ids));
	if (o->input && *o->input)
		dk_args_add(c, &argv, o->input);
	r = dk_run_brig_image(c, &argv, &p, e);
	if (r >= 0) /* those before the one that failed are there */
		tell_loaded(c, ids);
	return r;
}

/* Docker writes beside the file and renames, so that a failure leaves no half of one. */
static int save_to_file(struct dk_context *c, const struct strv *argv, const char *path, struct err *e)
{
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1};
	const char *slash = strrchr(path, '/');
	char *dir = slash ? arena_strndup(c->arena, path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
	char *tmp = arena_printf(c->arena, "%s.docker_temp_%ld", path, (long)getpid());
	auto_close int fd = -1;
	struct stat st;
	int r;

	if (dir && stat(dir, &st) < 0)
		return dk_error(c, e, errno, "failed to save image: invalid output path: stat %s: %s", dir,
				errno == ENOENT ? "no such file or directory" : err_name(errno));
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return dk_error(c, e, EISDIR, "failed to save image: invalid output path: \"%s\" must be a "
				"regular file", path);
	/* what is there and no regular file (/dev/null, a FIFO) is written to as it is */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		tmp = NULL;
	fd = open(tmp ? tmp : path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (tmp ? O_EXCL : 0), 0600);
	if (fd < 0)
		return dk_error(c, e, errno, "open %s: %s", tmp ? tmp : path, err_name(errno));
	p.out = fd;
	r = dk_run_brig_image(c, argv, &p, e);
	if (tmp && r == 0 && rename(tmp, path) < 0)
		r = err_sys(e, "rename %s", tmp);
	if (tmp && r != 0)
		unlink(tmp);
	return r;
}

static void tell_saved(struct dk_context *c, const struct dk_args *args)
{
	struct err ignored = {0};
	struct img_image image;
	struct img_store s;

	if (dk_image_store(c, &s, &ignored) < 0)
		return;
	for (int i = 0; i < args->argc; i++)
		if (img_resolve(&s, args->argv[i], c->arena, &image, &ignored) == 1)
			dk_image_event(&c->store->roots, "save", image.id, image.id, &image.config.labels);
	img_store_close(&s);
}

static int save(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_save_options *o = args->options;
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	struct strv argv = {0};

	dk_args_add(c, &argv, "save");
	for (int i = 0; i < args->argc; i++)
		dk_args_add(c, &argv, args->argv[i]);
	if (o->output && *o->output)
		return save_to_file(c, &argv, o->output, e);
	if (isatty(STDOUT_FILENO))
		return dk_error(c, e, EINVAL, "cowardly refusing to save to a terminal. Use the -o flag or redirect");
	return dk_run_brig_image(c, &argv, &p, e);
}

int dk_cmd_save(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	int r = save(c, args, e);

	if (r == 0)
		tell_saved(c, args);
	return r;
}

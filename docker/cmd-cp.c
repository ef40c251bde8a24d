/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker cp`. What is copied where follows Docker's rules: a source directory that ends with "/." is
 * its content; a target that is a directory gets the source in it, one that is missing takes its
 * place. Two brig-image processes do the copying, one packs and one unpacks, with a pipe between
 * them; each is shut into its side.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "docker/commands.h"
#include "docker/container-view.h"
#include "docker/pipeline.h"

#define DAEMON "Error response from daemon: "

enum kind { MISSING, DIRECTORY, REGULAR, LINK, OTHER };

struct place {
	const char *path;   /* absolute; "/", "/." at the end are kept */
	enum kind kind;
	const char *target; /* of a link */
};

/* "NAME:PATH", unless it begins like a path; *ret_name NULL: a path of the host. */
static const char *split(struct arena *a, const char *text, const char **ret_name)
{
	const char *colon = strchr(text, ':');

	*ret_name = NULL;
	if (text[0] == '/' || text[0] == '.' || !colon)
		return text;
	*ret_name = arena_strndup(a, text, (size_t)(colon - text));
	return colon + 1;
}

static bool is_content(const char *path)
{
	return str_ends(path, "/.") || strcmp(path, ".") == 0;
}

/* The path made absolute and clean, with its "/" or "/." at the end. */
static const char *tidy(struct arena *a, const char *base, const char *path)
{
	const char *whole = path[0] == '/' ? path : arena_printf(a, "%s/%s", base, path);
	char *clean = arena_alloc(a, strlen(whole) + 4);

	path_clean(whole, clean, strlen(whole) + 4);
	if (is_content(path))
		return arena_printf(a, "%s/.", strcmp(clean, "/") ? clean : "");
	if (str_ends(path, "/") && strcmp(clean, "/") != 0)
		return arena_printf(a, "%s/", clean);
	return clean;
}

static const char *without_end(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	if (str_ends(path, "/."))
		n -= 2;
	else if (n > 1 && path[n - 1] == '/')
		n--;
	return n ? arena_strndup(a, path, n) : "/";
}

static const char *base_of(struct arena *a, const char *path)
{
	const char *clean = without_end(a, path), *slash = strrchr(clean, '/');

	return is_content(path) || !slash[1] ? "." : slash + 1;
}

static const char *dir_of(struct arena *a, const char *path)
{
	const char *clean = without_end(a, path), *slash = strrchr(clean, '/');

	return slash == clean ? "/" : arena_strndup(a, clean, (size_t)(slash - clean));
}

/* ---- what is there ---- */

static int container_place(struct dk_view *v, struct place *p, bool write, struct err *e)
{
	auto_strbuf struct strbuf out = {0};
	struct dk_program run = {.in = -1, .out = -1, .captured = &out};
	struct strv argv = {0};
	int r;

	p->kind = MISSING;
	if (dk_view_path(v, p->path, write, e) < 0)
		return -e->code;
	dk_args_add(v->c, &argv, arena_printf(v->c->arena, "stat%s", v->suffix));
	for (size_t i = 0; i < v->args.n; i++)
		dk_args_add(v->c, &argv, v->args.v[i]);
	dk_args_add(v->c, &argv, v->path);
	r = dk_run_brig_image(v->c, &argv, &run, e);
	if (r < 0 || r == 3)
		return r < 0 ? r : 0;
	if (r != 0)
		return err_set(e, EIO, "the container's files cannot be looked at");
	if (out.len)
		out.p[out.len - 1] = '\0';
	if (str_starts(out.p, "link ")) {
		p->kind = LINK;
		p->target = arena_strdup(v->c->arena, out.p + strlen("link "));
	} else {
		p->kind = str_eq(out.p, "dir") ? DIRECTORY : str_eq(out.p, "file") ? REGULAR : OTHER;
	}
	return 0;
}

static void host_place(struct place *p)
{
	struct stat st;

	p->kind = MISSING;
	if (stat(p->path, &st) == 0)
		p->kind = S_ISDIR(st.st_mode) ? DIRECTORY : S_ISREG(st.st_mode) ? REGULAR : OTHER;
}

/* The target of a link, seen from where the link is. */
static const char *follow(struct arena *a, const struct place *p)
{
	return tidy(a, dir_of(a, p->path), p->target);
}

/* ---- where it goes ---- */

struct target { const char *dir, *as; };

/* Docker's PrepareArchiveCopy. */
static int decide(struct dk_context *c, const struct place *src, const struct place *dst, struct target *ret,
		  struct err *e)
{
	if (dst->kind == DIRECTORY) {
		*ret = (struct target){dst->path, base_of(c->arena, src->path)};
		return 0;
	}
	if (dst->kind != MISSING && src->kind == DIRECTORY)
		return dk_error(c, e, ENOTDIR, "cannot copy directory");
	if (dst->kind == MISSING && src->kind != DIRECTORY && (str_ends(dst->path, "/") || is_content(dst->path)))
		return dk_error(c, e, ENOENT, "no such directory");
	*ret = (struct target){dir_of(c->arena, dst->path), base_of(c->arena, dst->path)};
	return 0;
}

static int missing(struct dk_view *v, const char *path, struct err *e)
{
	return dk_daemon_error(v->c, e, ENOENT, "Could not find the file %s in container %s", path, v->name);
}

/* ---- the two ends ---- */

static struct strv host_pack(struct dk_context *c, const struct place *src, const char *as)
{
	struct strv argv = {0};
	const char *base = base_of(c->arena, src->path);
	bool whole = strcmp(base, ".") == 0;

	dk_args_add(c, &argv, "pack-own");
	dk_args_add(c, &argv, "--dir");
	dk_args_add(c, &argv, whole ? without_end(c->arena, src->path) : dir_of(c->arena, src->path));
	dk_args_add(c, &argv, "--as");
	dk_args_add(c, &argv, as);
	dk_args_add(c, &argv, whole ? "/" : arena_printf(c->arena, "/%s", base));
	return argv;
}

static struct strv container_command(struct dk_view *v, const char *command, const char *as)
{
	struct strv argv = {0};

	dk_args_add(v->c, &argv, arena_printf(v->c->arena, "%s%s", command, v->suffix));
	for (size_t i = 0; i < v->args.n; i++)
		dk_args_add(v->c, &argv, v->args.v[i]);
	if (as) {
		dk_args_add(v->c, &argv, "--as");
		dk_args_add(v->c, &argv, as);
	}
	dk_args_add(v->c, &argv, v->path);
	return argv;
}

static struct strv host_unpack(struct dk_context *c, const char *dir)
{
	struct strv argv = {0};

	dir = without_end(c->arena, dir);
	dk_args_add(c, &argv, "unpack-own");
	dk_args_add(c, &argv, "--dir");
	dk_args_add(c, &argv, dir);
	dk_args_add(c, &argv, "--host");
	dk_args_add(c, &argv, dir);
	return argv;
}

/* ---- out of a container ---- */

static int check_output(struct dk_context *c, const char *path, struct err *e)
{
	const char *dir = dir_of(c->arena, path);
	struct stat st;

	if (stat(dir, &st) < 0)
		return dk_error(c, e, ENOENT, "invalid output path: directory \"%s\" does not exist", dir);
	if (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		return dk_error(c, e, EINVAL, "got a device");
	return 0;
}

static int copy_out(struct dk_view *v, const char *path, const char *to, const struct dk_args *args,
		    struct err *e)
{
	const struct dk_cp_options *o = args->options;
	struct dk_context *c = v->c;
	struct place src = {.path = tidy(c->arena, "", path)}, dst = {0};
	const char *as = base_of(c->arena, src.path);
	struct target target;
	struct strv from, into;
	char *cwd;

	if (strcmp(to, "-") != 0) {
		cwd = realpath(".", NULL);
		dst.path = tidy(c->arena, cwd ? cwd : "/", to);
		free(cwd);
		if (check_output(c, dst.path, e) < 0)
			return -e->code;
		host_place(&dst);
	}
	if (container_place(v, &src, false, e) < 0)
		return -e->code;
	if (o->follow_link && src.kind == LINK) {
		src.path = follow(c->arena, &src);
		if (container_place(v, &src, false, e) < 0)
			return -e->code;
	}
	if (src.kind == MISSING)
		return missing(v, path, e);
	if (!dst.path) {
		from = container_command(v, "pack", as);
		return dk_run_brig_image(c, &from, &(struct dk_program){.in = -1, .out = -1}, e);
	}
	if (decide(c, &src, &dst, &target, e) < 0)
		return -e->code;
	from = container_command(v, "pack", dst.kind == DIRECTORY ? as : target.as);
	into = host_unpack(c, target.dir);
	return dk_run_pair(c, &from, &into, NULL, e);
}

/* ---- into a container ---- */

static int find_source(struct dk_context *c, const char *path, bool follow_link, struct place *ret, struct err *e)
{
	char *cwd = realpath(".", NULL), *real;
	struct stat st;

	ret->path = tidy(c->arena, cwd ? cwd : "/", path);
	free(cwd);
	if (lstat(ret->path, &st) < 0)
		return dk_error(c, e, errno, "lstat %s: %s", without_end(c->arena, ret->path),
				errno == ENOENT ? "no such file or directory" : err_name(errno));
	if (follow_link && S_ISLNK(st.st_mode)) {
		real = realpath(ret->path, NULL);
		if (!real || stat(real, &st) < 0)
			return dk_error(c, e, errno, "lstat %s: %s", ret->path, err_name(errno));
		ret->path = arena_strdup(c->arena, real);
		free(real);
	}
	ret->kind = S_ISDIR(st.st_mode) ? DIRECTORY : S_ISREG(st.st_mode) ? REGULAR : OTHER;
	return 0;
}

/* The target; its link is followed once, as Docker's client does. A failure is a missing one. */
static void find_target(struct dk_view *v, struct place *dst)
{
	struct err ignored = {0};

	if (container_place(v, dst, false, &ignored) < 0 || dst->kind != LINK)
		return;
	dst->path = follow(v->c->arena, dst);
	container_place(v, dst, false, &ignored);
}

static int unpack_into(struct dk_view *v, const char *dir, const struct strv *from, struct err *e)
{
	struct place at = {.path = arena_printf(v->c->arena, "%s/", strcmp(dir, "/") ? dir : "")};
	struct strv into;

	if (container_place(v, &at, false, e) < 0)
		return -e->code;
	if (at.kind != DIRECTORY)
		return missing(v, dir, e);
	if (dk_view_path(v, at.path, true, e) < 0)
		return -e->code;
	into = container_command(v, "unpack", NULL);
	if (from)
		return dk_run_pair(v->c, from, &into, DAEMON, e);
	return dk_run_brig_image(v->c, &into,
				 &(struct dk_program){.prefix = DAEMON, .in = -1, .out = -1}, e);
}

struct arrow { const char *from, *container, *path; };

static int copy_in(struct dk_context *c, const struct arrow *arrow, const struct dk_args *args, struct err *e)
{
	const struct dk_cp_options *o = args->options;
	const char *from = arrow->from, *container = arrow->container, *path = arrow->path;
	struct place src = {0}, dst = {.path = tidy(c->arena, "", path), .kind = MISSING};
	struct err no_container = {0};
	struct target target;
	struct dk_view v;
	struct strv pack;
	int r = dk_view_open(c, container, &v, &no_container);

	if (r == 0)
		find_target(&v, &dst);
	if (strcmp(from, "-") == 0) {
		if (dst.kind != DIRECTORY)
			r = dk_error(c, e, ENOTDIR, "destination \"%s:%s\" must be a directory", container, path);
		else
			r = unpack_into(&v, without_end(c->arena, dst.path), NULL, e);
		dk_view_close(&v);
		return r;
	}
	/* what is wrong with the source, and with the target's form, is said before "No such container" */
	if (find_source(c, from, o->follow_link, &src, e) < 0 || decide(c, &src, &dst, &target, e) < 0) {
		dk_view_close(&v);
		return -e->code;
	}
	if (r < 0) {
		*e = no_container;
		return r;
	}
	/* a link that was followed keeps its own name */
	if (dst.kind == DIRECTORY)
		target.as = base_of(c->arena, tidy(c->arena, "", from));
	pack = host_pack(c, &src, target.as);
	r = unpack_into(&v, without_end(c->arena, target.dir), &pack, e);
	dk_view_close(&v);
	return r;
}

int dk_cmd_cp(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const char *from_container, *to_container;
	const char *from = split(c->arena, args->argv[0], &from_container);
	const char *to = split(c->arena, args->argv[1], &to_container);
	struct dk_view v;
	int r;

	if (!*args->argv[0])
		return dk_error(c, e, EINVAL, "source can not be empty");
	if (!*args->argv[1])
		return dk_error(c, e, EINVAL, "destination can not be empty");
	if (from_container && *from_container && to_container && *to_container)
		return dk_error(c, e, EINVAL, "copying between containers is not supported");
	if ((!from_container || !*from_container) && (!to_container || !*to_container))
		return dk_error(c, e, EINVAL, "must specify at least one container source");
	if (to_container)
		return copy_in(c, &(struct arrow){from, to_container, to}, args, e);
	r = dk_view_open(c, from_container, &v, e);
	if (r == 0)
		r = copy_out(&v, from, to, args, e);
	dk_view_close(&v);
	return r;
}

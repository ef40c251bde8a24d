/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of brig-image: their arguments, and the descriptors that are opened before it shuts
 * itself in. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "image/gc.h"
#include "image/layers.h"
#include "image/load.h"
#include "image/make.h"
#include "image/pack.h"
#include "image/program.h"
#include "image/save.h"

/* FILE or stdin ("-" or nothing); Docker's words. */
static int open_input(struct img_program *p, struct err *e)
{
	int fd;

	if (p->argc == 0 || strcmp(p->argv[0], "-") == 0)
		return dup(STDIN_FILENO);
	fd = open(p->argv[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s: %s", p->argv[0],
			       errno == ENOENT ? "no such file or directory" : err_name(errno));
	return fd;
}

int img_cmd_load(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_load_options o = {0};
	auto_close int fd = -1;
	const char *name;

	o.names.v = arena_array(a, (size_t)p->argc + 1, sizeof(char *));
	for (;;) {
		if (img_option(p, "--quiet", NULL))
			o.quiet = true;
		else if (img_option(p, "--silent", NULL))
			o.silent = true;
		else if (img_option(p, "--name", &name))
			o.names.v[o.names.n++] = (char *)name;
		else if (img_option(p, "--ids", &name))
			o.ids = atoi(name);
		else
			break;
	}
	o.width = o.quiet || o.silent ? 0 : img_progress_width();
	fd = open_input(p, e);
	if (fd < 0 || img_shut_in(p, -1, e) < 0)
		return -e->code;
	return img_load(&p->store, fd, &o, e);
}

int img_cmd_gc(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_gc_result result;

	if (img_shut_in(p, -1, e) < 0 || img_gc(&p->store, a, &result, e) < 0)
		return -e->code;
	for (size_t i = 0; i < result.layers.n; i++)
		printf("%s\n", result.layers.v[i]);
	printf("%llu\n", (unsigned long long)result.bytes);
	return 0;
}

/* stdin, or a file that was opened before. */
static int read_document(struct arena *a, const char *path, struct img_make *m, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	if (!path)
		return err_set(e, EINVAL, "--document is missing");
	if (io_read_file(AT_FDCWD, path, 4 << 20, &b, e) < 0)
		return -e->code;
	m->document = arena_strndup(a, strbuf_str(&b), b.len);
	m->document_len = b.len;
	return 0;
}

static int make_and_print(struct img_program *p, struct img_make *m, struct arena *a, struct err *e)
{
	struct img_work w;
	const char *id;
	int r = img_work_begin(&w, &p->store, a, e);

	if (r == 0)
		r = img_make(&w, m, &id, e);
	img_work_end(&w);
	if (r == 0)
		printf("%s\n", id);
	return r;
}

static int link_directory(struct img_program *p, struct img_make *m, struct arena *a, struct err *e)
{
	struct img_work w;
	const char *id;
	char path[PATH_MAX];
	struct stat st;
	int r;

	if (p->argc != 1 || !realpath(p->argv[0], path) || stat(path, &st) < 0)
		return err_set(e, ENOENT, "%s: there is no such directory", p->argc ? p->argv[0] : "");
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, "%s is no directory", path);
	r = img_work_begin(&w, &p->store, a, e);
	if (r == 0)
		r = img_make_link(&w, m, path, &id, e);
	img_work_end(&w);
	if (r == 0)
		printf("%s\n", id);
	return r;
}

int img_cmd_import(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_make m = {.fd = -1};
	const char *document = NULL;
	bool linked = false;
	auto_close int fd = -1;

	for (;;) {
		if (img_option(p, "--link", NULL))
			linked = true;
		else if (!img_option(p, "--document", &document) && !img_option(p, "--name", &m.name))
			break;
	}
	if (read_document(a, document, &m, e) < 0)
		return -e->code;
	if (linked)
		return link_directory(p, &m, a, e);
	m.fd = fd = open_input(p, e);
	if (fd < 0 || img_shut_in(p, -1, e) < 0)
		return -e->code;
	return make_and_print(p, &m, a, e);
}

/* The upper directory becomes an archive in the work directory first. */
static int commit_layer(struct img_work *w, int diff, struct err *e)
{
	auto_close int out = openat(w->dir, "m0", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct img_pack pack = {.root = diff, .mode = IMG_PACK_LAYER, .out = out};

	if (out < 0)
		return err_sys(e, "make a file in the image store");
	/* a container that has not been started has changed nothing: an empty layer */
	if (diff < 0)
		return ftruncate(out, 1024) < 0 ? err_sys(e, "write an empty layer") : 0;
	return img_pack(&pack, e);
}

int img_cmd_commit(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_make m = {.fd = -1};
	struct img_image base;
	const char *document = NULL, *base_id = "", *diff = "";
	auto_close int fd = -1;
	struct img_work w;
	const char *id;
	int r;

	while (img_option(p, "--document", &document) || img_option(p, "--name", &m.name) ||
	       img_option(p, "--base", &base_id) || img_option(p, "--diff", &diff))
		;
	if (read_document(a, document, &m, e) < 0)
		return -e->code;
	r = img_by_id(&p->store, base_id, a, &base, e);
	if (r <= 0)
		return r < 0 ? r : err_set(e, ENOENT, "No such image: %s", base_id);
	if (base.link || base.host)
		return err_set(e, EINVAL, "the container's image is %s of this host, which commit cannot copy: use "
			       "export and import", base.host ? "the file system" : "a directory");
	m.base = &base;
	if (*diff) {
		fd = open(diff, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return err_sys(e, "open %s", diff);
	}
	if (img_shut_in(p, fd, e) < 0)
		return -e->code;
	r = img_work_begin(&w, &p->store, a, e);
	if (r == 0)
		r = commit_layer(&w, fd, e);
	if (r == 0)
		r = img_make(&w, &m, &id, e);
	img_work_end(&w);
	if (r == 0)
		printf("%s\n", id);
	return r;
}

int img_cmd_save(struct img_program *p, struct err *e)
{
	struct strv names = {.v = p->argv, .n = (size_t)p->argc};

	if (img_shut_in(p, -1, e) < 0)
		return -e->code;
	return img_save(&p->store, &names, STDOUT_FILENO, e);
}

/* `remove PATH`: a tree that belongs to ids of the caller's user namespace. */
int img_cmd_remove(struct img_program *p, struct err *e)
{
	char *slash = p->argc == 1 ? strrchr(p->argv[0], '/') : NULL;
	auto_close int dir = -1;

	if (!slash || !slash[1] || strcmp(slash + 1, "..") == 0)
		return err_set(e, EINVAL, "remove needs the absolute path of a directory");
	*slash = '\0';
	dir = open(slash == p->argv[0] ? "/" : p->argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "open %s", p->argv[0]);
	if (img_shut_in(p, dir, e) < 0)
		return -e->code;
	return img_remove_tree(dir, slash + 1, e);
}

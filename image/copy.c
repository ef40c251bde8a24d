/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of brig-image for cp, export and diff: archives out of and into a container's file
 * system (view.h) or a directory of the host, and what the container has changed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "base/sys.h"
#include "image/pack.h"
#include "image/unpack.h"
#include "image/view.h"

/* `stat VIEW PATH`: "dir", "file", "link TARGET" or "other"; exit code 3: it is not there. */
int img_cmd_stat(struct img_program *p, struct err *e)
{
	struct img_view v;
	auto_close int parent = -1;
	char name[256], target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (img_view_open(p, &v, e) < 0 || img_shut_in(p, v.root, e) < 0)
		return -e->code;
	if (p->argc != 1)
		return err_set(e, EINVAL, "stat needs a path");
	parent = img_view_parent(&v, p->argv[0], name, e);
	if (parent < 0 || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 3;
	if (S_ISDIR(st.st_mode)) {
		printf("dir\n");
	} else if (S_ISLNK(st.st_mode)) {
		n = readlinkat(parent, name, target, sizeof(target) - 1);
		printf("link %.*s\n", n > 0 ? (int)n : 0, target);
	} else {
		printf("%s\n", S_ISREG(st.st_mode) ? "file" : "other");
	}
	return 0;
}

/* `pack VIEW [--as NAME] PATH`: the path as an archive on stdout; without a path all of it. */
int img_cmd_pack(struct img_program *p, struct err *e)
{
	struct img_view v;
	struct img_pack pack = {.out = STDOUT_FILENO};
	auto_close int parent = -1;
	char name[256];

	if (img_view_open(p, &v, e) < 0)
		return -e->code;
	img_option(p, "--as", &pack.as);
	if (img_shut_in(p, v.root, e) < 0)
		return -e->code;
	pack.root = v.root;
	if (p->argc == 1) {
		pack.root = parent = img_view_parent(&v, p->argv[0], name, e);
		if (parent < 0)
			return parent;
		pack.name = name;
	}
	return img_pack(&pack, e);
}

static int unpack_stdin(struct img_unpack *u, struct err *e)
{
	struct img_budget budget;
	struct img_stream s;
	int r;

	if (img_budget_init(&budget, e) < 0 || img_stream_open(&s, STDIN_FILENO, false, e) < 0)
		return -e->code;
	u->budget = &budget;
	r = img_unpack(&s, u, e);
	if (r == 0)
		r = img_stream_finish(&s, e);
	img_stream_close(&s);
	return r;
}

/* `unpack VIEW [--host] DIR`: stdin's archive over what is in the directory. --host: DIR is one of the
 * caller's own; nobody's rights come from the archive. */
int img_cmd_unpack(struct img_program *p, struct err *e)
{
	struct img_unpack u = {.mode = IMG_UNPACK_OVER};
	auto_close int dir = -1;
	struct img_view v;

	if (img_view_open(p, &v, e) < 0)
		return -e->code;
	if (img_option(p, "--host", NULL))
		u.mode = IMG_UNPACK_HOST;
	if (p->argc != 1)
		return err_set(e, EINVAL, "unpack needs a directory");
	u.host_path = p->argv[0];
	dir = path_open_in_root(v.root, u.mode == IMG_UNPACK_HOST ? "." : p->argv[0], O_RDONLY | O_DIRECTORY, e);
	if (dir < 0)
		return -e->code;
	close(v.root); /* a way out of the directory */
	if (img_shut_in(p, dir, e) < 0)
		return -e->code;
	u.root = dir;
	return unpack_stdin(&u, e);
}

/* ---- diff ---- */

enum { MAX_LOWER = 132 };

struct diff {
	int lower[MAX_LOWER];
	size_t n;
	bool deletions; /* which entries of a directory it is the turn of: these are named last */
	struct err *e;
};

static bool has_opaque(int fd)
{
	char c;

	return (fgetxattr(fd, "trusted.overlay.opaque", &c, 1) == 1 && c == 'y') ||
	       (fgetxattr(fd, "user.overlay.opaque", &c, 1) == 1 && c == 'y');
}

static int open_beneath(int root, const char *path, int flags)
{
	return sys_openat2(root, *path ? path : ".", (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC), 0,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Does one of the prefixes of path hide it in the layers below this one? */
static bool hides(int layer, const char *path)
{
	char prefix[PATH_MAX];

	for (size_t i = 1; path[i - 1]; i++) {
		auto_close int fd = -1;
		struct stat st;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s", (int)i, path);
		fd = open_beneath(layer, prefix, O_PATH);
		if (fd < 0 || fstat(fd, &st) < 0)
			return false; /* not in this layer at all */
		if (!S_ISDIR(st.st_mode))
			return true;
		close(take_fd(&fd));
		fd = open_beneath(layer, prefix, O_RDONLY | O_DIRECTORY);
		if (fd >= 0 && has_opaque(fd))
			return true;
	}
	return false;
}

static bool was_there(const struct diff *d, const char *path)
{
	for (size_t i = 0; i < d->n; i++) {
		auto_close int fd = open_beneath(d->lower[i], path, O_PATH);
		struct stat st;

		if (fd >= 0 && fstat(fd, &st) == 0)
			return !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0));
		if (hides(d->lower[i], path))
			return false;
	}
	return false;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int diff_directory(struct diff *d, int dir, const char *path, unsigned depth);

static int diff_entry(struct diff *d, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;
	bool deletion;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(d->e, "look at %.200s", path);
	deletion = S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0);
	if (deletion != d->deletions)
		return 0;
	if (deletion) {
		printf("D /%s\n", path);
		return 0;
	}
	printf("%c /%s\n", was_there(d, path) ? 'C' : 'A', path);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (depth > 900)
		return err_set(d->e, ELOOP, "%.100s... is too many directories deep", path);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(d->e, "read %.200s", path);
	return diff_directory(d, fd, path, depth + 1);
}

static int diff_directory(struct diff *d, int dir, const char *path, unsigned depth)
{
	struct dirent **names;
	char child[PATH_MAX];
	int n = scandirat(dir, ".", &names, NULL, compare_names), r = 0;

	if (n < 0)
		r = err_sys(d->e, "read the directory %.200s", path);
	for (int i = 0; i < 2 * n; i++) {
		const char *name = names[i % n]->d_name;

		d->deletions = i >= n;
		if (r == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		    snprintf(child, sizeof(child), "%s%s%s", path, *path ? "/" : "", name) < (int)sizeof(child))
			r = diff_entry(d, dir, name, child, depth);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	if (n >= 0)
		free(names);
	close(dir);
	return r;
}

/* `diff --lower DIR... UPPER`. */
int img_cmd_diff(struct img_program *p, struct err *e)
{
	struct diff d = {.e = e};
	const char *value;
	int upper;

	while (img_option(p, "--lower", &value)) {
		if (d.n == MAX_LOWER)
			return err_set(e, E2BIG, "too many layers");
		d.lower[d.n] = open(value, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (d.lower[d.n++] < 0)
			return err_sys(e, "open %s", value);
	}
	if (p->argc != 1)
		return err_set(e, EINVAL, "diff needs a directory");
	upper = open(p->argv[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", p->argv[0]);
	return diff_directory(&d, upper, "", 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openat2 with RESOLVE_IN_ROOT does the walk in the kernel, so a container that swaps links while
 * we look can at worst make us open another file of its own root. Missing parents are made below
 * the deepest directory that exists: each new component is opened O_NOFOLLOW right after mkdirat,
 * so that a link put there in the race is an error and never a way out.
 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/sys.h"

enum { IN_ROOT = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

static int open_in_root(int root, const char *path, int flags)
{
	int fd;

	if (!*path)
		path = ".";
	do /* EAGAIN: a rename or mount happened meanwhile, the kernel could not be sure */
		fd = sys_openat2(root, path, (uint64_t)(unsigned)flags | O_CLOEXEC, 0, IN_ROOT);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd;
}

int path_open_in_root(int root, const char *path, int flags, struct err *e)
{
	int fd = open_in_root(root, path, flags);

	return fd < 0 ? err_sys(e, "open %s in the rootfs", path) : fd;
}

/* Makes the one component `name` below dir and returns an O_PATH fd of it. */
static int make_component(int dir, const char *name, enum path_kind kind, const char *path,
			  struct err *e)
{
	int r, fd;

	if (strcmp(name, "..") == 0)
		return err_set(e, EINVAL, "make %s in the rootfs: \"..\" below a missing directory",
			       path);
	if (kind == PATH_DIR)
		r = mkdirat(dir, name, 0755);
	else
		r = mknodat(dir, name, S_IFREG | 0644, 0);
	if (r < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
		return err_sys(e, "make %s in the rootfs, where it is missing (make it there beforehand)", path);
	if (r < 0 && errno != EEXIST)
		return err_sys(e, "make %s in the rootfs", path);
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (kind == PATH_DIR ? O_DIRECTORY : 0));
	return fd < 0 ? err_sys(e, "open %s in the rootfs", path) : fd;
}

/* The deepest existing ancestor of path, cut at *cut (an index into path). */
static int open_existing(int root, char *path, size_t *cut, struct err *e)
{
	size_t n = strlen(path);

	for (;;) {
		char saved = path[n];
		int fd;

		path[n] = '\0';
		fd = open_in_root(root, path, O_PATH);
		if (fd < 0 && errno != ENOENT)
			err_sys(e, "open %s in the rootfs", path);
		else if (fd < 0 && n == 0)
			err_sys(e, "open the rootfs");
		else
			e->code = 0;
		path[n] = saved;
		if (fd >= 0) {
			*cut = n;
			return fd;
		}
		if (e->code)
			return -e->code;
		while (n > 0 && path[n - 1] == '/')
			n--;
		while (n > 0 && path[n - 1] != '/')
			n--;
		while (n > 0 && path[n - 1] == '/')
			n--;
	}
}

int path_make_in_root(int root, const char *path, enum path_kind kind, struct err *e)
{
	char buf[PATH_MAX];
	auto_close int dir = -1;
	size_t cut = 0;
	char *p, *save;

	if (strlen(path) >= sizeof(buf))
		return err_set(e, ENAMETOOLONG, "the path %.60s... is too long", path);
	memcpy(buf, path, strlen(path) + 1);
	dir = open_existing(root, buf, &cut, e);
	if (dir < 0)
		return dir;
	for (p = strtok_r(buf + cut, "/", &save); p;) {
		char *next = strtok_r(NULL, "/", &save);
		int fd;

		if (strcmp(p, ".") == 0) {
			p = next;
			continue;
		}
		fd = make_component(dir, p, next ? PATH_DIR : kind, path, e);
		if (fd < 0)
			return fd;
		close(dir);
		dir = fd;
		p = next;
	}
	return take_fd(&dir);
}

int path_clean(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	if (size < 2)
		return -ENAMETOOLONG;
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (n > 0 && buf[--n] != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			if (n + len + 2 > size)
				return -ENAMETOOLONG;
			buf[n++] = '/';
			memcpy(buf + n, path, len);
			n += len;
		}
		path += len;
		path += *path == '/';
	}
	if (n == 0)
		buf[n++] = '/';
	buf[n] = '\0';
	return 0;
}

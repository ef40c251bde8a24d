/* SPDX-License-Identifier: Apache-2.0 */
#include "rootfs/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"

void dir_cache_drop(struct dir_cache *c)
{
	cleanup_close(&c->fd);
	c->path = NULL;
}

void dir_cache_covered(struct dir_cache *c, const char *target)
{
	size_t n = strlen(target);

	if (c->path && n <= c->len && memcmp(c->path, target, n) == 0)
		dir_cache_drop(c);
}

int dir_parent(struct dir_cache *c, const char *path, const char **ret_name, struct err *e)
{
	const char *slash = strrchr(path, '/');
	size_t len = (size_t)(slash - path);
	char parent[PATH_MAX];
	int fd;

	if (len == 0) {
		*ret_name = slash + 1;
		return c->root;
	}
	if (c->fd >= 0 && c->len == len && memcmp(c->path, path, len) == 0) {
		*ret_name = slash + 1;
		return c->fd;
	}
	if (len >= sizeof(parent))
		return err_set(e, ENAMETOOLONG, "the path %.60s... is too long", path);
	memcpy(parent, path, len);
	parent[len] = '\0';
	fd = path_make_in_root(c->root, parent, PATH_DIR, e);
	if (fd < 0)
		return fd;
	dir_cache_drop(c);
	*c = (struct dir_cache){c->root, fd, path, len};
	*ret_name = slash + 1;
	return fd;
}

int dir_open(struct dir_cache *c, const char *path, struct err *e)
{
	const char *name;
	int fd, dir = dir_parent(c, path, &name, e);

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %s in the rootfs", path) : fd;
}

int dir_make_dir(struct dir_cache *c, const char *path, mode_t mode, struct err *e)
{
	const char *name;
	int dir = dir_parent(c, path, &name, e);

	if (dir < 0)
		return dir;
	if (mkdirat(dir, name, mode) < 0 && errno != EEXIST)
		return err_sys(e, "make the directory %s in the rootfs", path);
	return 0;
}

int dir_make_file(struct dir_cache *c, const char *path, const struct dir_file *f, struct err *e)
{
	const char *name;
	int r, dir = dir_parent(c, path, &name, e);
	auto_close int fd = -1;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, f->mode);
	if (fd < 0)
		return err_sys(e, "make the file %s in the rootfs", path);
	r = io_write_all(fd, f->data, f->len);
	if (r < 0)
		return err_set(e, -r, "write the file %s in the rootfs: %s", path, err_name(-r));
	if ((f->uid || f->gid) && fchown(fd, f->uid, f->gid) < 0)
		return err_sys(e, "change the owner of %s in the rootfs", path);
	return 0;
}

int dir_make_link(struct dir_cache *c, const char *path, const char *to, bool replace,
		  struct err *e)
{
	const char *name;
	int dir = dir_parent(c, path, &name, e);

	if (dir < 0)
		return dir;
	if (symlinkat(to, dir, name) == 0)
		return 0;
	if (errno != EEXIST)
		return err_sys(e, "make the link %s in the rootfs", path);
	if (!replace)
		return 0;
	if (unlinkat(dir, name, 0) < 0 || symlinkat(to, dir, name) < 0)
		return err_sys(e, "replace %s in the rootfs by a link", path);
	return 0;
}

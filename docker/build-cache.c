/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is on the directory. Who prunes renames it first, so a build that comes then makes a new one. */
#include "docker/build-cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/lists.h"
#include "docker/remove.h"
#include "docker/tree-size.h"
#include "image/reference.h"

enum { LAYER_ID = 64 };

static char *path_of(const struct dk_store *s, const char *below)
{
	return arena_printf(s->arena, "%s/build%s", s->roots.data, below);
}

static int open_cache(const struct dk_store *s)
{
	return open(path_of(s, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_still(const struct dk_store *s, int fd)
{
	struct stat mine, now;

	return fstat(fd, &mine) == 0 && stat(path_of(s, ""), &now) == 0 && mine.st_ino == now.st_ino &&
	       mine.st_dev == now.st_dev;
}

int dk_build_cache_use(const struct dk_store *s, struct err *e)
{
	for (;;) {
		auto_close int fd = -1;

		if (mkdir(path_of(s, ""), 0700) < 0 && errno != EEXIST)
			return err_sys(e, "make %s", path_of(s, ""));
		fd = open_cache(s);
		if (fd < 0 || flock(fd, LOCK_SH) < 0)
			return err_sys(e, "lock %s", path_of(s, ""));
		if (is_still(s, fd))
			return take_fd(&fd);
	}
}

static void list(const struct dk_store *s, const char *below, struct strv *ret)
{
	DIR *d = opendir(path_of(s, below));

	for (struct dirent *de; d && (de = readdir(d));)
		if (img_is_hex(de->d_name, LAYER_ID))
			dk_strv_add(s->arena, ret, arena_strdup(s->arena, de->d_name));
	if (d)
		closedir(d);
}

void dk_build_cache_look(const struct dk_store *s, struct dk_build_cache *ret)
{
	auto_close int fd = open_cache(s);

	*ret = (struct dk_build_cache){0};
	if (fd < 0)
		return;
	list(s, "/overlay", &ret->objects);
	list(s, "/vfs/dir", &ret->objects);
	ret->size = dk_tree_size(path_of(s, ""));
	ret->in_use = flock(fd, LOCK_SH | LOCK_NB) == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

int dk_build_cache_prune(const struct dk_store *s, uint64_t *bytes, struct err *e)
{
	auto_close int fd = open_cache(s);
	char *old = path_of(s, arena_printf(s->arena, "-old-%d", (int)getpid()));
	struct dk_build_cache had;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", path_of(s, ""));
	dk_build_cache_look(s, &had);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || !is_still(s, fd))
		return 0;
	if (rename(path_of(s, ""), old) < 0)
		return err_sys(e, "rename %s", path_of(s, ""));
	if (dk_remove_tree(AT_FDCWD, old, e) < 0)
		return -e->code;
	if (had.objects.n)
		printf("Deleted build cache objects:\n");
	for (size_t i = 0; i < had.objects.n; i++)
		printf("%s\n", had.objects.v[i]);
	if (had.objects.n)
		printf("\n");
	*bytes += had.size;
	return 0;
}

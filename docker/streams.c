/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/sys.h"

#define NULL_DEVICE "/dev/null"

static bool is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

enum dk_stream dk_stream_kind(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) < 0 || S_ISSOCK(st.st_mode))
		return DK_STREAM_DIRECT;
	if (is_null(&st))
		return DK_STREAM_NULL;
	/* a FIFO of a directory has an owner there */
	return S_ISFIFO(st.st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC
		       ? DK_STREAM_DIRECT : DK_STREAM_COPIED;
}

/* -EPERM: we have no mounts of our own; then the node is not ours to change either. */
static int open_read_only(void)
{
	struct mount_attr ro = {.attr_set = MOUNT_ATTR_RDONLY};
	auto_close int tree = open_tree(AT_FDCWD, NULL_DEVICE,
					OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	char path[32];
	int fd;

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &ro, sizeof(ro)) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tree);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int dk_null_open(struct err *e)
{
	auto_close int fd = open_read_only();
	struct stat st;

	if (fd == -EPERM)
		fd = open(NULL_DEVICE, O_RDWR | O_CLOEXEC | O_NOCTTY);
	else if (fd < 0)
		errno = -fd;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open " NULL_DEVICE);
	if (!is_null(&st))
		return err_set(e, ENODEV, "open " NULL_DEVICE ": it is another file");
	return take_fd(&fd);
}

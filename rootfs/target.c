/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount targets. A target is resolved in-root to an O_PATH fd and mounted on through that fd, so
 * links of the image and a racing exchange of links cannot lead out of the root
 * (CVE-2021-30465, CVE-2019-18837). proc and sysfs only go on real directories, or masks and label
 * writes would hit a false tree (CVE-2019-19921, CVE-2023-27561); nothing else goes on a procfs
 * (CVE-2019-16884).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"

static bool wants_real_directory(const struct rootfs_mount *m)
{
	return m->checked_target || str_eq(m->target, "/proc") || str_eq(m->target, "/sys") ||
	       str_eq(m->fstype, "proc") || str_eq(m->fstype, "sysfs");
}

/* No component may be a link; -ENOENT without a message when it is missing. */
static int open_real(int root, const struct rootfs_mount *m, struct err *e)
{
	int fd;

	do
		fd = sys_openat2(root, m->target, O_PATH | O_CLOEXEC, 0,
				 RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	if (fd >= 0 || errno == ENOENT)
		return fd < 0 ? -ENOENT : fd;
	if (errno == ELOOP)
		return err_set(e, ELOOP, "mount %s: the path is a symbolic link in the rootfs, which "
			       "is refused for %s", m->target, m->fstype ? m->fstype : "this path");
	return err_sys(e, "mount %s: open the target", m->target);
}

static int open_or_make(int root, const struct rootfs_mount *m, bool dir, struct err *e)
{
	int fd;

	if (wants_real_directory(m)) {
		fd = open_real(root, m, e);
		if (fd != -ENOENT)
			return fd;
	}
	fd = path_make_in_root(root, m->target, dir ? PATH_DIR : PATH_FILE, e);
	if (fd < 0)
		return err_wrap(e, "mount %s", m->target);
	if (wants_real_directory(m)) {
		close(fd);
		fd = open_real(root, m, e);
		if (fd == -ENOENT)
			return err_set(e, ENOENT, "mount %s: the target went away", m->target);
	}
	return fd;
}

static int check_link(int root, const struct rootfs_mount *m, struct err *e)
{
	int fd = sys_openat2(root, m->target, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
			     RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode))
		r = err_set(e, ELOOP, "mount %s: the target is a symbolic link", m->target);
	close(fd);
	return r;
}

static int check_target(int fd, const struct rootfs_mount *m, bool dir, struct err *e)
{
	bool on_proc = m->checked_target || str_eq(m->fstype, "proc") ||
		       str_eq(m->target, "/proc") || m->kind == ROOTFS_REMOUNT;
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0)
		return err_sys(e, "mount %s: stat the target", m->target);
	if (fs.f_type == PROC_SUPER_MAGIC && !on_proc)
		return err_set(e, EINVAL, "mount %s: the target is in a proc file system", m->target);
	if (dir)
		return 0; /* a mount of a directory on something else fails by itself */
	if (fstat(fd, &st) < 0)
		return err_sys(e, "mount %s: stat the target", m->target);
	if (S_ISLNK(st.st_mode))
		return err_set(e, ELOOP, "mount %s: the target is a dangling symbolic link",
			       m->target);
	return 0;
}

int target_open(const struct rootfs_plan *p, const struct rootfs_mount *m, bool dir, struct err *e)
{
	auto_close int fd = -1;

	if (m->target_nofollow && check_link(p->new_root, m, e) < 0)
		return -e->code;
	fd = open_or_make(p->new_root, m, dir, e);
	if (fd < 0)
		return fd;
	if (check_target(fd, m, dir, e) < 0)
		return -e->code;
	return take_fd(&fd);
}

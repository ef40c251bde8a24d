/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and links of /dev, and the console. Nodes are made with mknod, or, where that is not
 * allowed (user namespace, no CAP_MKNOD), bound from the host's node, which was checked to be that
 * device. Names are made relative to the parent's fd and never followed: a rootfs whose /dev or
 * /dev/console is a link to the host changes nothing there (CVE-2026-41579, CVE-2025-52565).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/dir.h"
#include "rootfs/internal.h"

/* Mounts fd on the name below dir; the name is made when missing and never followed. */
static int bind_name(int fd, int dir, const char *name, const char *path, struct err *e)
{
	struct stat st;

	if (mknodat(dir, name, S_IFREG | 0666, 0) < 0) {
		if (errno != EEXIST)
			return err_sys(e, "device %s: make the mount point", path);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return err_sys(e, "device %s: stat the mount point", path);
		if (S_ISLNK(st.st_mode))
			return err_set(e, ELOOP, "device %s: is a symbolic link in the rootfs", path);
	}
	if (move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "device %s: bind the host's", path);
	return 0;
}

static int check_existing(int dir, const char *name, const struct rootfs_mount *m, mode_t type,
			  struct err *e)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "device %s: stat", m->target);
	if ((st.st_mode & S_IFMT) != type ||
	    (type != S_IFIFO && st.st_rdev != makedev(m->major, m->minor)))
		return err_set(e, EEXIST, "device %s: exists in the rootfs and is not %c %u:%u",
			       m->target, m->type, m->major, m->minor);
	return 0;
}

static int make_node(const struct rootfs_plan *p, struct rootfs_mount *m, int dir,
		     const char *name, struct err *e)
{
	mode_t type = m->type == 'b' ? S_IFBLK : m->type == 'p' ? S_IFIFO : S_IFCHR;
	dev_t dev = makedev(m->major, m->minor);
	auto_close int fd = -1;

	if (m->fd >= 0)
		return bind_name(m->fd, dir, name, m->target, e);
	if (mknodat(dir, name, type | m->mode, dev) < 0) {
		if (errno == EEXIST)
			return check_existing(dir, name, m, type, e);
		if (errno != EPERM)
			return err_sys(e, "device %s: make the node", m->target);
		fd = source_device(p, m->source, type, dev, e);
		return fd < 0 ? fd : bind_name(fd, dir, name, m->target, e);
	}
	if ((m->uid || m->gid) && fchownat(dir, name, m->uid, m->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "device %s: set the owner %u:%u", m->target, m->uid, m->gid);
	return 0;
}

int rootfs_devices(struct rootfs_plan *p, struct err *e)
{
	auto_dir_cache struct dir_cache dirs = {.root = p->new_root, .fd = -1};
	exact_modes;

	for (size_t i = 0; i < p->n_devices; i++) {
		struct rootfs_mount *m = &p->devices[i];
		const char *name;
		int dir, r;

		if (m->kind == ROOTFS_LINK) {
			bool replace = str_eq(m->target, "/dev/ptmx");

			r = dir_make_link(&dirs, m->target, m->source, replace, e);
		} else {
			dir = dir_parent(&dirs, m->target, &name, e);
			r = dir < 0 ? err_wrap(e, "device %s", m->target)
				    : make_node(p, m, dir, name, e);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int rootfs_bind_console(struct rootfs_plan *p, int peer, struct err *e)
{
	auto_dir_cache struct dir_cache dirs = {.root = p->new_root, .fd = -1};
	auto_close int fd = open_tree(peer, "", OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_EMPTY_PATH);
	const char *name;
	int dir;
	exact_modes;

	if (fd < 0)
		return err_sys(e, "mount /dev/console: copy the terminal's peer (it must have been "
				  "opened in the container's mount namespace)");
	dir = dir_parent(&dirs, "/dev/console", &name, e);
	if (dir < 0)
		return err_wrap(e, "mount /dev/console");
	return bind_name(fd, dir, name, "/dev/console", e);
}

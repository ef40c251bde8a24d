/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of mounts that somebody else made by our plan: criu, at a restore. Of several mounts
 * that show the same file or directory from outside it gives attributes to one, and takes the others
 * for copies of it. But it binds each from the host, so they would be writable.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "rootfs/internal.h"

/* The mount at target; -1 with *e code 0: there is none. */
static int open_mounted(int root, const char *target, bool *ret_dir, struct err *e)
{
	auto_close int fd = path_open_in_root(root, target, O_PATH, e);
	struct statx st;

	if (fd < 0) {
		if (e->code == ENOENT || e->code == ENOTDIR)
			e->code = 0;
		return -1;
	}
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) < 0) {
		err_sys(e, "stat %s", target);
		return -1;
	}
	*ret_dir = S_ISDIR(st.stx_mode);
	return st.stx_attributes & STATX_ATTR_MOUNT_ROOT ? take_fd(&fd) : -1;
}

static int repeat(int root, const struct rootfs_mount *m, bool files_only, struct err *e)
{
	bool dir = false;
	auto_close int fd = open_mounted(root, m->target, &dir, e);

	if (fd < 0 || (dir && files_only))
		return -e->code;
	if (attr_apply(fd, true, &m->attr_rec, 0) < 0 || attr_apply(fd, false, &m->attr, 0) < 0)
		return err_sys(e, "give the mount at %s its attributes again", m->target);
	return 0;
}

int rootfs_repeat_attributes(const struct rootfs_plan *p, struct err *e)
{
	const struct rootfs_attr ro = {.set = MOUNT_ATTR_RDONLY};
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = root < 0 ? err_sys(e, "open the root of the container") : 0;

	for (size_t i = 0; r == 0 && i < p->n_mounts; i++)
		if (p->mounts[i].kind == ROOTFS_BIND)
			r = repeat(root, &p->mounts[i], false, e);
	for (size_t i = 0; r == 0 && i < p->n_devices; i++)
		if (p->devices[i].kind == ROOTFS_NODE)
			r = repeat(root, &(struct rootfs_mount){.target = p->devices[i].target, .attr = ro}, true, e);
	/* A masked directory is a file system of its own. */
	for (size_t i = 0; r == 0 && i < p->masked.n; i++)
		r = repeat(root, &(struct rootfs_mount){.target = p->masked.v[i], .attr = ro}, true, e);
	return r;
}

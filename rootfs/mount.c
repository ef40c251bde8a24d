/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the plan's entries in order. The root is attached on top of "/" of our copy of the
 * mount namespace: that needs no path, and absolute host paths still resolve below it, because a
 * path walk starts at the process' root and not at what covers it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/dir.h"
#include "rootfs/internal.h"
#include "rootfs/userns.h"

/*
 * The built-in rootfs: a tmpfs with room for mount points and a few small files, mounted on "/".
 * The walk of "/.." stays at our root and then enters what covers it; that this is the new tmpfs
 * is checked. Half the time of fsopen and the calls that follow it.
 */
static int mount_host_root(struct rootfs_plan *p, struct err *e)
{
	struct stat old, new;

	if (stat("/", &old) < 0)
		return err_sys(e, "stat /");
	if (mount("brig-root", "/", "tmpfs", 0, "size=256k,nr_inodes=256,mode=755") < 0)
		return err_sys(e, "mount the tmpfs of the host rootfs");
	p->new_root = open("/..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->new_root < 0 || fstat(p->new_root, &new) < 0)
		return err_sys(e, "open the tmpfs of the host rootfs");
	if (old.st_dev == new.st_dev)
		return err_set(e, ENOTSUP, "open the tmpfs of the host rootfs: it does not cover /");
	return 0;
}

int rootfs_prepare(struct rootfs_plan *p, struct err *e)
{
	if (p->sources_by_parent && isolate_host_mounts(p, e) < 0)
		return -e->code;
	if (!p->root)
		return mount_host_root(p, e);
	if (p->overlay && !p->sources_by_parent)
		return overlay_mount(p, e);
	p->new_root = p->root_fd;
	if (move_mount(p->new_root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "attach the rootfs %s", p->root);
	return 0;
}

/*
 * Makes the target of a fresh entry: what mkdir made a moment ago in a directory of our own is
 * neither a link nor on a procfs. 1: made, with its directory and name; 0: look it up instead.
 */
static int make_target(const struct rootfs_mount *m, struct dir_cache *dirs, bool is_dir,
		       const char **ret_name, struct err *e)
{
	int dir, r;

	if (!m->fresh)
		return 0;
	dir = dir_parent(dirs, m->target, ret_name, e);
	if (dir < 0)
		return err_wrap(e, "mount %s", m->target);
	r = is_dir ? mkdirat(dir, *ret_name, 0755) : mknodat(dir, *ret_name, S_IFREG | 0644, 0);
	if (r < 0 && errno != EEXIST)
		return err_sys(e, "mount %s: make the target", m->target);
	return r == 0;
}

static int attach_at(const struct rootfs_mount *m, int fd, int dir, const char *name,
		     struct err *e)
{
	if (move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount %s: attach %s", m->target, m->source);
	return 0;
}

/* What is there is the kernel's, of which a copy makes no sense and may not end (/proc). */
static bool is_of_kernel(int fd)
{
	static const unsigned long magics[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC,
		SECURITYFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, BPF_FS_MAGIC, 0x19800202 /* mqueue */,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((unsigned long)fs.f_type == magics[i])
			return true;
	return false;
}

/* tmpcopyup of a bind: an empty source gets what it is about to cover. */
static int fill_source(const struct rootfs_mount *m, int fd, int target, struct err *e)
{
	struct stat st;

	if (!m->copy_up || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) || is_of_kernel(target))
		return 0;
	return copy_up_if_empty(target, fd, m->target, e);
}

static int become_readonly(const struct rootfs_mount *m, int fd, struct err *e)
{
	const struct rootfs_attr here = {m->attr.set & MOUNT_ATTR_RDONLY, 0};
	const struct rootfs_attr rec = {m->attr_rec.set & MOUNT_ATTR_RDONLY, 0};

	if (m->copy_up && (attr_apply(fd, true, &rec, 0) < 0 || attr_apply(fd, false, &here, 0) < 0))
		return err_sys(e, "mount %s: make it read-only", m->target);
	return 0;
}

static int attach(const struct rootfs_plan *p, const struct rootfs_mount *m, int fd,
		  struct dir_cache *dirs, struct err *e)
{
	auto_close int target = -1;
	const char *name;
	struct stat st;
	int made;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "mount %s: stat the source %s", m->target, m->source);
	made = make_target(m, dirs, S_ISDIR(st.st_mode), &name, e);
	if (made < 0)
		return made;
	if (made)
		return attach_at(m, fd, dir_parent(dirs, m->target, &name, e), name, e) < 0
			       ? -e->code
			       : become_readonly(m, fd, e);
	target = target_open(p, m, S_ISDIR(st.st_mode), e);
	if (target < 0)
		return target;
	if (fill_source(m, fd, target, e) < 0)
		return -e->code;
	if (move_mount(fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "mount %s: attach %s%s", m->target, m->source,
			       errno == ENOTDIR || errno == EINVAL
				       ? " (one is a directory and the other is not?)"
				       : "");
	return become_readonly(m, fd, e);
}

static int apply_bind(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		      struct err *e)
{
	char link[4096];
	ssize_t n;

	if (m->fd >= 0)
		return attach(p, m, m->fd, dirs, e);
	if (m->fd != SOURCE_IS_LINK)
		return 0; /* optional and absent */
	n = readlink(m->source, link, sizeof(link) - 1);
	if (n < 0)
		return err_sys(e, "link %s: read %s", m->target, m->source);
	link[n] = '\0';
	return dir_make_link(dirs, m->target, link, false, e);
}

static int apply_fs(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		    struct err *e)
{
	auto_close int target = -1;
	const char *name;
	int made = make_target(m, dirs, true, &name, e);

	if (made < 0)
		return made;
	if (made)
		target = dir_open(dirs, m->target, e);
	else
		target = target_open(p, m, true, e);
	return target < 0 ? target : fs_mount(m, target, e);
}

/* A user namespace that may not mount cgroup2 sees the host's tree, read-only all the way down. */
static int apply_cgroup(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
			struct err *e)
{
	struct rootfs_mount bind = *m;
	auto_close int fd = -1;

	if (apply_fs(p, m, dirs, e) == 0)
		return 0;
	if (!p->user_ns || (e->code != EPERM && e->code != EBUSY))
		return -e->code;
	bind.kind = ROOTFS_BIND;
	bind.source = "/sys/fs/cgroup";
	bind.recursive = true;
	bind.attr_rec.set |= bind.attr.set | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
			     MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	bind.attr = (struct rootfs_attr){0};
	fd = source_open(p, &bind, e);
	return fd < 0 ? -e->code : attach(p, &bind, fd, dirs, e);
}

static int apply_remount(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
			 struct err *e)
{
	auto_close int fd = target_open(p, m, true, e);
	unsigned long flags = MS_REMOUNT | m->sb_flags | mount_attr_to_ms(m->attr.set);

	(void)dirs;
	if (fd < 0)
		return fd;
	if ((m->data || m->sb_flags) && (fchdir(fd) < 0 || mount(NULL, ".", NULL, flags, m->data) < 0))
		return err_sys(e, "mount %s: remount", m->target);
	if (attr_apply(fd, true, &m->attr_rec, m->propagation_rec ? m->propagation : 0) < 0 ||
	    attr_apply(fd, false, &m->attr, m->propagation_rec ? 0 : m->propagation) < 0)
		return err_sys(e, "mount %s: change the options (is it a mount point?)", m->target);
	return 0;
}

static int apply_dir(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		     struct err *e)
{
	(void)p;
	return dir_make_dir(dirs, m->target, m->mode, e);
}

static int apply_file(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		      struct err *e)
{
	(void)p;
	return dir_make_file(dirs, m->target, &(struct dir_file){
		.data = m->data,
		.len = m->data_len ? m->data_len : strlen(m->data),
		.mode = m->mode,
		.uid = m->uid,
		.gid = m->gid,
	}, e);
}

static int apply_link(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		      struct err *e)
{
	(void)p;
	return dir_make_link(dirs, m->target, m->source, false, e);
}

typedef int apply_fn(struct rootfs_plan *p, struct rootfs_mount *m, struct dir_cache *dirs,
		     struct err *e);

static const struct { apply_fn *run; bool mounts; } kinds[] = {
	[ROOTFS_BIND] = {apply_bind, true},
	[ROOTFS_FS] = {apply_fs, true},
	[ROOTFS_CGROUP] = {apply_cgroup, true},
	[ROOTFS_REMOUNT] = {apply_remount, true},
	[ROOTFS_DIR] = {apply_dir, false},
	[ROOTFS_FILE] = {apply_file, false},
	[ROOTFS_LINK] = {apply_link, false},
};

int rootfs_mount(struct rootfs_plan *p, struct err *e)
{
	auto_dir_cache struct dir_cache dirs = {.root = p->new_root, .fd = -1};
	exact_modes;

	for (size_t i = 0; i < p->n_mounts; i++) {
		struct rootfs_mount *m = &p->mounts[i];
		int r = kinds[m->kind].run(p, m, &dirs, e);

		if (r < 0)
			return r;
		if (!m->fresh) /* a link of the image may have led anywhere */
			dir_cache_drop(&dirs);
		else if (kinds[m->kind].mounts)
			dir_cache_covered(&dirs, m->target);
	}
	return 0;
}

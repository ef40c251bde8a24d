/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount sources. Everything that comes from the host is copied (open_tree, OPEN_TREE_CLONE) into
 * a detached tree before the first mount is made, so no host path is looked up once the container
 * can be seen. In a new user namespace the container's root often may not walk to the source; a
 * privileged parent then opens it. Its copies are still peers of the host's shared mounts, so they
 * are made slaves here, or mounts below them would show up on the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/userns.h"

/* What is above the root of a chroot cannot be reached, and what we mount would show up there. */
static int propagation_error(struct err *e)
{
	if (errno == EINVAL)
		return err_set(e, EINVAL, "cut the mounts off from the host's: / is no mount point but a "
			       "chroot: bind its directory onto itself before the chroot (mount --bind "
			       "DIR DIR)");
	return err_sys(e, "cut the mounts off from the host's");
}

int isolate_host_mounts(const struct rootfs_plan *p, struct err *e)
{
	unsigned long flags = p->propagation ? p->propagation : MS_SLAVE | MS_REC;

	if (p->user_ns && !p->propagation)
		return 0; /* the kernel made all of them slaves when it copied the namespace */
	if (flags & MS_UNBINDABLE) /* for the container only: nothing could be bound from now on */
		flags = MS_PRIVATE | (flags & MS_REC);
	if (!(flags & MS_REC) && mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return propagation_error(e);
	if (mount(NULL, "/", NULL, flags, NULL) < 0)
		return propagation_error(e);
	if ((flags & MS_SHARED) && mount(NULL, "/", NULL, MS_PRIVATE, NULL) < 0)
		return err_sys(e, "make / private");
	return 0;
}

int attr_apply(int fd, bool recursive, const struct rootfs_attr *attr, unsigned long propagation)
{
	struct mount_attr ma = {
		.attr_set = attr->set,
		.attr_clr = attr->clear,
		.propagation = propagation,
	};
	unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);

	if (!ma.attr_set && !ma.attr_clr && !ma.propagation)
		return 0;
	return mount_setattr(fd, "", flags, &ma, sizeof(ma));
}

/*
 * What the parent copies is a peer of the host's mount as long as nothing else is set. It stays
 * one only for "shared" without a user namespace; a less privileged namespace must never be able
 * to mount on the host, so there "shared" means a new peer group that is a slave of the host's.
 */
static bool must_leave_peers(const struct rootfs_plan *p, const struct rootfs_mount *m)
{
	if (!p->sources_by_parent)
		return false; /* isolate_host_mounts did it for all mounts */
	if (m->propagation == MS_SHARED)
		return p->user_ns;
	return !m->propagation || (m->recursive && !m->propagation_rec);
}

static int set_attributes(const struct rootfs_plan *p, const struct rootfs_mount *m, int fd,
			  struct err *e)
{
	const struct rootfs_attr none = {0};
	/* What gets a copy becomes read-only when it has it. */
	const uint64_t later = m->copy_up ? (uint64_t)MOUNT_ATTR_RDONLY : 0;
	const struct rootfs_attr attr = {m->attr.set & ~later, m->attr.clear};
	const struct rootfs_attr rec = {m->attr_rec.set & ~later, m->attr_rec.clear};
	unsigned long here = m->propagation_rec ? 0 : m->propagation;
	unsigned long below = m->propagation_rec ? m->propagation : 0;
	const char *hint;

	if (!m->propagation && must_leave_peers(p, m))
		below = MS_SLAVE; /* in the same call as the attributes */
	else if (must_leave_peers(p, m) && attr_apply(fd, true, &none, MS_SLAVE) < 0)
		return err_sys(e, "mount %s: make the copy of %s a slave", m->target, m->source);
	if (attr_apply(fd, true, &rec, below) == 0 && attr_apply(fd, false, &attr, here) == 0)
		return 0;
	hint = errno == EPERM ? " (options that the host has set and locked, like ro or nosuid, "
				"cannot be taken back in a user namespace)"
			      : "";
	return err_sys(e, "mount %s: set the options of %s%s", m->target, m->source, hint);
}

static int open_tree_error(const struct rootfs_plan *p, const struct rootfs_mount *m,
			   struct err *e)
{
	if (errno == EINVAL && p->user_ns && !m->recursive)
		return err_set(e, EINVAL, "mount %s: %s has mounts below it that a user namespace "
			       "may not reveal: use the option rbind", m->target, m->source);
	if (errno == EPERM)
		return err_set(e, EPERM, "mount %s: copy the mount at %s: Operation not permitted "
			       "(no CAP_SYS_ADMIN in the mount namespace)", m->target, m->source);
	return err_sys(e, "mount %s: open the source %s", m->target, m->source);
}

static bool is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int idmap_source(const struct rootfs_mount *m, int fd, struct err *e)
{
	auto_close int userns = userns_open(m, e);

	return userns < 0 ? userns : mount_idmap(m, fd, userns, e);
}

const char *source_fs_name(int fd)
{
	static const struct { unsigned long magic; const char *name; } known[] = {
		{OVERLAYFS_SUPER_MAGIC, "overlay"}, {NFS_SUPER_MAGIC, "nfs"}, {FUSE_SUPER_MAGIC, "fuse"},
		{V9FS_MAGIC, "9p"}, {TMPFS_MAGIC, "tmpfs"}, {0x2fc12fc1 /* OpenZFS */, "zfs"}, {0x00c0ffee, "hostfs"},
	};
	static char other[24];
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return "unknown";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].magic == (unsigned long)fs.f_type)
			return known[i].name;
	snprintf(other, sizeof(other), "type %#lx", (unsigned long)fs.f_type);
	return other;
}

int source_open(const struct rootfs_plan *p, const struct rootfs_mount *m, struct err *e)
{
	unsigned flags = OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE |
			 (m->recursive ? AT_RECURSIVE : 0) |
			 (m->source_nofollow ? AT_SYMLINK_NOFOLLOW : 0);
	auto_close int fd = open_tree(AT_FDCWD, m->source, flags);

	e->code = 0;
	if (fd < 0 && m->optional && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	if (fd < 0)
		return open_tree_error(p, m, e);
	if (str_eq(m->target, "/proc") && !is_proc(fd))
		return err_set(e, EINVAL, "mount /proc: %s is no proc file system", m->source);
	if (set_attributes(p, m, fd, e) < 0)
		return -e->code;
	if (m->idmap && idmap_source(m, fd, e) < 0)
		return -e->code;
	return take_fd(&fd);
}

/* Read-only: a device can be written all the same, but the host's node keeps its mode, owner and times
 * where the container's root is the node's owner (a user namespace that maps 0 to 0). */
int source_device(const struct rootfs_plan *p, const char *path, mode_t type, dev_t dev,
		  struct err *e)
{
	auto_close int fd = open_tree(AT_FDCWD, path,
				      OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	const struct rootfs_attr ro = {.set = MOUNT_ATTR_RDONLY};
	struct stat st;

	if (fd < 0)
		return err_sys(e, "device %s: open the host's", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "device %s: stat the host's", path);
	if ((st.st_mode & S_IFMT) != type || st.st_rdev != dev)
		return err_set(e, ENODEV, "device %s: the host's is not %c %u:%u", path,
			       type == S_IFBLK ? 'b' : 'c', major(dev), minor(dev));
	if (attr_apply(fd, false, &ro, p->sources_by_parent ? MS_PRIVATE : 0) < 0)
		return err_sys(e, "device %s: make the copy private and read-only", path);
	return take_fd(&fd);
}

static int open_root(struct rootfs_plan *p, struct err *e)
{
	const struct rootfs_attr none = {0};
	auto_close int fd = -1;
	struct stat st;

	if (p->overlay && p->sources_by_parent) {
		p->root_fd = overlay_open(p, e);
		return p->root_fd < 0 ? p->root_fd : 0;
	}
	if (!p->root || p->overlay)
		return 0;
	fd = open_tree(AT_FDCWD, p->root, OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_RECURSIVE);
	if (fd < 0)
		return err_sys(e, "open the rootfs %s", p->root);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat the rootfs %s", p->root);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, "the rootfs %s is not a directory", p->root);
	if (p->sources_by_parent && attr_apply(fd, true, &none, MS_SLAVE) < 0)
		return err_sys(e, "make the copy of the rootfs %s a slave", p->root);
	if ((p->propagation & MS_SHARED) && attr_apply(fd, false, &none, MS_PRIVATE) < 0)
		return err_sys(e, "make the copy of the rootfs %s private", p->root);
	p->root_fd = take_fd(&fd);
	return 0;
}

static bool is_link(const char *path)
{
	char c;

	return readlink(path, &c, 1) > 0;
}

static int open_one(struct rootfs_plan *p, struct rootfs_mount *m, struct err *e)
{
	int fd = -1;

	e->code = 0;
	if (m->fd >= 0)
		return 0;
	if (m->kind == ROOTFS_FS && m->idmap)
		fd = userns_open(m, e);
	else if (m->kind == ROOTFS_BIND && m->keep_link && is_link(m->source))
		fd = SOURCE_IS_LINK;
	else if (m->kind == ROOTFS_BIND)
		fd = source_open(p, m, e);
	if (fd < 0 && e->code)
		return -e->code;
	m->fd = fd;
	return 0;
}

static int open_mounts(struct rootfs_plan *p, struct err *e)
{
	for (size_t i = 0; i < p->n_mounts; i++)
		if (open_one(p, &p->mounts[i], e) < 0)
			return -e->code;
	return 0;
}

/* A user namespace may not make nodes: they are copies of the host's. */
static int open_devices(struct rootfs_plan *p, struct err *e)
{
	for (size_t i = 0; p->user_ns && i < p->n_devices; i++) {
		struct rootfs_mount *m = &p->devices[i];

		if (m->kind != ROOTFS_NODE || m->type == 'p')
			continue;
		m->fd = source_device(p, m->source, m->type == 'b' ? S_IFBLK : S_IFCHR,
				      makedev(m->major, m->minor), e);
		if (m->fd < 0)
			return m->fd;
	}
	return 0;
}

int rootfs_open_sources(struct rootfs_plan *p, struct err *e)
{
	if (!p->sources_by_parent && isolate_host_mounts(p, e) < 0)
		return -e->code;
	if (open_root(p, e) < 0 || open_mounts(p, e) < 0 || open_devices(p, e) < 0)
		return -e->code;
	if (p->masked.n > 0) {
		p->null_fd = source_device(p, "/dev/null", S_IFCHR, makedev(1, 3), e);
		if (p->null_fd < 0)
			return err_wrap(e, "masked paths");
	}
	return 0;
}

static void close_all(struct rootfs_mount *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cleanup_close(&v[i].fd);
}

void rootfs_close(struct rootfs_plan *p)
{
	if (!p->sources_by_parent)
		return;
	cleanup_close(&p->root_fd);
	cleanup_close(&p->null_fd);
	close_all(p->mounts, p->n_mounts);
	close_all(p->devices, p->n_devices);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked and read-only paths, after pivot_root. A masked file is covered by the host's /dev/null,
 * which was checked to be char 1:3 before anything of the image could be in the way
 * (CVE-2025-31133); all masked directories share one empty read-only tmpfs. The first use attaches
 * the prepared mount itself, later ones a copy of it: before Linux 6.15 only an attached mount can
 * be copied. Paths that do not exist are skipped, as the spec wants.
 *
 * Most of these paths are names directly in /proc, and there are dozens. In a procfs of our own no
 * name can be exchanged by anybody, so they are looked at by name from its directory and covered
 * by one bind of a name that is covered already: half of the time of the general way.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/mask.h"

/* A mount that is put in several places. */
struct cover {
	int fd;
	bool used;
	const char *proc_name; /* a name in /proc that has it */
};

struct covers {
	int root;
	int proc, cwd; /* the procfs, which is the working directory now, and the one before; or -1 */
	struct cover file, dir;
};

/* Attaches the cover to the fd `target` of path, or, when path is a name, to the name in it. */
static int cover_place(struct cover *c, int target, const char *path, struct err *e)
{
	const char *name = *path == '/' ? "" : path;
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*name ? 0 : MOVE_MOUNT_T_EMPTY_PATH);
	auto_close int copy = -1;
	int fd = c->fd;

	if (c->used) {
		copy = open_tree(c->fd, "", OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_EMPTY_PATH);
		if (copy < 0)
			return err_sys(e, "mask %s: copy the cover", path);
		fd = copy;
	}
	if (move_mount(fd, "", target, name, flags) < 0)
		return err_sys(e, "mask %s: attach the cover", path);
	c->used = true;
	return 0;
}

static int make_dir_cover(const struct covers *c, struct err *e)
{
	auto_close int fs = -1;
	int fd;

	if (c->dir.proc_name) {
		fd = open_tree(c->proc, c->dir.proc_name, OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE);
		return fd < 0 ? err_sys(e, "copy the cover of masked directories") : fd;
	}
	fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "source", "brig-mask", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_blocks", "1", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", "1", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "make the empty tmpfs for masked directories");
	fd = fsmount(fs, FSMOUNT_CLOEXEC,
		     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? err_sys(e, "mount the empty tmpfs for masked directories") : fd;
}

/* The fd of path, -1 with *e code 0 when it does not exist. */
static int open_existing(int root, const char *path, struct err *e)
{
	int fd;

	do
		fd = sys_openat2(root, path, O_PATH | O_CLOEXEC, 0,
				 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	e->code = 0;
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		err_sys(e, "open %s", path);
	return fd;
}

/* Makes the procfs at /proc, if there is one, the working directory. */
static int enter_proc(struct covers *c, struct err *e)
{
	struct statfs fs;

	c->proc = sys_openat2(c->root, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			      RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (c->proc < 0)
		return 0;
	if (fstatfs(c->proc, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC) {
		cleanup_close(&c->proc);
		return 0;
	}
	c->cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->cwd < 0 || fchdir(c->proc) < 0)
		return err_sys(e, "enter /proc for the masked and read-only paths");
	return 0;
}

static int leave_proc(struct covers *c, struct err *e)
{
	int r = c->cwd >= 0 ? fchdir(c->cwd) : 0;

	if (c->dir.fd >= 0)
		close(c->dir.fd);
	if (c->cwd >= 0)
		close(c->cwd);
	if (c->proc >= 0)
		close(c->proc);
	return r < 0 ? err_sys(e, "go back to the working directory") : 0;
}

/* The name of a path directly in /proc, NULL for others. */
static const char *proc_name(const struct covers *c, const char *path)
{
	if (c->proc < 0 || strncmp(path, "/proc/", 6) != 0 || !path[6] || strchr(path + 6, '/'))
		return NULL;
	return path + 6;
}

/* 1: the name is a link, which is for the general way. */
static int mask_in_proc(struct covers *c, const char *name, const char *path, struct err *e)
{
	const unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	struct cover *cover;
	struct stat st;

	if (fstatat(c->proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "mask %s: stat", path);
	if (S_ISLNK(st.st_mode))
		return 1;
	cover = S_ISDIR(st.st_mode) ? &c->dir : &c->file;
	if (cover->proc_name) {
		if (mount(cover->proc_name, name, NULL, MS_BIND, NULL) < 0)
			return err_sys(e, "mask %s: bind the cover", path);
		return 0;
	}
	cover->proc_name = name;
	if (cover == &c->file)
		return cover_place(cover, c->proc, name, e);
	if (mount("brig-mask", name, "tmpfs", flags, "nr_blocks=1,nr_inodes=1,mode=755") < 0)
		return err_sys(e, "mask %s: mount an empty tmpfs", path);
	return 0;
}

static int mask_path(struct covers *c, const char *path, struct err *e)
{
	const char *name = proc_name(c, path);
	int r = name ? mask_in_proc(c, name, path, e) : 1;
	auto_close int target = -1;
	struct stat st;

	if (r <= 0)
		return r;
	target = open_existing(c->root, path, e);
	if (target < 0)
		return e->code ? err_wrap(e, "mask") : 0;
	if (fstat(target, &st) < 0)
		return err_sys(e, "mask %s: stat", path);
	if (!S_ISDIR(st.st_mode))
		return cover_place(&c->file, target, path, e);
	if (c->dir.fd < 0)
		c->dir.fd = make_dir_cover(c, e);
	return c->dir.fd < 0 ? -e->code : cover_place(&c->dir, target, path, e);
}

/* One '*' in one component: "/sys/devices/system/cpu/cpu*" "/thermal_throttle". */
struct glob { char dir[256], prefix[64], rest[256]; };

static bool glob_parse(const char *path, struct glob *g)
{
	const char *star = strchr(path, '*'), *slash = star;

	while (slash > path && *slash != '/')
		slash--;
	return snprintf(g->dir, sizeof(g->dir), "%.*s", (int)(slash - path), path) <
		       (int)sizeof(g->dir) &&
	       snprintf(g->prefix, sizeof(g->prefix), "%.*s", (int)(star - slash - 1), slash + 1) <
		       (int)sizeof(g->prefix) &&
	       snprintf(g->rest, sizeof(g->rest), "%s", star + 1) < (int)sizeof(g->rest) &&
	       (*g->rest == '\0' || *g->rest == '/');
}

static int mask_entries(struct covers *c, const struct glob *g, int dir, struct err *e)
{
	char buf[4096] __attribute__((aligned(8))), path[1024];
	size_t len = strlen(g->prefix);
	ssize_t n;

	while ((n = getdents64(dir, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(void *)(buf + at);

			at += d->d_reclen;
			if (d->d_name[0] == '.' || strncmp(d->d_name, g->prefix, len) != 0)
				continue;
			snprintf(path, sizeof(path), "%s/%s%s", g->dir, d->d_name, g->rest);
			if (mask_path(c, path, e) < 0)
				return -e->code;
		}
	return n < 0 ? err_sys(e, "mask %s/%s*: list", g->dir, g->prefix) : 0;
}

static int mask_glob(struct covers *c, const char *path, struct err *e)
{
	struct glob g;
	auto_close int dir = -1;

	if (!glob_parse(path, &g))
		return err_set(e, EINVAL, "mask %.200s: only one '*' at the end of a name is allowed",
			       path);
	dir = path_open_in_root(c->root, g.dir, O_RDONLY | O_DIRECTORY, e);
	if (dir < 0)
		return e->code == ENOENT || e->code == ENOTDIR ? 0 : err_wrap(e, "mask %s", path);
	return mask_entries(c, &g, dir, e);
}

static int mask_all(struct covers *c, const struct strv *paths, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		const char *path = paths->v[i];
		int r = strchr(path, '*') ? mask_glob(c, path, e) : mask_path(c, path, e);

		if (r < 0)
			return r;
	}
	return 0;
}

/* 1: not to be done by name. */
static int readonly_in_proc(const struct covers *c, const char *name, struct err *e)
{
	struct mount_attr ro = {.attr_set = MOUNT_ATTR_RDONLY};
	struct stat st;

	if (fstatat(c->proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "read-only path /proc/%s: stat", name);
	if (S_ISLNK(st.st_mode))
		return 1;
	if (mount(name, name, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_sys(e, "read-only path /proc/%s: bind", name);
	if (mount_setattr(AT_FDCWD, name, AT_RECURSIVE | AT_SYMLINK_NOFOLLOW, &ro, sizeof(ro)) < 0)
		return err_sys(e, "read-only path /proc/%s: set read-only", name);
	return 0;
}

static int make_readonly(const struct covers *c, const char *path, struct err *e)
{
	const struct rootfs_attr ro = {.set = MOUNT_ATTR_RDONLY};
	const char *name = proc_name(c, path);
	int r = name ? readonly_in_proc(c, name, e) : 1;
	auto_close int target = -1, tree = -1;

	if (r <= 0)
		return r;
	target = open_existing(c->root, path, e);
	if (target < 0)
		return e->code ? err_wrap(e, "read-only path") : 0;
	tree = open_tree(target, "",
			 OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0)
		return err_sys(e, "read-only path %s: copy the mount", path);
	if (attr_apply(tree, true, &ro, 0) < 0)
		return err_sys(e, "read-only path %s: set read-only", path);
	if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "read-only path %s: attach", path);
	return 0;
}

static int readonly_all(const struct covers *c, const struct strv *paths, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++)
		if (make_readonly(c, paths->v[i], e) < 0)
			return -e->code;
	return 0;
}

int protect_paths(const struct rootfs_plan *p, struct err *e)
{
	struct covers c = {.root = p->new_root, .proc = -1, .cwd = -1,
			   .file = {.fd = p->null_fd}, .dir = {.fd = -1}};
	struct err ignored;
	int r;

	if (p->masked.n + p->readonly.n == 0)
		return 0;
	r = enter_proc(&c, e);
	if (r == 0)
		r = mask_all(&c, &p->masked, e);
	if (r == 0)
		r = readonly_all(&c, &p->readonly, e);
	return leave_proc(&c, r < 0 ? &ignored : e) < 0 || r < 0 ? -e->code : 0;
}

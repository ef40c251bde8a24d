/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked and read-only paths, after pivot_root. A masked file is covered by the host's /dev/null,
 * which was checked to be char 1:3 before anything of the image could be in the way
 * (CVE-2025-31133); all masked directories share one empty read-only tmpfs. The first use attaches
 * the prepared mount itself, later ones a copy of it: before Linux 6.15 only an attached mount can
 * be copied. Paths that do not exist are skipped, as the spec wants.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/sys.h"
#include "rootfs/internal.h"
#include "rootfs/mask.h"

/* A mount that is put in several places. */
struct cover {
	int fd;
	bool used;
};

struct covers {
	int root;
	struct cover file, dir;
};

static int cover_place(struct cover *c, int target, const char *path, struct err *e)
{
	auto_close int copy = -1;
	int fd = c->fd;

	if (c->used) {
		copy = open_tree(c->fd, "", OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_EMPTY_PATH);
		if (copy < 0)
			return err_sys(e, "mask %s: copy the cover", path);
		fd = copy;
	}
	if (move_mount(fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_sys(e, "mask %s: attach the cover", path);
	c->used = true;
	return 0;
}

static int make_dir_cover(struct err *e)
{
	auto_close int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

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

static int mask_path(struct covers *c, const char *path, struct err *e)
{
	auto_close int target = open_existing(c->root, path, e);
	struct stat st;

	if (target < 0)
		return e->code ? err_wrap(e, "mask") : 0;
	if (fstat(target, &st) < 0)
		return err_sys(e, "mask %s: stat", path);
	if (!S_ISDIR(st.st_mode))
		return cover_place(&c->file, target, path, e);
	if (c->dir.fd < 0) {
		c->dir.fd = make_dir_cover(e);
		if (c->dir.fd < 0)
			return -e->code;
	}
	return cover_place(&c->dir, target, path, e);
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

int mask_paths(const struct rootfs_plan *p, struct err *e)
{
	struct covers c = {.root = p->new_root, .file = {.fd = p->null_fd}, .dir = {.fd = -1}};
	int r = 0;

	for (size_t i = 0; i < p->masked.n && r == 0; i++) {
		const char *path = p->masked.v[i];

		r = strchr(path, '*') ? mask_glob(&c, path, e) : mask_path(&c, path, e);
	}
	if (c.dir.fd >= 0)
		close(c.dir.fd);
	return r;
}

static int make_readonly(int root, const char *path, struct err *e)
{
	const struct rootfs_attr ro = {.set = MOUNT_ATTR_RDONLY};
	auto_close int target = open_existing(root, path, e);
	auto_close int tree = -1;

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

int readonly_paths(const struct rootfs_plan *p, struct err *e)
{
	for (size_t i = 0; i < p->readonly.n; i++)
		if (make_readonly(p->new_root, p->readonly.v[i], e) < 0)
			return -e->code;
	return 0;
}

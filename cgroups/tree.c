/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of a cgroup hierarchy, v1 and v2 alike: make, open, list, remove.
 *
 * Paths are opened by openat2(RESOLVE_BENEATH) below an fd of the hierarchy's root whose file
 * system type was checked, so that no ".." or mount leads out of it.
 *
 * Parents that we make get the extended attribute user.brig (kernfs has user attributes since
 * Linux 5.7). Whoever removes the last container below such a parent removes the parent too; one
 * that somebody else made stays. Making and removing race between processes: mkdir below a parent
 * that has just been removed gives ENOENT or ENODEV, and we begin again from the root.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "cgroups/internal.h"

#define MARK "user.brig"
/* Each lost race means that another start or end made progress. */
#define RACES_MAX 1000
/* Deeper trees are refused by cg_walk, which holds one fd a level. */
#define DEPTH_MAX 64
#define BENEATH   (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)
#define DIR_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool cg_path_is_clean(const char *path)
{
	const char *p = path;

	if (*p != '/' || strlen(path) >= PATH_MAX)
		return false;
	while (*p == '/') {
		size_t n = strcspn(++p, "/");

		if (n == 0)
			return path[1] == '\0';
		if ((n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (n > NAME_MAX || memchr(p, '\n', n))
			return false;
		p += n;
	}
	return true;
}

static int open_flags(int root, const char *path, int flags)
{
	int fd = sys_openat2(root, path[1] ? path + 1 : ".", (uint64_t)(flags | DIR_FLAGS), 0,
			     BENEATH);

	return fd < 0 ? -errno : fd;
}

int cg_open_below(int root, const char *path)
{
	return open_flags(root, path, O_PATH);
}

/* One component of the path to the new cgroup: opened, or made and marked. The fd or -errno. */
static int step_into(const struct cg_mkdir *m, int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | DIR_FLAGS);
	int r;

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | DIR_FLAGS);
	if (fd < 0)
		return -errno;
	/* Without the mark the parent stays in the end, which is harmless. */
	(void)fsetxattr(fd, MARK, "1", 1, 0);
	r = m->made ? m->made(parent, fd) : 0;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

/*
 * Opens the parent of m->path, making what is missing. The fd or -errno. Paths here have passed
 * cg_path_is_clean, so they are shorter than PATH_MAX.
 */
static int make_parents(const struct cg_mkdir *m, const char *parent_path)
{
	char copy[PATH_MAX];
	char *save = NULL;
	int fd = fcntl(m->root, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	memcpy(copy, parent_path, strlen(parent_path) + 1);
	for (char *c = strtok_r(copy, "/", &save); c; c = strtok_r(NULL, "/", &save)) {
		int next = step_into(m, fd, c);

		close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
	return fd;
}

/* One attempt. The O_PATH fd of the cgroup, or -errno; -ENOENT and -ENODEV: lost a race. */
static int mkdir_once(struct cg_mkdir *m)
{
	const char *leaf = strrchr(m->path, '/') + 1;
	auto_close int own_parent = -1;
	int parent = m->root;
	int fd, r;

	if (leaf != m->path + 1) {
		char up[PATH_MAX];

		memcpy(up, m->path, (size_t)(leaf - m->path) - 1);
		up[leaf - m->path - 1] = '\0';
		own_parent = cg_open_below(m->root, up);
		if (own_parent == -ENOENT)
			own_parent = make_parents(m, up);
		if (own_parent < 0)
			return own_parent;
		parent = own_parent;
	}
	m->fresh = mkdirat(parent, leaf, 0755) == 0;
	if (!m->fresh && errno != EEXIST)
		return -errno;
	fd = openat(parent, leaf, O_PATH | DIR_FLAGS);
	if (fd < 0) {
		r = -errno;
		if (m->fresh) /* out of descriptors, say: nobody else knows of it */
			unlinkat(parent, leaf, AT_REMOVEDIR);
		return r;
	}
	r = m->fresh && m->made ? m->made(parent, fd) : 0;
	if (r < 0) {
		close(fd);
		unlinkat(parent, leaf, AT_REMOVEDIR);
		return r;
	}
	return fd;
}

int cg_mkdir_path(struct cg_mkdir *m, struct err *e)
{
	int r = -ENOENT;

	if (!cg_path_is_clean(m->path) || m->path[1] == '\0')
		return err_set(e, EINVAL, "%s is not a path for a new cgroup", m->path);
	for (int i = 0; i < RACES_MAX && (r == -ENOENT || r == -ENODEV); i++)
		r = mkdir_once(m);
	if (r < 0)
		return err_set(e, -r, "make cgroup %s: %s", m->path, err_name(-r));
	return r;
}

/* The parents of path, from the deepest, for as long as they carry our mark and are empty. */
static void remove_parents(int root, const char *path)
{
	char up[PATH_MAX];
	char *slash;

	memcpy(up, path, strlen(path) + 1);
	while ((slash = strrchr(up, '/')) && slash != up) {
		auto_close int fd = -1;
		char v;

		*slash = '\0';
		fd = open_flags(root, up, O_RDONLY);
		if (fd < 0 || fgetxattr(fd, MARK, &v, 1) != 1)
			return;
		if (unlinkat(root, up + 1, AT_REMOVEDIR) < 0)
			return;
	}
}

int cg_remove_path(int root, const char *path, struct err *e)
{
	if (unlinkat(root, path + 1, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(e, "remove cgroup %s", path);
	remove_parents(root, path);
	return 0;
}

/* The name of the first directory in dir; 0, -ENOENT when there is none, -errno. */
static int first_subdir(int dir, char name[NAME_MAX + 1])
{
	int fd = openat(dir, ".", O_RDONLY | DIR_FLAGS);
	struct dirent *d;
	int r = -ENOENT;
	DIR *dp;

	if (fd < 0)
		return -errno;
	dp = fdopendir(fd);
	if (!dp) {
		close(fd);
		return -ENOMEM;
	}
	while (r == -ENOENT && (d = readdir(dp))) {
		if (d->d_type != DT_DIR || !strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		memcpy(name, d->d_name, strlen(d->d_name) + 1);
		r = 0;
	}
	closedir(dp);
	return r;
}

/*
 * Depth first with one fd whatever the depth is: down by name, up by "..", for the payload of a
 * delegated cgroup may have made a very deep tree.
 */
int cg_remove_children(int dir)
{
	auto_close int at = openat(dir, ".", O_PATH | DIR_FLAGS);
	bool came_up = false;
	size_t depth = 0;

	if (at < 0)
		return errno == ENOENT ? 0 : -errno;
	for (;;) {
		char name[NAME_MAX + 1];
		int r = first_subdir(at, name);
		int next;

		if (r == 0 && (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)) {
			came_up = false;
			continue;
		}
		if (r == 0 && (came_up || errno != EBUSY))
			return -errno;
		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0 && depth == 0)
			return 0;
		next = openat(at, r == 0 ? name : "..", O_PATH | DIR_FLAGS);
		if (next < 0)
			return -errno;
		close(at);
		at = next;
		came_up = r < 0;
		depth += r == 0 ? 1 : (size_t)-1;
	}
}

/* The errno of an open in a cgroup that has been removed meanwhile. */
static int unless_gone(int code)
{
	return code == ENOENT || code == ENODEV ? 0 : -code;
}

static int walk(int dir, int (*visit)(int dir, void *arg), void *arg, int depth)
{
	int fd = openat(dir, ".", O_RDONLY | DIR_FLAGS);
	int gone = fd < 0 ? unless_gone(errno) : 0;
	int r = visit(dir, arg);
	struct dirent *d;
	DIR *dp;

	if (fd < 0)
		return gone;
	dp = r == 0 && depth < DEPTH_MAX ? fdopendir(fd) : NULL;
	if (!dp) {
		close(fd);
		return r != 0 ? r : -ELOOP;
	}
	while (r == 0 && (d = readdir(dp))) {
		auto_close int sub = -1;

		if (d->d_type != DT_DIR || !strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		sub = openat(dirfd(dp), d->d_name, O_PATH | DIR_FLAGS);
		if (sub >= 0)
			r = walk(sub, visit, arg, depth + 1);
	}
	closedir(dp);
	return r;
}

int cg_walk(int dir, int (*visit)(int dir, void *arg), void *arg, struct err *e)
{
	int r = walk(dir, visit, arg, 0);

	if (r < 0)
		return err_set(e, -r, "walk through the sub-cgroups: %s", err_name(-r));
	return r;
}

/* Pids are short lines; the file may be read in pieces that end anywhere. */
int cg_read_procs(int dir, struct cg_pids *pids)
{
	auto_close int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char buf[4096];
	bool digits = false;
	pid_t pid = 0;
	ssize_t n;

	if (fd < 0)
		return unless_gone(errno);
	while ((n = io_read_upto(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				pid = pid * 10 + (buf[i] - '0');
				digits = true;
				continue;
			}
			if (digits && pids->n == pids->cap) {
				pids->cap = pids->cap ? pids->cap * 2 : 64;
				pids->v = xrealloc(pids->v, pids->cap * sizeof(*pids->v));
			}
			if (digits)
				pids->v[pids->n++] = pid;
			pid = 0;
			digits = false;
		}
	}
	/* A threaded cgroup does not list processes; its domain root above does. */
	return n < 0 && n != -EOPNOTSUPP && n != -ENODEV ? (int)n : 0;
}

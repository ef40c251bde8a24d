/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump names the mount points as the kernel has them, with links in the configuration's paths
 * resolved in the container's root. Which entry of the plan a mount point belongs to is a matter of
 * paths: the longest destination that is a prefix. So what a recursive bind brought along from
 * below its source is found as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/path.h"
#include "base/procfs.h"
#include "runtime/criu-files.h"

enum { MOUNTINFO_MAX = 16 << 20, PATH_SIZE = 4096 };

static const char null_device[] = "/dev/null";

/* What may be at a mount point. */
struct place {
	const char *path; /* resolved in the container */
	const char *key;  /* the name of a mount from outside; NULL: criu makes it by itself */
	bool tree;        /* what is below belongs to it too */
};

struct places { struct place *v; size_t n; };

/* ---- mountinfo ---- */

/* Blank, tab, newline and backslash are written as \ooo. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++, out++) {
		if (s[0] == '\\' && s[1] && s[2] && s[3]) {
			*out = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out = *s;
		}
	}
	*out = '\0';
}

/* The mount points of a process, in the order of mounting, as it sees them. */
static int read_mount_points(int procfs, const char *pid, struct arena *a, struct strv *ret,
			     struct err *e)
{
	char path[64];
	auto_close int fd = -1;
	auto_strbuf struct strbuf b = {0};
	size_t lines = 1;
	char *save;

	snprintf(path, sizeof(path), "%s/mountinfo", pid);
	fd = procfs_openat(procfs, path, O_RDONLY, e);
	if (fd < 0 || io_read_fd(fd, MOUNTINFO_MAX, &b, path, e) < 0)
		return -e->code;
	for (size_t i = 0; i < b.len; i++)
		lines += b.p[i] == '\n';
	*ret = (struct strv){arena_array(a, lines, sizeof(char *)), 0};
	for (char *line = strtok_r(b.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int from = 0, to = 0;

		if (sscanf(line, "%*s %*s %*s %*s %n%*s%n", &from, &to) < 0 || to <= from)
			continue;
		ret->v[ret->n] = arena_strndup(a, line + from, (size_t)(to - from));
		unescape(ret->v[ret->n++]);
	}
	return 0;
}

/* What is behind the directory in path: "" or "/...", NULL when it is elsewhere. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return path;
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/') ? path + n : NULL;
}

/* ---- dump ---- */

/* The container's path of target with links resolved; NULL when there is no such file. */
static const char *resolve(int root, struct arena *a, const char *target, bool *ret_dir)
{
	struct err ignored = {0};
	auto_close int fd = path_open_in_root(root, target, O_PATH, &ignored);
	char link[64], path[PATH_SIZE];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	*ret_dir = S_ISDIR(st.st_mode);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n <= 0 || n == sizeof(path) ? NULL : arena_strndup(a, path, (size_t)n);
}

static void add_place(struct places *p, const char *path, const char *key, bool tree)
{
	if (path)
		p->v[p->n++] = (struct place){path, key, tree};
}

static void add_entries(struct places *p, int root, struct arena *a, const struct rootfs_mount *m,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool outside = m[i].kind == ROOTFS_BIND || m[i].kind == ROOTFS_NODE, dir;

		if (outside || m[i].kind == ROOTFS_FS || m[i].kind == ROOTFS_CGROUP)
			add_place(p, resolve(root, a, m[i].target, &dir), outside ? m[i].target : NULL,
				  m[i].kind != ROOTFS_NODE);
	}
}

static struct places find_places(const struct rootfs_plan *r, int root, struct arena *a)
{
	struct places p = {arena_array(a, r->n_mounts + r->n_devices + r->masked.n + 1,
				       sizeof(struct place)), 0};

	add_entries(&p, root, a, r->mounts, r->n_mounts);
	add_entries(&p, root, a, r->devices, r->n_devices);
	for (size_t i = 0; i < r->masked.n; i++) {
		bool dir = false;
		const char *path = resolve(root, a, r->masked.v[i], &dir);

		if (!dir) /* a masked directory has a tmpfs, which criu makes */
			add_place(&p, path, null_device, false);
	}
	return p;
}

/* A later entry covers an earlier one. */
static const struct place *find_place(const struct places *p, const char *point)
{
	const struct place *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct place *q = &p->v[i];
		const char *rest = below(point, q->path);

		if (rest && (q->tree || !*rest) && (!best || strlen(q->path) >= strlen(best->path)))
			best = q;
	}
	return best;
}

int criu_put_dump_mounts(const struct criu_tree *t, struct arena *a, struct strbuf *opts, struct err *e)
{
	char pid[24], path[64];
	auto_close int root = -1;
	struct strv points;
	struct places p;
	int r;

	snprintf(pid, sizeof(pid), "%ld", (long)t->pid);
	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "open the root of the container");
	r = read_mount_points(t->procfs, pid, a, &points, e);
	if (r < 0)
		return r;
	p = find_places(t->plan->rootfs, root, a);
	for (size_t i = 0; i < points.n; i++) {
		const struct place *q = strcmp(points.v[i], "/") == 0 ? NULL : find_place(&p, points.v[i]);

		if (q && q->key)
			criu_put_pair(opts, CRIU_OPT_EXT_MNT, points.v[i],
				      q->tree ? arena_printf(a, "%s%s", q->key, below(points.v[i], q->path))
					      : q->key);
	}
	return 0;
}

/* ---- restore ---- */

/* A recursive bind brings along what is mounted below its source. */
static void put_with_submounts(const struct rootfs_mount *m, const struct strv *points,
			       struct arena *a, struct strbuf *opts)
{
	const char *source = m->source ? m->source : m->target;
	/* criu follows no link. */
	auto_free char *real = m->source_nofollow || m->keep_link ? NULL : realpath(source, NULL);

	if (real)
		source = real;
	criu_put_pair(opts, CRIU_OPT_EXT_MNT, m->target, source);
	for (size_t i = 0; m->recursive && i < points->n; i++) {
		const char *rest = below(points->v[i], source);

		if (rest && *rest)
			criu_put_pair(opts, CRIU_OPT_EXT_MNT, arena_printf(a, "%s%s", m->target, rest),
				      points->v[i]);
	}
}

int criu_put_restore_mounts(const struct plan *p, int procfs, struct arena *a, struct strbuf *opts,
			    struct err *e)
{
	const struct rootfs_plan *rp = p->rootfs;
	struct strv points;
	int r = read_mount_points(procfs, "self", a, &points, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < rp->n_mounts; i++)
		if (rp->mounts[i].kind == ROOTFS_BIND)
			put_with_submounts(&rp->mounts[i], &points, a, opts);
	for (size_t i = 0; i < rp->n_devices; i++)
		if (rp->devices[i].kind == ROOTFS_NODE && strcmp(rp->devices[i].target, null_device) != 0)
			put_with_submounts(&rp->devices[i], &points, a, opts);
	criu_put_pair(opts, CRIU_OPT_EXT_MNT, null_device, null_device);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk holds a descriptor for each level and follows no link: entries are opened O_NOFOLLOW
 * relative to their directory, and what was opened is what is described, even while a process in
 * the tree exchanges names. A file that shrinks meanwhile is filled with zeros, as tar does.
 *
 * Format: ustar as far as it goes, pax headers for the rest (long names, times below a second, attributes).
 */
#include "image/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"

enum { MAX_DEPTH = 900, BUFFER = 256 << 10, LIST_MAX = 64 << 10, BUCKETS = 4096 };
#define OVERRIDE "user.containers.override_stat"

struct seen { struct seen *next; dev_t dev; ino_t ino; const char *name; };

struct packer {
	const struct img_pack *p;
	struct archive *out;
	struct archive_entry *entry;
	struct arena *arena;
	struct seen *seen[BUCKETS]; /* files with several names */
	char *buffer;
	struct err *e;
};

static int archive_failed(struct packer *k, const char *path)
{
	int code = archive_errno(k->out) > 0 ? archive_errno(k->out) : EIO;
	char shown[200];

	return err_set(k->e, code, "write %s into the archive: %s", str_escape(shown, sizeof(shown), path),
		       err_name(code));
}

static bool wanted_xattr(const char *name)
{
	return strcmp(name, "security.capability") == 0 ||
	       (str_starts(name, "user.") && !str_starts(name, "user.overlay.") &&
		!str_starts(name, "user.containers."));
}

static void add_xattrs(struct packer *k, int fd)
{
	char names[4096], value[LIST_MAX];
	ssize_t n = flistxattr(fd, names, sizeof(names));
	unsigned uid, gid;

	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t size;

		if (!wanted_xattr(names + at))
			continue;
		size = fgetxattr(fd, names + at, value, sizeof(value));
		if (size >= 0)
			archive_entry_xattr_add_entry(k->entry, names + at, value, (size_t)size);
	}
	/* owners that could not be given when the image was unpacked */
	n = fgetxattr(fd, OVERRIDE, value, 63);
	if (n <= 0)
		return;
	value[n] = '\0';
	if (sscanf(value, "%u:%u:", &uid, &gid) == 2) {
		archive_entry_set_uid(k->entry, uid);
		archive_entry_set_gid(k->entry, gid);
	}
}

/* The name under which the file is in the archive already, or NULL; then it is noted. */
static const char *earlier_name(struct packer *k, const struct stat *st, const char *path)
{
	struct seen **bucket = &k->seen[(st->st_ino ^ st->st_dev) % BUCKETS], *s;

	if (st->st_nlink < 2 || S_ISDIR(st->st_mode))
		return NULL;
	for (s = *bucket; s; s = s->next)
		if (s->ino == st->st_ino && s->dev == st->st_dev)
			return s->name;
	s = arena_new_of(k->arena, struct seen);
	*s = (struct seen){*bucket, st->st_dev, st->st_ino, arena_strdup(k->arena, path)};
	*bucket = s;
	return NULL;
}

static void fill_entry(struct packer *k, const char *path, const struct stat *st)
{
	archive_entry_clear(k->entry);
	archive_entry_copy_pathname(k->entry, path);
	archive_entry_copy_stat(k->entry, st);
	archive_entry_unset_atime(k->entry);
	archive_entry_unset_ctime(k->entry);
	archive_entry_unset_birthtime(k->entry);
	archive_entry_set_nlink(k->entry, 1);
}

static int write_header(struct packer *k, const char *path)
{
	int r = archive_write_header(k->out, k->entry);

	return r == ARCHIVE_OK || r == ARCHIVE_WARN ? 0 : archive_failed(k, path);
}

static int write_data(struct packer *k, int fd, uint64_t size, const char *path)
{
	while (size > 0) {
		size_t want = size < BUFFER ? (size_t)size : BUFFER;
		ssize_t n = read(fd, k->buffer, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(k->e, "read %.200s", path);
		if (n == 0)
			memset(k->buffer, 0, (size_t)(n = (ssize_t)want));
		if (archive_write_data(k->out, k->buffer, (size_t)n) != n)
			return archive_failed(k, path);
		size -= (uint64_t)n;
	}
	return 0;
}

static int pack_file(struct packer *k, int dir, const char *name, const char *path)
{
	auto_close int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *first;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(k->e, "read %.200s", path);
	if (!S_ISREG(st.st_mode))
		return 0; /* exchanged meanwhile */
	fill_entry(k, path, &st);
	first = earlier_name(k, &st, path);
	if (first) {
		archive_entry_copy_hardlink(k->entry, first);
		archive_entry_unset_size(k->entry);
		return write_header(k, path);
	}
	add_xattrs(k, fd);
	if (write_header(k, path) < 0)
		return -k->e->code;
	return write_data(k, fd, (uint64_t)st.st_size, path);
}

static int pack_other(struct packer *k, int dir, const char *name, const struct stat *st, const char *path)
{
	char target[PATH_MAX];
	const char *first;
	ssize_t n;

	fill_entry(k, path, st);
	first = earlier_name(k, st, path);
	if (first) {
		archive_entry_copy_hardlink(k->entry, first);
		return write_header(k, path);
	}
	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0)
			return errno == EINVAL || errno == ENOENT ? 0 : err_sys(k->e, "read %.200s", path);
		target[n] = '\0';
		archive_entry_copy_symlink(k->entry, target);
	}
	return write_header(k, path);
}

/* An empty file whose name says what is deleted. */
static int pack_whiteout(struct packer *k, const char *path, const char *what)
{
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];
	struct stat st = {.st_mode = S_IFREG | 0600};

	if (*what)
		snprintf(name, sizeof(name), "%s%s%s", path, *path ? "/" : "", what);
	else
		snprintf(name, sizeof(name), "%.*s.wh.%s", slash ? (int)(slash - path + 1) : 0, path,
			 slash ? slash + 1 : path);
	fill_entry(k, name, &st);
	return write_header(k, name);
}

static bool is_opaque(int fd)
{
	char c;

	return (fgetxattr(fd, "trusted.overlay.opaque", &c, 1) == 1 && c == 'y') ||
	       (fgetxattr(fd, "user.overlay.opaque", &c, 1) == 1 && c == 'y');
}

static int pack_entry(struct packer *k, int dir, const char *name, const char *path, unsigned depth);

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_named(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

/* Sorted: the same tree is the same archive, and a layer of it has the same digest. */
static int pack_content(struct packer *k, int fd, const char *path, unsigned depth)
{
	struct dirent **names = NULL;
	int n = scandirat(fd, ".", &names, is_named, compare_names), r = 0;
	char child[PATH_MAX];

	if (n < 0)
		r = err_sys(k->e, "read the directory %.200s", path);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (r == 0 && snprintf(child, sizeof(child), "%s%s%s", path, *path ? "/" : "", name) >=
				      (int)sizeof(child))
			r = err_set(k->e, ENAMETOOLONG, "a path below %.100s... is too long for an archive", path);
		else if (r == 0)
			r = pack_entry(k, fd, name, child, depth);
		free(names[i]);
	}
	free(names);
	close(fd);
	return r;
}

static int pack_directory(struct packer *k, int dir, const char *name, const char *path, unsigned depth)
{
	auto_close int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char shown[PATH_MAX + 2];
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0; /* exchanged meanwhile */
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(k->e, "read the directory %.200s", path);
	if (depth > MAX_DEPTH)
		return err_set(k->e, ELOOP, "%.100s... is more than %d directories deep", path, MAX_DEPTH);
	snprintf(shown, sizeof(shown), "%s/", path);
	fill_entry(k, shown, &st);
	archive_entry_unset_size(k->entry);
	add_xattrs(k, fd);
	if (write_header(k, path) < 0)
		return -k->e->code;
	if (k->p->mode == IMG_PACK_LAYER && is_opaque(fd) && pack_whiteout(k, path, ".wh..wh..opq") < 0)
		return -k->e->code;
	return pack_content(k, take_fd(&fd), path, depth + 1);
}

static int pack_entry(struct packer *k, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(k->e, "look at %.200s", path);
	if (k->p->mode == IMG_PACK_LAYER && S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0))
		return pack_whiteout(k, path, "");
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return pack_directory(k, dir, name, path, depth);
	case S_IFREG:
		return pack_file(k, dir, name, path);
	case S_IFSOCK:
		return 0; /* tar has no sockets */
	default:
		return pack_other(k, dir, name, &st, path);
	}
}

static int open_archive(struct packer *k)
{
	k->out = archive_write_new();
	k->entry = archive_entry_new();
	k->buffer = malloc(BUFFER);
	if (!k->out || !k->entry || !k->buffer)
		return err_set(k->e, ENOMEM, "out of memory");
	archive_write_set_format_pax_restricted(k->out);
	archive_write_set_format_option(k->out, "pax", "xattrheader", "SCHILY");
	/* the last block is not padded to a tape's 10 KiB when it goes to a file or a pipe */
	archive_write_set_bytes_in_last_block(k->out, 1);
	if (archive_write_open_fd(k->out, k->p->out) != ARCHIVE_OK)
		return archive_failed(k, "the header");
	return 0;
}

static int pack_all(struct packer *k)
{
	const struct img_pack *p = k->p;
	int fd;

	if (p->name)
		return pack_entry(k, p->root, p->name, p->as ? p->as : p->name, 0);
	fd = openat(p->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(k->e, "read the directory to be packed");
	return pack_content(k, fd, "", 1);
}

int img_pack(const struct img_pack *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct packer *k = arena_new_of(a, struct packer);
	int r;

	k->p = p;
	k->arena = a;
	k->e = e;
	r = open_archive(k);
	if (r == 0)
		r = pack_all(k);
	if (r == 0 && archive_write_close(k->out) != ARCHIVE_OK)
		r = archive_failed(k, "the end");
	if (k->out)
		archive_write_free(k->out);
	if (k->entry)
		archive_entry_free(k->entry);
	free(k->buffer);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every entry is made by *at calls on a descriptor of its parent directory, which openat2 finds below
 * the root without following a link (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS; CVE-2021-32760 class).
 * The parent is kept for the next entry; it stays right because no directory is ever removed or
 * replaced here. New files are made O_EXCL, so what exists already is seen by the same call: in a
 * layer it is a duplicate and refused, unless both are directories.
 *
 * Modes and times of directories are set at the end, deepest first: making files changes them, and a
 * directory without write permission would stop a normal user.
 */
#include "image/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "image/unpack-internal.h"

enum { MAX_DEPTH = 256, MAX_NAME = 255, MAX_LINK = PATH_MAX - 1 };
#define DEFAULT_MAX_BYTES ((uint64_t)128 << 30)
#define DEFAULT_MAX_ENTRIES ((uint64_t)4 << 20)

static int limit_from_env(const char *name, uint64_t *value, struct err *e)
{
	const char *text = getenv(name);

	if (text && str_u64(text, UINT64_MAX, value) < 0)
		return err_set(e, EINVAL, "%s is not a number", name);
	return 0;
}

int img_budget_init(struct img_budget *b, struct err *e)
{
	*b = (struct img_budget){.max_bytes = DEFAULT_MAX_BYTES, .max_entries = DEFAULT_MAX_ENTRIES};
	if (limit_from_env("BRIG_IMAGE_MAX_BYTES", &b->max_bytes, e) < 0)
		return -e->code;
	return limit_from_env("BRIG_IMAGE_MAX_ENTRIES", &b->max_entries, e);
}

int img_clean_name(const char *name, char *buf, size_t size, struct err *e)
{
	size_t n = 0;
	unsigned depth = 0;

	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && name[0] == '.' && name[1] == '.')
			return err_set(e, EINVAL, "the name has \"..\" in it");
		if (len > 0 && !(len == 1 && name[0] == '.')) {
			if (len > MAX_NAME || n + len + 2 > size)
				return err_set(e, ENAMETOOLONG, "the name is too long");
			if (++depth > MAX_DEPTH)
				return err_set(e, EINVAL, "it is more than %d directories deep", MAX_DEPTH);
			if (n)
				buf[n++] = '/';
			memcpy(buf + n, name, len);
			n += len;
		}
		name += len;
		name += *name == '/';
	}
	buf[n] = '\0';
	return (int)n;
}

static int open_beneath(const struct unpacker *u, const char *path)
{
	/* a container may have mounts of its own, a layer has none */
	uint64_t one_mount = u->out->mode == IMG_UNPACK_LAYER ? RESOLVE_NO_XDEV : 0;
	int fd;

	if (!*path)
		path = ".";
	do
		fd = sys_openat2(u->out->root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
				 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | one_mount);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd;
}

/* Makes the missing directories of path, 0755 as Docker does. */
static int make_parents(struct unpacker *u, const char *path, struct err *e)
{
	char buf[PATH_MAX];

	snprintf(buf, sizeof(buf), "%s", path);
	for (char *p = buf;; p++) {
		char saved = *p;
		auto_close int up = -1;
		char *name = buf;

		if (saved && saved != '/')
			continue;
		*p = '\0';
		name = strrchr(buf, '/');
		if (name)
			*name = '\0';
		up = open_beneath(u, name ? buf : "");
		if (up < 0)
			return err_sys(e, "open the directory of %s", path);
		if (name)
			*name = '/';
		name = name ? name + 1 : buf;
		if (mkdirat(up, name, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "make the directory %s", buf);
		/* a whiteout or link of that name shows in the next step */
		*p = saved;
		if (!saved)
			return 0;
	}
}

/* The parent directory of path, kept in u; *ret_name is the last component. */
static int open_parent(struct unpacker *u, const char *path, const char **ret_name, struct err *e)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;
	char dir[PATH_MAX];

	*ret_name = slash ? slash + 1 : path;
	if (u->parent >= 0 && strlen(u->parent_path) == n && memcmp(u->parent_path, path, n) == 0)
		return u->parent;
	memcpy(dir, path, n);
	dir[n] = '\0';
	if (u->parent >= 0)
		close(u->parent);
	u->parent = open_beneath(u, dir);
	if (u->parent < 0 && errno == ENOENT) {
		if (make_parents(u, dir, e) < 0)
			return -e->code;
		u->parent = open_beneath(u, dir);
	}
	if (u->parent < 0 && (errno == ELOOP || errno == ENOTDIR || errno == EXDEV))
		return err_set(e, EINVAL, "it lies below something that is no directory");
	if (u->parent < 0)
		return err_sys(e, "open its directory");
	memcpy(u->parent_path, dir, n + 1);
	return u->parent;
}

static bool is_whiteout(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(0, 0);
}

/*
 * Something of that name exists, as the O_EXCL call has said. 1: it has made way, try again; else
 * an error. In a layer only a whiteout makes way: the file was deleted and made again.
 */
static int make_way(struct unpacker *u, int dir, const char *name, struct err *e)
{
	struct stat st;

	if (u->out->mode == IMG_UNPACK_LAYER) {
		if (!is_whiteout(dir, name))
			return err_set(e, EEXIST, "it is there twice");
	} else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode)) {
		return err_set(e, EISDIR, "cannot overwrite directory with non-directory");
	}
	if (unlinkat(dir, name, 0) < 0)
		return err_sys(e, "replace what is there");
	return 1;
}

static int take_size(struct unpacker *u, uint64_t n, struct err *e)
{
	struct img_budget *b = u->out->budget;
	uint64_t all = atomic_fetch_add(&b->bytes, n) + n;

	if (n > b->max_bytes || all > b->max_bytes)
		return err_set(e, EFBIG,
			       "the archive unpacks to more than %llu bytes (BRIG_IMAGE_MAX_BYTES sets the "
			       "limit)", (unsigned long long)b->max_bytes);
	return 0;
}

static int write_all_at(int fd, const char *p, size_t n, la_int64_t at)
{
	while (n > 0) {
		ssize_t w = pwrite(fd, p, n, at);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -1;
		p += w;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

/* The data of a file; what libarchive leaves out is a hole. */
static int write_data(struct unpacker *u, int fd, struct err *e)
{
	uint64_t size = (uint64_t)archive_entry_size(u->entry), end = 0;
	const void *data;
	size_t n;
	la_int64_t at;
	int r;

	while ((r = archive_read_data_block(u->stream->tar, &data, &n, &at)) == ARCHIVE_OK) {
		if (atomic_load_explicit(&u->out->budget->stop, memory_order_relaxed))
			return err_set(e, ECANCELED, "given up");
		if (at < 0 || (uint64_t)at > size || n > size - (uint64_t)at)
			return err_set(e, EINVAL, "it has more data than it says");
		if (write_all_at(fd, data, n, at) < 0)
			return err_sys(e, "write it");
		end = (uint64_t)at + n;
	}
	if (r != ARCHIVE_EOF)
		return img_stream_error(u->stream, e);
	if (end != size && ftruncate(fd, (off_t)size) < 0)
		return err_sys(e, "write it");
	return 0;
}

static int make_file(struct unpacker *u, int dir, const char *name, struct err *e)
{
	auto_close int fd = -1;
	int r = 1;

	if (archive_entry_size(u->entry) < 0)
		return err_set(e, EINVAL, "its size is negative");
	if (take_size(u, (uint64_t)archive_entry_size(u->entry), e) < 0)
		return -e->code;
	while (r == 1) {
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			break;
		r = errno == EEXIST ? make_way(u, dir, name, e) : err_sys(e, "make it");
	}
	if (r < 0)
		return r;
	if (write_data(u, fd, e) < 0)
		return -e->code;
	u->out->size += (uint64_t)archive_entry_size(u->entry);
	return unpack_set_file(u, fd, e);
}

/* A relative target that would leave the root, counted from the directory of path. */
static bool leaves_root(const char *path, const char *target)
{
	int depth = 0;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	while (*target) {
		size_t len = strcspn(target, "/");

		if (len == 2 && target[0] == '.' && target[1] == '.')
			depth--;
		else if (len > 0 && !(len == 1 && target[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		target += len;
		target += *target == '/';
	}
	return false;
}

static int make_link(struct unpacker *u, const char *path, int dir, const char *name, struct err *e)
{
	const char *target = archive_entry_symlink(u->entry);
	char shown[100];
	int r = 1;

	if (!target || !*target || strlen(target) > MAX_LINK)
		return err_set(e, EINVAL, "its target is empty or too long");
	if (target[0] != '/' && u->out->mode == IMG_UNPACK_HOST && leaves_root(path, target))
		return err_set(e, EINVAL, "invalid symlink \"%s/%s\" -> \"%s\"", u->out->host_path, path,
			       str_escape(shown, sizeof(shown), target));
	if (target[0] != '/' && u->out->mode == IMG_UNPACK_LAYER && leaves_root(path, target))
		return err_set(e, EINVAL, "its target %s is outside of the image",
			       str_escape(shown, sizeof(shown), target));
	while (r == 1) {
		if (symlinkat(target, dir, name) == 0)
			break;
		r = errno == EEXIST ? make_way(u, dir, name, e) : err_sys(e, "make the link");
	}
	if (r < 0)
		return r;
	u->out->size += strlen(target);
	return unpack_set_path(u, dir, name, e);
}

/* Another name for a file that came before; for a link to one, a link of its own. */
static int link_existing(int from, const char *old, int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, old, target, sizeof(target) - 1);

	if (n < 0)
		return linkat(from, old, dir, name, 0);
	target[n] = '\0';
	return symlinkat(target, dir, name);
}

static int make_hard_link(struct unpacker *u, int dir, const char *name, struct err *e)
{
	const char *target = archive_entry_hardlink(u->entry);
	char path[PATH_MAX], up[PATH_MAX];
	auto_close int from = -1;
	struct stat st;
	char *old;
	int r = 1;

	if (!target || img_clean_name(target, path, sizeof(path), e) <= 0)
		return err_set(e, EINVAL, "it is a hard link to something outside of the image");
	snprintf(up, sizeof(up), "%s", path);
	old = strrchr(up, '/');
	if (old)
		*old = '\0';
	from = open_beneath(u, old ? up : "");
	old = old ? old + 1 : path;
	if (from < 0 || fstatat(from, old, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
	    S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return err_set(e, EINVAL, "it is a hard link to a file that is not in the archive before it");
	while (r == 1) {
		if (link_existing(from, old, dir, name) == 0)
			return 0;
		r = errno == EEXIST ? make_way(u, dir, name, e) : err_sys(e, "make the hard link");
	}
	return r;
}

static int make_directory(struct unpacker *u, const char *path, int dir, struct err *e)
{
	const char *name = strrchr(path, '/');
	struct stat st;

	name = name ? name + 1 : path;
	if (mkdirat(dir, name, 0700) == 0)
		return unpack_note_directory(u, path, e);
	if (errno != EEXIST)
		return err_sys(e, "make the directory");
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "look at what is there");
	if (S_ISDIR(st.st_mode))
		return unpack_note_directory(u, path, e);
	if (u->out->mode != IMG_UNPACK_LAYER)
		return err_set(e, ENOTDIR, "cannot overwrite non-directory with directory");
	if (make_way(u, dir, name, e) < 0)
		return -e->code;
	if (mkdirat(dir, name, 0700) < 0)
		return err_sys(e, "make the directory");
	/* What was deleted and made again shows nothing of the layers below. */
	if (unpack_set_opaque(u, path, e) < 0)
		return -e->code;
	return unpack_note_directory(u, path, e);
}

static int make_node(struct unpacker *u, const char *path, int dir, const char *name, struct err *e)
{
	int r = 1;

	if (archive_entry_filetype(u->entry) != AE_IFIFO) {
		/* Every container has a /dev of its own, which hides these. */
		if (str_starts(path, "dev/")) {
			u->out->skipped_devices++;
			return 0;
		}
		return err_set(e, EPERM, "it is a device, and a device outside of /dev is refused");
	}
	while (r == 1) {
		if (mkfifoat(dir, name, archive_entry_perm(u->entry) & 0777) == 0)
			break;
		r = errno == EEXIST ? make_way(u, dir, name, e) : err_sys(e, "make the FIFO");
	}
	return r < 0 ? r : unpack_set_path(u, dir, name, e);
}

/* 1: the entry was a whiteout and is dealt with. */
static int take_whiteout(struct unpacker *u, const char *path, int dir, const char *name, struct err *e)
{
	char up[PATH_MAX];
	const char *gone = name + strlen(".wh.");
	struct stat st;

	if (strcmp(name, ".wh..wh..opq") == 0) {
		snprintf(up, sizeof(up), "%.*s", (int)(name - path), path);
		if (*up)
			up[strlen(up) - 1] = '\0';
		return unpack_set_opaque(u, up, e) < 0 ? -e->code : 1;
	}
	if (str_starts(name, ".wh..wh."))
		return 1; /* aufs's own files */
	if (!*gone || strcmp(gone, ".") == 0 || strcmp(gone, "..") == 0)
		return err_set(e, EINVAL, "it is a whiteout of nothing that can be deleted");
	if (mknodat(dir, gone, S_IFCHR, makedev(0, 0)) == 0)
		return 1;
	if (errno != EEXIST)
		return err_sys(e, "make the whiteout");
	/* The layer has the name as well: it replaces what was below. */
	if (fstatat(dir, gone, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
		snprintf(up, sizeof(up), "%.*s%.255s", (int)(name - path), path, gone);
		return unpack_set_opaque(u, up, e) < 0 ? -e->code : 1;
	}
	return 1;
}

static int make_entry(struct unpacker *u, const char *path, struct err *e)
{
	const char *name;
	int type = archive_entry_filetype(u->entry);
	int dir, r;

	if (!*path) {
		if (type != AE_IFDIR)
			return err_set(e, EINVAL, "it would replace the root directory");
		/* the directory that is copied into keeps its own mode and owner (CVE-2021-41089) */
		return u->out->mode == IMG_UNPACK_HOST ? 0 : unpack_note_directory(u, path, e);
	}
	dir = open_parent(u, path, &name, e);
	if (dir < 0)
		return dir;
	if (u->out->mode == IMG_UNPACK_LAYER && str_starts(name, ".wh.")) {
		r = take_whiteout(u, path, dir, name, e);
		return r < 0 ? r : 0;
	}
	if (archive_entry_hardlink(u->entry))
		return make_hard_link(u, dir, name, e);
	switch (type) {
	case AE_IFREG:
		return make_file(u, dir, name, e);
	case AE_IFDIR:
		return make_directory(u, path, dir, e);
	case AE_IFLNK:
		return make_link(u, path, dir, name, e);
	case AE_IFCHR:
	case AE_IFBLK:
	case AE_IFIFO:
		return make_node(u, path, dir, name, e);
	default:
		return err_set(e, EINVAL, "it is of an unknown type");
	}
}

static int next_entry(struct unpacker *u, struct err *e)
{
	struct img_budget *b = u->out->budget;
	const char *raw;
	char path[PATH_MAX], shown[200];
	int r = archive_read_next_header(u->stream->tar, &u->entry);

	if (r == ARCHIVE_EOF)
		return 0;
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return img_stream_error(u->stream, e);
	if (atomic_load_explicit(&b->stop, memory_order_relaxed))
		return err_set(e, ECANCELED, "given up");
	if (atomic_fetch_add(&b->entries, 1) >= b->max_entries)
		return err_set(e, EFBIG, "the archive has more than %llu entries (BRIG_IMAGE_MAX_ENTRIES sets "
			       "the limit)", (unsigned long long)b->max_entries);
	raw = archive_entry_pathname(u->entry);
	if (!raw || !*raw)
		return err_set(e, EINVAL, "an entry of the archive has no name");
	r = img_clean_name(raw, path, sizeof(path), e);
	if (r >= 0 && make_entry(u, path, e) < 0 && str_starts(e->msg, "invalid symlink"))
		return -e->code; /* Docker's words, which have the name in them */
	if (r < 0 || e->code) {
		str_escape(shown, sizeof(shown), raw);
		return err_wrap(e, "%s", shown);
	}
	return 1;
}

int img_unpack(struct img_stream *s, struct img_unpack *out, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct unpacker u = {.out = out, .stream = s, .parent = -1, .arena = a};
	int r;

	do
		r = next_entry(&u, e);
	while (r == 1);
	if (u.parent >= 0)
		close(u.parent);
	return r < 0 ? r : unpack_finish_directories(&u, e);
}

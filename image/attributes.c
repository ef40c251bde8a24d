/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners, modes, extended attributes and times of what was unpacked.
 *
 * Attributes: only user.* and security.capability come from an archive. overlayfs's own would let an
 * image say what it shows of other layers, and labels of an LSM are the host's business.
 *
 * Owners that the user namespace does not map (a normal user without a subordinate range) become the
 * caller's; what they were is kept in user.containers.override_stat ("UID:GID:MODE"), a name that
 * other programs know as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "image/unpack-internal.h"

#define OVERRIDE "user.containers.override_stat"
enum { MAX_XATTRS = 64, MAX_XATTR_BYTES = 64 << 10 };

static bool wanted_xattr(const char *name)
{
	if (strcmp(name, "security.capability") == 0)
		return true;
	return str_starts(name, "user.") && !str_starts(name, "user.overlay.") &&
	       !str_starts(name, "user.containers.");
}

/* The wanted attributes of the current entry, in the arena. */
static int read_xattrs(struct unpacker *u, struct unpack_dir *to, struct err *e)
{
	int n = archive_entry_xattr_reset(u->entry);
	size_t total = 0;
	const char *name;
	const void *value;
	size_t size;

	if (n == 0 || u->out->mode == IMG_UNPACK_HOST)
		return 0;
	if (n > MAX_XATTRS)
		return err_set(e, E2BIG, "it has more than %d extended attributes", MAX_XATTRS);
	to->xattrs = arena_array(u->arena, (size_t)n, sizeof(*to->xattrs));
	while (archive_entry_xattr_next(u->entry, &name, &value, &size) == ARCHIVE_OK) {
		void *copy;

		total += size;
		if (total > MAX_XATTR_BYTES)
			return err_set(e, E2BIG, "its extended attributes are too large");
		if (!name || !wanted_xattr(name))
			continue;
		copy = arena_alloc(u->arena, size + 1);
		memcpy(copy, value, size);
		to->xattrs[to->n_xattrs++] =
			(struct unpack_xattr){arena_strdup(u->arena, name), copy, size};
	}
	return 0;
}

static int read_attributes(struct unpacker *u, struct unpack_dir *to, struct err *e)
{
	la_int64_t uid = archive_entry_uid(u->entry), gid = archive_entry_gid(u->entry);

	if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX)
		return err_set(e, ERANGE, "its owner %lld:%lld is no valid id", (long long)uid, (long long)gid);
	to->uid = (uid_t)uid;
	to->gid = (gid_t)gid;
	to->mode = archive_entry_perm(u->entry) & (u->out->mode == IMG_UNPACK_HOST ? 0777 : 07777);
	to->mtime.tv_sec = archive_entry_mtime(u->entry);
	to->mtime.tv_nsec = archive_entry_mtime_nsec(u->entry);
	if (to->mtime.tv_nsec < 0 || to->mtime.tv_nsec > 999999999)
		to->mtime.tv_nsec = 0;
	return read_xattrs(u, to, e);
}

static int set_owner(struct unpacker *u, int fd, const struct unpack_dir *d, struct err *e)
{
	char text[64];
	int n;

	if (u->out->mode == IMG_UNPACK_HOST)
		return 0;
	if (fchown(fd, d->uid, d->gid) == 0)
		return 0;
	if (errno != EINVAL && errno != EPERM)
		return err_sys(e, "set its owner %u:%u", d->uid, d->gid);
	u->out->flattened++;
	n = snprintf(text, sizeof(text), "%u:%u:0%o", d->uid, d->gid, d->mode);
	if (fsetxattr(fd, OVERRIDE, text, (size_t)n, 0) < 0 && errno != ENOTSUP)
		return err_sys(e, "keep its owner %u:%u in an attribute", d->uid, d->gid);
	return 0;
}

static int set_xattrs(struct unpacker *u, int fd, const struct unpack_dir *d, struct err *e)
{
	for (size_t i = 0; i < d->n_xattrs; i++) {
		const struct unpack_xattr *x = &d->xattrs[i];

		if (fsetxattr(fd, x->name, x->value, x->size, 0) == 0)
			continue;
		if (errno != ENOTSUP && errno != EPERM)
			return err_sys(e, "set its attribute %.60s", x->name);
		u->out->lost_xattrs++;
	}
	return 0;
}

static void times_of(const struct unpack_dir *d, struct timespec ret[2])
{
	ret[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
	ret[1] = d->mtime;
}

static int set_all(struct unpacker *u, int fd, const struct unpack_dir *d, struct err *e)
{
	struct timespec times[2];

	/* chown takes set-user-ID bits and file capabilities away, so it comes first. */
	if (set_owner(u, fd, d, e) < 0)
		return -e->code;
	if (fchmod(fd, d->mode) < 0)
		return err_sys(e, "set its mode");
	if (set_xattrs(u, fd, d, e) < 0)
		return -e->code;
	times_of(d, times);
	if (futimens(fd, times) < 0)
		return err_sys(e, "set its time");
	return 0;
}

int unpack_set_file(struct unpacker *u, int fd, struct err *e)
{
	auto_arena struct arena *a = NULL;
	struct arena *kept = u->arena;
	struct unpack_dir d = {0};
	int r;

	if (archive_entry_xattr_count(u->entry))
		u->arena = a = arena_new();
	r = read_attributes(u, &d, e);
	u->arena = kept;
	return r < 0 ? r : set_all(u, fd, &d, e);
}

int unpack_set_path(struct unpacker *u, int dir, const char *name, struct err *e)
{
	struct unpack_dir d = {0};
	struct timespec times[2];

	archive_entry_xattr_clear(u->entry); /* links have no user.*, and a FIFO needs none */
	if (read_attributes(u, &d, e) < 0)
		return -e->code;
	if (u->out->mode != IMG_UNPACK_HOST && fchownat(dir, name, d.uid, d.gid, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != EINVAL && errno != EPERM)
			return err_sys(e, "set its owner %u:%u", d.uid, d.gid);
		u->out->flattened++;
	}
	times_of(&d, times);
	if (utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "set its time");
	return 0;
}

int unpack_note_directory(struct unpacker *u, const char *path, struct err *e)
{
	struct unpack_dir *d;

	if (u->n_dirs == u->room) {
		size_t room = u->room ? 2 * u->room : 256;
		struct unpack_dir *more = arena_array(u->arena, room, sizeof(*more));

		if (u->n_dirs)
			memcpy(more, u->dirs, u->n_dirs * sizeof(*more));
		u->dirs = more;
		u->room = room;
	}
	d = &u->dirs[u->n_dirs];
	if (read_attributes(u, d, e) < 0)
		return -e->code;
	d->path = arena_strdup(u->arena, path);
	u->n_dirs++;
	return 0;
}

static int open_directory(struct unpacker *u, const char *path)
{
	return sys_openat2(u->out->root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			   0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/*
 * Forwards, so that of two entries of one directory the later one wins; without root's capabilities
 * backwards: a directory comes before what is in it and may take the right to go there.
 */
int unpack_finish_directories(struct unpacker *u, struct err *e)
{
	bool forwards = geteuid() == 0;

	for (size_t i = 0; i < u->n_dirs; i++) {
		const struct unpack_dir *d = &u->dirs[forwards ? i : u->n_dirs - 1 - i];
		auto_close int fd = open_directory(u, d->path);
		char shown[200];

		if (fd < 0)
			return err_sys(e, "open the directory %s", str_escape(shown, sizeof(shown), d->path));
		if (set_all(u, fd, d, e) < 0)
			return err_wrap(e, "%s", str_escape(shown, sizeof(shown), d->path));
	}
	return 0;
}

int unpack_set_opaque(struct unpacker *u, const char *path, struct err *e)
{
	auto_close int fd = open_directory(u, path);

	if (fd < 0)
		return err_sys(e, "open the opaque directory");
	/* trusted.* is for overlays of the initial user namespace, user.* for all others (userxattr) */
	if (fsetxattr(fd, "trusted.overlay.opaque", "y", 1, 0) == 0)
		return 0;
	if (errno == EPERM && fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) == 0)
		return 0;
	return err_sys(e, "mark the directory as opaque");
}

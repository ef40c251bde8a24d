/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmpcopyup: what the image has at the target is copied into the new tmpfs before it covers it.
 * The image is hostile: nothing is opened through a link, only regular files are read, depth is
 * bounded, and size is bounded by the tmpfs itself. Devices and sockets are left out, extended
 * attributes (file capabilities) too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"

enum { MAX_DEPTH = 64, COPY_CHUNK = 1 << 20, DIRENTS = 4096 };

struct copy {
	const char *mount; /* for messages */
	unsigned depth;
	bool top_mode;     /* the top directory's mode is copied, too */
};

static int copy_dir(struct copy *c, int from, int to, struct err *e);

static int copy_error(const struct copy *c, const char *what, const char *name, struct err *e)
{
	char clean[256];

	return err_sys(e, "mount %s: copy up: %s %s", c->mount, what,
		       str_escape(clean, sizeof(clean), name));
}

/* Ids without a mapping (user namespace) stay the maker's own. */
static int copy_owner(struct copy *c, int dir, const char *name, const struct stat *st,
		      struct err *e)
{
	if (fchownat(dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0 &&
	    errno != EINVAL && errno != EPERM)
		return copy_error(c, "set the owner of", name, e);
	return 0;
}

static int copy_content(struct copy *c, int in, int out, const char *name, struct err *e)
{
	for (;;) {
		ssize_t n = sendfile(out, in, NULL, COPY_CHUNK);

		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return copy_error(c, "write", name, e);
	}
}

static int copy_file(struct copy *c, int from, int to, const char *name, struct err *e)
{
	auto_close int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_close int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return copy_error(c, "open", name, e);
	if (!S_ISREG(st.st_mode))
		return 0; /* exchanged meanwhile */
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return copy_error(c, "make", name, e);
	if (copy_content(c, in, out, name, e) < 0 || copy_owner(c, out, "", &st, e) < 0)
		return -e->code;
	return fchmod(out, st.st_mode & 07777) < 0 ? copy_error(c, "set the mode of", name, e) : 0;
}

static int copy_link(struct copy *c, int from, int to, const char *name, struct err *e)
{
	char text[4096];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return copy_error(c, "read the link", name, e);
	text[n] = '\0';
	return symlinkat(text, to, name) < 0 ? copy_error(c, "make the link", name, e) : 0;
}

static int copy_subdir(struct copy *c, int from, int to, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	auto_close int in = openat(from, name, flags);
	auto_close int out = -1;

	if (in < 0)
		return copy_error(c, "open", name, e);
	if (mkdirat(to, name, 0700) < 0)
		return copy_error(c, "make", name, e);
	out = openat(to, name, flags);
	if (out < 0)
		return copy_error(c, "open the copy of", name, e);
	return copy_dir(c, in, out, e);
}

static int copy_entry(struct copy *c, int from, int to, const char *name, struct err *e)
{
	struct stat st;
	int r = 0;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return copy_error(c, "stat", name, e);
	if (S_ISDIR(st.st_mode))
		return copy_subdir(c, from, to, name, e);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, e);
	if (S_ISLNK(st.st_mode))
		r = copy_link(c, from, to, name, e);
	else if (!S_ISFIFO(st.st_mode))
		return 0;
	else if (mknodat(to, name, st.st_mode & (S_IFMT | 07777), 0) < 0)
		r = copy_error(c, "make", name, e);
	return r < 0 ? r : copy_owner(c, to, name, &st, e);
}

static int copy_entries(struct copy *c, int from, int to, char *buf, struct err *e)
{
	ssize_t n;

	while ((n = getdents64(from, buf, DIRENTS)) > 0)
		for (ssize_t at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(void *)(buf + at);

			at += d->d_reclen;
			if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
				continue;
			if (copy_entry(c, from, to, d->d_name, e) < 0)
				return -e->code;
		}
	return n < 0 ? copy_error(c, "list", "a directory", e) : 0;
}

static int copy_dir(struct copy *c, int from, int to, struct err *e)
{
	auto_free char *buf = NULL; /* not on the stack, which may be small */
	struct stat st;
	int r;

	if (c->depth >= MAX_DEPTH)
		return err_set(e, ELOOP, "mount %s: copy up: more than %d directories deep", c->mount,
			       MAX_DEPTH);
	if (fstat(from, &st) < 0)
		return copy_error(c, "stat", "a directory", e);
	buf = malloc(DIRENTS);
	if (!buf)
		return err_set(e, ENOMEM, "mount %s: copy up: out of memory", c->mount);
	c->depth++;
	r = copy_entries(c, from, to, buf, e);
	c->depth--;
	if (r < 0 || copy_owner(c, to, "", &st, e) < 0)
		return -e->code;
	if ((c->depth > 0 || c->top_mode) && fchmod(to, st.st_mode & 07777) < 0)
		return copy_error(c, "set the mode of", "a directory", e);
	return 0;
}

static int is_empty(int dir)
{
	char buf[1024]; /* room for more than "." and ".." */
	ssize_t n = getdents64(dir, buf, sizeof(buf));
	bool empty = true;

	for (ssize_t at = 0; at < n;) {
		struct dirent64 *d = (struct dirent64 *)(void *)(buf + at);

		at += d->d_reclen;
		empty = empty && (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."));
	}
	return n < 0 ? -errno : empty;
}

int copy_up_if_empty(int from, int to, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct copy c = {.mount = name, .top_mode = true};
	auto_close int in = openat(from, ".", flags), out = openat(to, ".", flags);
	int r;

	if (in < 0 || out < 0 || flock(out, LOCK_EX) < 0)
		return copy_error(&c, "open", "the directory", e);
	r = is_empty(out);
	if (r < 0)
		return err_set(e, -r, "mount %s: copy up: list the volume: %s", name, err_name(-r));
	return r ? copy_dir(&c, in, out, e) : 0;
}

/* A tmpfs has its own option for the mode of its top. */
int copy_up(int from, int to, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct copy c = {.mount = name};
	auto_close int in = openat(from, ".", flags), out = openat(to, ".", flags);

	if (in < 0 || out < 0)
		return copy_error(&c, "open", "the directory", e);
	return copy_dir(&c, in, out, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is removed was filled by somebody hostile: directories without a right, ten thousand levels
 * deep, with names of any bytes. Each level costs a descriptor and some stack, so what lies deeper
 * than DEPTH is moved up to the top and removed from there.
 */
#include "docker/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "docker/image-program.h"

enum { DEPTH = 48 };

struct removal {
	int top;        /* the directory itself */
	dev_t device;
	unsigned moved; /* how many were moved to the top */
	const char *name;
};

static int open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* Ours without the rights: overlayfs leaves such a one. A link cannot be there: O_NOFOLLOW said so. */
	if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int empty_dir(struct removal *r, int fd, int depth, struct err *e);

static int fail(const struct removal *r, struct err *e)
{
	return err_sys(e, "remove what is in %.80s", r->name);
}

static int remove_dir(struct removal *r, int at, const char *name, int depth, struct err *e)
{
	char up[32];
	int fd, code;

	if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (depth >= DEPTH) {
		do /* past what a removal left that was killed: it is removed like the rest */
			snprintf(up, sizeof(up), ".brig-remove-%u", r->moved++);
		while ((code = renameat2(at, name, r->top, up, RENAME_NOREPLACE)) < 0 && errno == EEXIST);
		return code < 0 ? fail(r, e) : 0;
	}
	fd = open_dir(at, name);
	if (fd < 0)
		return fail(r, e);
	code = empty_dir(r, fd, depth + 1, e);
	if (code < 0)
		return code;
	return unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? fail(r, e) : 0;
}

static int remove_entry(struct removal *r, int at, const struct dirent *de, int depth, struct err *e)
{
	if (de->d_type != DT_DIR) {
		if (unlinkat(at, de->d_name, 0) == 0 || errno == ENOENT)
			return 0;
		if (errno != EISDIR && errno != EPERM)
			return fail(r, e);
	}
	return remove_dir(r, at, de->d_name, depth, e);
}

/* Takes fd. */
static int empty_dir(struct removal *r, int fd, int depth, struct err *e)
{
	DIR *d = fdopendir(fd);
	struct stat st;
	int code = 0;

	if (!d) {
		close(fd);
		return fail(r, e);
	}
	if (fstat(fd, &st) < 0 || st.st_dev != r->device)
		code = err_set(e, EBUSY, "remove what is in %.80s: something is mounted there", r->name);
	if (!(st.st_mode & S_IWUSR))
		fchmod(fd, 0700);
	for (struct dirent *de; code == 0 && (de = readdir(d));)
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			code = remove_entry(r, fd, de, depth, e);
	closedir(d);
	return code;
}

static int remove_all(int at, const char *name, struct err *e)
{
	struct removal r = {.name = name};
	unsigned before;
	struct stat st;
	int code;

	if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	do {
		before = r.moved;
		r.top = open_dir(at, name);
		if (r.top < 0 || fstat(r.top, &st) < 0)
			return fail(&r, e);
		r.device = st.st_dev;
		code = empty_dir(&r, r.top, 0, e);
	} while (code == 0 && r.moved != before);
	if (code < 0)
		return code;
	return unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? fail(&r, e) : 0;
}

int dk_remove_tree(int at, const char *name, struct err *e)
{
	int code = remove_all(at, name, e);

	/* a normal user's container has made files of his subordinate ids, or he has copied them in */
	if ((code != -EACCES && code != -EPERM) || geteuid() == 0)
		return code;
	e->code = 0;
	return dk_remove_in_userns(at, name, e);
}

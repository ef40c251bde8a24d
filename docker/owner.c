/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of a container. It is a file of its own, not the directory, because its text outlives its
 * name for those who have it open: `wait` learns the exit code of a container that is gone already.
 *
 * Whoever gets the lock looks whether the file still has a name: a former owner may have removed it
 * between the open and the lock; then it begins anew.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/store.h"

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int lock_file(int fd, int how)
{
	int r;

	do
		r = flock(fd, how);
	while (r < 0 && errno == EINTR);
	return r;
}

static int keep_spare(struct dk_owner *o, struct err *e)
{
	for (; o->n_spare < DK_SPARE; o->n_spare++) {
		o->spare[o->n_spare] = fcntl(o->dir, F_DUPFD_CLOEXEC, 0);
		if (o->spare[o->n_spare] < 0)
			return err_sys(e, "keep descriptors for the end of the container");
	}
	return 1;
}

void dk_owner_spend(struct dk_owner *o)
{
	while (o->n_spare)
		close(o->spare[--o->n_spare]);
}

/* 1: it is ours; 0: the file went away, once more. */
static int try_take(const struct dk_store *s, const char *id, bool wait, struct dk_owner *o,
		    struct err *e)
{
	auto_close int dir = -1, lock = -1;
	struct stat st;

	if (mkdirat(s->owners, id, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make %s/docker-run/%s", s->roots.run, id);
	dir = open_dir(s->owners, id);
	lock = dir < 0 ? -1 : openat(dir, "owner", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0) {
		int gone = errno == ENOENT;

		err_sys(e, "open %s/docker-run/%s/owner", s->roots.run, id);
		unlinkat(s->owners, id, AT_REMOVEDIR); /* if it is empty */
		return gone ? 0 : -e->code;
	}
	if (lock_file(lock, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0) {
		e->code = EBUSY;
		return errno == EWOULDBLOCK ? -EBUSY : err_sys(e, "lock %s/docker-run/%s", s->roots.run, id);
	}
	if (fstat(lock, &st) < 0 || st.st_nlink == 0)
		return 0;
	*o = (struct dk_owner){.store = s, .dir = take_fd(&dir), .lock = take_fd(&lock)};
	snprintf(o->id, sizeof(o->id), "%s", id);
	if (keep_spare(o, e) > 0)
		return 1;
	dk_owner_release(o);
	return -e->code;
}

int dk_owner_take(const struct dk_store *s, const char *id, bool wait, struct dk_owner *ret,
		  struct err *e)
{
	int r;

	do
		r = try_take(s, id, wait, ret, e);
	while (r == 0);
	return r < 0 ? r : 0;
}

void dk_owner_note_exit(const struct dk_owner *o, int code)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", code);

	if (pwrite(o->lock, text, (size_t)n, 0) < 0)
		return; /* a full disk: those who wait are told nothing */
}

static void remove_files(int dir)
{
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	rewinddir(d);
	for (struct dirent *de; (de = readdir(d));)
		if (strcmp(de->d_name, "owner") != 0 && de->d_name[0] != '.')
			unlinkat(dir, de->d_name, 0);
	closedir(d);
}

void dk_owner_release(struct dk_owner *o)
{
	if (o->lock < 0)
		return;
	dk_owner_spend(o);
	if (unlinkat(o->dir, "owner", 0) == 0 && unlinkat(o->store->owners, o->id, AT_REMOVEDIR) < 0 &&
	    errno == ENOTEMPTY) {
		remove_files(o->dir);
		unlinkat(o->store->owners, o->id, AT_REMOVEDIR);
	}
	cleanup_close(&o->dir);
	cleanup_close(&o->lock);
}

int dk_owner_open(const struct dk_store *s, const char *id)
{
	auto_close int dir = open_dir(s->owners, id);
	int fd = dir < 0 ? -1 : openat(dir, "owner", O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

bool dk_owner_is_held(int lock)
{
	if (lock_file(lock, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(lock, LOCK_UN);
	return false;
}

int dk_owner_wait(int lock, int *ret_code)
{
	char text[16] = "", *end;
	ssize_t n;

	if (lock_file(lock, LOCK_SH) < 0)
		return 0;
	n = pread(lock, text, sizeof(text) - 1, 0);
	flock(lock, LOCK_UN);
	if (n <= 0)
		return 0;
	*ret_code = (int)strtol(text, &end, 10);
	return end > text;
}

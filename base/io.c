/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { READ_ROOM = 4000 }; /* with what malloc adds, one page */

int io_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

ssize_t io_read_upto(int fd, void *buf, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = read(fd, (char *)buf + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

/* Into the buffer's own memory: another buffer would be pages of the stack that nobody else uses. */
int io_read_fd(int fd, size_t cap, struct strbuf *b, const char *name, struct err *e)
{
	size_t before = b->len;
	ssize_t r;

	do {
		if (b->cap <= b->len + 1)
			strbuf_reserve(b, READ_ROOM);
		r = read(fd, b->p + b->len, b->cap - b->len - 1);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(e, "read %s", name);
		b->len += (size_t)r;
		b->p[b->len] = '\0';
		if (b->len - before > cap)
			return err_set(e, EFBIG, "%s is longer than %zu bytes", name, cap);
	} while (r != 0);
	if (b->len == 0)
		strbuf_free(b);
	return 0;
}

int io_read_file(int dirfd, const char *path, size_t cap, struct strbuf *b, struct err *e)
{
	auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, EISDIR, "%s is a directory", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "%s is not a regular file", path);
	if ((uintmax_t)st.st_size > cap)
		return err_set(e, EFBIG, "%s is longer than %zu bytes", path, cap);
	if (st.st_size)
		strbuf_reserve(b, (size_t)st.st_size);
	return io_read_fd(fd, cap, b, path, e);
}

ssize_t io_read_small(int dirfd, const char *path, char *buf, size_t size)
{
	auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = io_read_upto(fd, buf, size - 1);
	if (n < 0)
		return n;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return n;
}

int io_write_value(int dirfd, const char *path, const char *value)
{
	auto_close int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n = strlen(value);
	ssize_t w;

	if (fd < 0)
		return -errno;
	do
		w = write(fd, value, n);
	while (w < 0 && errno == EINTR);
	if (w < 0)
		return -errno;
	return (size_t)w == n ? 0 : -EIO;
}

int io_replace_file(int dirfd, const char *path, const struct strbuf *content, mode_t mode,
		    struct err *e)
{
	auto_close int fd = -1;
	char tmp[300];
	int r;

	snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)getpid());
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(e, "create %s", tmp);
	r = io_write_all(fd, content->p, content->len);
	if (r == 0 && renameat(dirfd, tmp, dirfd, path) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	unlinkat(dirfd, tmp, 0);
	return err_set(e, -r, "write %s: %s", path, err_name(-r));
}

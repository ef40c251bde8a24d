/* SPDX-License-Identifier: Apache-2.0 */
#include "base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"

enum { PROC_ROOT_INO = 1 };

int procfs_open(struct err *e)
{
	auto_close int fd = open("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open /proc");
	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "stat /proc");
	if (fs.f_type != PROC_SUPER_MAGIC || st.st_ino != PROC_ROOT_INO)
		return err_set(e, ENOENT, "/proc is not a proc file system: mount one first "
					  "(mount -t proc proc /proc)");
	return take_fd(&fd);
}

/* "self/x" -> "1234/x": proc's own links are the only ones needed, and links are not followed. */
static int resolve_self(int procfs, const char *path, char *buf, size_t size)
{
	static const char *const links[] = {"self", "thread-self", NULL};
	char first[16], target[64];
	size_t n = strcspn(path, "/");
	ssize_t len;

	if (n >= sizeof(first) || strlen(path) >= size - sizeof(target))
		return -ENAMETOOLONG;
	memcpy(first, path, n);
	first[n] = '\0';
	if (str_index(links, first) < 0) {
		snprintf(buf, size, "%s", path);
		return 0;
	}
	len = readlinkat(procfs, first, target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	snprintf(buf, size, "%s%s", target, path + n);
	return 0;
}

int procfs_openat(int procfs, const char *path, int flags, struct err *e)
{
	char buf[256];
	int fd, r = resolve_self(procfs, path, buf, sizeof(buf));

	if (r < 0)
		return err_set(e, -r, "open /proc/%s: %s", path, err_name(-r));
	fd = sys_openat2(procfs, buf, (uint64_t)(unsigned)flags | O_CLOEXEC, 0,
			 RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
	if (fd < 0 && errno == EXDEV)
		return err_set(e, EXDEV, "open /proc/%s: something is mounted over it: in this container "
			       "parts of /proc are masked or read-only", path);
	return fd < 0 ? err_sys(e, "open /proc/%s", path) : fd;
}

int procfs_write(int procfs, const char *path, const char *value, struct err *e)
{
	auto_close int fd = procfs_openat(procfs, path, O_WRONLY, e);
	size_t n = strlen(value);
	ssize_t w;

	if (fd < 0)
		return fd;
	w = write(fd, value, n);
	if (w < 0)
		return err_sys(e, "write /proc/%s", path);
	return (size_t)w == n ? 0 : err_set(e, EIO, "write /proc/%s: short write", path);
}

ssize_t procfs_read(int procfs, const char *path, char *buf, size_t size, struct err *e)
{
	auto_close int fd = procfs_openat(procfs, path, O_RDONLY, e);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = io_read_upto(fd, buf, size - 1);
	if (n < 0)
		return err_set(e, (int)-n, "read /proc/%s: %s", path, err_name((int)-n));
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return n;
}

/* PROC_USER_INIT_INO: the inode of the first user namespace is part of the kernel's interface. */
bool procfs_initial_userns(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino == 0xEFFFFFFDu;
}

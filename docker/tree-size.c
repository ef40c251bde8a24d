/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/tree-size.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 128 };

static uint64_t measure(int fd, dev_t device, int depth);

static uint64_t measure_entry(int dir, const char *name, dev_t device, int depth)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != device)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size / (st.st_nlink ? st.st_nlink : 1);
	if (!S_ISDIR(st.st_mode) || depth >= DEPTH_MAX)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? 0 : measure(fd, device, depth + 1);
}

static uint64_t measure(int fd, dev_t device, int depth)
{
	DIR *d = fdopendir(fd);
	uint64_t sum = 0;

	if (!d) {
		close(fd);
		return 0;
	}
	for (struct dirent *de; (de = readdir(d));)
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			sum += measure_entry(fd, de->d_name, device, depth);
	closedir(d);
	return sum;
}

uint64_t dk_tree_size(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return 0;
	}
	return measure(fd, st.st_dev, 0);
}

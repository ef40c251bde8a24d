/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of three numbers: first id inside, first id outside, how many. */
#include "runtime/idmaps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"

enum { MAP_MAX = 64 * 1024 }; /* 340 lines at most */

static int find(int procfs, const char *path, int column, uint32_t id, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	auto_close int fd = procfs_openat(procfs, path, O_RDONLY, e);
	char *p;
	int r;

	if (fd < 0)
		return fd;
	r = io_read_fd(fd, MAP_MAX, &b, path, e);
	if (r < 0)
		return r;
	for (p = b.p; p && *p;) {
		uint64_t v[3];

		for (int i = 0; i < 3; i++)
			v[i] = strtoull(p, &p, 10);
		if (id >= v[column] && id - v[column] < v[2])
			return 1;
		while (*p == ' ' || *p == '\n')
			p++;
	}
	return 0;
}

int idmap_has_outside(int procfs, pid_t pid, const char *file, uint32_t outside, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%ld/%s", (long)pid, file);
	return find(procfs, path, 1, outside, e);
}

int idmap_has_inside(int procfs, pid_t pid, const char *file, uint32_t inside, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%ld/%s", (long)pid, file);
	return find(procfs, path, 0, inside, e);
}

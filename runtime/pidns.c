/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/pidns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

enum { DEPTH_MAX = 33 /* MAX_PID_NS_LEVEL and the first */ };

/* The links of /proc lead out of it on purpose, so this is not procfs_openat's. */
static int open_pidns(int procfs, const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%.20s/ns/pid", pid);
	return openat(procfs, path, O_RDONLY | O_CLOEXEC);
}

static bool same_file(int fd, const struct stat *want)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == want->st_ino && st.st_dev == want->st_dev;
}

/* The namespace, or one above it, is the wanted one. */
static bool is_below(int procfs, const char *pid, const struct stat *want)
{
	auto_close int fd = open_pidns(procfs, pid);

	for (int i = 0; fd >= 0 && i < DEPTH_MAX; i++) {
		int up;

		if (same_file(fd, want))
			return true;
		up = ioctl(fd, NS_GET_PARENT); /* EPERM: the next one is not ours to see */
		close(fd);
		fd = up;
	}
	return false;
}

static int open_init(const struct rt_container *c, struct stat *ret, struct err *e)
{
	auto_close int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	auto_close int theirs = -1;
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long)c->doc->init_pid);
	theirs = open_pidns(c->procfs, pid);
	if (own < 0 || theirs < 0 || fstat(theirs, ret) < 0)
		return err_sys(e, "open the pid namespace of %s", c->state.id);
	if (same_file(own, ret))
		return err_set(e, ENOENT, "%s has neither a cgroup nor a pid namespace, so its processes "
					  "are not known", c->state.id);
	return 0;
}

static void add(struct arena *a, struct u32v *v, size_t *cap, uint32_t pid)
{
	if (v->n == *cap) {
		uint32_t *more = arena_array(a, *cap = *cap ? *cap * 2 : 16, sizeof(*more));

		if (v->n)
			memcpy(more, v->v, v->n * sizeof(*more));
		v->v = more;
	}
	v->v[v->n++] = pid;
}

int rt_pidns_procs(struct arena *a, const struct rt_container *c, struct u32v *ret, struct err *e)
{
	struct u32v found = {0};
	size_t cap = 0;
	struct stat want;
	DIR *d = NULL;
	int fd;

	if (c->pidfd >= 0 && open_init(c, &want, e) < 0)
		return -e->code;
	fd = c->pidfd < 0 ? -1 : openat(c->procfs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !(d = fdopendir(fd)))
		close(fd);
	if (c->pidfd >= 0 && !d)
		return err_sys(e, "list the processes");
	for (struct dirent *de; d && (de = readdir(d));) {
		uint64_t pid;

		if (str_u64(de->d_name, UINT32_MAX, &pid) == 0 && is_below(c->procfs, de->d_name, &want))
			add(a, &found, &cap, (uint32_t)pid);
	}
	if (d)
		closedir(d);
	*ret = found;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running container is entered by its user namespace, so that owners are what it sees, and looked at
 * through its process's root: what it can change there is resolved by openat2 inside of that root,
 * once, and used as a descriptor afterwards (CVE-2018-15664). An overlay of a stopped one is a
 * detached mount that nobody else can reach. Its upper directory may be another overlay's upper
 * directory only when it is mounted as a lower one, read-only, here.
 */
#include "image/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/str.h"

enum { MAX_LOWER = 132 };

struct layers {
	const char *lower[MAX_LOWER];
	size_t n;
	const char *upper, *work;
};

static int open_process(const char *text, struct img_view *ret, struct err *e)
{
	auto_close int user = -1, own = -1;
	struct stat theirs, ours;
	uint64_t proc;
	bool join;

	if (str_u64(text, INT_MAX, &proc) < 0)
		return err_set(e, EINVAL, "--proc is no descriptor");
	user = openat((int)proc, "ns/user", O_RDONLY | O_CLOEXEC);
	own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (user < 0 || own < 0 || fstat(user, &theirs) < 0 || fstat(own, &ours) < 0)
		return err_sys(e, "look at the container's process");
	join = theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev;
	if (join && setns(user, CLONE_NEWUSER) < 0)
		return err_sys(e, "join the container's user namespace");
	ret->root = openat((int)proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	close((int)proc);
	/* what is made here belongs to an id that the namespace has */
	if (join && (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0))
		return err_sys(e, "become root of the container's user namespace");
	ret->kernel = true;
	return ret->root < 0 ? err_sys(e, "open the container's root") : 0;
}

/* The text of mount options; the directories must not hold what separates them. */
static int add_option(char *buf, size_t size, const char *key, const char *value)
{
	size_t n = strlen(buf);

	if (strpbrk(value, ":,\\"))
		return -EINVAL;
	return snprintf(buf + n, size - n, "%s%s", key, value) < (int)(size - n) ? 0 : -E2BIG;
}

/* Kernels before 6.5: one page of options, and a place in a mount namespace of our own. The layers of an
 * image lie in one directory, so their names below it are enough. */
static int mount_old(const struct layers *l, bool user_ns, struct err *e)
{
	char options[4096] = "", where[64] = "/tmp";
	const char *base = l->n > 1 ? strstr(l->lower[l->n - 1], "/images/layers/") : NULL;
	size_t skip = base ? (size_t)(base - l->lower[l->n - 1]) + strlen("/images/layers/") : 0;
	char *dir = skip ? strndup(l->lower[l->n - 1], skip) : NULL;
	int r = 0, fd;

	if (!user_ns && unshare(CLONE_NEWNS) < 0)
		return err_sys(e, "make a mount namespace");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || (dir && chdir(dir) < 0))
		return err_sys(e, "prepare a mount");
	for (size_t i = 0; r == 0 && i < l->n; i++) {
		bool short_name = dir && strncmp(l->lower[i], dir, skip) == 0;

		r = add_option(options, sizeof(options), i ? ":" : "lowerdir=", l->lower[i] + (short_name ? skip : 0));
	}
	free(dir);
	if (r == 0 && l->upper)
		r = add_option(options, sizeof(options), ",upperdir=", l->upper);
	if (r == 0 && l->upper)
		r = add_option(options, sizeof(options), ",workdir=", l->work);
	if (r == 0 && user_ns)
		r = add_option(options, sizeof(options), ",userxattr", "");
	if (r < 0)
		return err_set(e, -r, "mount the container's layers: %s", err_name(-r));
	if (mount("overlay", where, "overlay", l->upper ? 0 : MS_RDONLY, options) < 0)
		return err_sys(e, "mount the container's layers");
	fd = open(where, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open the container's layers") : fd;
}

static int set_layers(int fs, const struct layers *l, bool user_ns)
{
	for (size_t i = 0; i < l->n; i++)
		if (fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir+", l->lower[i], 0) < 0)
			return -1;
	if (l->upper && (fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", l->upper, 0) < 0 ||
			 fsconfig(fs, FSCONFIG_SET_STRING, "workdir", l->work, 0) < 0))
		return -1;
	if (user_ns && fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
		return -1;
	return fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

static int mount_layers(const struct layers *l, struct err *e)
{
	auto_close int fs = -1;
	bool user_ns = img_in_own_userns();
	int fd;

	if (l->n == 1 && !l->upper) {
		fd = open(l->lower[0], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? err_sys(e, "open %s", l->lower[0]) : fd;
	}
	fs = fsopen("overlay", FSOPEN_CLOEXEC);
	if (fs < 0)
		return err_sys(e, "mount the container's layers");
	if (set_layers(fs, l, user_ns) < 0)
		return errno == EINVAL ? mount_old(l, user_ns, e) : err_sys(e, "mount the container's layers");
	fd = fsmount(fs, FSMOUNT_CLOEXEC, l->upper ? 0 : MOUNT_ATTR_RDONLY);
	return fd < 0 ? err_sys(e, "mount the container's layers") : fd;
}

int img_view_open(struct img_program *p, struct img_view *ret, struct err *e)
{
	struct layers l = {.n = 0};
	const char *value;

	*ret = (struct img_view){.root = -1};
	if (img_option(p, "--proc", &value))
		return open_process(value, ret, e);
	if (img_option(p, "--dir", &value)) {
		ret->root = open(value, O_PATH | O_CLOEXEC);
		return ret->root < 0 ? err_sys(e, "open %s", value) : 0;
	}
	while (img_option(p, "--lower", &value)) {
		if (l.n == MAX_LOWER)
			return err_set(e, E2BIG, "too many layers");
		l.lower[l.n++] = value;
	}
	while (img_option(p, "--upper", &l.upper) || img_option(p, "--work", &l.work))
		;
	if (l.n == 0)
		return err_set(e, EINVAL, "no container is named");
	ret->root = mount_layers(&l, e);
	return ret->root < 0 ? -e->code : 0;
}

static bool is_kernel_fs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       ((unsigned long)fs.f_type == PROC_SUPER_MAGIC || (unsigned long)fs.f_type == SYSFS_MAGIC ||
		(unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC || (unsigned long)fs.f_type == CGROUP_SUPER_MAGIC);
}

int img_view_parent(const struct img_view *v, const char *path, char ret_name[256], struct err *e)
{
	char dir[PATH_MAX], *slash;
	size_t n = strlen(path);
	bool whole;
	int fd;

	if (n + 2 > sizeof(dir))
		return err_set(e, ENAMETOOLONG, "the path is too long");
	snprintf(dir, sizeof(dir), "/%s", path);
	n = strlen(dir);
	whole = n == 1 || str_ends(dir, "/") || str_ends(dir, "/.") || str_ends(dir, "/..");
	snprintf(ret_name, 256, ".");
	if (!whole) {
		slash = strrchr(dir, '/');
		if (strlen(slash + 1) > 255)
			return err_set(e, ENAMETOOLONG, "the path is too long");
		snprintf(ret_name, 256, "%.255s", slash + 1);
		slash[slash == dir] = '\0';
	}
	fd = path_open_in_root(v->root, dir, O_PATH | O_DIRECTORY, e);
	if (fd >= 0 && v->kernel && is_kernel_fs(fd)) {
		close(fd);
		return err_set(e, ENOENT, "it is in a file system of the kernel");
	}
	return fd;
}

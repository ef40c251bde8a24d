/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way we run now can be seen by the file itself, so there is no variable in the environment
 * that somebody could set: a file on a read-only mount, or one that is sealed against writing.
 *
 * The mount is read-only for good once the descriptor of open_tree is closed, which is the only handle on
 * it: the kernel changes mounts only that are in the caller's mount namespace or still have that
 * descriptor. Our exec closes it, self_protect does, or INIT does when it leaves the host's root.
 */
#include "runtime/self.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "runtime/idmaps.h"

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3: said by itself, so that vm.memfd_noexec=1 lets us */
#endif

static const char own_exe[] = "/proc/self/exe";

static bool is_unwritable(int fd)
{
	struct statvfs fs;
	int seals = fcntl(fd, F_GET_SEALS); /* files on tmpfs have some, too */

	if (seals >= 0 && (seals & SEALS) == SEALS)
		return true;
	return fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* The owner can give himself the right to write; others and groups need to have it. False also when
 * it cannot be found out. */
static bool only_owner_can_write(const struct stat *st, uid_t *ret_owner)
{
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return false;
	*ret_owner = st->st_uid;
	return true;
}

bool self_is_exposed(int procfs, pid_t pid, bool own_userns)
{
	struct err e = {0};
	struct stat st;
	uid_t owner;

	if (!own_userns || stat(own_exe, &st) < 0 || !only_owner_can_write(&st, &owner))
		return true;
	return idmap_has_outside(procfs, pid, "uid_map", owner, &e) != 0;
}

static bool is_exposed_to(const struct stat *st, const struct oci_id_mapping_list *uids)
{
	uid_t owner;

	if (!only_owner_can_write(st, &owner) || !uids->n)
		return true;
	for (size_t i = 0; i < uids->n; i++)
		if (owner >= uids->v[i].host_id && owner - uids->v[i].host_id < uids->v[i].size)
			return true;
	return false;
}

bool self_is_exposed_to(const struct oci_id_mapping_list *uids)
{
	struct stat st;

	return stat(own_exe, &st) < 0 || is_exposed_to(&st, uids);
}

bool self_is_program_safe(int fd, const struct oci_id_mapping_list *uids)
{
	struct stat st;

	return is_unwritable(fd) || (fstat(fd, &st) == 0 && !is_exposed_to(&st, uids));
}

/* A detached mount of just this file, O_PATH; -1 where we may not make one. */
static int open_read_only(int exe)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	auto_close int fd = open_tree(exe, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -1;
	return is_unwritable(fd) ? take_fd(&fd) : -1;
}

static int make_memfd(void)
{
	int fd = memfd_create("brig", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* before 6.3 */
		fd = memfd_create("brig", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

/* A sealed copy of a program. */
static int copy_of(int from, struct err *e)
{
	auto_close int to = make_memfd();
	ssize_t n;

	if (to < 0)
		return err_sys(e, "make a copy in memory");
	while ((n = sendfile(to, from, NULL, 1 << 30)) > 0)
		;
	if (n < 0)
		return err_sys(e, "copy");
	if (fchmod(to, 0555) < 0 || fcntl(to, F_ADD_SEALS, SEALS) < 0)
		return err_sys(e, "seal the copy");
	return take_fd(&to);
}

int self_protect_program(int fd, struct err *e)
{
	int safe = open_read_only(fd);

	if (safe >= 0)
		return safe;
	safe = copy_of(fd, e);
	return safe < 0 ? err_wrap(e, "a program that the container cannot write") : safe;
}

static int open_error(struct err *e)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return err_set(e, errno, "open our own executable as %s: is there no proc file system on "
			       "/proc (mount -t proc proc /proc)?", own_exe);
	return err_sys(e, "open our own executable");
}

static int copy_sealed(struct err *e)
{
	auto_close int from = open(own_exe, O_RDONLY | O_CLOEXEC);
	int to;

	if (from < 0)
		return open_error(e);
	to = copy_of(from, e);
	return to < 0 ? err_wrap(e, "our own executable") : to;
}

/* Without an exec; false where that does not work. A mount's descriptor cannot be mapped itself. */
static bool becomes(int mount, char **argv)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	auto_close int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", mount);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && is_unwritable(fd) && self_become(fd, argv) == 0;
}

int self_protect(char **argv, int *ret_mount, struct err *e)
{
	auto_close int exe = open(own_exe, O_RDONLY | O_CLOEXEC), safe = -1;

	if (ret_mount)
		*ret_mount = -1;
	if (exe < 0)
		return open_error(e);
	if (is_unwritable(exe)) {
		/* the kernel named us after the descriptor (before 6.14) */
		prctl(PR_SET_NAME, "brig", 0, 0, 0);
		return 0;
	}
	safe = open_read_only(exe);
	if (safe >= 0 && becomes(safe, argv)) {
		if (ret_mount)
			*ret_mount = take_fd(&safe);
		return 0;
	}
	if (safe < 0)
		safe = copy_sealed(e);
	if (safe < 0)
		return safe;
	syscall(SYS_execveat, safe, "", argv, environ, AT_EMPTY_PATH);
	return err_sys(e, "run our own executable from where the container cannot write it "
			  "(vm.memfd_noexec must not be 2)");
}

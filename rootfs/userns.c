/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An id-mapped mount takes its maps from a user namespace. A child lives in a new one for as long
 * as it takes to write the maps and to open it. All this is the parent's work: the maps are
 * written through /proc/PID of the host's procfs.
 */
#include "rootfs/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "rootfs/internal.h"

static pid_t start_holder(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

struct id_map { const struct oci_id_mapping *v; size_t n; };

static int write_map(int procfs, const char *path, struct id_map map, struct err *e)
{
	auto_strbuf struct strbuf text = {0};

	for (size_t i = 0; i < map.n; i++)
		strbuf_printf(&text, "%u %u %u\n", map.v[i].container_id, map.v[i].host_id,
			      map.v[i].size);
	return procfs_write(procfs, path, strbuf_str(&text), e);
}

int userns_open(const struct rootfs_mount *m, struct err *e)
{
	auto_close int procfs = procfs_open(e);
	auto_reap pid_t pid = -1;
	char uid_map[32], gid_map[32], ns[32];
	int fd;

	if (procfs < 0)
		return procfs;
	pid = start_holder();
	if (pid < 0)
		return err_sys(e, "mount %s: make a user namespace for the id map", m->target);
	snprintf(uid_map, sizeof(uid_map), "%d/uid_map", pid);
	snprintf(gid_map, sizeof(gid_map), "%d/gid_map", pid);
	snprintf(ns, sizeof(ns), "%d/ns/user", pid);
	if (write_map(procfs, uid_map, (struct id_map){m->uid_maps, m->n_uid_maps}, e) < 0 ||
	    write_map(procfs, gid_map, (struct id_map){m->gid_maps, m->n_gid_maps}, e) < 0)
		return err_wrap(e, "mount %s: id map", m->target);
	/* A namespace link is a magic link: procfs_openat, which follows none, is not for it. */
	fd = openat(procfs, ns, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "mount %s: open the user namespace of the id map", m->target)
		      : fd;
}

int mount_idmap(const struct rootfs_mount *m, int fd, int userns, struct err *e)
{
	struct mount_attr ma = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)userns};
	unsigned flags = AT_EMPTY_PATH | (m->idmap_rec ? AT_RECURSIVE : 0);
	const char *hint = "";

	if (mount_setattr(fd, "", flags, &ma, sizeof(ma)) == 0)
		return 0;
	if (errno == EINVAL)
		hint = " (the file system may not support id-mapped mounts)";
	else if (errno == EPERM)
		hint = " (only the owner of the file system may map its ids: root outside of a "
		       "user namespace)";
	return err_sys(e, "mount %s: set the id map%s", m->target, hint);
}

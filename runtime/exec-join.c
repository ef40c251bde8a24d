/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces are compared by device and inode below /proc/PID/ns. The pid is INIT's for sure only
 * as long as its pidfd says that it lives, so that is asked after the comparison; the joining itself
 * is by pidfd.
 *
 * Those that are ours already are not joined: for a namespace of the host an unprivileged caller
 * has no right to.
 */
#include "runtime/exec-join.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "nsenter/ns.h"
#include "runtime/idmaps.h"

static const uint64_t types[] = {
	CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
	CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWTIME,
};

static bool has_ended(const struct rt_container *c)
{
	struct pollfd p = {c->pidfd, POLLIN, 0};

	return poll(&p, 1, 0) != 0;
}

/* The directory ns/ of a process. */
static int open_ns_dir(const struct rt_container *c, const char *pid, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/ns", pid);
	return procfs_openat(c->procfs, path, O_PATH | O_DIRECTORY, e);
}

/* 1 when the two are different, 0 when not or when the kernel has no such namespaces; -errno. */
static int differs(int theirs, int ours, const char *name, const char *their_name, struct err *e)
{
	struct stat a, b;

	if (fstatat(ours, name, &b, 0) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "look at our own %s namespace", name);
	if (fstatat(theirs, their_name, &a, 0) < 0)
		return errno == ENOENT ? err_set(e, ESRCH, "container not running")
				       : err_sys(e, "look at the container's %s namespace", their_name);
	return a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}

static int open_dirs(const struct rt_container *c, int *ret_theirs, int *ret_ours, struct err *e)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%ld", (long)c->doc->init_pid);
	*ret_theirs = open_ns_dir(c, pid, e);
	if (*ret_theirs < 0)
		return *ret_theirs == -ENOENT ? err_set(e, ESRCH, "container not running") : *ret_theirs;
	*ret_ours = open_ns_dir(c, "self", e);
	return *ret_ours < 0 ? *ret_ours : 0;
}

/* A process that has not called exec yet is to be in its time namespace, but is not. */
static int find_later_time_ns(struct rt_exec *x, int theirs, int ours, struct err *e)
{
	int r;

	if (x->container->status != RT_CREATED || x->join & CLONE_NEWTIME)
		return 0;
	r = differs(theirs, ours, "time", "time_for_children", e);
	if (r <= 0)
		return r;
	x->time_ns = openat(theirs, "time_for_children", O_RDONLY | O_CLOEXEC);
	return x->time_ns < 0 ? err_sys(e, "open the container's time namespace") : 0;
}

int exec_find_namespaces(struct rt_exec *x, struct err *e)
{
	auto_close int theirs = -1, ours = -1;
	int r = open_dirs(x->container, &theirs, &ours, e);

	for (size_t i = 0; r >= 0 && i < sizeof(types) / sizeof(types[0]); i++) {
		r = differs(theirs, ours, ns_name(types[i]), ns_name(types[i]), e);
		if (r > 0)
			x->join |= types[i];
	}
	if (r >= 0)
		r = find_later_time_ns(x, theirs, ours, e);
	if (r < 0)
		return r;
	return has_ended(x->container) ? err_set(e, ESRCH, "container not running") : 0;
}

int exec_other_userns(const struct rt_container *c, struct err *e)
{
	auto_close int theirs = -1, ours = -1;
	int r = open_dirs(c, &theirs, &ours, e);

	return r < 0 ? r : differs(theirs, ours, "user", "user", e);
}

int exec_userns_facts(struct rt_exec *x, struct sec_options *so, struct err *e)
{
	const struct rt_container *c = x->container;
	pid_t pid = (pid_t)c->doc->init_pid;
	char path[64], word[16];
	int r = exec_other_userns(c, e);

	so->new_userns = r > 0;
	if (r <= 0)
		return r;
	r = idmap_has_inside(c->procfs, pid, "uid_map", 0, e);
	if (r < 0)
		return r;
	x->zero_is_mapped = r;
	snprintf(path, sizeof(path), "%ld/setgroups", (long)pid);
	r = (int)procfs_read(c->procfs, path, word, sizeof(word), e);
	so->setgroups_denied = r > 0 && str_eq(word, "deny");
	return r < 0 ? r : 0;
}

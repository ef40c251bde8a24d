/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespace files are trusted only after two checks: the file system is nsfs, and the kernel says
 * that the namespace has the type we were promised. A path from a spec that leads to anything
 * else is an error before any process is made.
 */
#include "nsenter/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/sys.h"

static const struct {
	uint64_t type;
	const char *name;
} names[] = {
	{CLONE_NEWUSER, "user"}, {CLONE_NEWNS, "mnt"},   {CLONE_NEWPID, "pid"},
	{CLONE_NEWNET, "net"},   {CLONE_NEWIPC, "ipc"},  {CLONE_NEWUTS, "uts"},
	{CLONE_NEWCGROUP, "cgroup"}, {CLONE_NEWTIME, "time"},
};

const char *ns_name(uint64_t type)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].type == type)
			return names[i].name;
	}
	return NULL;
}

int ns_open_at(int dir, const char *path, uint64_t type, int *ret_fd, struct err *e)
{
	/* A FIFO must not make us wait, a terminal not become ours. */
	auto_close int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const char *want = ns_name(type), *have;
	struct statfs fs;
	int is;

	if (!want)
		return err_set(e, EINVAL, "open namespace %s: not a namespace type", path);
	if (fd < 0)
		return err_sys(e, "open %s namespace %s", want, path);
	if (fstatfs(fd, &fs) < 0)
		return err_sys(e, "stat %s namespace %s", want, path);
	if (fs.f_type != NSFS_MAGIC)
		return err_set(e, EINVAL, "open %s namespace: %s is not a namespace file", want,
			       path);
	is = ioctl(fd, NS_GET_NSTYPE);
	if (is < 0)
		return err_sys(e, "type of namespace %s", path);
	have = ns_name((uint64_t)(unsigned)is);
	if ((uint64_t)(unsigned)is != type)
		return err_set(e, EINVAL, "open %s namespace: %s is a namespace of type %s", want,
			       path, have ? have : "unknown");
	*ret_fd = take_fd(&fd);
	return 0;
}

int ns_open(const char *path, uint64_t type, int *ret_fd, struct err *e)
{
	return ns_open_at(AT_FDCWD, path, type, ret_fd, e);
}

int ns_is_ours(int fd, uint64_t type, struct err *e)
{
	const char *name = ns_name(type);
	char path[32];
	struct stat a, b;

	if (!name)
		return err_set(e, EINVAL, "compare namespaces: not a namespace type");
	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (fstat(fd, &a) < 0 || stat(path, &b) < 0)
		return err_sys(e, "compare with %s", path);
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int ns_loopback_up(struct err *e)
{
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* RUNNING is ours to pass or not; the driver of lo sets it itself. No need to read first. */
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK};

	if (fd < 0)
		return err_sys(e, "set lo up: socket");
	return ioctl(fd, SIOCSIFFLAGS, &ifr) < 0 ? err_sys(e, "set lo up") : 0;
}

/* The system calls directly: libc's would reach for other threads' credentials. */
int ns_become_root(bool dumpable, struct err *e)
{
	/* EPERM: setgroups is denied in this user namespace; then the groups are the unmapped ones of
	 * the caller, which the single-id map accepts knowingly. */
	if (syscall(SYS_setgroups, 0, NULL) < 0 && errno != EPERM)
		return err_sys(e, "drop supplementary groups");
	return ns_become_root_with_groups(dumpable, e);
}

int ns_become_root_with_groups(bool dumpable, struct err *e)
{
	uid_t r, f, s;

	if (syscall(SYS_setresgid, 0, 0, 0) < 0)
		return err_sys(e, "set gid 0 in the user namespace (is it in the gid map?)");
	if (syscall(SYS_setresuid, 0, 0, 0) < 0)
		return err_sys(e, "set uid 0 in the user namespace (is it in the uid map?)");
	if (syscall(SYS_getresuid, &r, &f, &s) < 0 || r || f || s)
		return err_set(e, EPERM, "set uid 0 in the user namespace: it did not take effect");
	if (dumpable && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_sys(e, "make the process dumpable");
	return 0;
}

int ns_die_with_parent(int channel, struct err *e)
{
	struct pollfd p = {.fd = channel};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "die with the parent");
	/* The parent may have died before the prctl; its end of the channel tells. */
	if (poll(&p, 1, 0) < 0)
		return err_sys(e, "die with the parent: poll");
	if (p.revents & (POLLHUP | POLLNVAL | POLLERR))
		return err_set(e, ECHILD, "die with the parent: it is dead already");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user namespace above all networks of an unprivileged caller. It has no process of its own: the
 * holders' user namespaces and the containers' are its children, so it lives as long as one of
 * those, and is found through a holder. It has the caller as its root and the caller's
 * subordinate ids, if there are any.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/sys.h"
#include "docker/network-holder.h"
#include "nsenter/idmap.h"
#include "nsenter/ns.h"
#include "runtime/runtime.h"

enum { ID_DIGITS = 64, MAPS = 2 };

bool dk_net_privileged(void)
{
	const uint32_t need = 1u << CAP_SYS_ADMIN | 1u << CAP_NET_ADMIN | 1u << CAP_SETUID;
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	return syscall(SYS_capget, &h, d) == 0 && (d[0].effective & need) == need;
}

bool dk_drop_capabilities(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &h, none) == 0;
}

static bool entered;

bool dk_net_nested(void)
{
	return entered;
}

/* ---- the one that is there ---- */

static int open_above(const struct dk_holder *h, struct err *e)
{
	char path[64];
	auto_close int own = -1;
	int above;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", h->pid);
	own = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return err_sys(e, "open the user namespace of the network's holder");
	above = ioctl(own, NS_GET_PARENT);
	return above < 0 ? err_sys(e, "find the user namespace above the network's holder") : above;
}

/* The user namespace as a descriptor; -ENOENT without a message: no network is in use. */
static int find_above(const char *networks, struct err *e)
{
	DIR *dir = opendir(networks);
	struct dirent *entry;
	int fd = -ENOENT;

	if (!dir)
		return errno == ENOENT ? -ENOENT : err_sys(e, "read %s", networks);
	while (fd == -ENOENT && (entry = readdir(dir))) {
		auto_holder struct dk_holder h = DK_HOLDER_NONE;
		char path[4096];
		int r;

		if (strlen(entry->d_name) != ID_DIGITS)
			continue;
		snprintf(path, sizeof(path), "%s/%s", networks, entry->d_name);
		r = dk_holder_find(path, &h, e);
		if (r != 0)
			fd = r < 0 ? r : open_above(&h, e);
	}
	closedir(dir);
	return fd;
}

/* ---- a new one ---- */

static size_t fill(struct ns_idmap *m, uint32_t own, const char *file, const struct ns_user *user)
{
	struct ns_subid range;
	struct err e;

	m[0] = (struct ns_idmap){0, own, 1};
	if (ns_subids(file, user, &range, 1, &e) < 1)
		return 1;
	m[1] = (struct ns_idmap){1, range.start, range.count};
	return 2;
}

/* In a child that stays behind, for it writes the maps of its parent. */
static int map_parent(pid_t pid, struct err *e)
{
	auto_close int procfs = procfs_open(e);
	struct ns_user user = {.uid = geteuid()};
	struct ns_idmap uids[MAPS], gids[MAPS];
	struct ns_idmaps maps = {.uids = uids, .gids = gids};
	char name[256];

	if (procfs < 0)
		return procfs;
	if (ns_user_name(user.uid, name, sizeof(name), e) > 0)
		user.name = name;
	maps.n_uids = fill(uids, geteuid(), "/etc/subuid", &user);
	maps.n_gids = fill(gids, getegid(), "/etc/subgid", &user);
	if (maps.n_uids != maps.n_gids || access("/usr/bin/newuidmap", X_OK) < 0)
		maps.n_uids = maps.n_gids = 1;
	return ns_write_maps(procfs, pid, &maps, ns_idmap_mode(&maps), e);
}

static _Noreturn void helper_main(int talk)
{
	struct err e = {0};
	char go;

	if (recv(talk, &go, 1, 0) == 1)
		map_parent(getppid(), &e);
	else
		err_set(&e, ECHILD, "the caller ended");
	send(talk, &e, sizeof(e), MSG_NOSIGNAL);
	_exit(0);
}

static int unshare_user(int talk, struct err *e)
{
	struct err got;
	char hint[256];

	if (unshare(CLONE_NEWUSER) < 0) {
		int code = errno;

		return ns_userns_hint(code, hint, sizeof(hint))
			       ? err_set(e, code, "make a user namespace: %s", hint)
			       : err_set(e, code, "make a user namespace: %s", err_name(code));
	}
	if (send(talk, "", 1, MSG_NOSIGNAL) != 1 || recv(talk, &got, sizeof(got), 0) != (ssize_t)sizeof(got))
		return err_set(e, EIO, "map the ids of the networks' user namespace");
	got.msg[sizeof(got.msg) - 1] = 0;
	return got.code ? err_set(e, got.code, "%s", got.msg) : 0;
}

static int make_above(struct err *e)
{
	int talk[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return err_sys(e, "make a socket pair");
	pid = fork();
	if (pid == 0) {
		close(talk[0]);
		helper_main(talk[1]);
	}
	close(talk[1]);
	r = pid < 0 ? err_sys(e, "fork") : unshare_user(talk[0], e);
	close(talk[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return r;
}

int dk_net_enter(const char *networks, bool create, struct err *e)
{
	auto_close int above = -1;
	int r;

	if (dk_net_privileged())
		return 0;
	above = find_above(networks, e);
	if (above == -ENOENT) {
		if (!create)
			return 0;
		r = make_above(e);
	} else {
		r = above < 0 ? above : setns(above, CLONE_NEWUSER) < 0 ? err_sys(e, "enter the networks' user namespace") : 0;
	}
	if (r == 0)
		r = ns_become_root(true, e);
	if (r < 0)
		return r;
	/* The caller's mount namespace belongs to the host: nothing could be mounted in it. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(e, "make a mount namespace");
	entered = true;
	return 1;
}

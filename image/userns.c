/* SPDX-License-Identifier: Apache-2.0 */
/* See userns.h. Two pipes: the child says that it is in its namespace, the parent that it is mapped. */
#include "image/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "nsenter/idmap.h"

struct maps {
	struct ns_idmap uids[2], gids[2];
	size_t n;
};

static void plan_maps(struct maps *m)
{
	struct ns_user user = {.uid = geteuid()};
	struct ns_subid uids, gids;
	struct err ignored = {0};
	char name[256];

	m->uids[0] = (struct ns_idmap){0, geteuid(), 1};
	m->gids[0] = (struct ns_idmap){0, getegid(), 1};
	m->n = 1;
	if (access("/usr/bin/newuidmap", X_OK) < 0 || access("/usr/bin/newgidmap", X_OK) < 0)
		return;
	if (ns_user_name(user.uid, name, sizeof(name), &ignored) > 0)
		user.name = name;
	if (ns_subids("/etc/subuid", &user, &uids, 1, &ignored) < 1 ||
	    ns_subids("/etc/subgid", &user, &gids, 1, &ignored) < 1)
		return;
	m->uids[1] = (struct ns_idmap){1, uids.start, uids.count};
	m->gids[1] = (struct ns_idmap){1, gids.start, gids.count};
	m->n = 2;
}

static int write_maps(pid_t pid, size_t n, const struct maps *m, struct err *e)
{
	struct ns_idmaps maps = {.uids = m->uids, .n_uids = n, .gids = m->gids, .n_gids = n};
	auto_close int procfs = procfs_open(e);

	return procfs < 0 ? procfs : ns_write_maps(procfs, pid, &maps, ns_idmap_mode(&maps), e);
}

/* The child: 0 when it is root of a mapped namespace. */
static int become_child(int tell, int told, struct err *e)
{
	char c = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 'y' : 'n';

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || write(tell, &c, 1) != 1)
		return err_sys(e, "talk to the parent");
	if (c == 'n')
		_exit(0); /* the parent goes on alone */
	if (read(told, &c, 1) != 1)
		return err_set(e, ECHILD, "the parent is gone");
	/* where setgroups is denied there is nothing to drop */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return err_sys(e, "drop the supplementary groups");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(e, "become root of the user namespace");
	/* a change of ids clears it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "ask for the parent-death signal");
	return 0;
}

static _Noreturn void end_like(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

bool img_in_own_userns(void)
{
	struct stat st;

	/* PROC_USER_INIT_INO: the inode of the first user namespace is part of the kernel's interface */
	return stat("/proc/self/ns/user", &st) < 0 || st.st_ino != 0xEFFFFFFDu;
}

int img_enter_userns(struct err *e)
{
	int up[2], down[2];
	struct maps m;
	char c = 'n';
	pid_t pid;

	if (geteuid() == 0)
		return 0;
	plan_maps(&m);
	if (pipe2(up, O_CLOEXEC) < 0 || pipe2(down, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		close(up[0]);
		close(down[1]);
		return become_child(up[1], down[0], e);
	}
	close(up[1]);
	close(down[0]);
	if (read(up[0], &c, 1) != 1 || c != 'y') {
		waitpid(pid, NULL, 0);
		return 0;
	}
	/* Helpers that refuse leave the namespace without a map: then the single id is tried. */
	if (write_maps(pid, m.n, &m, e) < 0 && (m.n == 1 || write_maps(pid, 1, &m, e) < 0)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return err_wrap(e, "user namespace for unpacking");
	}
	if (write(down[1], "y", 1) != 1)
		return err_sys(e, "talk to the child");
	end_like(pid);
}

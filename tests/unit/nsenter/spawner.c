/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/nsenter/spawner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/sys.h"
#include "nsenter/ns.h"
#include "nsenter/signals.h"
#include "tests/unit/test.h"

enum { NOBODYS_UID = 54321 };

const uint64_t ns_types[8] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,    CLONE_NEWNET,
			      CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWTIME};

static void box_main(void *arg)
{
	struct box *b = arg;

	steps_serve(b->table, b, &b->chan);
}

void box_init(struct box *b, const struct step_table *t, uint64_t new_ns, bool share_vm)
{
	static const char *const true_argv[] = {"/bin/true", NULL};
	struct err e;

	*b = (struct box){.table = t, .fail_at = -1, .die_at = -1, .argv = true_argv};
	b->spawn = (struct ns_spawn){.new_ns = new_ns, .cgroup_fd = -1, .share_vm = share_vm,
				     .main = box_main, .arg = b};
	b->seen = mmap(NULL, sizeof(*b->seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	b->procfs = procfs_open(&e);
	if (b->seen == MAP_FAILED || b->procfs < 0)
		abort();
	b->chan = (struct step_channel)STEP_CHANNEL_NONE;
}

void box_free(struct box *b)
{
	steps_close(&b->chan);
	munmap(b->seen, sizeof(*b->seen));
	close(b->procfs);
}

uint64_t ns_inode(pid_t pid, uint64_t type)
{
	char path[64];
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, ns_name(type));
	else
		snprintf(path, sizeof(path), "/proc/self/ns/%s", ns_name(type));
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

void look(struct seen *s)
{
	struct sigaction sa;
	sigset_t set;

	for (int i = 0; i < 8; i++)
		s->ns[i] = ns_inode(0, ns_types[i]);
	s->uid = getuid();
	s->euid = geteuid();
	s->gid = getgid();
	s->pid = getpid();
	s->ignored = s->blocked = 0;
	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int sig = 1; sig < 65; sig++) {
		if (sig == 32 || sig == 33 || sigaction(sig, NULL, &sa) < 0)
			continue;
		if (sa.sa_handler != SIG_DFL)
			s->ignored |= UINT64_C(1) << (sig - 1);
		if (sigismember(&set, sig) == 1)
			s->blocked |= UINT64_C(1) << (sig - 1);
	}
	s->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	s->fds = 0;
	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			s->fds = fd;
	}
}

void mark(struct box *b, int row)
{
	if (b->seen->n_trail < 64)
		b->seen->trail[b->seen->n_trail++] = row;
}

int row_spawn(void *ctx, struct err *e)
{
	struct box *b = ctx;
	int r = steps_open(&b->chan, &b->spawn, e);

	return r < 0 ? r : ns_spawn(&b->spawn, &b->chan.child, e);
}

int row_maps(void *ctx, struct err *e)
{
	struct box *b = ctx;

	return ns_write_maps(b->procfs, b->chan.child.pid, &b->maps, b->how, e);
}

int row_look(void *ctx, struct err *e)
{
	struct box *b = ctx;

	(void)e;
	look(b->seen);
	return 0;
}

int row_exec(void *ctx, struct err *e)
{
	struct box *b = ctx;
	static char *const env[] = {NULL};

	execve(b->argv[0], (char *const *)b->argv, env);
	return err_sys(e, "%s", b->argv[0]);
}

static const struct step look_rows[] = {
	{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
	{"id maps", STEP_PARENT, NULL, row_maps, NULL},
	{"look", STEP_INIT, NULL, row_look, NULL},
	{"exec", STEP_INIT, NULL, row_exec, NULL},
};
const struct step_table with_maps = {look_rows, 4, NULL};
static const struct step no_maps_rows[] = {
	{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
	{"look", STEP_INIT, NULL, row_look, NULL},
	{"exec", STEP_INIT, NULL, row_exec, NULL},
};
const struct step_table no_maps = {no_maps_rows, 3, NULL};

int box_reap(struct box *b)
{
	struct ns_exit x = {.status = -1};
	struct err e;

	if (b->chan.child.pidfd < 0 || ns_reap(b->chan.child.pidfd, &x, NULL, &e) < 0)
		return -1;
	return x.signal ? 128 + x.signal : x.status;
}

void run_ok(struct box *b)
{
	struct err e = {0};
	int r = steps_run(b->table, b, &b->chan, &e);

	if (r < 0)
		printf("# %s\n", e.msg);
	CHECK_INT(r, 0);
	CHECK_INT(box_reap(b), 0);
}

void as_nobody(void (*fn)(void))
{
	as_user(NOBODYS_UID, NOBODYS_UID, fn);
}

void as_user(uid_t uid, gid_t gid, void (*fn)(void))
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test_failed = 0;
		if (geteuid() == 0 && (setgid(gid) < 0 || setuid(uid) < 0))
			_exit(2);
		/* After a change of ids /proc/self belongs to root until the next exec. */
		if (sys_close_range(3, ~0U, 0) < 0 ||
		    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
			_exit(3);
		fn();
		fflush(stdout);
		_exit(test_failed);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

bool root(void)
{
	if (geteuid() == 0)
		return true;
	printf("# skipped: needs root\n");
	return false;
}

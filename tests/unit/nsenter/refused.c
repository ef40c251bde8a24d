/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that say no: what the error tells, and the ways around that there are. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfs.h"
#include "nsenter/ns.h"
#include "nsenter/spawn.h"
#include "tests/unit/nsenter/spawner.h"
#include "tests/unit/test.h"

static void hints(void)
{
	char buf[256];

	CHECK(ns_userns_hint(ENOSPC, buf, sizeof(buf)) && strstr(buf, "user.max_user_namespaces"));
	CHECK(ns_userns_hint(EAGAIN, buf, sizeof(buf)) && strstr(buf, "pids limit"));
	CHECK(!ns_userns_hint(EIO, buf, sizeof(buf)) && !*buf);
	CHECK(!ns_userns_hint(0, buf, sizeof(buf)));
}

/* Runs fn in a process of its own. */
static void apart(void (*fn)(void))
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test_failed = 0;
		fn();
		fflush(stdout);
		_exit(test_failed);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

/* RLIMIT_NPROC of a user without rights. */
static void no_process_left(void)
{
	struct rlimit r = {1, 1};
	struct err e = {0};
	struct box b;

	box_init(&b, &no_maps, 0, true);
	setrlimit(RLIMIT_NPROC, &r);
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EAGAIN);
	CHECK(strstr(e.msg, "RLIMIT_NPROC"));
	box_free(&b);
}

static void limits(void)
{
	as_nobody(no_process_left);
}

/* The limit is one of each user namespace, so INIT can set its own and feel it. */
static int row_forbid(void *ctx, struct err *e)
{
	struct err inner = {0};
	struct box *b = ctx, nested;
	int r = procfs_write(b->procfs, "sys/user/max_user_namespaces", "0", e);

	if (r < 0)
		return r;
	box_init(&nested, &no_maps, CLONE_NEWUSER, false);
	r = steps_run(nested.table, &nested, &nested.chan, &inner);
	return err_set(e, -r, "%s", inner.msg);
}

static void switched_off(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
		{"id maps", STEP_PARENT, NULL, row_maps, NULL},
		{"forbid", STEP_INIT, NULL, row_forbid, NULL},
		{"exec", STEP_INIT, NULL, row_exec, NULL},
	};
	static const struct step_table t = {rows, 4, NULL};
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	struct err e = {0};
	struct box b;

	box_init(&b, &t, CLONE_NEWUSER, false);
	b.maps = (struct ns_idmaps){&uid, 1, &gid, 1};
	b.how = ns_idmap_mode(&b.maps);
	CHECK_INT(steps_run(&t, &b, &b.chan, &e), -ENOSPC);
	CHECK_STR(e.msg, "forbid: spawn: make process: No space left on device: user namespaces are "
			 "switched off: sysctl -w user.max_user_namespaces=15000");
	box_free(&b);
}

static void chrooted_here(void)
{
	struct err e = {0};
	struct box b;

	box_init(&b, &no_maps, CLONE_NEWUSER, true);
	CHECK(chroot("/usr") == 0 && chdir("/") == 0);
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EPERM);
	CHECK(strstr(e.msg, "refused to a process in a chroot"));
	box_free(&b);
}

static void chrooted(void)
{
	if (root())
		apart(chrooted_here);
}

static bool forbid_call(unsigned nr, unsigned code)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0;
}

/* As inside of another container: clone3 is ENOSYS, so clone does what it can. */
static void no_clone3_here(void)
{
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	struct box b;

	CHECK(forbid_call(SYS_clone3, ENOSYS));
	box_init(&b, &with_maps, ALL_NS, true);
	CHECK(!ns_shares_vm(&b.spawn));
	b.maps = (struct ns_idmaps){&uid, 1, &gid, 1};
	b.how = ns_idmap_mode(&b.maps);
	run_ok(&b);
	CHECK_INT(b.seen->pid, 1);
	CHECK(b.seen->ignored == 0 && b.seen->blocked == 0);
	box_free(&b);
	/* A cgroup cannot be asked for then: the caller moves the process. */
	box_init(&b, &no_maps, 0, true);
	b.spawn.cgroup_fd = open("/", O_PATH | O_CLOEXEC);
	run_ok(&b);
	CHECK(!b.chan.child.in_cgroup);
	close(b.spawn.cgroup_fd);
	box_free(&b);
}

static void no_clone3(void)
{
	apart(no_clone3_here);
}

/* CLONE_INTO_CGROUP with something that is no cgroup is an error that says so. */
static void bad_cgroup(void)
{
	struct err e = {0};
	struct box b;

	box_init(&b, &no_maps, 0, true);
	b.spawn.cgroup_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EBADF);
	CHECK(strstr(e.msg, "the cgroup is not one of cgroup v2"));
	close(b.spawn.cgroup_fd);
	box_free(&b);
}

TEST_MAIN(TEST(hints), TEST(limits), TEST(switched_off), TEST(chrooted), TEST(no_clone3),
	  TEST(bad_cgroup))

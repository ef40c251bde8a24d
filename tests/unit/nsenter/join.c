/* SPDX-License-Identifier: Apache-2.0 */
/* Joining: every type by path, by pidfd, as root and without rights, together with new ones. */
#include "nsenter/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "nsenter/ns.h"
#include "tests/unit/nsenter/spawner.h"
#include "tests/unit/test.h"

/* A process in new namespaces that sleeps until it is killed. */
static pid_t holder(uint64_t flags)
{
	struct clone_args a = {.flags = flags & ~(uint64_t)CLONE_NEWTIME, .exit_signal = SIGCHLD};
	char c;
	int p[2];
	pid_t pid;

	if (pipe(p) < 0)
		abort();
	if (flags & CLONE_NEWTIME)
		syscall(SYS_unshare, CLONE_NEWTIME);
	pid = (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	if (pid == 0) {
		if (write(p[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	if (flags & CLONE_NEWTIME) { /* our own children shall not be born there */
		int fd = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC);

		setns(fd, CLONE_NEWTIME);
		close(fd);
	}
	if (pid > 0 && read(p[0], &c, 1) != 1)
		abort();
	close(p[0]);
	close(p[1]);
	return pid;
}

static void end(pid_t pid)
{
	if (pid <= 0) /* -1 would be every process of the machine */
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static size_t open_joins(pid_t pid, uint64_t types, struct ns_join *j)
{
	static char paths[8][64];
	struct err e;
	size_t n = 0;

	for (int i = 0; i < 8; i++) {
		if (!(ns_types[i] & types))
			continue;
		snprintf(paths[i], sizeof(paths[i]), "/proc/%d/ns/%s", pid, ns_name(ns_types[i]));
		j[n] = (struct ns_join){.type = ns_types[i], .fd = -1, .path = paths[i]};
		CHECK_INT(ns_open(paths[i], ns_types[i], &j[n].fd, &e), 0);
		n++;
	}
	return n;
}

static void close_joins(struct ns_join *j, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(j[i].fd);
}

static void join_types(uint64_t types)
{
	static const struct ns_idmap map = {0, 0, 65536};
	const struct ns_idmaps maps = {&map, 1, &map, 1};
	struct ns_join j[8];
	pid_t pid = holder(types);
	struct err e;
	struct box b;
	int leak;

	CHECK(pid > 0);
	box_init(&b, &no_maps, 0, true);
	if (types & CLONE_NEWUSER)
		CHECK_INT(ns_write_maps(b.procfs, pid, &maps, NS_MAP_DIRECT, &e), 0);
	b.spawn.joins = j;
	b.spawn.n_joins = open_joins(pid, types, j);
	CHECK(!ns_shares_vm(&b.spawn));
	leak = fcntl(b.procfs, F_DUPFD, 500); /* not even close-on-exec */
	run_ok(&b);
	close(leak);
	for (int i = 0; i < 8; i++) {
		uint64_t want = ns_inode(types & ns_types[i] ? pid : 0, ns_types[i]);

		/* 0: /proc/self is not of the joined pid namespace, or there is no such type. */
		if (b.seen->ns[i] != 0 || !(types & CLONE_NEWPID))
			CHECK_INT(b.seen->ns[i], want);
	}
	/* Nobody in there can trace it, and it has nothing of the host's but the channel. */
	CHECK_INT(b.seen->dumpable, 0);
	CHECK_INT(b.seen->fds, b.chan.init);
	CHECK_INT(fcntl(b.chan.init, F_GETFD), -1);
	close_joins(j, b.spawn.n_joins);
	box_free(&b);
	end(pid);
}

static void joins(void)
{
	if (!root())
		return;
	for (int i = 0; i < 8; i++) {
		if (ns_types[i] == CLONE_NEWTIME && ns_inode(0, CLONE_NEWTIME) == 0)
			continue;
		join_types(ns_types[i]);
	}
	join_types(ALL_NS);
	join_types(ALL_NS & ~CLONE_NEWUSER);
	join_types(CLONE_NEWUSER | CLONE_NEWNET);
}

/* An unprivileged user joins the user namespace that he made, and what belongs to it. */
static void join_own(void)
{
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	const struct ns_idmaps maps = {&uid, 1, &gid, 1};
	pid_t pid = holder(ALL_NS), other;
	struct ns_join j[8];
	struct err e;
	struct box b;

	CHECK(pid > 0);
	box_init(&b, &no_maps, 0, true);
	CHECK_INT(ns_write_maps(b.procfs, pid, &maps, NS_MAP_SELF, &e), 0);
	b.spawn.joins = j;
	b.spawn.n_joins = open_joins(pid, ALL_NS, j);
	run_ok(&b);
	CHECK_INT(b.seen->uid, 0);
	close_joins(j, b.spawn.n_joins);
	box_free(&b);

	/* A namespace that belongs to somebody else. */
	other = getppid();
	box_init(&b, &no_maps, 0, true);
	b.spawn.joins = j;
	j[0] = (struct ns_join){CLONE_NEWUTS, open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC), "U"};
	b.spawn.n_joins = 1;
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EPERM);
	CHECK_STR(e.msg, "spawn: join uts namespace U: Operation not permitted (needs "
			 "CAP_SYS_ADMIN in the user namespace that owns it)");
	CHECK(other > 0 && b.chan.child.pidfd < 0);
	close(j[0].fd);
	box_free(&b);
	end(pid);
}

static void unprivileged_joins(void)
{
	as_nobody(join_own);
}

/* A joined net namespace of the host below a new user namespace. */
static void join_and_make(void)
{
	static const struct ns_idmap map = {0, 100000, 65536};
	pid_t pid = root() ? holder(CLONE_NEWNET) : 0;
	struct ns_join j[8];
	struct box b;

	if (!pid)
		return;
	box_init(&b, &with_maps, ALL_NS & ~CLONE_NEWNET, true);
	b.maps = (struct ns_idmaps){&map, 1, &map, 1};
	b.spawn.joins = j;
	b.spawn.n_joins = open_joins(pid, CLONE_NEWNET, j);
	run_ok(&b);
	CHECK_INT(b.seen->pid, 1);
	CHECK(b.seen->ns[3] == ns_inode(pid, CLONE_NEWNET));
	close_joins(j, b.spawn.n_joins);
	box_free(&b);
	end(pid);
}

/* Many namespaces by one pidfd. */
static void join_by_pidfd(void)
{
	const uint64_t types = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS;
	pid_t pid = root() ? holder(types) : 0;
	struct ns_join j = {.type = types, .path = NULL};
	struct box b;

	if (!pid)
		return;
	j.fd = sys_pidfd_open(pid, 0);
	box_init(&b, &no_maps, 0, true);
	b.spawn.joins = &j;
	b.spawn.n_joins = 1;
	run_ok(&b);
	for (int i = 0; i < 8; i++)
		CHECK_INT(b.seen->ns[i], ns_inode(types & ns_types[i] ? pid : 0, ns_types[i]));
	close(j.fd);
	box_free(&b);
	end(pid);
}

static void bad_joins(void)
{
	struct ns_join twice[2];
	struct err e;
	struct box b;
	int fd = -1;

	CHECK_INT(ns_open("/proc/self/ns/net", CLONE_NEWPID, &fd, &e), -EINVAL);
	CHECK_STR(e.msg, "open pid namespace: /proc/self/ns/net is a namespace of type net");
	CHECK_INT(ns_open("/etc/passwd", CLONE_NEWNET, &fd, &e), -EINVAL);
	CHECK_STR(e.msg, "open net namespace: /etc/passwd is not a namespace file");
	CHECK_INT(ns_open("/nowhere", CLONE_NEWNET, &fd, &e), -ENOENT);
	CHECK_INT(ns_open("/proc/self/ns/net", CLONE_NEWNET | CLONE_NEWPID, &fd, &e), -EINVAL);
	CHECK_INT(fd, -1);
	CHECK_INT(ns_open("/proc/self/ns/net", CLONE_NEWNET, &fd, &e), 0);
	CHECK_INT(ns_is_ours(fd, CLONE_NEWNET, &e), 1);
	twice[0] = twice[1] = (struct ns_join){.type = CLONE_NEWNET, .fd = fd};
	box_init(&b, &no_maps, 0, false);
	b.spawn.joins = twice;
	b.spawn.n_joins = 2;
	CHECK_INT(ns_spawn(&b.spawn, &b.chan.child, &e), -EINVAL);
	b.spawn.n_joins = 1;
	b.spawn.new_ns = CLONE_NEWNET;
	CHECK_INT(ns_spawn(&b.spawn, &b.chan.child, &e), -EINVAL);
	CHECK(strstr(e.msg, "the net namespace is given twice"));
	close(fd);
	box_free(&b);
}

TEST_MAIN(TEST(joins), TEST(unprivileged_joins), TEST(join_and_make), TEST(join_by_pidfd),
	  TEST(bad_joins))

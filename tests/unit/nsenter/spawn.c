/* SPDX-License-Identifier: Apache-2.0 */
/* Real processes in real namespaces, as root and as a user without any rights. */
#include "nsenter/spawn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/sys.h"
#include "nsenter/ns.h"
#include "nsenter/signals.h"
#include "nsenter/timens.h"
#include "tests/unit/nsenter/spawner.h"
#include "tests/unit/test.h"

static void check_new_ns(const struct box *b, uint64_t new_ns)
{
	for (int i = 0; i < 8; i++) {
		uint64_t ours = ns_inode(0, ns_types[i]);

		if (!(ns_types[i] & new_ns) == !(b->seen->ns[i] == ours))
			printf("# namespace %s is %s\n", ns_name(ns_types[i]),
			       b->seen->ns[i] == ours ? "ours" : "another");
		CHECK(!(ns_types[i] & new_ns) == (b->seen->ns[i] == ours));
	}
}

/* Each type alone and all at once, with and without shared memory. */
static void namespaces(void)
{
	struct box b;

	if (!root())
		return;
	for (int vm = 0; vm < 2; vm++) {
		for (int i = 1; i < 7; i++) {
			box_init(&b, &no_maps, ns_types[i], vm);
			run_ok(&b);
			check_new_ns(&b, ns_types[i]);
			box_free(&b);
		}
		box_init(&b, &no_maps, ALL_NS & ~CLONE_NEWUSER, vm);
		run_ok(&b);
		check_new_ns(&b, ALL_NS & ~CLONE_NEWUSER);
		CHECK_INT(b.seen->pid, 1);
		CHECK(b.seen->ignored == 0 && b.seen->blocked == 0);
		box_free(&b);
	}
}

static void maps_as_root(void)
{
	static const struct ns_idmap uids[] = {{0, 100000, 1000}, {1000, 0, 1}, {1001, 101000, 9}};
	static const struct ns_idmap gids[] = {{0, 200000, 65536}};
	struct box b;

	if (!root())
		return;
	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &with_maps, ALL_NS, vm);
		b.maps = (struct ns_idmaps){uids, 3, gids, 1};
		b.how = ns_idmap_mode(&b.maps);
		CHECK_INT(b.how, NS_MAP_DIRECT);
		run_ok(&b);
		check_new_ns(&b, ALL_NS);
		CHECK_INT(b.seen->uid, 1000);
		CHECK_INT(b.seen->gid, 65534);
		box_free(&b);
	}
}

static void self_map(void)
{
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	struct box b;

	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &with_maps, ALL_NS, vm);
		b.maps = (struct ns_idmaps){&uid, 1, &gid, 1};
		b.how = ns_idmap_mode(&b.maps);
		CHECK_INT(b.how, NS_MAP_SELF);
		run_ok(&b);
		check_new_ns(&b, ALL_NS);
		CHECK(b.seen->uid == 0 && b.seen->gid == 0 && b.seen->pid == 1);
		box_free(&b);
	}
}

/* The user that a line of /etc/subuid is for, NULL when there is none. */
static struct passwd *subid_user(void)
{
	FILE *f = fopen("/etc/passwd", "re"); /* not getpwent: that loads modules */
	struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f))) {
		const struct ns_user u = {pw->pw_uid, pw->pw_name};
		struct ns_subid r;
		struct err e;

		if (pw->pw_uid != 0 && ns_subids("/etc/subuid", &u, &r, 1, &e) == 1 &&
		    ns_subids("/etc/subgid", &u, &r, 1, &e) == 1)
			break;
	}
	if (f)
		fclose(f);
	return pw;
}

/* The own id and a range, by newuidmap and newgidmap. */
static void helper_maps(void)
{
	char name[64] = "";
	struct ns_user named = {geteuid(), name};
	struct ns_subid ur = {0}, gr = {0};
	struct err e;
	struct box b;

	CHECK_INT(ns_user_name(geteuid(), name, sizeof(name), &e), 1);
	CHECK_INT(ns_subids("/etc/subuid", &named, &ur, 1, &e), 1);
	CHECK_INT(ns_subids("/etc/subgid", &named, &gr, 1, &e), 1);
	for (int vm = 0; vm < 2; vm++) {
		const struct ns_idmap uids[] = {{0, geteuid(), 1}, {1, ur.start, ur.count}};
		const struct ns_idmap gids[] = {{0, getegid(), 1}, {1, gr.start, gr.count}};

		box_init(&b, &with_maps, ALL_NS, vm);
		b.maps = (struct ns_idmaps){uids, 2, gids, 2};
		b.how = ns_idmap_mode(&b.maps);
		CHECK_INT(b.how, NS_MAP_HELPER);
		run_ok(&b);
		CHECK(b.seen->uid == 0 && b.seen->gid == 0);
		box_free(&b);
	}
}

static void by_helper(void)
{
	const struct passwd *pw = subid_user();

	if (!pw || geteuid() != 0 || access("/usr/bin/newuidmap", X_OK) < 0)
		printf("# skipped: needs root, newuidmap and a user with lines in /etc/subuid\n");
	else
		as_user(pw->pw_uid, pw->pw_gid, helper_maps);
}

static void refused_maps(void)
{
	static const struct ns_idmap uids[] = {{0, 100000, 65536}};
	struct ns_idmap own = {0, geteuid(), 1};
	struct err e = {0};
	struct box b;

	box_init(&b, &with_maps, ALL_NS, true);
	b.maps = (struct ns_idmaps){uids, 1, uids, 1};
	b.how = ns_idmap_mode(&b.maps);
	CHECK_INT(b.how, NS_MAP_HELPER);
	CHECK(steps_run(b.table, &b, &b.chan, &e) < 0);
	CHECK(strstr(e.msg, "id maps: write the uid map: ") && strstr(e.msg, "/etc/subuid"));
	b.how = NS_MAP_DIRECT; /* wrongly */
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EPERM);
	CHECK(strstr(e.msg, "write the uid map: Operation not permitted"));
	b.maps = (struct ns_idmaps){&own, 1, uids, 1};
	CHECK_INT(ns_idmap_mode(&b.maps), NS_MAP_HELPER);
	box_free(&b);
}

static void without_rights(void)
{
	struct err e = {0};
	struct box b;

	box_init(&b, &no_maps, CLONE_NEWNET, true);
	CHECK_INT(steps_run(b.table, &b, &b.chan, &e), -EPERM);
	CHECK(strstr(e.msg, "new namespaces need root (CAP_SYS_ADMIN) or a user namespace"));
	CHECK(b.chan.child.pidfd < 0);
	box_free(&b);
}

static void unprivileged(void)
{
	as_nobody(self_map);
	as_nobody(refused_maps);
	as_nobody(without_rights);
}

/* What a program sees: no signal ignored or blocked, only 0-2 open, though we do the opposite. */
static void clean_exec(void)
{
	static const char *const argv[] = {"/bin/sh", "-c",
					   "cat /proc/self/status; ls /proc/self/fd", NULL};
	char buf[8192];
	struct err e = {0};
	sigset_t set, old;
	struct box b;
	int p[2];

	/* What our own caller leaked is the program's business, not the spawn's. */
	sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGRTMIN + 3, SIG_IGN);
	for (int vm = 0; vm < 2; vm++) {
		int saved = fcntl(1, F_DUPFD_CLOEXEC, 3);
		ssize_t n = 0, r;

		CHECK_INT(pipe2(p, O_CLOEXEC), 0);
		fflush(stdout);
		dup2(p[1], 1);
		box_init(&b, &no_maps, 0, vm);
		b.argv = argv;
		CHECK_INT(steps_run(b.table, &b, &b.chan, &e), 0);
		dup2(saved, 1);
		close(saved);
		close(p[1]);
		while ((r = read(p[0], buf + n, sizeof(buf) - 1 - (size_t)n)) > 0)
			n += r;
		buf[n] = '\0';
		CHECK_INT(box_reap(&b), 0);
		CHECK(strstr(buf, "SigBlk:\t0000000000000000") != NULL);
		CHECK(strstr(buf, "SigIgn:\t0000000000000000") != NULL);
		CHECK(strstr(buf, "\n0\n1\n2\n3\n") && !strstr(buf, "\n4\n")); /* 3: ls itself */
		close(p[0]);
		box_free(&b);
	}
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGRTMIN + 3, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* --- time --- */

static int row_new_time(void *ctx, struct err *e)
{
	static const struct ns_time_offset offsets[] = {{CLOCK_MONOTONIC, 1000000, 5},
							{CLOCK_BOOTTIME, 2000000, 0}};
	struct box *b = ctx;

	return ns_new_time(b->procfs, offsets, 2, e);
}

static void time_namespace(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
		{"id maps", STEP_PARENT, NULL, row_maps, NULL},
		{"time", STEP_INIT, NULL, row_new_time, NULL},
		{"exec", STEP_INIT, NULL, row_exec, NULL},
	};
	static const struct step_table t = {rows, 4, NULL};
	static const char *const argv[] = {
		"/bin/sh", "-c", "read up rest < /proc/uptime; test ${up%.*} -gt 2000000", NULL};
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	struct box b;

	if (ns_inode(0, CLONE_NEWTIME) == 0) {
		printf("# skipped: no time namespaces\n");
		return;
	}
	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &t, CLONE_NEWUSER | CLONE_NEWTIME | CLONE_NEWPID, vm);
		b.argv = argv;
		b.maps = (struct ns_idmaps){&uid, 1, &gid, 1};
		b.how = ns_idmap_mode(&b.maps);
		run_ok(&b);
		box_free(&b);
	}
}

static void time_both(void)
{
	time_namespace();
	as_nobody(time_namespace);
}

static void bad_offsets(void)
{
	static const struct ns_time_offset bad[] = {{CLOCK_REALTIME, 1, 0},
						    {CLOCK_MONOTONIC, 1, 1000000000}};
	struct err e;

	CHECK_INT(ns_new_time(-1, &bad[0], 1, &e), -EINVAL);
	CHECK_INT(ns_new_time(-1, &bad[1], 1, &e), -EINVAL);
}

/* --- resources --- */

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static long mapped_pages(void)
{
	char buf[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	close(fd);
	return n > 0 ? atol(buf) : -1;
}

static int row_exit(void *ctx, struct err *e)
{
	(void)ctx;
	return err_set(e, EDOM, "no");
}

/* Ten thousand processes that fail, so that all clean-up runs. */
static void no_leak(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
		{"exit", STEP_INIT, NULL, row_exit, NULL},
	};
	static const struct step_table t = {rows, 2, NULL};
	struct err e;
	struct box b;
	int fds = 0, bad = 0;
	long pages = 0;

	for (int i = 0; i < 400; i++) {
		box_init(&b, &t, 0, i % 8 != 0);
		bad += steps_run(&t, &b, &b.chan, &e) != -EDOM;
		box_free(&b);
		if (i == 100) {
			fds = open_fds();
			pages = mapped_pages();
		}
	}
	CHECK_INT(bad, 0);
	CHECK_INT(open_fds(), fds);
	CHECK(mapped_pages() <= pages);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* --- small things in INIT --- */

static int row_loopback(void *ctx, struct err *e)
{
	const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int r, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)ctx;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno != ENETUNREACH)
		return err_sys(e, "lo is up before us");
	r = ns_loopback_up(e);
	if (r < 0)
		return r;
	/* Up: there is a way, and nobody at its end. */
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno != ECONNREFUSED)
		return err_sys(e, "lo is not up");
	close(fd);
	return 0;
}

static int row_become_root(void *ctx, struct err *e)
{
	(void)ctx;
	return ns_become_root(true, e);
}

static int row_die_with_parent(void *ctx, struct err *e)
{
	struct box *b = ctx;

	return ns_die_with_parent(b->chan.init, e);
}

static void init_helpers(void)
{
	static const struct step rows[] = {
		{"spawn", STEP_SPAWN, NULL, row_spawn, NULL},
		{"id maps", STEP_PARENT, NULL, row_maps, NULL},
		{"root", STEP_INIT, NULL, row_become_root, NULL},
		{"lo", STEP_INIT, NULL, row_loopback, NULL},
		{"look", STEP_INIT, NULL, row_look, NULL},
		{"die with parent", STEP_INIT, NULL, row_die_with_parent, NULL},
		{"exec", STEP_INIT, NULL, row_exec, NULL},
	};
	static const struct step_table t = {rows, 7, NULL};
	static const char *const argv[] = {
		"/bin/sh", "-c", "test \"$(id -u)\" = 0", NULL};
	struct ns_idmap uid = {0, geteuid(), 1}, gid = {0, getegid(), 1};
	struct box b;

	for (int vm = 0; vm < 2; vm++) {
		box_init(&b, &t, ALL_NS, vm);
		b.argv = argv;
		b.maps = (struct ns_idmaps){&uid, 1, &gid, 1};
		b.how = ns_idmap_mode(&b.maps);
		run_ok(&b);
		CHECK_INT(b.seen->euid, 0);
		box_free(&b);
	}
}

static void init_helpers_both(void)
{
	init_helpers();
	as_nobody(init_helpers);
}

/* Born in its cgroup, where the machine has a cgroup2 that we may write to. */
static void into_cgroup(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	static const char *const argv[] = {"/bin/grep", "-q", "^0::/brig-nsenter-test$",
					   "/proc/self/cgroup", NULL};
	char path[64];
	int done = 0;

	for (int i = 0; i < 4 && root(); i++) {
		struct statfs fs;
		struct box b;

		snprintf(path, sizeof(path), "%s/brig-nsenter-test", roots[i / 2]);
		if (statfs(roots[i / 2], &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC ||
		    mkdir(path, 0755) < 0)
			continue;
		box_init(&b, &no_maps, 0, i % 2);
		b.argv = argv;
		b.spawn.cgroup_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		run_ok(&b);
		CHECK(b.chan.child.in_cgroup);
		close(b.spawn.cgroup_fd);
		CHECK_INT(rmdir(path), 0);
		box_free(&b);
		done++;
	}
	if (!done)
		printf("# skipped: no cgroup2 to write to\n");
}

TEST_MAIN(TEST(namespaces), TEST(maps_as_root), TEST(unprivileged), TEST(by_helper),
	  TEST(clean_exec), TEST(time_both), TEST(bad_offsets), TEST(no_leak), TEST(init_helpers_both),
	  TEST(into_cgroup))

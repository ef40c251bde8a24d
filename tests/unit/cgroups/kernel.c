/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module against the running kernel, whatever cgroups it has: creation, limits, attach, freeze,
 * kill, statistics, removal, many at once. Skips where we may make no cgroup.
 *
 * With the argument "bench" it prints microseconds instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/str.h"
#include "base/sys.h"
#include "cgroups/internal.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct cg_host host;

#define MIB (1024 * 1024)

struct limits {
	struct oci_memory memory;
	struct oci_cpu cpu;
	struct oci_pids pids;
	struct oci_resources resources;
	struct oci_linux lin;
	struct oci_spec spec;
};

static void fill(struct limits *l)
{
	memset(l, 0, sizeof(*l));
	if (host.controllers & CG_BIT(CG_MEMORY)) {
		l->memory.limit = l->memory.swap = (struct opt_i64){true, 64 * MIB};
		l->resources.memory = &l->memory;
	}
	if (host.controllers & CG_BIT(CG_CPU)) {
		l->cpu.shares = (struct opt_u64){true, 512};
		l->cpu.quota = (struct opt_i64){true, 50000};
		l->resources.cpu = &l->cpu;
	}
	if (host.controllers & CG_BIT(CG_PIDS)) {
		l->pids.limit = (struct opt_i64){true, 32};
		l->resources.pids = &l->pids;
	}
	l->lin.resources = &l->resources;
	l->spec.linux_ = &l->lin;
}

static struct cg_plan *plan_for(const struct oci_spec *s, const char *id)
{
	struct cg_request rq = {.spec = s, .id = id, .host = &host, .rootless = host.euid != 0};
	struct cg_plan *p = NULL;
	struct err e = {0};

	if (cg_plan_build(arena, &rq, &p, &e) < 0)
		printf("# plan: %s\n", e.msg);
	return p;
}

static struct cg *create(const struct oci_spec *s, const char *id)
{
	struct cg_plan *p = plan_for(s, id);
	struct cg *cg = NULL;
	struct err e = {0};

	if (p && cg_create(&host, p, &cg, &e) < 0)
		printf("# create: %s\n", e.msg);
	return cg;
}

/* A child in the cgroup that runs body; on v1 it waits until it was moved. */
static pid_t spawn(struct cg *cg, void (*body)(void))
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	int gate[2];
	struct err e = {0};
	pid_t pid;
	char c;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -1;
	if (cg_fd(cg) >= 0) {
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cg_fd(cg);
	}
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &c, 1) != 1)
			_exit(1);
		body();
		_exit(0);
	}
	if (pid > 0 && cg_fd(cg) < 0 && cg_attach(cg, pid, &e) < 0)
		printf("# attach: %s\n", e.msg);
	if (write(gate[1], "x", 1) != 1)
		pid = -1;
	close(gate[0]);
	close(gate[1]);
	return pid;
}

static void body_pause(void)
{
	for (;;)
		pause();
}

static void body_tree(void)
{
	for (int i = 0; i < 5; i++) {
		if (fork() == 0)
			body_pause();
	}
	body_pause();
}

static void body_spin(void)
{
	for (;;)
		;
}

static void body_eat(void)
{
	for (int i = 0; i < 256; i++) {
		char *p =
			mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(2);
		memset(p, 1, MIB);
	}
}

static void body_hold(void)
{
	char *p = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		memset(p, 1, 16 * MIB);
	body_pause();
}

static void body_bomb(void)
{
	int n = 0;

	while (n < 100 && fork() > 0)
		n++;
	if (n < 100)
		pause();
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void destroy(struct cg *cg)
{
	struct err e = {0};

	CHECK_INT(cg_destroy(cg, &e), 0);
	if (e.code)
		printf("# destroy: %s\n", e.msg);
	cg_close(cg);
}

static void limits_are_set(void)
{
	struct limits l;
	struct cg_stats st = {0};
	struct err e = {0};
	struct cg *cg;

	fill(&l);
	cg = create(&l.spec, "unit-limits");
	CHECK(cg != NULL);
	if (!cg)
		return;
	CHECK_INT(cg_stats(cg, CG_STATS_ALL, &st, &e), 0);
	if (host.controllers & CG_BIT(CG_MEMORY)) {
		CHECK_INT(st.memory_limit.v, 64 * MIB);
		CHECK_INT(st.oom_kill.set, 1);
		CHECK_INT(st.oom_kill.v, 0);
	}
	if (host.controllers & CG_BIT(CG_PIDS))
		CHECK_INT(st.pids_limit.v, 32);
	CHECK(cg_cpu_usec(cg) >= 0);
	destroy(cg);
}

static void kill_ends_all(void)
{
	struct limits l;
	struct u32v pids = {0};
	struct err e = {0};
	struct cg *cg;
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-kill");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_tree);
	for (int i = 0; i < 100000 && pids.n < 6; i++)
		CHECK_INT(cg_procs(cg, arena, &pids, &e), 0);
	CHECK_INT(pids.n, 6);
	CHECK_INT(cg_kill(cg, &e), 0);
	reap(pid);
	destroy(cg);
}

static void destroy_ends_all(void)
{
	struct limits l;
	struct cg *cg;
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-destroy");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_tree);
	destroy(cg);
	reap(pid);
}

static void freeze_stops(void)
{
	struct limits l;
	struct err e = {0};
	struct cg *cg;
	int64_t before;
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-freeze");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_spin);
	CHECK_INT(cg_freeze(cg, &e), 0);
	CHECK_INT(cg_is_frozen(cg, &e), 1);
	before = cg_cpu_usec(cg);
	for (int i = 0; i < 2000; i++)
		sched_yield();
	CHECK(cg_cpu_usec(cg) - before < 1000);
	CHECK_INT(cg_thaw(cg, &e), 0);
	CHECK_INT(cg_is_frozen(cg, &e), 0);
	CHECK_INT(cg_freeze(cg, &e), 0);
	/* A frozen container can be killed. */
	CHECK_INT(cg_kill(cg, &e), 0);
	reap(pid);
	destroy(cg);
}

static void oom_is_counted(void)
{
	struct limits l;
	struct cg_stats st = {0};
	struct err e = {0};
	struct cg *cg;
	int status = 0;
	pid_t pid;

	if (!(host.controllers & CG_BIT(CG_MEMORY)))
		return;
	fill(&l);
	cg = create(&l.spec, "unit-oom");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_eat);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_INT(cg_oom_kills(cg), 1);
	CHECK_INT(cg_stats(cg, CG_STATS_ALL, &st, &e), 0);
	CHECK(st.oom_kill.v == 1);
	if (st.memory_peak.set)
		CHECK(st.memory_peak.v > 60 * MIB && st.memory_peak.v <= 64 * MIB);
	destroy(cg);
}

static void pids_are_limited(void)
{
	struct limits l;
	struct cg_stats st = {0};
	struct err e = {0};
	struct cg *cg;
	pid_t pid;

	if (!(host.controllers & CG_BIT(CG_PIDS)))
		return;
	fill(&l);
	cg = create(&l.spec, "unit-pids");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_bomb);
	for (int i = 0; i < 100000 && st.pids_max_events.v == 0; i++)
		CHECK_INT(cg_stats(cg, CG_STATS_PIDS, &st, &e), 0);
	CHECK(st.pids_max_events.v > 0);
	CHECK(st.pids_current.v <= 32);
	destroy(cg);
	reap(pid);
}

static void saved_paths_open_again(void)
{
	struct limits l;
	struct cg *cg, *again = NULL;
	struct err e = {0};
	struct strv paths;
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-saved");
	CHECK(cg != NULL);
	if (!cg)
		return;
	paths = cg_paths(cg, arena);
	CHECK(paths.n >= 1);
	pid = spawn(cg, body_pause);
	cg_close(cg);
	CHECK_INT(cg_open(&paths, &again, &e), 0);
	if (!again)
		return;
	CHECK(cg_cpu_usec(again) >= 0);
	CHECK_INT(cg_kill(again, &e), 0);
	reap(pid);
	destroy(again);
	CHECK_INT(cg_open(&paths, &again, &e), -ENOENT);
}

static void duplicates_are_refused(void)
{
	struct limits l;
	struct cg_plan *p;
	struct cg *cg, *second = NULL;
	struct err e = {0};
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-dup");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_pause);
	p = plan_for(&l.spec, "unit-dup");
	CHECK_INT(cg_create(&host, p, &second, &e), -EEXIST);
	CHECK(second == NULL);
	CHECK_INT(cg_kill(cg, &e), 0);
	reap(pid);
	cg_close(cg);
	/* What a crash left is empty and is made anew. */
	cg = create(&l.spec, "unit-dup");
	CHECK(cg != NULL);
	if (cg)
		destroy(cg);
}

static bool parent_exists(const struct cg_plan *p, const struct cg *cg)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s%s", cg->dirs[0].hierarchy ? "/" : "",
		 cg->dirs[0].hierarchy ? cg->dirs[0].hierarchy : "", p->path);
	*strrchr(path, '/') = '\0';
	return stat(path, &st) == 0;
}

static void parents_go_too(void)
{
	struct limits l;
	struct cg_plan *p;
	struct cg *cg = NULL;
	struct err e = {0};
	bool there;

	fill(&l);
	l.lin.cgroups_path = (char *)"brig-unit-parent//deep/one";
	p = plan_for(&l.spec, "x");
	CHECK_INT(cg_create(&host, p, &cg, &e), 0);
	if (e.code)
		printf("# create: %s\n", e.msg);
	if (!cg)
		return;
	CHECK(parent_exists(p, cg));
	CHECK_INT(cg_destroy(cg, &e), 0);
	there = parent_exists(p, cg);
	CHECK(!there);
	cg_close(cg);
}

/* Makes and removes cgroups below one shared parent. */
static int worker(int nr)
{
	struct limits l;

	fill(&l);
	for (int i = 0; i < 20; i++) {
		struct cg_plan *p;
		struct cg *cg = NULL;
		struct err e = {0};

		l.lin.cgroups_path = arena_printf(arena, "brig-unit-shared/w%d-%d", nr, i);
		p = plan_for(&l.spec, "x");
		if (!p || cg_create(&host, p, &cg, &e) < 0 || cg_destroy(cg, &e) < 0) {
			printf("# worker %d: %s\n", nr, e.msg);
			return 1;
		}
		cg_close(cg);
	}
	return 0;
}

static void many_at_once(void)
{
	struct limits l;
	struct cg_plan *p;
	struct cg *cg = NULL;
	struct err e = {0};
	int bad = 0;

	fflush(stdout);
	for (int i = 0; i < 16; i++) {
		if (fork() == 0) {
			int r = worker(i);

			fflush(stdout);
			_exit(r);
		}
	}
	for (int i = 0; i < 16; i++) {
		int status = 0;

		if (wait(&status) < 0 || status != 0)
			bad++;
	}
	CHECK_INT(bad, 0);
	/* The shared parent is gone: making it again is making a fresh one. */
	fill(&l);
	l.lin.cgroups_path = (char *)"brig-unit-shared/last";
	p = plan_for(&l.spec, "x");
	CHECK_INT(cg_create(&host, p, &cg, &e), 0);
	if (cg)
		destroy(cg);
}

static void sub_cgroups_go_too(void)
{
	struct limits l;
	struct cg *cg;
	pid_t pid;

	fill(&l);
	cg = create(&l.spec, "unit-sub");
	CHECK(cg != NULL);
	if (!cg)
		return;
	for (size_t i = 0; i < cg->n && host.kind == CG_V2; i++) {
		CHECK_INT(mkdirat(cg->dirs[i].fd, "a", 0755), 0);
		CHECK_INT(mkdirat(cg->dirs[i].fd, "a/b", 0755), 0);
		CHECK_INT(mkdirat(cg->dirs[i].fd, "a/b/c", 0755), 0);
		CHECK_INT(mkdirat(cg->dirs[i].fd, "a/d", 0755), 0);
	}
	pid = spawn(cg, body_tree);
	destroy(cg);
	reap(pid);
}

static char node[64];

/* 11: /dev/kmsg, in no default list. */
static void body_devices(void)
{
	if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
		_exit(3);
	if (open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK) >= 0 || errno != EPERM)
		_exit(4);
}

static void devices_are_filtered(void)
{
	struct limits l;
	struct cg *cg;
	int status = -1;
	pid_t pid;
	int fd;

	if (host.euid != 0)
		return;
	snprintf(node, sizeof(node), "/tmp/brig-unit-node-%d", getpid());
	CHECK_INT(mknod(node, S_IFCHR | 0600, 1 << 8 | 11), 0);
	fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	fill(&l);
	cg = fd >= 0 ? create(&l.spec, "unit-devices") : NULL;
	if (cg) {
		pid = spawn(cg, body_devices);
		CHECK_INT(waitpid(pid, &status, 0), pid);
		CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
		destroy(cg);
	}
	close(fd);
	unlink(node);
}

static int update(struct cg *cg, struct oci_resources *r, struct err *e)
{
	struct cg_request rq = {.id = "x", .host = &host, .rootless = host.euid != 0};
	struct cg_plan *p = NULL;
	int x = cg_plan_update(arena, r, &rq, &p, e);

	return x < 0 ? x : cg_apply(cg, p, e);
}

/* Limits that bound each other change in both directions. */
static void limits_change(void)
{
	static const int64_t sizes[] = {128, 32, 256, 64};
	struct limits l;
	struct err e = {0};
	struct cg_stats st = {0};
	struct cg *cg;

	fill(&l);
	cg = create(&l.spec, "unit-update");
	CHECK(cg != NULL);
	if (!cg)
		return;
	for (size_t i = 0; i < 4; i++) {
		l.memory.limit.v = l.memory.swap.v = sizes[i] * MIB;
		l.cpu.quota.v = sizes[i] * 1000;
		l.cpu.period = (struct opt_u64){true, (uint64_t)sizes[i] * 500};
		l.cpu.burst = (struct opt_u64){true, (uint64_t)sizes[i] * 900};
		l.pids.limit.v = sizes[i];
		CHECK_INT(update(cg, &l.resources, &e), 0);
		if (e.code)
			printf("# update: %s\n", e.msg);
		CHECK_INT(cg_stats(cg, CG_STATS_ALL, &st, &e), 0);
		if (st.memory_limit.set)
			CHECK_INT(st.memory_limit.v, sizes[i] * MIB);
		if (st.pids_limit.set)
			CHECK_INT(st.pids_limit.v, sizes[i]);
	}
	destroy(cg);
}

/* check_before_update and v1 alike: a limit below the usage is refused. */
static void usage_is_checked(void)
{
	struct limits l;
	struct err e = {0};
	struct cg_stats st = {0};
	struct cg *cg;
	pid_t pid;

	if (!(host.controllers & CG_BIT(CG_MEMORY)))
		return;
	fill(&l);
	cg = create(&l.spec, "unit-usage");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_hold);
	for (int i = 0; i < 1000000 && st.memory_current.v < 8 * MIB; i++)
		CHECK_INT(cg_stats(cg, CG_STATS_MEMORY, &st, &e), 0);
	l.memory.limit.v = l.memory.swap.v = 4 * MIB;
	l.memory.check_before_update = (struct opt_bool){true, true};
	l.resources.cpu = NULL;
	CHECK_INT(update(cg, &l.resources, &e), -EBUSY);
	CHECK_INT(cg_oom_kills(cg), 0);
	destroy(cg);
	reap(pid);
}

static void cpuset_is_set(void)
{
	struct limits l;
	struct cg *cg;
	cpu_set_t set;
	pid_t pid;

	if (!(host.controllers & CG_BIT(CG_CPUSET)))
		return;
	fill(&l);
	l.cpu.cpus = (char *)"0";
	/* Only CPUs: on v1 the memory nodes come from the parent. The path makes a parent. */
	l.lin.cgroups_path = (char *)"brig-unit-cpuset/x";
	cg = create(&l.spec, "unit-cpuset");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_pause);
	CPU_ZERO(&set);
	CHECK_INT(sched_getaffinity(pid, sizeof(set), &set), 0);
	CHECK_INT(CPU_COUNT(&set), 1);
	destroy(cg);
	reap(pid);
}

/* 0.5 CPUs for 0.4 s: about 0.2 s of CPU time. */
static void cpu_is_limited(void)
{
	struct timespec t = {.tv_nsec = 400000000};
	struct limits l;
	struct cg *cg;
	int64_t usec;
	pid_t pid;

	if (!(host.controllers & CG_BIT(CG_CPU)))
		return;
	fill(&l);
	cg = create(&l.spec, "unit-cpu");
	CHECK(cg != NULL);
	if (!cg)
		return;
	pid = spawn(cg, body_spin);
	nanosleep(&t, NULL);
	usec = cg_cpu_usec(cg);
	CHECK(usec > 10000 && usec < 330000);
	destroy(cg);
	reap(pid);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

enum { ROUNDS = 300, COLUMNS = 6 };

static int bench(bool limited)
{
	static const char *const names[COLUMNS] = {"probe",   "plan",    "create",
						   "devices", "destroy", "close"};
	static double v[COLUMNS][ROUNDS];
	struct limits l;

	fill(&l);
	if (!limited)
		memset(&l.resources, 0, sizeof(l.resources));
	for (int i = 0; i < ROUNDS; i++) {
		struct arena *a = arena_new();
		struct cg_request rq = {.spec = &l.spec, .id = "bench", .rootless = geteuid() != 0};
		struct cg_host h;
		struct cg_plan *p = NULL;
		struct cg *cg = NULL;
		struct err e = {0};
		double t[COLUMNS + 1];
		int r;

		t[0] = now_us();
		r = cg_probe(a, &h, &e);
		t[1] = now_us();
		rq.host = &h;
		r = r < 0 ? r : cg_plan_build(a, &rq, &p, &e);
		t[2] = now_us();
		r = r < 0 ? r : cg_create_without_devices(&h, p, &cg, &e);
		t[3] = now_us();
		r = r < 0 ? r : cg_set_devices(cg, p, &e);
		t[4] = now_us();
		r = r < 0 ? r : cg_destroy(cg, &e);
		t[5] = now_us();
		cg_close(cg);
		cg_host_close(&h);
		t[6] = now_us();
		if (r < 0) {
			printf("%s\n", e.msg);
			return 1;
		}
		for (int c = 0; c < COLUMNS; c++)
			v[c][i] = t[c + 1] - t[c];
		arena_free(a);
	}
	printf("%s:", limited ? "limits" : "no limits");
	for (int c = 0; c < COLUMNS; c++)
		printf("  %s %.1f", names[c], median(v[c], ROUNDS));
	printf(" us\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(limits_are_set),         TEST(kill_ends_all),          TEST(destroy_ends_all),
		TEST(freeze_stops),           TEST(oom_is_counted),         TEST(pids_are_limited),
		TEST(saved_paths_open_again), TEST(duplicates_are_refused), TEST(parents_go_too),
		TEST(sub_cgroups_go_too),     TEST(devices_are_filtered),   TEST(limits_change),
		TEST(usage_is_checked),       TEST(cpuset_is_set),          TEST(cpu_is_limited),
		TEST(many_at_once),
	};
	struct err e = {0};
	int r;

	if (argc > 1 && str_eq(argv[1], "bench"))
		return bench(true) || bench(false);
	arena = arena_new();
	if (cg_probe(arena, &host, &e) < 0 || !host.writable) {
		printf("1..0 # SKIP %s\n", e.code ? e.msg : host.why_none);
		return 0;
	}
	printf("# kind %s, base %s, controllers %#x\n", host.kind == CG_V1 ? "v1" : "v2", host.base,
	       host.controllers);
	r = test_run(tests, (int)(sizeof(tests) / sizeof(tests[0])));
	cg_host_close(&host);
	arena_free(arena);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Limits hold on the running kernel, those whose controllers it has. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/cgroups/fixture.h"

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

int main(void)
{
	static const struct test tests[] = {
		TEST(limits_are_set),       TEST(oom_is_counted), TEST(pids_are_limited),
		TEST(devices_are_filtered), TEST(limits_change),  TEST(usage_is_checked),
		TEST(cpuset_is_set),        TEST(cpu_is_limited),
	};

	return run_on_host(tests, sizeof(tests) / sizeof(tests[0]));
}

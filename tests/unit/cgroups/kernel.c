/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a cgroup on the running kernel, whatever cgroups it has: made, found again, frozen,
 * killed, removed, many at once.
 */
#include <sys/stat.h>

#include "tests/unit/cgroups/fixture.h"

static void body_tree(void)
{
	for (int i = 0; i < 5; i++) {
		if (fork() == 0)
			body_pause();
	}
	body_pause();
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

int main(void)
{
	static const struct test tests[] = {
		TEST(kill_ends_all),          TEST(destroy_ends_all),       TEST(freeze_stops),
		TEST(saved_paths_open_again), TEST(duplicates_are_refused), TEST(parents_go_too),
		TEST(sub_cgroups_go_too),     TEST(many_at_once),
	};

	return run_on_host(tests, sizeof(tests) / sizeof(tests[0]));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The systemd driver, where a service manager listens that would make a scope for us. */
#include <sys/stat.h>

#include "tests/unit/cgroups/fixture.h"

static struct cg *scope(const char *id)
{
	struct cg_request rq = {.id = id,
				.host = &host,
				.rootless = host.euid != 0,
				.systemd = true};
	struct cg_plan *p = NULL;
	struct cg *cg = NULL;
	struct limits l;
	struct err e = {0};

	fill(&l);
	rq.spec = &l.spec;
	if (cg_plan_build(arena, &rq, &p, &e) < 0 || cg_create(&host, p, &cg, &e) < 0)
		printf("# %s\n", e.msg);
	return cg;
}

static void scope_has_limits(void)
{
	struct cg *cg = scope("unit-scope");
	struct cg_stats st = {0};
	struct err e = {0};
	struct strv paths;
	pid_t pid;

	CHECK(cg != NULL);
	if (!cg)
		return;
	CHECK_INT(cg_fd(cg), -1);
	pid = spawn(cg, body_pause);
	CHECK(cg_fd(cg) >= 0);
	paths = cg_paths(cg, arena);
	CHECK_INT(paths.n, 2);
	CHECK(paths.n == 2 && str_ends(paths.v[0], "/brig-unit-scope.scope/container"));
	CHECK_INT(cg_stats(cg, CG_STATS_ALL, &st, &e), 0);
	if (host.controllers & CG_BIT(CG_MEMORY))
		CHECK_INT(st.memory_limit.v, 64 * MIB);
	if (host.controllers & CG_BIT(CG_PIDS))
		CHECK_INT(st.pids_limit.v, 32);
	cg_close(cg);
	CHECK_INT(cg_open(&paths, &cg, &e), 0);
	CHECK_INT(cg_kill(cg, &e), 0);
	reap(pid);
	destroy(cg);
	CHECK_INT(cg_open(&paths, &cg, &e), -ENOENT);
}

static void taken_name_is_an_error(void)
{
	struct cg *first = scope("unit-twice"), *second = scope("unit-twice");
	struct err e = {0};
	pid_t pid, other;

	CHECK(first && second);
	if (!first || !second)
		return;
	pid = spawn(first, body_pause);
	other = fork();
	if (other == 0)
		body_pause();
	CHECK_INT(cg_attach(second, other, &e), -EPERM);
	CHECK(strstr(e.msg, "brig-unit-twice.scope") != NULL);
	CHECK(other > 0);
	if (other > 0) { /* -1 would be every process of the machine */
		kill(other, SIGKILL);
		reap(other);
	}
	cg_close(second);
	CHECK_INT(cg_kill(first, &e), 0);
	reap(pid);
	destroy(first);
}

int main(void)
{
	static const struct test tests[] = {TEST(scope_has_limits), TEST(taken_name_is_an_error)};
	char path[128];

	if (access(cg_systemd_socket(geteuid(), path, sizeof(path)), W_OK) < 0) {
		printf("1..0 # SKIP no service manager listens at %s\n", path);
		return 0;
	}
	return run_on_host(tests, sizeof(tests) / sizeof(tests[0]));
}

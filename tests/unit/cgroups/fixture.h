/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests against the running kernel: the host as probed, a spec with the limits this host can
 * hold, cgroups made from it, and processes in them.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

static inline void fill(struct limits *l)
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

static inline struct cg_plan *plan_for(const struct oci_spec *s, const char *id)
{
	struct cg_request rq = {.spec = s, .id = id, .host = &host, .rootless = host.euid != 0};
	struct cg_plan *p = NULL;
	struct err e = {0};

	if (cg_plan_build(arena, &rq, &p, &e) < 0)
		printf("# plan: %s\n", e.msg);
	return p;
}

static inline struct cg *create(const struct oci_spec *s, const char *id)
{
	struct cg_plan *p = plan_for(s, id);
	struct cg *cg = NULL;
	struct err e = {0};

	if (p && cg_create(&host, p, &cg, &e) < 0)
		printf("# create: %s\n", e.msg);
	return cg;
}

/* A child in the cgroup that runs body; on v1 it waits until it was moved. */
static inline pid_t spawn(struct cg *cg, void (*body)(void))
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

static inline void body_pause(void)
{
	for (;;)
		pause();
}

static inline void body_spin(void)
{
	for (;;)
		;
}

static inline void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static inline void destroy(struct cg *cg)
{
	struct err e = {0};

	CHECK_INT(cg_destroy(cg, &e), 0);
	if (e.code)
		printf("# destroy: %s\n", e.msg);
	cg_close(cg);
}

/* Runs the tests, or skips them where we may make no cgroup. */
static inline int run_on_host(const struct test *tests, size_t n)
{
	struct err e = {0};
	int r;

	arena = arena_new();
	if (cg_probe(arena, &host, &e) < 0 || !host.writable) {
		printf("1..0 # SKIP %s\n", e.code ? e.msg : host.why_none);
		return 0;
	}
	printf("# kind %s, base %s, controllers %#x\n", host.kind == CG_V1 ? "v1" : "v2", host.base,
	       host.controllers);
	r = test_run(tests, (int)n);
	cg_host_close(&host);
	arena_free(arena);
	return r;
}

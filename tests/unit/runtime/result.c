/* SPDX-License-Identifier: Apache-2.0 */
/* The result record: how each end is judged, its exit code, and its JSON, key by key. */
#include "runtime/result.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/sys.h"
#include "json/json.h"
#include "runtime/runtime.h"
#include "tests/unit/test.h"

struct judged {
	enum supervise_end end;
	bool have_status;
	int wait_status, oom_kills; /* -1: no cgroup */
	const char *status;
	int returncode;
	const char *signal;
	int exit_code;
};

static const struct judged cases[] = {
	{SUPERVISE_ENDED, true, W_EXITCODE(0, 0), 0, "exited", 0, NULL, 0},
	{SUPERVISE_ENDED, true, W_EXITCODE(3, 0), 0, "exited", 3, NULL, 3},
	{SUPERVISE_ENDED, true, W_EXITCODE(1, 0), 1, "exited", 1, NULL, 1}, /* only a child was killed */
	{SUPERVISE_ENDED, true, SIGSEGV, 0, "signaled", -SIGSEGV, "SIGSEGV", 128 + SIGSEGV},
	{SUPERVISE_ENDED, true, SIGSEGV | WCOREFLAG, 0, "signaled", -SIGSEGV, "SIGSEGV", 128 + SIGSEGV},
	{SUPERVISE_ENDED, true, SIGKILL, 0, "signaled", -9, "SIGKILL", 137},
	{SUPERVISE_ENDED, true, SIGKILL, -1, "signaled", -9, "SIGKILL", 137},
	{SUPERVISE_ENDED, true, SIGKILL, 1, "oom_killed", -9, "SIGKILL", 137},
	{SUPERVISE_ENDED, false, 0, 1, "oom_killed", -9, "SIGKILL", 137},
	{SUPERVISE_ENDED, false, 0, 0, "signaled", -9, "SIGKILL", 137},
	{SUPERVISE_WALL_TIME, false, 0, 0, "timed_out", -1, "SIGKILL", 124},
	{SUPERVISE_WALL_TIME, true, SIGKILL, 1, "timed_out", -1, "SIGKILL", 124},
	{SUPERVISE_CPU_TIME, false, 0, 0, "cpu_limit", -1, "SIGKILL", 124},
	{SUPERVISE_OUTPUT, false, 0, 0, "output_limit", -1, "SIGKILL", 137},
	{SUPERVISE_STOPPED, false, 0, 0, "signaled", -9, "SIGKILL", 137},
};

static const struct json *written(const struct sandbox_result *r, struct arena *a)
{
	struct strbuf b = {0};
	const struct json *v = NULL;
	struct err e = {0};

	result_write(r, &b);
	CHECK(b.p[b.len - 1] == '\n' && strchr(b.p, '\n') == b.p + b.len - 1);
	if (json_parse(b.p, b.len, a, &v, &e) < 0)
		printf("# %s\n", e.msg);
	CHECK(v);
	strbuf_free(&b);
	return v;
}

static int64_t number(const struct json *v, const char *key)
{
	int64_t n = -12345;

	json_to_i64(json_get(v, key), INT64_MIN, INT64_MAX, &n);
	return n;
}

static void check_case(const struct judged *c)
{
	auto_arena struct arena *a = arena_new();
	struct supervise_output o = {.end = c->end, .have_status = c->have_status,
				     .status = c->wait_status};
	struct cg_stats stats = {.oom_kill = {true, (uint64_t)c->oom_kills}};
	struct sandbox_result r = {0};
	const struct json *v;

	result_judge(&r, &o, c->oom_kills < 0 ? NULL : &stats);
	v = written(&r, a);
	CHECK_STR(json_get_str(v, "status"), c->status);
	CHECK_INT(number(v, "returncode"), c->returncode);
	if (c->signal)
		CHECK_STR(json_get_str(v, "signal"), c->signal);
	else
		CHECK_INT(json_get(v, "signal")->type, JSON_NULL);
	CHECK_INT(json_get(v, "oom_killed")->type, c->oom_kills < 0 ? JSON_NULL : JSON_BOOL);
	CHECK_INT(json_get(v, "timed_out")->boolean, c->exit_code == 124);
	CHECK_INT(result_exit_code(&r), c->exit_code);
}

static void ends(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool before = test_failed;

		check_case(&cases[i]);
		if (test_failed && !before)
			printf("# in case %zu\n", i);
	}
}

/* Exactly the documented keys, in this order, whatever happened. */
static void keys(void)
{
	static const char *const want[] = {
		"status", "returncode", "signal", "timed_out", "oom_killed", "stdout", "stderr",
		"stdout_truncated", "stderr_truncated", "stdout_bytes", "stderr_bytes", "duration_seconds", "cpu_seconds",
		"memory_peak_bytes", "pids_peak", "cache_key", "backend", "command", "workdir",
		"error", "files", "warnings",
	};
	auto_arena struct arena *a = arena_new();
	struct sandbox_result r = {0};
	const struct json *v;

	result_setup_failed(&r, "no luck", 125);
	v = written(&r, a);
	CHECK_INT(v->n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < v->n; i++)
		CHECK_STR(v->items[i].key, want[i]);
	CHECK_INT(json_get(v, "returncode")->type, JSON_NULL);
	CHECK_INT(json_get(v, "duration_seconds")->type, JSON_NULL);
	CHECK_INT(json_get(v, "memory_peak_bytes")->type, JSON_NULL);
	CHECK_STR(json_get_str(v, "error"), "no luck");
	CHECK_INT(result_exit_code(&r), 125);
}

static void not_found(void)
{
	struct sandbox_result r = {0};

	result_setup_failed(&r, "x", EXIT_NOT_FOUND);
	CHECK(r.returncode.set);
	CHECK_INT(result_exit_code(&r), 127);
	result_setup_failed(&r, "x", EXIT_NOT_EXECUTABLE);
	CHECK_INT(result_exit_code(&r), 126);
}

static void numbers_and_output(void)
{
	auto_arena struct arena *a = arena_new();
	struct supervise_output o = {.have_status = true, .wall_ns = 1500000000};
	struct cg_stats stats = {.memory_peak = {true, 1u << 26}, .pids_peak = {true, 7},
				 .cpu_usage_usec = {true, 250000}};
	struct sandbox_result r = {.cache_key = "sandbox-env:1", .workdir = "/tmp"};
	const struct json *v;
	double d = 0;

	strbuf_add(&o.out.data, "a\0b\xff\xc3\xa4\n", 7);
	o.out.total = 8;
	o.out.taken = 7;
	o.err.total = 0;
	result_judge(&r, &o, &stats);
	CHECK(r.out.data.len == 7);
	r.out.data.p[1] = '0'; /* the parser refuses NUL */
	v = written(&r, a);
	CHECK_STR(json_get_str(v, "stdout"), "a0b\xef\xbf\xbd\xc3\xa4\n");
	CHECK(json_get(v, "stdout_truncated")->boolean);
	CHECK(!json_get(v, "stderr_truncated")->boolean);
	CHECK_INT(number(v, "memory_peak_bytes"), 1 << 26);
	CHECK_INT(number(v, "pids_peak"), 7);
	CHECK(json_to_f64(json_get(v, "duration_seconds"), &d) == 0 && d == 1.5);
	CHECK(json_to_f64(json_get(v, "cpu_seconds"), &d) == 0 && d == 0.25);
	CHECK_STR(json_get_str(v, "cache_key"), "sandbox-env:1");
	supervise_free(&o);
}

TEST_MAIN(TEST(ends), TEST(keys), TEST(not_found), TEST(numbers_and_output))

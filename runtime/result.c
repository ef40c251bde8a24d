/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reason we had for killing comes first, then the OOM killer, then the wait status: under the
 * OOM killer that status is "killed by SIGKILL" or, when it took the whole cgroup with the tiny
 * init in it, there is none.
 */
#include "runtime/result.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "json/writer.h"
#include "nsenter/signals.h"
#include "runtime/runtime.h"

static const char *const status_names[] = {
	[SANDBOX_EXITED] = "exited",
	[SANDBOX_SIGNALED] = "signaled",
	[SANDBOX_TIMED_OUT] = "timed_out",
	[SANDBOX_CPU_LIMIT] = "cpu_limit",
	[SANDBOX_OOM_KILLED] = "oom_killed",
	[SANDBOX_OUTPUT_LIMIT] = "output_limit",
	[SANDBOX_SETUP_FAILED] = "setup_failed",
};

/* The ends that are our own doing. */
static const struct { enum sandbox_status status; const char *error; } limit_ends[] = {
	[SUPERVISE_WALL_TIME] = {SANDBOX_TIMED_OUT, "the wall time limit was reached"},
	[SUPERVISE_CPU_TIME] = {SANDBOX_CPU_LIMIT, "the CPU time limit was reached"},
	[SUPERVISE_OUTPUT] = {SANDBOX_OUTPUT_LIMIT, "the output limit was reached"},
};

static void take_numbers(struct sandbox_result *r, const struct supervise_output *o,
			 const struct cg_stats *stats)
{
	const struct timeval *user = &o->usage.ru_utime, *system = &o->usage.ru_stime;

	r->duration_ns = (struct opt_u64){true, o->wall_ns};
	/* The kernel's sum over all processes that were waited for: pid 1 waits for every one. */
	r->cpu_usec = (struct opt_u64){true, (uint64_t)(user->tv_sec + system->tv_sec) * 1000000 +
					     (uint64_t)(user->tv_usec + system->tv_usec)};
	r->out = o->out;
	r->err = o->err;
	if (!stats)
		return;
	if (stats->cpu_usage_usec.set)
		r->cpu_usec = stats->cpu_usage_usec;
	r->memory_peak = stats->memory_peak;
	r->pids_peak = stats->pids_peak;
	if (stats->oom_kill.set)
		r->oom_killed = (struct opt_bool){true, stats->oom_kill.v > 0};
}

static void set_signal(struct sandbox_result *r, enum sandbox_status status, int sig)
{
	r->status = status;
	r->signal = sig;
	r->returncode = (struct opt_i32){true, -sig};
}

void result_judge(struct sandbox_result *r, const struct supervise_output *o,
		  const struct cg_stats *stats)
{
	bool killed = !o->have_status || (WIFSIGNALED(o->status) && WTERMSIG(o->status) == SIGKILL);

	take_numbers(r, o, stats);
	if (o->end == SUPERVISE_STOPPED) {
		set_signal(r, SANDBOX_SIGNALED, SIGKILL);
		r->error = "stopped: brig was told to end";
	} else if (o->end != SUPERVISE_ENDED) {
		set_signal(r, limit_ends[o->end].status, SIGKILL);
		r->returncode.v = -1;
		r->error = limit_ends[o->end].error;
	} else if (killed && r->oom_killed.v) {
		set_signal(r, SANDBOX_OOM_KILLED, SIGKILL);
		r->error = "the memory limit was reached";
	} else if (killed) {
		set_signal(r, SANDBOX_SIGNALED, SIGKILL);
	} else if (WIFSIGNALED(o->status)) {
		set_signal(r, SANDBOX_SIGNALED, WTERMSIG(o->status));
	} else {
		r->status = SANDBOX_EXITED;
		r->returncode = (struct opt_i32){true, WEXITSTATUS(o->status)};
	}
}

void result_setup_failed(struct sandbox_result *r, const char *error, int exit_code)
{
	r->status = SANDBOX_SETUP_FAILED;
	r->error = error;
	r->returncode = (struct opt_i32){
		exit_code == EXIT_NOT_FOUND || exit_code == EXIT_NOT_EXECUTABLE, exit_code};
}

int result_exit_code(const struct sandbox_result *r)
{
	switch (r->status) {
	case SANDBOX_EXITED:
		return r->returncode.v;
	case SANDBOX_TIMED_OUT:
	case SANDBOX_CPU_LIMIT:
		return EXIT_TIMED_OUT;
	case SANDBOX_SETUP_FAILED:
		return r->returncode.set ? r->returncode.v : EXIT_SETUP_FAILED;
	default:
		return EXIT_SIGNAL_BASE + r->signal;
	}
}

static void member_signal(struct json_writer *w, int sig)
{
	char number[16];
	const char *name = sig ? ns_signal_name(sig) : NULL;

	if (sig && !name) { /* a real-time signal */
		snprintf(number, sizeof(number), "SIG%d", sig);
		name = number;
	}
	json_member_str(w, "signal", name);
}

static void member_opt(struct json_writer *w, const char *key, struct opt_u64 v, uint64_t per_unit)
{
	json_key(w, key);
	if (!v.set)
		json_null(w);
	else if (per_unit == 1)
		json_u64(w, v.v);
	else
		json_f64(w, (double)v.v / (double)per_unit);
}

static void member_list(struct json_writer *w, const char *key, const struct strv *list)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		json_str(w, list->v[i]);
	json_end_array(w);
}

static void members_of_end(struct json_writer *w, const struct sandbox_result *r)
{
	json_member_str(w, "status", status_names[r->status]);
	json_key(w, "returncode");
	if (r->returncode.set)
		json_i64(w, r->returncode.v);
	else
		json_null(w);
	member_signal(w, r->signal);
	json_member_bool(w, "timed_out",
			 r->status == SANDBOX_TIMED_OUT || r->status == SANDBOX_CPU_LIMIT);
	json_key(w, "oom_killed");
	if (r->oom_killed.set)
		json_bool(w, r->oom_killed.v);
	else
		json_null(w);
}

static void members_of_output(struct json_writer *w, const struct sandbox_result *r)
{
	json_key(w, "stdout");
	json_strn(w, strbuf_str(&r->out.data), r->out_went_on ? 0 : r->out.data.len);
	json_key(w, "stderr");
	json_strn(w, strbuf_str(&r->err.data), r->err_went_on ? 0 : r->err.data.len);
	json_member_bool(w, "stdout_truncated", r->out.total > r->out.taken);
	json_member_bool(w, "stderr_truncated", r->err.total > r->err.taken);
	json_member_u64(w, "stdout_bytes", r->out.total);
	json_member_u64(w, "stderr_bytes", r->err.total);
}

void result_write(const struct sandbox_result *r, struct strbuf *out)
{
	struct json_writer w;

	json_writer_init(&w, out, false);
	json_begin_object(&w);
	members_of_end(&w, r);
	members_of_output(&w, r);
	member_opt(&w, "duration_seconds", r->duration_ns, 1000000000);
	member_opt(&w, "cpu_seconds", r->cpu_usec, 1000000);
	member_opt(&w, "memory_peak_bytes", r->memory_peak, 1);
	member_opt(&w, "pids_peak", r->pids_peak, 1);
	json_member_str(&w, "cache_key", r->cache_key);
	json_member_str(&w, "backend", "brig");
	member_list(&w, "command", &r->command);
	json_member_str(&w, "workdir", r->workdir);
	json_member_str(&w, "error", r->error);
	sandbox_files_write(&w, &r->files);
	member_list(&w, "warnings", &r->warnings);
	json_end_object(&w);
	strbuf_addc(out, '\n');
}

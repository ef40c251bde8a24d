/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of `brig sandbox`: one JSON object, also when nothing could be started. Every key is
 * always there; what is not known is null.
 *
 *   status             "exited", "signaled", "timed_out", "cpu_limit", "oom_killed",
 *                      "output_limit", "setup_failed"
 *   returncode         the program's exit code; -N when signal N ended it; -1 when a time or
 *                      output limit did; with setup_failed 127 or 126 when the program was not
 *                      found or not executable, else null
 *   signal             the name of the signal that ended it, or null
 *   timed_out          a time limit (wall or CPU, see status) ended it
 *   oom_killed         the kernel killed at least one process for memory; null without a cgroup
 *   stdout, stderr     text; each invalid UTF-8 sequence is replaced by U+FFFD; "" when it went to
 *                      another descriptor
 *   stdout_truncated, stderr_truncated
 *   stdout_bytes, stderr_bytes   how many came, with what was thrown away
 *   duration_seconds   wall time from the beginning of the set-up to the end of the last process
 *   cpu_seconds        of all processes together
 *   memory_peak_bytes, pids_peak
 *   cache_key          identity of the environment: "sandbox-env:" and a sha256
 *   backend            "brig"
 *   command, workdir   what was run, where
 *   error              one sentence, or null
 *   files              what was left in the working directory, with --copy-out: name, size, sha256
 *   warnings           sentences: what --best-effort let pass
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/types.h"
#include "cgroups/cgroup.h"
#include "runtime/sandbox-files.h"
#include "runtime/supervise.h"

enum sandbox_status {
	SANDBOX_EXITED,
	SANDBOX_SIGNALED,
	SANDBOX_TIMED_OUT,
	SANDBOX_CPU_LIMIT,
	SANDBOX_OOM_KILLED,
	SANDBOX_OUTPUT_LIMIT,
	SANDBOX_SETUP_FAILED,
};

struct sandbox_result {
	enum sandbox_status status;
	struct opt_i32 returncode;
	int signal;                 /* 0 = none */
	struct opt_bool oom_killed;
	struct supervise_stream out, err; /* borrowed */
	bool out_went_on, err_went_on; /* to somebody else: not in the result */
	struct opt_u64 duration_ns, cpu_usec, memory_peak, pids_peak;
	const char *cache_key, *workdir, *error; /* NULL = null */
	struct strv command, warnings;
	struct sandbox_left_list files;
};

/* How it ended, from what the supervisor and the cgroup say. stats NULL: no cgroup. */
void result_judge(struct sandbox_result *r, const struct supervise_output *o,
		  const struct cg_stats *stats);
/* It never started; exit_code is EXIT_* of runtime.h. */
void result_setup_failed(struct sandbox_result *r, const char *error, int exit_code);
/* The exit code of `brig sandbox`: the program's own, 128 + signal, 124 after a time limit, 137
 * for out of memory or too much output, 125 when nothing was started. */
int result_exit_code(const struct sandbox_result *r);
/* One object on one line, with a newline. */
void result_write(const struct sandbox_result *r, struct strbuf *out);

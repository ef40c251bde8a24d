/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a payload from its start to the death of its pid namespace: collects its output, feeds
 * its standard input, enforces the limits that no cgroup has (wall time, CPU time of the whole
 * tree, bytes of output), and notes how it ended.
 *
 * INIT must be pid 1 of a pid namespace of its own: SIGKILL for it is SIGKILL for all, so no process
 * that kept a pipe open can hold us. Memory: the kept output, at most output_limit a stream. A stream
 * that goes on to somebody is read as fast as that reader takes it; at the end we wait for him until
 * he has it all, goes away, or a signal or the result's reader ends us.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/str.h"

struct supervise_input {
	int out_fd, err_fd;   /* read ends; -1 = not captured; become non-blocking; not closed */
	int in_fd;            /* write end; -1 = none; becomes non-blocking; always closed */
	const char *in;       /* what is written to it */
	size_t in_len;
	int out_to, err_to;   /* where a captured stream goes on to as it comes, instead of being kept;
			       * 0 = kept (never a stream's end here); become non-blocking; not closed */
	int pidfd;            /* INIT, a child of ours; not closed */
	int status_fd;        /* from the tiny init; -1: INIT itself is the payload; not closed */
	int sigfd;            /* ns_signals_open(): SIGTERM and its like end the payload; -1 = none */
	int reader_fd;        /* a pipe's write end of whoever waits for the result: when its reader is
			       * gone, the payload is ended; -1 = none, other kinds of files never hang up */

	uint64_t start_ns;        /* supervise_now() when the start began: the wall time counts from there */
	uint64_t wall_ns, cpu_ns; /* 0 = no limit */
	uint64_t cpus_milli;      /* thousandths of a CPU that the payload gets at most; > 0 */
	/* CPU time used so far in microseconds, or -errno; needed with cpu_ns. */
	int64_t (*cpu_usec)(void *arg);
	void *arg;
	size_t output_limit;      /* bytes a stream; what is beyond is thrown away */
	bool kill_on_output;      /* ... or ends the payload */
};

enum supervise_end {
	SUPERVISE_ENDED,     /* by itself, or somebody else's signal (also the OOM killer's) */
	SUPERVISE_WALL_TIME,
	SUPERVISE_CPU_TIME,
	SUPERVISE_OUTPUT,
	SUPERVISE_STOPPED,   /* we got `stop_signal`; 0: nobody waits for the result any more */
};

struct supervise_stream {
	struct strbuf data; /* what was kept; of a stream that goes on: what it could not take yet */
	uint64_t taken;     /* bytes that were within the limit */
	uint64_t total;     /* bytes that came; more than taken: cut */
};

struct supervise_output {
	enum supervise_end end;
	int stop_signal;
	bool have_status;     /* false: INIT ended before the payload (killed from outside) */
	int status;           /* as of wait(2), of the payload */
	uint64_t wall_ns;     /* from start_ns to the end of INIT */
	struct rusage usage;  /* of all processes that were waited for */
	struct supervise_stream out, err;
};

/* Nanoseconds of the monotonic clock. */
uint64_t supervise_now(void);
/*
 * Returns when INIT has been reaped: 0, or -errno when watching failed (INIT is killed and reaped
 * then, too). The streams are filled in both cases; free them with supervise_free.
 */
int supervise(const struct supervise_input *in, struct supervise_output *out, struct err *e);
void supervise_free(struct supervise_output *out);

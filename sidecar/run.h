/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An execution: waits for its turn, runs in a sandbox of its own (a prepared one where there is
 * one), gives its output on as it comes, and ends exactly once. At most config.max_running run at
 * a time, at most config.max_queue wait.
 */
#pragma once

#include "sidecar/box.h"

enum run_stream { RUN_STDOUT, RUN_STDERR };

enum run_status {
	RUN_COMPLETED, /* it ended by itself, whatever its exit code */
	RUN_TIMED_OUT,
	RUN_STOPPED,   /* run_stop */
	RUN_FAILED,    /* it could not be started; `error` says why */
};

struct run_file { const char *name, *sha256; uint64_t size; };

/* Lives as long as the callback. */
struct run_result {
	enum run_status status;
	int returncode;
	bool oom_killed, stdout_cut, stderr_cut;
	double duration, cpu_seconds;   /* < 0: unknown */
	uint64_t memory_peak;           /* 0: unknown */
	const char *error;              /* NULL: none */
	const struct run_file *files;
	size_t n_files;
};

struct run;

struct run_events {
	void (*started)(void *owner);   /* may be NULL */
	void (*output)(void *owner, enum run_stream stream, const char *data, size_t n);
	/* A prepared sandbox: spec.copy_out is this directory instead, the owner's. */
	void (*out_moved)(void *owner, const char *path);
	/* With spec.terminal, in place of output: the pty's master, to be closed by the owner. */
	void (*terminal)(void *owner, int master);
	void (*ended)(void *owner, const struct run_result *result); /* the run is gone after it */
};

struct run_request {
	struct box_spec spec;           /* copied */
	const char *input;              /* for stdin; needs spec.has_stdin */
	size_t input_len;
	bool keep_input_open;           /* run_write follows */
	bool interpreter;               /* spec.args is python_args: a prepared interpreter will do */
	const struct run_events *events;
	void *owner;
};

/* 0; -EAGAIN: no place is left to wait. Callbacks come from the loop, never from here. */
int run_submit(const struct run_request *q, struct run **ret, struct err *e);
/* Ends it at once; `ended` follows with RUN_STOPPED, or whatever came first. */
void run_stop(struct run *r);
/* The owner goes away: run_stop, and no callback any more. */
void run_leave(struct run *r);
/* The limit passed: like run_stop, but RUN_TIMED_OUT. */
void run_time_out(struct run *r);
/* More for stdin; -EPIPE when nobody reads any more, -EFBIG when too much waits. */
int run_write(struct run *r, const char *data, size_t n);
/* A slow reader: nothing more is read from the sandbox until it is called with false. */
void run_pause(struct run *r, bool pause);

/* As many of those that wait as may run. */
void run_start_waiting(void);
size_t run_running(void);
size_t run_waiting(void);
/* No new starts; what waits is ended as stopped. */
void run_drain(void);
void run_stop_all(void);

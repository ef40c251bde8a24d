/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `brig`: one file each, one entry in the table of main.c. */
#pragma once

#include "runtime/cli.h"
#include "runtime/runtime.h"

rt_command cmd_run;
rt_command cmd_sandbox;
rt_command cmd_plan;
rt_command cmd_spec;
rt_command cmd_doctor;
rt_command cmd_features;
rt_command cmd_create;
rt_command cmd_start;
rt_command cmd_state;
rt_command cmd_list;
rt_command cmd_exec;
rt_command cmd_ps;
rt_command cmd_pause;
rt_command cmd_resume;
rt_command cmd_update;
rt_command cmd_events;
rt_command cmd_mounts;
rt_command cmd_checkpoint;
rt_command cmd_restore;
rt_command cmd_kill;
rt_command cmd_delete;

/* What most commands are: a command line, and a function that gets the words behind its options. */
typedef int command_body(struct arena *a, const struct rt_globals *g, char **words, void *options,
			 struct err *e);
struct command_spec {
	struct cli cli;
	command_body *body; /* 0 or more: well */
	void *options;      /* for body: what the options of cli fill */
};
/* Parses, runs, logs an error: the exit code, 0 or 1. */
int command_run(const struct command_spec *s, int argc, char **argv, const struct rt_globals *g);
/* The record of a sandbox that was refused before its command line was read. */
int sandbox_refused(const struct err *e);
/* Logs e as the command's error; returns `code`, so that a command can `return fail(...)`. */
int command_failed(const struct err *e, int code);
/* The exit code for a container whose start failed in the exec: 127, 126, else `other`. */
int exec_exit_code(const struct err *e, bool exec_failed, int other);
/* The exit code of a shell for a wait status: the code, or 128 + signal. */
int exit_code_of(int wait_status);

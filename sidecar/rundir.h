/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of runs, below one directory of this brigd in config.tmp_root. That one has a file
 * that is locked as long as we live; those whose lock is free are what a brigd that was killed left,
 * and are removed at the start. In each run's directory, `in` has the files that were given, `out`
 * what was left.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sidecar/run.h"

struct rundir;

enum { RUNDIR_PATH_MAX = 512 };

int rundir_open(struct err *e);
void rundir_close(void);

/* subject: who may have the files; NULL: anybody who may ask. */
struct rundir *rundir_make(const char *subject, struct err *e);
const char *rundir_id(const struct rundir *d);
/* The path for box_spec.copy_out; lives as long as d. */
const char *rundir_out(const struct rundir *d);
/* The path of a new file in `in`, in ret_path. -EEXIST: by that name there is one. */
int rundir_put(struct rundir *d, const char *name, const struct strbuf *data,
	       char ret_path[RUNDIR_PATH_MAX]);
/* Keeps the files for config.files_keep_s, then removes all; the oldest earlier, when there are many. */
void rundir_keep(struct rundir *d, const struct run_file *files, size_t n);
void rundir_remove(struct rundir *d);
/* A directory for what a prepared sandbox leaves; and d takes it in place of its own. */
int rundir_make_pool(char ret_path[RUNDIR_PATH_MAX]);
void rundir_remove_pool(const char *path);
void rundir_use_pool(struct rundir *d, const char *path);
/* An open file of a kept run and its size, or -errno. */
int rundir_file(const char *id, const char *name, const char *subject, uint64_t *ret_size);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One `brig sandbox` process: its spec, its descriptors, its end. What is done with them is the
 * business of run.c (one execution) and pool.c (prepared ones).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

#define BOX_NO_TIMEOUT UINT64_MAX

struct box_file { const char *path, *name; }; /* of the host; in the working directory */

/* What is to be run, and where. Strings are borrowed for the call that gets it. */
struct box_spec {
	const char *image;       /* see config.images; NULL: the host's programs */
	const char *rootfs;      /* a directory; NULL: `image` is one of the store, or the host */
	struct strv args;        /* empty: prepared, the job says it */
	struct str_map env;
	const char *cwd;
	uint32_t uid;            /* and gid */
	uint64_t timeout_ms;     /* 0: brig's default; BOX_NO_TIMEOUT */
	uint64_t memory_bytes, pids, output_limit; /* 0: brig's default */
	double cpus;             /* 0: brig's default */
	const char *ports;       /* "80,443": TCP ports that may be reached; NULL: no network */
	const char *outputs;     /* a directory of the host, writable below cwd; NULL */
	const char *copy_out;    /* a directory of the host; NULL */
	const struct box_file *files;
	size_t n_files;
	bool terminal, has_stdin;
};

/* Descriptors of brigd's side; -1: not there, or handed over by take_fd. */
struct box {
	int in, out, err, result, job, terminal;
	int pidfd;               /* -1: the launcher has not answered yet */
	int failed;              /* errno, when it could not be started */
	bool stopped;
	void (*answered)(struct box *b); /* pidfd or failed is there; may be NULL */
};

#define BOX_NONE {.in = -1, .out = -1, .err = -1, .result = -1, .job = -1, .terminal = -1, .pidfd = -1}

/* Once, when the launcher runs and the loop is open. gone: the launcher ended; room: box_room may be true again. */
int box_open(void (*gone)(void), void (*room)(void), struct err *e);
/* Whether box_start may be called: not too many are being started. */
bool box_room(void);
int box_start(struct box *b, const struct box_spec *s, struct err *e);
/* Tells brig to end its sandbox (a result comes), or ends brig itself. */
void box_stop(struct box *b);
void box_kill(struct box *b);
/* Closes all; a sandbox that still runs ends by that. */
void box_close(struct box *b);
/* Text that two specs have in common when a prepared box of one can do for the other. */
char *box_key(struct arena *a, const struct box_spec *s);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a sandbox's working directory: given to it before the start (--copy-in), taken from it
 * when all of its processes are gone (--copy-out). Only for a working directory on a tmpfs of the
 * sandbox's own: nothing is ever written into, or read out of, a directory of the host or an image.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "json/writer.h"
#include "runtime/cli.h"
#include "runtime/plan.h"
#include "spec/oci.h"

enum {
	SANDBOX_COPIES_MAX = 64,          /* files given */
	SANDBOX_COPY_BYTES = 64 << 20,    /* all of those */
	SANDBOX_LEFT_MAX = 256,           /* files taken */
	SANDBOX_LEFT_BYTES = 64 << 20,
	SANDBOX_LEFT_DEPTH = 8,
};

struct sandbox_copy {
	char *name; /* of one component */
	char *data;
	size_t len;
	char sha256[65];
};

struct sandbox_copies { struct sandbox_copy *v; size_t n; };

/* A file that the program left. */
struct sandbox_left {
	char *name; /* relative to the working directory */
	char sha256[65];
	uint64_t size;
};

struct sandbox_left_list { struct sandbox_left *v; size_t n; bool given, cut; };

/* Reads "PATH:NAME" of each --copy-in. */
int sandbox_copies_read(struct arena *a, const struct cli_list *l, struct sandbox_copies *ret,
			struct err *e);
/* Refuses a working directory that is no tmpfs of the spec's mounts. */
int sandbox_files_check(const struct oci_spec *s, struct err *e);
void sandbox_files_plan(struct arena *a, struct plan *p, const struct sandbox_copies *copies);
/*
 * Copies the regular files below cwd (an O_PATH descriptor) to the directory `to`, which must
 * exist, by the same names, mode 0600; links, devices, and given files that are unchanged are left
 * out. What is beyond the limits above is left out, and ret->cut says so.
 */
struct sandbox_take { int cwd; const char *to; const struct sandbox_copies *given; };
int sandbox_files_take(struct arena *a, const struct sandbox_take *what,
		       struct sandbox_left_list *ret, struct err *e);
/* The member `files` of the result: an array, or null. */
void sandbox_files_write(struct json_writer *w, const struct sandbox_left_list *l);

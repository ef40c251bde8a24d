/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the caller of `brig sandbox` wants: the spec from a file or stdin, changed by the options of
 * the command line, and what never belongs into a spec (secrets, where stdin comes from).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "runtime/sandbox-files.h"
#include "spec/sandbox.h"

/* The content of one; its name is in options.secrets at the same place. Text without NUL. */
struct sandbox_secret {
	char *text;
	size_t len;
};

struct sandbox_request {
	struct sandbox sb;
	const char *result_path;  /* NULL: stdout */
	const char *stdin_path;   /* a file, "-" = ours; NULL: options.stdin_text or nothing */
	struct sandbox_secret *secrets; /* options.secrets.n */
	int stdout_fd, stderr_fd; /* where the streams go as they come; 0: into the result */
	int terminal_fd;          /* a socket that gets the master of the program's terminal; 0: none */
	int job_fd;               /* says what to run when all is prepared; 0: the spec does */
	struct sandbox_copies copies; /* files of the working directory */
	const char *copy_out;     /* a directory for what is left there; NULL */
	bool print_key, print_plan;
};

/*
 * 0, CLI_HELP when help was printed, or -errno. result_path is set even when the rest is wrong, as
 * far as the options could be read. Secrets are read here, their descriptors closed.
 */
int sandbox_request_parse(struct arena *a, int argc, char **argv, struct sandbox_request *ret,
			  struct err *e);
/* Overwrites the secrets in our memory. */
void sandbox_request_forget(struct sandbox_request *q);

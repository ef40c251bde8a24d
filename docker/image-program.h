/* SPDX-License-Identifier: Apache-2.0 */
/* Runs brig-image, which does all that has to do with archives, and other programs: skopeo, buildah. */
#pragma once

#include "docker/cli.h"
#include "image/store.h"

struct dk_program {
	const char *prefix;      /* in front of brig-image's error line; NULL: none */
	int in, out;             /* -1: the caller's own */
	int err;                 /* 0: the caller's own */
	struct strbuf *captured; /* not NULL: what it writes on stdout, at most 16 MiB */
};

/* args: of brig-image, command first. Its exit code, or -errno when it cannot be run. */
int dk_run_brig_image(struct dk_context *c, const struct strv *args, const struct dk_program *p,
		      struct err *e);
/* The same without waiting; dk_wait_program gives the exit code, 128+N for a signal. */
int dk_start_brig_image(struct dk_context *c, const struct strv *args, const struct dk_program *p,
			int *ret_pid, struct err *e);
int dk_wait_program(int pid);
/* Fills buf with the path of the program `name` in the directory of the running one. */
bool dk_program_beside(const char *name, char *buf, size_t size);
/* Removes a tree that has files of the caller's subordinate ids: as root of his user namespace. */
int dk_remove_in_userns(int at, const char *name, struct err *e);
/* import and commit: the id that it prints, which is printed, and what happened told. */
int dk_run_image_maker(struct dk_context *c, const struct strv *args, const char *name, const char **ret_id,
		       struct err *e);
/* argv[0] is searched in PATH; -ENOENT names the Debian package that has it. */
int dk_run_program(struct dk_context *c, const struct strv *argv, const char *package,
		   const struct dk_program *p, struct err *e);
/* A file that the child can open, with this text: "/proc/self/fd/N". The fd is to be closed after the
 * child has ended. */
int dk_text_file(struct arena *a, const char *text, size_t len, char **ret_path, struct err *e);

/* The image store of the data root. */
int dk_image_store(struct dk_context *c, struct img_store *ret, struct err *e);
/* What Docker calls an image that is not there: "busybox:latest". */
const char *dk_missing_image(struct dk_context *c, const char *text);
/* img_resolve with Docker's "Error response from daemon: No such image: x:latest" (-ENOENT). */
int dk_image_find(struct dk_context *c, const struct img_store *s, const char *text, struct img_image *ret,
		  struct err *e);
void dk_args_add(struct dk_context *c, struct strv *args, const char *arg);

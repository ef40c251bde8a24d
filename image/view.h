/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system of a container as one directory: of one that runs by its first process, of one that
 * does not by an overlay mount of its layers. Only in brig-image.
 */
#pragma once

#include "image/program.h"

struct img_view {
	int root;        /* the descriptor */
	bool kernel;     /* of a running container: what is a kernel file system in it is not shown */
};

/*
 * Takes the options in front of the command line:
 *   --proc FD                       /proc/PID of the first process
 *   --lower DIR... [--upper DIR --work DIR]   top first; without upper read-only
 *   --dir DIR                       a directory of the host: a volume
 */
int img_view_open(struct img_program *p, struct img_view *ret, struct err *e);

/* The path in the view: its parent is opened (following links inside of the view), and *ret_name is what
 * is left of it; "." for the root, "x/" and "x/.", which are opened themselves. The fd or -errno. */
int img_view_parent(const struct img_view *v, const char *path, char ret_name[256], struct err *e);

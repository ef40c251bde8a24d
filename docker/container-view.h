/* SPDX-License-Identifier: Apache-2.0 */
/* How brig-image gets at the files of a container: for cp, export, diff, commit. */
#pragma once

#include "docker/image-program.h"
#include "docker/record.h"

struct dk_view {
	struct dk_context *c;
	struct dk_record *record;
	const char *name;       /* as given, for messages */
	bool running;
	const char *suffix;     /* of brig-image's command: "-own" for a running one */
	struct strv args;       /* options that name the view */
	const char *path;       /* in it; of the last dk_view_path */
	int proc;               /* /proc/PID, inherited by children; -1 */
	struct dk_owner owner;  /* held while a stopped one is written to */
};

/* The container; engine errors. */
int dk_view_open(struct dk_context *c, const char *name, struct dk_view *ret, struct err *e);
/* Points the view at a path of the container (volumes of a stopped one are directories of the host). */
int dk_view_path(struct dk_view *v, const char *path, bool write, struct err *e);
void dk_view_close(struct dk_view *v);

/* The layers below what the container has changed, and the directory of its changes (NULL: none yet). */
int dk_view_layers(struct dk_view *v, struct strv *ret_lower, char **ret_upper, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names made in directories of the rootfs: the parent is resolved in-root once and kept as long
 * as names are made in the same directory, the name itself is never followed.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct dir_cache {
	int root;
	int fd;          /* -1: empty */
	const char *path; /* of a string that lives as long as the cache */
	size_t len;      /* of the parent's part of path */
};

void dir_cache_drop(struct dir_cache *c);
/* Something was mounted at target: forgets the directory when that covers it. */
void dir_cache_covered(struct dir_cache *c, const char *target);
#define auto_dir_cache __attribute__((cleanup(dir_cache_drop)))

/* The parent of path (made when missing; belongs to the cache) and the last name. */
int dir_parent(struct dir_cache *c, const char *path, const char **ret_name, struct err *e);
/* An O_PATH fd of a directory that was just made; a link in its place is an error. */
int dir_open(struct dir_cache *c, const char *path, struct err *e);
/* An existing directory stays as it is. */
int dir_make_dir(struct dir_cache *c, const char *path, mode_t mode, struct err *e);
struct dir_file {
	const char *data;
	size_t len;
	mode_t mode;
	uid_t uid; /* 0 and 0: whoever makes it */
	gid_t gid;
};
/* The file must not exist. */
int dir_make_file(struct dir_cache *c, const char *path, const struct dir_file *f, struct err *e);
/* What exists stays, or is removed first with `replace`. */
int dir_make_link(struct dir_cache *c, const char *path, const char *to, bool replace,
		  struct err *e);

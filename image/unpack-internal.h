/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by unpack.c and attributes.c, private to image/. */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "image/unpack.h"

struct unpack_xattr { const char *name; const void *value; size_t size; };

/* What is set on a directory when all is in it. */
struct unpack_dir {
	const char *path;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec mtime;
	struct unpack_xattr *xattrs;
	size_t n_xattrs;
};

struct unpacker {
	struct img_unpack *out;
	struct img_stream *stream;
	struct archive_entry *entry;
	int parent; /* of parent_path */
	char parent_path[PATH_MAX];
	struct arena *arena; /* of dirs */
	struct unpack_dir *dirs;
	size_t n_dirs, room;
};

/* Owner, mode, attributes and times of the current entry onto a file, or onto a link or FIFO. */
int unpack_set_file(struct unpacker *u, int fd, struct err *e);
int unpack_set_path(struct unpacker *u, int dir, const char *name, struct err *e);
/* Keeps them for the end. */
int unpack_note_directory(struct unpacker *u, const char *path, struct err *e);
int unpack_finish_directories(struct unpacker *u, struct err *e);
/* Hides what layers below have in this directory. */
int unpack_set_opaque(struct unpacker *u, const char *path, struct err *e);

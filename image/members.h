/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of the archive that `load` is given, spooled into a work directory: manifest.json or
 * index.json often comes last, and stdin cannot be read twice. They are found by their exact names
 * in this table and never on disk. Only in brig-image.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "image/store.h"
#include "image/unpack.h"

struct img_member {
	const char *name;
	const char *target; /* of a link, as a member's name; NULL: a regular file */
	uint64_t size;
	int spool;          /* number of its file in the work directory; -1: the store has the blob */
};

struct img_members {
	struct arena *arena;
	const struct img_store *store;
	int work; /* the work directory */
	struct img_member *v;
	size_t n, room;
};

/* Reads all of fd. */
int img_members_read(struct img_members *m, int fd, struct img_budget *budget, struct err *e);
/* Puts a hint behind an error of an archive that has something in it so far, but no document of an image. */
int img_members_hint(const struct img_members *m, struct err *e);
/* By name; a link leads to its target, once. NULL: there is none. */
const struct img_member *img_members_find(const struct img_members *m, const char *name);
/* Opens it for reading. */
int img_member_open(const struct img_members *m, const struct img_member *member, struct err *e);
/* A JSON document of at most 4 MiB, in the arena. */
int img_member_text(const struct img_members *m, const struct img_member *member, const char **ret,
		    size_t *ret_len, struct err *e);
/* "blobs/sha256/HEX" of a digest, in the arena. */
const char *img_blob_name(struct arena *a, const char *digest);

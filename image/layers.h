/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers on their way into the store: unpacked by several threads into the work directory, checked,
 * and then moved into place all together. Only in brig-image.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "image/progress.h"
#include "image/store.h"
#include "image/unpack.h"

/* `info` of a layer in the store. */
struct img_layer_info {
	char *chain, *diff_id;
	char *blob;           /* its digest */
	char *media_type;
	uint64_t blob_size;
	uint64_t tar_size;    /* of the archive when it is not compressed */
	uint64_t size;        /* of the files */
};

struct img_layer_job {
	/* in */
	const char *chain, *diff_id; /* diff_id NULL: whatever comes out (import); chain then too */
	const char *blob;            /* the digest the archive must have; NULL: not known */
	int fd;                      /* the archive, -1 when the store has the layer; closed by
				      * img_layers_unpack, and from then on only says that there is one */
	int spool;                   /* number of the archive in the work directory, -1: none */
	/* out */
	struct img_layer_info info;
	uint64_t lost_xattrs, flattened, skipped_devices;
	struct err error;
};

struct img_work {
	const struct img_store *store;
	struct arena *arena;
	int dir;        /* the work directory below tmp/ */
	char name[40];  /* its name there */
	int lock;       /* the shared lock on the store */
	struct img_budget budget;
	struct img_progress *progress; /* NULL: nobody looks */
};

/* Takes the shared lock and makes a work directory. */
int img_work_begin(struct img_work *w, const struct img_store *store, struct arena *a, struct err *e);
/* Removes what is left of it and gives the lock back. Clears the store if nobody else works on it. */
void img_work_end(struct img_work *w);

/* Whether the store has the layer; then its info. 1, 0, -errno. */
int img_layer_info(const struct img_store *s, struct arena *a, const char *chain,
		   struct img_layer_info *ret, struct err *e);
/* Unpacks the jobs; what the store has already is only looked up. */
int img_layers_unpack(struct img_work *w, struct img_layer_job *jobs, size_t n, struct err *e);
/* Waits until all is on the disk, then gives blobs and layers their names. */
int img_layers_publish(struct img_work *w, const struct img_layer_job *jobs, size_t n, struct err *e);
/* Writes the info of job `number` again, which has got another chain id. */
int img_layer_write_info(struct img_work *w, size_t number, const struct img_layer_info *info,
			 struct err *e);
/* Puts a document into the store as a blob; the digest as "sha256:HEX" in the arena. */
int img_put_blob(struct img_work *w, const char *text, size_t len, const char **ret_digest,
		 struct err *e);
/* Whether the file in the work directory has that digest; -EBADMSG. */
int img_check_blob(struct img_work *w, const char *file, const char *digest, struct err *e);
/* Removes a whole tree below dir, without following links; 0 also when there is none. */
int img_remove_tree(int dir, const char *name, struct err *e);

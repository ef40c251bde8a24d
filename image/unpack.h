/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks one tar stream below a directory. The stream is hostile. Only in brig-image. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "image/stream.h"

/* What all archives of one command may take together; shared by its threads. */
struct img_budget {
	uint64_t max_bytes, max_entries;
	_Atomic uint64_t bytes, entries;
	atomic_bool stop; /* another thread failed: nobody goes on */
};
/* The defaults, or BRIG_IMAGE_MAX_BYTES and BRIG_IMAGE_MAX_ENTRIES of the environment. */
int img_budget_init(struct img_budget *b, struct err *e);

enum img_unpack_mode {
	IMG_UNPACK_LAYER, /* into an empty directory, in overlayfs's form: whiteouts, opaque directories */
	IMG_UNPACK_OVER,  /* over what is there, as `cp` into a container does */
	IMG_UNPACK_HOST,  /* the same on the host: everything is the caller's, no set-user-ID, no attributes */
};

struct img_unpack {
	int root;                  /* the directory; never replaced, never left */
	enum img_unpack_mode mode;
	struct img_budget *budget;
	const char *host_path;     /* IMG_UNPACK_HOST: the directory's, for messages */
	/* results */
	uint64_t size;             /* of the files */
	uint64_t lost_xattrs;      /* the file system has none */
	uint64_t flattened;        /* owners that are not mapped; recorded in an attribute */
	uint64_t skipped_devices;  /* below dev/, which no container sees */
};

int img_unpack(struct img_stream *s, struct img_unpack *u, struct err *e);

/* A name as it stands in an archive without "/" in front, "." and "//"; refuses "..", too long and too
 * deep ones. "" is the root. Returns the length. */
int img_clean_name(const char *name, char *buf, size_t size, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tar archive, perhaps compressed (gzip, zstd, xz, bzip2), read from a descriptor: the entries by
 * libarchive, and on the way the digests of the bytes as they are in the file and of what was
 * compressed. Only in brig-image.
 */
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sha256.h"

struct img_stream {
	int fd;
	struct archive *raw, *tar;   /* raw: decompresses; tar: reads from it */
	bool sum_raw, sum_tar;       /* which digests are wanted */
	struct sha256 raw_sum, tar_sum;
	uint64_t raw_bytes, tar_bytes; /* read so far */
	bool compressed, at_end;     /* at_end: of what raw gives */
	int read_error;              /* errno of reading fd */
	void (*progress)(void *arg, uint64_t raw_bytes); /* may be set once it is open */
	void *progress_arg;
	char *buffer;
};

/* Opens; an empty file is an archive without entries. The fd stays the caller's. */
int img_stream_open(struct img_stream *s, int fd, bool sums, struct err *e);
/* Only what decompresses: s->raw, for archive_read_data_block. */
int img_stream_open_raw(struct img_stream *s, int fd, struct err *e);
/* Reads what is behind the archive's end, so that the digests cover all. */
int img_stream_finish(struct img_stream *s, struct err *e);
/* Closes; with sums: the digests as "sha256:HEX". Arguments may be NULL. */
void img_stream_digests(struct img_stream *s, char raw[72], char tar[72]);
void img_stream_close(struct img_stream *s);
/* The message of libarchive as an error. */
int img_stream_error(struct img_stream *s, struct err *e);
/* A bomb: far more comes out than went in. */
bool img_stream_is_bomb(const struct img_stream *s);

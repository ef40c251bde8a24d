/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client and the monitor of a detached container say to each other over RUN/docker-run/ID/control:
 * frames of a kind, a length (four bytes, least first) and that many bytes. Both ends are programs of
 * ours and the same user's; what comes in is checked all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { DK_FRAME_HEADER = 5, DK_FRAME_MAX = 64 << 10 };

enum dk_frame_kind {
	/* from the client */
	DK_FRAME_ATTACH = 'A',  /* one byte: DK_ATTACH_* */
	DK_FRAME_INPUT = 'I',   /* bytes for the standard input */
	DK_FRAME_INPUT_END = 'E',
	DK_FRAME_SIZE = 'W',    /* of the terminal: rows and columns, two bytes each */
	DK_FRAME_SIGNAL = 'K',  /* one byte */
	DK_FRAME_DETACH = 'D',
	DK_FRAME_WAKE = 'S',    /* the record has changed */
	/* from the monitor */
	DK_FRAME_OUTPUT = 'O',  /* bytes of the standard output, or of the terminal */
	DK_FRAME_ERROR = 'R',
	DK_FRAME_EXIT = 'X',    /* it has ended: the exit code, four bytes */
};

enum {
	DK_ATTACH_INPUT = 1,
	DK_ATTACH_OUTPUT = 2,
	DK_ATTACH_ERROR = 4,
	DK_ATTACH_OWNER = 8, /* the container dies with this client, unless it detaches first */
};

void dk_frame_put(struct strbuf *b, enum dk_frame_kind kind, const void *data, size_t n);

struct dk_frame { enum dk_frame_kind kind; const unsigned char *data; size_t n; };
/* The first frame in b: 1; 0: it is not all there yet; -EPROTO: it is none. */
int dk_frame_peek(const struct strbuf *b, struct dk_frame *ret);
/* Takes what was peeked at out of b. */
void dk_frame_drop(struct strbuf *b, const struct dk_frame *f);
void dk_strbuf_drop(struct strbuf *b, size_t n);

/* Reads what there is without waiting, appends it: 1; 0: nothing now; -EPIPE: the end. */
int dk_wire_read(int fd, struct strbuf *b);
/* Writes what can be written without waiting and takes it out of b; 0 or -errno. */
int dk_wire_write(int fd, struct strbuf *b);

/* A connection to the monitor of a container; -ENOENT or -ECONNREFUSED: there is none. */
int dk_wire_connect(const char *run_dir);
/* The monitor's end, listening. */
int dk_wire_listen(int dir, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of our own streams a container may have. A descriptor can be opened again through
 * /proc/self/fd, for both ways, and its file be changed in mode and owner: by a container whose root is
 * the file's owner, or has its caller's id, even though it was given a file to read only.
 */
#pragma once

#include "base/err.h"

enum dk_stream {
	DK_STREAM_DIRECT, /* an anonymous pipe or a socket (or closed): it leads nowhere else */
	DK_STREAM_NULL,   /* /dev/null: dk_null_open's takes its place */
	DK_STREAM_COPIED, /* files, terminals, other devices: only bytes are passed on */
};
enum dk_stream dk_stream_kind(int fd);

/* /dev/null for both ways; its node cannot be changed through it. */
int dk_null_open(struct err *e);

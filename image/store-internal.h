/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the image store, private to image/. */
#pragma once

#include <limits.h>

#include "image/store.h"

#define IMG_HOST_NAME "docker.io/library/host:latest"
enum { IMG_RECORD_CAP = 4 << 20 };

/* The file name below refs/ of a name in full form. */
int img_ref_file(const char *full, char *buf, size_t size, struct err *e);
/* The record in a file of the store: 1; 0: no such file; -errno. */
int img_read_record_at(const struct img_store *s, const char *file, struct arena *a,
		       struct img_image *ret, struct err *e);

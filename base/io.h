/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: bounded whole-file reads and single-call writes relative to a directory fd, and the
 * private procfs. Every read of foreign data has a cap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* All of n bytes, EINTR and short counts handled; 0 or -errno. */
int io_write_all(int fd, const void *data, size_t n);
/* Up to n bytes until end of file; the count or -errno. */
ssize_t io_read_upto(int fd, void *buf, size_t n);

/* Appends the rest of fd to *b; -EFBIG with a message when it is longer than cap bytes. */
int io_read_fd(int fd, size_t cap, struct strbuf *b, const char *name, struct err *e);
/* The same for the file path below dirfd (or AT_FDCWD); regular files and kernel files only. */
int io_read_file(int dirfd, const char *path, size_t cap, struct strbuf *b, struct err *e);
/* A small kernel file into buf (NUL-terminated, trailing newline removed); length or -errno, no
 * message: the caller knows whether absence is an error. */
ssize_t io_read_small(int dirfd, const char *path, char *buf, size_t size);
/* One write(2) of the whole value to an existing file (sysfs, procfs, cgroupfs); 0 or -errno. */
int io_write_value(int dirfd, const char *path, const char *value);
/* Replaces path below dirfd by a temporary file, fsync-less, and rename; mode as given. */
int io_replace_file(int dirfd, const char *path, const struct strbuf *content, mode_t mode,
		    struct err *e);

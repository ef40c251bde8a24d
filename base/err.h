/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors travel as values: a function that can fail takes a `struct err *` and returns 0 (or a
 * value >= 0) on success, -errno on failure with *e filled exactly once. Only main prints.
 * The struct has a fixed size so that it works after ENOMEM and crosses a process boundary in one
 * datagram.
 */
#pragma once

#include <stdarg.h>

struct err {
	int code;      /* positive errno; 0 = no error */
	char msg[508]; /* one sentence, no newline, NUL-terminated; cut when too long */
};

/* Fills *e with the errno `code` and a message; returns -code (code 0 counts as EINVAL). */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same with the current errno, and ": <description of errno>" appended. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts context in front of an error that is set already: "ctx: old"; returns -e->code. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* strerror without locale, allocation or catalogue files: safe after entering a rootfs. */
const char *err_name(int code);

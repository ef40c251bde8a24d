/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of a program as lines of valid UTF-8. A line is given on when it is complete, or when it
 * is longer than LINES_MAX, in parts; never in the middle of a character.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"

enum { LINES_MAX = 65536, LINES_TAIL = 96 /* is held back of a part: see session.c */ };

struct lines {
	struct strbuf rest;
	void (*line)(void *arg, const char *text, size_t n); /* with its newline */
	void *arg;
};

void lines_add(struct lines *l, const char *data, size_t n);
/* What is left, without a newline. */
void lines_end(struct lines *l);
void lines_free(struct lines *l);
/* Appends the bytes, each invalid part as U+FFFD. */
void lines_clean(struct strbuf *b, const char *s, size_t n);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1.x request, checked before the library sees it: what two programs could
 * understand in two ways is refused. That is a control character in it (a line that ends without CR,
 * a NUL), a name that is no token, a folded line, a second Host, Content-Length or secret, a
 * Transfer-Encoding, a body of a GET, another version.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { HEAD_MAX = 16384 };

struct head {
	uint64_t body;   /* its length */
	bool upgrade;    /* to a WebSocket: what follows is none of HTTP's */
	bool expects;    /* to be asked for the body: 100 Continue */
	bool one_zero;   /* HTTP/1.0: knows of no 1xx */
	bool last;       /* no other request follows on this connection */
};

/* With its empty line, however that is written; 0: it is not complete. */
size_t head_length(const char *text, size_t n);
/*
 * 0, with what is to be given on appended to *kept: offers of other protocols are left out. Or the status
 * to refuse it with, and a sentence.
 */
int head_check(const char *text, size_t n, struct head *ret, struct strbuf *kept, const char **ret_why);

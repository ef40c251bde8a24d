/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648), strict: no blanks, nothing behind the end, no bits that are lost. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum base64_alphabet {
	BASE64_STANDARD, /* padding is needed */
	BASE64_URL,      /* without padding */
};

/* Appends the bytes; false when it is not base64. */
bool base64_decode(struct strbuf *b, const char *text, size_t n, enum base64_alphabet alphabet);

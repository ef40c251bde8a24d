/* SPDX-License-Identifier: Apache-2.0 */
/* Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stddef.h>

/* Bytes (1-4) of the valid sequence at the start of s[0..n), n > 0; 0 when there is none. */
size_t utf8_sequence(const char *s, size_t n);
/* Bytes (>= 1) that one U+FFFD stands for, when utf8_sequence said 0: the longest start of a
 * sequence that could have been completed (Unicode's "maximal subpart"). */
size_t utf8_bad_part(const char *s, size_t n);

/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets and what is signed with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a time that depends on the lengths at most; NULL and "" are equal to nothing. */
bool secret_equal(const char *expected, const char *presented);

void hmac_sha256(const char *key, const char *text, size_t n, unsigned char ret[32]);

enum { JWT_SUBJECT_MAX = 256 };
/*
 * Checks a JSON Web Token, HS256 only: signature, `exp` (needed), `nbf`, `sub` (needed, a string).
 * NULL and the subject, or why not.
 */
const char *jwt_check(const char *token, const char *secret, int64_t now,
		      char ret_subject[JWT_SUBJECT_MAX]);

/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs a program: "user:group" by the container's own /etc/passwd and /etc/group. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"

/* The texts of the two files, NULL where there is none. They are hostile. */
struct dk_accounts { const char *passwd, *group; };

struct dk_user_want {
	const char *user;          /* "", NULL: root; "name", "uid", "name:group", ... */
	const struct strv *groups; /* --group-add; may be NULL */
};

/* Messages are Docker's, without the engine's prefix. */
int dk_user_find(struct arena *a, const struct dk_accounts *acc, const struct dk_user_want *want,
		 struct oci_user *ret, struct err *e);

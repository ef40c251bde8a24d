/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of security/ only. */
#pragma once

#include "security/security.h"

/* Highest capability this source knows; the kernel may know more or fewer. */
enum { SEC_CAP_MAX = 40 };

/* A name and its number in a table that ends with name == NULL. */
struct sec_name { const char *name; uint64_t value; };
/* The entry, or NULL. */
const struct sec_name *sec_find_name(const struct sec_name *table, const char *name);
/* ORs the values of all names; -EINVAL with `path` in front for one that is not in the table. */
int sec_flags_of(const struct sec_name *table, const struct strv *names, const char *path,
		 uint64_t *ret_flags, struct err *e);

/* The part of sec_plan_build() that has a file of its own. */
int sec_plan_scheduling(struct arena *a, struct sec_plan *p, const struct oci_spec *spec,
			struct err *e);
/* "0-3,7" -> bits; text NULL or "" gives v == NULL. */
int sec_parse_bits(struct arena *a, const char *text, const char *path, struct sec_bits *ret_bits,
		   struct err *e);

/* Resource limit by name, -1 when unknown. */
int sec_rlimit_number(const char *name);

/* A profile's action as the kernel's SECCOMP_RET_* with its data; without errno_ret EPERM. The
 * message has no path in front. */
int sec_action(const char *action, const struct opt_u32 *errno_ret, uint32_t *ret_action,
	       struct err *e);
/* Flags and the need for a listener: everything of a struct sec_filter but the program. */
int sec_filter_options(const struct oci_seccomp *s, struct sec_filter *f, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to spec/: the parts of spec_validate, one file each, and what they share. Every check
 * returns 0 or -EINVAL with "<path of the value>: <what is wrong>".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"

/* err_set(EINVAL) with the control characters of quoted values escaped. */
int check_fail(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool check_is_absolute(const char *path);
bool check_has_dotdot(const char *path); /* a ".." component */
bool check_has_control(const char *s);   /* a byte < 0x20 or 0x7f */
bool check_is_list(const char *s);       /* "0-3,7": numbers and ascending ranges; "" is one */
bool check_is_interface(const char *s);  /* a network device's name as the kernel accepts it */

/* Ids of users and groups: at most 2^31-1, so never (uid_t)-1. */
int check_id(const char *path, uint32_t id, struct err *e);
/* Sizes > 0, no wrap, no overlap on either side, not more lines than the kernel takes. */
int check_id_mappings(const char *path, const struct oci_id_mapping_list *m, struct err *e);

/* annotations.c: puts into the document what annotations of crun say. */
int spec_use_annotations(struct arena *a, struct oci_spec *s, struct err *e);

int check_linux(const struct oci_linux *l, struct err *e);
int check_seccomp(const struct oci_seccomp *s, struct err *e);
/* NULL when the spec has no namespace of that type. */
const struct oci_namespace *check_find_namespace(const struct oci_linux *l, const char *type);

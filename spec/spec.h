/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading, checking and writing config.json (OCI runtime-spec 1.3, Linux). A parsed spec has been
 * validated: types, ranges, enumerations and the MUSTs of config.md and config-linux.md that need
 * no look at the host. Unknown keys and the sections of other platforms are ignored. Capability
 * names that are not known are kept: whoever applies them warns, as config.md wants.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/fields.h"
#include "json/json.h"
#include "json/writer.h"
#include "spec/oci.h"

#define OCI_VERSION "1.3.0" /* the newest version of the spec that we implement */

/* The field tables; sub tables are public for documents that embed parts (sandbox spec). */
extern const struct json_table oci_spec_table, oci_process_table, oci_user_table, oci_root_table,
	oci_mount_table, oci_hooks_table, oci_hook_table, oci_linux_table, oci_resources_table,
	oci_seccomp_table, oci_rlimit_table, oci_namespace_table, oci_device_table,
	oci_id_mapping_table;

/* A whole config.json; *ret in a. -EINVAL with the path of the value in the message. */
int spec_parse(const char *text, size_t len, struct arena *a, struct oci_spec **ret,
	       struct err *e);
/* The object of linux.resources alone, for `update`. */
int spec_parse_resources(const char *text, size_t len, struct arena *a,
			 struct oci_resources **ret, struct err *e);
/* The object of process alone, for `exec --process`. */
int spec_parse_process(const char *text, size_t len, struct arena *a, struct oci_process **ret,
		       struct err *e);

/* The checks beyond the tables; parse has made them. For specs that were built or changed in C. */
int spec_validate(const struct oci_spec *s, struct err *e);
int spec_validate_process(const struct oci_process *p, struct err *e);
int spec_validate_resources(const struct oci_resources *r, struct err *e);

void spec_write(struct json_writer *w, const struct oci_spec *s);
void spec_write_process(struct json_writer *w, const struct oci_process *p);
void spec_write_resources(struct json_writer *w, const struct oci_resources *r);

/* The value of an annotation, NULL when absent. */
const char *spec_annotation(const struct oci_spec *s, const char *key);

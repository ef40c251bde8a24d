/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features structure of features.md and features-linux.md (runtime-spec 1.3). The lists that
 * follow from the field tables are filled in here; the rest says the runtime.
 */
#pragma once

#include "base/arena.h"
#include "base/types.h"
#include "json/fields.h"
#include "json/writer.h"

struct oci_features_cgroup { struct opt_bool v1, v2, systemd, systemd_user, rdma; };
struct oci_features_seccomp {
	struct opt_bool enabled;
	struct strv actions, operators, archs, known_flags, supported_flags;
};
struct oci_features_enabled { struct opt_bool enabled; };
struct oci_features_memory_policy { struct strv modes, flags; };
struct oci_features_intel_rdt { struct opt_bool enabled, schemata, monitoring; };
struct oci_features_mount_extensions { struct oci_features_enabled *idmap; };

struct oci_features_linux {
	struct strv namespaces, capabilities;
	struct oci_features_cgroup *cgroup;
	struct oci_features_seccomp *seccomp;
	struct oci_features_enabled *apparmor, *selinux;
	struct oci_features_memory_policy *memory_policy;
	struct oci_features_intel_rdt *intel_rdt;
	struct oci_features_mount_extensions *mount_extensions;
	struct oci_features_enabled *net_devices;
};

struct oci_features {
	char *oci_version_min, *oci_version_max;
	struct strv hooks, mount_options;
	struct str_map annotations;
	struct strv potentially_unsafe_config_annotations;
	struct oci_features_linux *linux_;
};

extern const struct json_table oci_features_table;

/*
 * A features structure with all that spec/ knows: versions, hooks, namespaces, seccomp names,
 * memory policies, the annotations but for the handlers'; every linux.* object exists. Still empty:
 * mount_options, capabilities, supported_flags and every opt_bool.
 */
struct oci_features *spec_features_new(struct arena *a);
void spec_features_write(struct json_writer *w, const struct oci_features *f);

/* SPDX-License-Identifier: Apache-2.0 */
/* The features structure: one field table, and the lists that are the same in every build. */
#include "spec/features.h"

#include "spec/annotations.h"
#include "spec/names.h"
#include "spec/spec.h"

static const struct json_field cgroup_fields[] = {
	JSON_FIELD(struct oci_features_cgroup, v1, "v1"),
	JSON_FIELD(struct oci_features_cgroup, v2, "v2"),
	JSON_FIELD(struct oci_features_cgroup, systemd, "systemd"),
	JSON_FIELD(struct oci_features_cgroup, systemd_user, "systemdUser"),
	JSON_FIELD(struct oci_features_cgroup, rdma, "rdma"),
};
static const struct json_table cgroup_table =
	JSON_TABLE(struct oci_features_cgroup, cgroup_fields);

static const struct json_field seccomp_fields[] = {
	JSON_FIELD(struct oci_features_seccomp, enabled, "enabled"),
	JSON_FIELD(struct oci_features_seccomp, actions, "actions",
		   .names = oci_seccomp_action_names),
	JSON_FIELD(struct oci_features_seccomp, operators, "operators",
		   .names = oci_seccomp_operator_names),
	JSON_FIELD(struct oci_features_seccomp, archs, "archs", .names = oci_seccomp_arch_names),
	JSON_FIELD(struct oci_features_seccomp, known_flags, "knownFlags",
		   .names = oci_seccomp_flag_names),
	JSON_FIELD(struct oci_features_seccomp, supported_flags, "supportedFlags",
		   .names = oci_seccomp_flag_names),
};
static const struct json_table seccomp_table =
	JSON_TABLE(struct oci_features_seccomp, seccomp_fields);

static const struct json_field enabled_fields[] = {
	JSON_FIELD(struct oci_features_enabled, enabled, "enabled"),
};
static const struct json_table enabled_table =
	JSON_TABLE(struct oci_features_enabled, enabled_fields);

static const struct json_field memory_policy_fields[] = {
	JSON_FIELD(struct oci_features_memory_policy, modes, "modes",
		   .names = oci_memory_policy_mode_names),
	JSON_FIELD(struct oci_features_memory_policy, flags, "flags",
		   .names = oci_memory_policy_flag_names),
};
static const struct json_table memory_policy_table =
	JSON_TABLE(struct oci_features_memory_policy, memory_policy_fields);

static const struct json_field intel_rdt_fields[] = {
	JSON_FIELD(struct oci_features_intel_rdt, enabled, "enabled"),
	JSON_FIELD(struct oci_features_intel_rdt, schemata, "schemata"),
	JSON_FIELD(struct oci_features_intel_rdt, monitoring, "monitoring"),
};
static const struct json_table intel_rdt_table =
	JSON_TABLE(struct oci_features_intel_rdt, intel_rdt_fields);

static const struct json_field mount_extensions_fields[] = {
	JSON_FIELD(struct oci_features_mount_extensions, idmap, "idmap", .sub = &enabled_table),
};
static const struct json_table mount_extensions_table =
	JSON_TABLE(struct oci_features_mount_extensions, mount_extensions_fields);

static const struct json_field linux_fields[] = {
	JSON_FIELD(struct oci_features_linux, namespaces, "namespaces",
		   .names = oci_namespace_names),
	JSON_FIELD(struct oci_features_linux, capabilities, "capabilities"),
	JSON_FIELD(struct oci_features_linux, cgroup, "cgroup", .sub = &cgroup_table),
	JSON_FIELD(struct oci_features_linux, seccomp, "seccomp", .sub = &seccomp_table),
	JSON_FIELD(struct oci_features_linux, apparmor, "apparmor", .sub = &enabled_table),
	JSON_FIELD(struct oci_features_linux, selinux, "selinux", .sub = &enabled_table),
	JSON_FIELD(struct oci_features_linux, memory_policy, "memoryPolicy",
		   .sub = &memory_policy_table),
	JSON_FIELD(struct oci_features_linux, intel_rdt, "intelRdt", .sub = &intel_rdt_table),
	JSON_FIELD(struct oci_features_linux, mount_extensions, "mountExtensions",
		   .sub = &mount_extensions_table),
	JSON_FIELD(struct oci_features_linux, net_devices, "netDevices", .sub = &enabled_table),
};
static const struct json_table linux_table = JSON_TABLE(struct oci_features_linux, linux_fields);

static const struct json_field features_fields[] = {
	JSON_FIELD(struct oci_features, oci_version_min, "ociVersionMin", .required = true),
	JSON_FIELD(struct oci_features, oci_version_max, "ociVersionMax", .required = true),
	JSON_FIELD(struct oci_features, hooks, "hooks"),
	JSON_FIELD(struct oci_features, mount_options, "mountOptions"),
	JSON_FIELD(struct oci_features, linux_, "linux", .sub = &linux_table),
	JSON_FIELD(struct oci_features, annotations, "annotations"),
	JSON_FIELD(struct oci_features, potentially_unsafe_config_annotations,
		   "potentiallyUnsafeConfigAnnotations"),
};
const struct json_table oci_features_table = JSON_TABLE(struct oci_features, features_fields);

static struct oci_features_seccomp *new_seccomp(struct arena *a)
{
	struct oci_features_seccomp *s = arena_new_of(a, struct oci_features_seccomp);

	s->actions = oci_names_to_strv(a, oci_seccomp_action_names);
	s->operators = oci_names_to_strv(a, oci_seccomp_operator_names);
	s->archs = oci_names_to_strv(a, oci_seccomp_arch_names);
	s->known_flags = oci_names_to_strv(a, oci_seccomp_flag_names);
	return s;
}

static struct oci_features_linux *new_linux(struct arena *a)
{
	struct oci_features_linux *l = arena_new_of(a, struct oci_features_linux);

	l->namespaces = oci_names_to_strv(a, oci_namespace_names);
	l->cgroup = arena_new_of(a, struct oci_features_cgroup);
	l->seccomp = new_seccomp(a);
	l->apparmor = arena_new_of(a, struct oci_features_enabled);
	l->selinux = arena_new_of(a, struct oci_features_enabled);
	l->memory_policy = arena_new_of(a, struct oci_features_memory_policy);
	l->memory_policy->modes = oci_names_to_strv(a, oci_memory_policy_mode_names);
	l->memory_policy->flags = oci_names_to_strv(a, oci_memory_policy_flag_names);
	l->intel_rdt = arena_new_of(a, struct oci_features_intel_rdt);
	l->mount_extensions = arena_new_of(a, struct oci_features_mount_extensions);
	l->mount_extensions->idmap = arena_new_of(a, struct oci_features_enabled);
	l->net_devices = arena_new_of(a, struct oci_features_enabled);
	return l;
}

/* Those that change what a container may do. */
static struct strv unsafe_annotations(struct arena *a)
{
	struct strv s = {0};
	size_t n = 0;

	while (spec_annotations[n].key)
		n++;
	s.v = arena_array(a, n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		if (!spec_annotations[i].harmless)
			s.v[s.n++] = arena_strdup(a, spec_annotations[i].key);
	return s;
}

struct oci_features *spec_features_new(struct arena *a)
{
	struct oci_features *f = arena_new_of(a, struct oci_features);

	f->oci_version_min = arena_strdup(a, "1.0.0");
	f->oci_version_max = arena_strdup(a, OCI_VERSION);
	f->hooks = oci_names_to_strv(a, oci_hook_names);
	f->annotations = (struct str_map){arena_array(a, 2, sizeof(*f->annotations.v)), 2};
	f->annotations.v[0] = (struct str_pair){arena_strdup(a, "org.brig.version"),
						arena_strdup(a, BRIG_VERSION)};
	/* By runc's name, as crun has it too. */
	f->annotations.v[1] = (struct str_pair){
		arena_strdup(a, "org.opencontainers.runc.checkpoint.enabled"), arena_strdup(a, "true")};
	f->potentially_unsafe_config_annotations = unsafe_annotations(a);
	f->linux_ = new_linux(a);
	return f;
}

void spec_features_write(struct json_writer *w, const struct oci_features *f)
{
	json_write_struct(w, &oci_features_table, f);
}

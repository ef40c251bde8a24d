/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables of config.md: the document, process, root, mounts, hooks. */
#include "spec/names.h"
#include "spec/spec.h"

/* ---- process ---- */
static const struct json_field console_size_fields[] = {
	JSON_FIELD(struct oci_console_size, height, "height", .required = true),
	JSON_FIELD(struct oci_console_size, width, "width", .required = true),
};
static const struct json_table console_size_table =
	JSON_TABLE(struct oci_console_size, console_size_fields);

static const struct json_field user_fields[] = {
	JSON_FIELD(struct oci_user, uid, "uid"),
	JSON_FIELD(struct oci_user, gid, "gid"),
	JSON_FIELD(struct oci_user, umask, "umask"),
	JSON_FIELD(struct oci_user, additional_gids, "additionalGids"),
	JSON_FIELD(struct oci_user, username, "username"),
};
const struct json_table oci_user_table = JSON_TABLE(struct oci_user, user_fields);

static const struct json_field capabilities_fields[] = {
	JSON_FIELD(struct oci_capabilities, bounding, "bounding"),
	JSON_FIELD(struct oci_capabilities, effective, "effective"),
	JSON_FIELD(struct oci_capabilities, permitted, "permitted"),
	JSON_FIELD(struct oci_capabilities, inheritable, "inheritable"),
	JSON_FIELD(struct oci_capabilities, ambient, "ambient"),
};
static const struct json_table capabilities_table =
	JSON_TABLE(struct oci_capabilities, capabilities_fields);

static const struct json_field rlimit_fields[] = {
	JSON_FIELD(struct oci_rlimit, type, "type", .required = true, .names = oci_rlimit_names),
	JSON_FIELD(struct oci_rlimit, hard, "hard", .required = true),
	JSON_FIELD(struct oci_rlimit, soft, "soft", .required = true),
};
const struct json_table oci_rlimit_table = JSON_TABLE(struct oci_rlimit, rlimit_fields);

static const struct json_field io_priority_fields[] = {
	JSON_FIELD(struct oci_io_priority, class_, "class", .required = true,
		   .names = oci_ioprio_class_names),
	JSON_FIELD(struct oci_io_priority, priority, "priority"),
};
static const struct json_table io_priority_table =
	JSON_TABLE(struct oci_io_priority, io_priority_fields);

static const struct json_field scheduler_fields[] = {
	JSON_FIELD(struct oci_scheduler, policy, "policy", .required = true,
		   .names = oci_scheduler_policy_names),
	JSON_FIELD(struct oci_scheduler, nice, "nice"),
	JSON_FIELD(struct oci_scheduler, priority, "priority"),
	JSON_FIELD(struct oci_scheduler, flags, "flags", .names = oci_scheduler_flag_names),
	JSON_FIELD(struct oci_scheduler, runtime, "runtime"),
	JSON_FIELD(struct oci_scheduler, deadline, "deadline"),
	JSON_FIELD(struct oci_scheduler, period, "period"),
};
static const struct json_table scheduler_table =
	JSON_TABLE(struct oci_scheduler, scheduler_fields);

static const struct json_field cpu_affinity_fields[] = {
	JSON_FIELD(struct oci_cpu_affinity, initial, "initial"),
	JSON_FIELD(struct oci_cpu_affinity, final, "final"),
};
static const struct json_table cpu_affinity_table =
	JSON_TABLE(struct oci_cpu_affinity, cpu_affinity_fields);

static const struct json_field process_fields[] = {
	JSON_FIELD(struct oci_process, terminal, "terminal"),
	JSON_FIELD(struct oci_process, console_size, "consoleSize", .sub = &console_size_table),
	JSON_INLINE(struct oci_process, user, "user", .sub = &oci_user_table),
	JSON_FIELD(struct oci_process, args, "args"),
	JSON_FIELD(struct oci_process, command_line, "commandLine"),
	JSON_FIELD(struct oci_process, env, "env"),
	JSON_FIELD(struct oci_process, cwd, "cwd", .required = true),
	JSON_FIELD(struct oci_process, capabilities, "capabilities", .sub = &capabilities_table),
	JSON_FIELD(struct oci_process, rlimits, "rlimits", .sub = &oci_rlimit_table),
	JSON_FIELD(struct oci_process, no_new_privileges, "noNewPrivileges"),
	JSON_FIELD(struct oci_process, apparmor_profile, "apparmorProfile"),
	JSON_FIELD(struct oci_process, oom_score_adj, "oomScoreAdj"),
	JSON_FIELD(struct oci_process, selinux_label, "selinuxLabel"),
	JSON_FIELD(struct oci_process, io_priority, "ioPriority", .sub = &io_priority_table),
	JSON_FIELD(struct oci_process, scheduler, "scheduler", .sub = &scheduler_table),
	JSON_FIELD(struct oci_process, exec_cpu_affinity, "execCPUAffinity",
		   .sub = &cpu_affinity_table),
};
const struct json_table oci_process_table = JSON_TABLE(struct oci_process, process_fields);

/* ---- root, mounts, hooks ---- */
static const struct json_field root_fields[] = {
	JSON_FIELD(struct oci_root, path, "path", .required = true),
	JSON_FIELD(struct oci_root, readonly, "readonly"),
};
const struct json_table oci_root_table = JSON_TABLE(struct oci_root, root_fields);

static const struct json_field id_mapping_fields[] = {
	JSON_FIELD(struct oci_id_mapping, container_id, "containerID", .required = true),
	JSON_FIELD(struct oci_id_mapping, host_id, "hostID", .required = true),
	JSON_FIELD(struct oci_id_mapping, size, "size", .required = true),
};
const struct json_table oci_id_mapping_table =
	JSON_TABLE(struct oci_id_mapping, id_mapping_fields);

static const struct json_field mount_fields[] = {
	JSON_FIELD(struct oci_mount, destination, "destination", .required = true),
	JSON_FIELD(struct oci_mount, type, "type"),
	JSON_FIELD(struct oci_mount, source, "source"),
	JSON_FIELD(struct oci_mount, options, "options"),
	JSON_FIELD(struct oci_mount, uid_mappings, "uidMappings", .sub = &oci_id_mapping_table),
	JSON_FIELD(struct oci_mount, gid_mappings, "gidMappings", .sub = &oci_id_mapping_table),
};
const struct json_table oci_mount_table = JSON_TABLE(struct oci_mount, mount_fields);

static const struct json_field hook_fields[] = {
	JSON_FIELD(struct oci_hook, path, "path", .required = true),
	JSON_FIELD(struct oci_hook, args, "args"),
	JSON_FIELD(struct oci_hook, env, "env"),
	JSON_FIELD(struct oci_hook, timeout, "timeout"),
};
const struct json_table oci_hook_table = JSON_TABLE(struct oci_hook, hook_fields);

static const struct json_field hooks_fields[] = {
	JSON_FIELD(struct oci_hooks, prestart, "prestart", .sub = &oci_hook_table),
	JSON_FIELD(struct oci_hooks, create_runtime, "createRuntime", .sub = &oci_hook_table),
	JSON_FIELD(struct oci_hooks, create_container, "createContainer", .sub = &oci_hook_table),
	JSON_FIELD(struct oci_hooks, start_container, "startContainer", .sub = &oci_hook_table),
	JSON_FIELD(struct oci_hooks, poststart, "poststart", .sub = &oci_hook_table),
	JSON_FIELD(struct oci_hooks, poststop, "poststop", .sub = &oci_hook_table),
};
const struct json_table oci_hooks_table = JSON_TABLE(struct oci_hooks, hooks_fields);

/* ---- the document; windows, solaris, vm, zos and freebsd are other platforms' ---- */
static const struct json_field spec_fields[] = {
	JSON_FIELD(struct oci_spec, oci_version, "ociVersion", .required = true),
	JSON_FIELD(struct oci_spec, process, "process", .sub = &oci_process_table),
	JSON_FIELD(struct oci_spec, root, "root", .sub = &oci_root_table),
	JSON_FIELD(struct oci_spec, hostname, "hostname"),
	JSON_FIELD(struct oci_spec, domainname, "domainname"),
	JSON_FIELD(struct oci_spec, mounts, "mounts", .sub = &oci_mount_table),
	JSON_FIELD(struct oci_spec, hooks, "hooks", .sub = &oci_hooks_table),
	JSON_FIELD(struct oci_spec, annotations, "annotations"),
	JSON_FIELD(struct oci_spec, linux_, "linux", .sub = &oci_linux_table),
};
const struct json_table oci_spec_table = JSON_TABLE(struct oci_spec, spec_fields);

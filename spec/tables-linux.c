/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables of config-linux.md. */
#include "spec/names.h"
#include "spec/spec.h"

/* ---- namespaces and devices ---- */
static const struct json_field namespace_fields[] = {
	JSON_FIELD(struct oci_namespace, type, "type", .required = true,
		   .names = oci_namespace_names),
	JSON_FIELD(struct oci_namespace, path, "path"),
};
const struct json_table oci_namespace_table = JSON_TABLE(struct oci_namespace, namespace_fields);

static const struct json_field device_fields[] = {
	JSON_FIELD(struct oci_device, path, "path", .required = true),
	JSON_FIELD(struct oci_device, type, "type", .required = true,
		   .names = oci_device_type_names),
	JSON_FIELD(struct oci_device, major, "major"),
	JSON_FIELD(struct oci_device, minor, "minor"),
	JSON_FIELD(struct oci_device, file_mode, "fileMode"),
	JSON_FIELD(struct oci_device, uid, "uid"),
	JSON_FIELD(struct oci_device, gid, "gid"),
};
const struct json_table oci_device_table = JSON_TABLE(struct oci_device, device_fields);

static const struct json_field net_device_fields[] = {
	JSON_FIELD(struct oci_net_device, name, "name"),
};
static const struct json_table net_device_table =
	JSON_TABLE(struct oci_net_device, net_device_fields);

/* ---- resources ---- */
static const struct json_field device_rule_fields[] = {
	JSON_FIELD(struct oci_device_rule, allow, "allow", .required = true),
	JSON_FIELD(struct oci_device_rule, type, "type"),
	JSON_FIELD(struct oci_device_rule, major, "major"),
	JSON_FIELD(struct oci_device_rule, minor, "minor"),
	JSON_FIELD(struct oci_device_rule, access, "access"),
};
static const struct json_table device_rule_table =
	JSON_TABLE(struct oci_device_rule, device_rule_fields);

static const struct json_field memory_fields[] = {
	JSON_FIELD(struct oci_memory, limit, "limit"),
	JSON_FIELD(struct oci_memory, reservation, "reservation"),
	JSON_FIELD(struct oci_memory, swap, "swap"),
	JSON_FIELD(struct oci_memory, kernel, "kernel"),
	JSON_FIELD(struct oci_memory, kernel_tcp, "kernelTCP"),
	JSON_FIELD(struct oci_memory, swappiness, "swappiness"),
	JSON_FIELD(struct oci_memory, disable_oom_killer, "disableOOMKiller"),
	JSON_FIELD(struct oci_memory, use_hierarchy, "useHierarchy"),
	JSON_FIELD(struct oci_memory, check_before_update, "checkBeforeUpdate"),
};
static const struct json_table memory_table = JSON_TABLE(struct oci_memory, memory_fields);

static const struct json_field cpu_fields[] = {
	JSON_FIELD(struct oci_cpu, shares, "shares"),
	JSON_FIELD(struct oci_cpu, quota, "quota"),
	JSON_FIELD(struct oci_cpu, burst, "burst"),
	JSON_FIELD(struct oci_cpu, period, "period"),
	JSON_FIELD(struct oci_cpu, realtime_runtime, "realtimeRuntime"),
	JSON_FIELD(struct oci_cpu, realtime_period, "realtimePeriod"),
	JSON_FIELD(struct oci_cpu, cpus, "cpus"),
	JSON_FIELD(struct oci_cpu, mems, "mems"),
	JSON_FIELD(struct oci_cpu, idle, "idle"),
};
static const struct json_table cpu_table = JSON_TABLE(struct oci_cpu, cpu_fields);

static const struct json_field pids_fields[] = {
	JSON_FIELD(struct oci_pids, limit, "limit"),
};
static const struct json_table pids_table = JSON_TABLE(struct oci_pids, pids_fields);

static const struct json_field weight_device_fields[] = {
	JSON_FIELD(struct oci_weight_device, major, "major", .required = true),
	JSON_FIELD(struct oci_weight_device, minor, "minor", .required = true),
	JSON_FIELD(struct oci_weight_device, weight, "weight"),
	JSON_FIELD(struct oci_weight_device, leaf_weight, "leafWeight"),
};
static const struct json_table weight_device_table =
	JSON_TABLE(struct oci_weight_device, weight_device_fields);

static const struct json_field throttle_device_fields[] = {
	JSON_FIELD(struct oci_throttle_device, major, "major", .required = true),
	JSON_FIELD(struct oci_throttle_device, minor, "minor", .required = true),
	JSON_FIELD(struct oci_throttle_device, rate, "rate", .required = true),
};
static const struct json_table throttle_device_table =
	JSON_TABLE(struct oci_throttle_device, throttle_device_fields);

static const struct json_field block_io_fields[] = {
	JSON_FIELD(struct oci_block_io, weight, "weight"),
	JSON_FIELD(struct oci_block_io, leaf_weight, "leafWeight"),
	JSON_FIELD(struct oci_block_io, weight_device, "weightDevice",
		   .sub = &weight_device_table),
	JSON_FIELD(struct oci_block_io, throttle_read_bps_device, "throttleReadBpsDevice",
		   .sub = &throttle_device_table),
	JSON_FIELD(struct oci_block_io, throttle_write_bps_device, "throttleWriteBpsDevice",
		   .sub = &throttle_device_table),
	JSON_FIELD(struct oci_block_io, throttle_read_iops_device, "throttleReadIOPSDevice",
		   .sub = &throttle_device_table),
	JSON_FIELD(struct oci_block_io, throttle_write_iops_device, "throttleWriteIOPSDevice",
		   .sub = &throttle_device_table),
};
static const struct json_table block_io_table = JSON_TABLE(struct oci_block_io, block_io_fields);

static const struct json_field hugepage_limit_fields[] = {
	JSON_FIELD(struct oci_hugepage_limit, page_size, "pageSize", .required = true),
	JSON_FIELD(struct oci_hugepage_limit, limit, "limit", .required = true),
};
static const struct json_table hugepage_limit_table =
	JSON_TABLE(struct oci_hugepage_limit, hugepage_limit_fields);

static const struct json_field interface_priority_fields[] = {
	JSON_FIELD(struct oci_interface_priority, name, "name", .required = true),
	JSON_FIELD(struct oci_interface_priority, priority, "priority", .required = true),
};
static const struct json_table interface_priority_table =
	JSON_TABLE(struct oci_interface_priority, interface_priority_fields);

static const struct json_field network_fields[] = {
	JSON_FIELD(struct oci_network, class_id, "classID"),
	JSON_FIELD(struct oci_network, priorities, "priorities",
		   .sub = &interface_priority_table),
};
static const struct json_table network_table = JSON_TABLE(struct oci_network, network_fields);

static const struct json_field rdma_fields[] = {
	JSON_FIELD(struct oci_rdma, hca_handles, "hcaHandles"),
	JSON_FIELD(struct oci_rdma, hca_objects, "hcaObjects"),
};
static const struct json_table rdma_table = JSON_TABLE(struct oci_rdma, rdma_fields);

static const struct json_field resources_fields[] = {
	JSON_FIELD(struct oci_resources, devices, "devices", .sub = &device_rule_table),
	JSON_FIELD(struct oci_resources, memory, "memory", .sub = &memory_table),
	JSON_FIELD(struct oci_resources, cpu, "cpu", .sub = &cpu_table),
	JSON_FIELD(struct oci_resources, pids, "pids", .sub = &pids_table),
	JSON_FIELD(struct oci_resources, block_io, "blockIO", .sub = &block_io_table),
	JSON_FIELD(struct oci_resources, hugepage_limits, "hugepageLimits",
		   .sub = &hugepage_limit_table),
	JSON_FIELD(struct oci_resources, network, "network", .sub = &network_table),
	JSON_KEYED(struct oci_resources, rdma, "rdma", .sub = &rdma_table),
	JSON_FIELD(struct oci_resources, unified, "unified"),
};
const struct json_table oci_resources_table = JSON_TABLE(struct oci_resources, resources_fields);

/* ---- seccomp ---- */
static const struct json_field seccomp_arg_fields[] = {
	JSON_FIELD(struct oci_seccomp_arg, index, "index", .required = true),
	JSON_FIELD(struct oci_seccomp_arg, value, "value", .required = true),
	JSON_FIELD(struct oci_seccomp_arg, value_two, "valueTwo"),
	JSON_FIELD(struct oci_seccomp_arg, op, "op", .required = true,
		   .names = oci_seccomp_operator_names),
};
static const struct json_table seccomp_arg_table =
	JSON_TABLE(struct oci_seccomp_arg, seccomp_arg_fields);

static const struct json_field syscall_fields[] = {
	JSON_FIELD(struct oci_syscall, names, "names", .required = true),
	JSON_FIELD(struct oci_syscall, action, "action", .required = true,
		   .names = oci_seccomp_action_names),
	JSON_FIELD(struct oci_syscall, errno_ret, "errnoRet"),
	JSON_FIELD(struct oci_syscall, args, "args", .sub = &seccomp_arg_table),
};
static const struct json_table syscall_table = JSON_TABLE(struct oci_syscall, syscall_fields);

static const struct json_field seccomp_fields[] = {
	JSON_FIELD(struct oci_seccomp, default_action, "defaultAction", .required = true,
		   .names = oci_seccomp_action_names),
	JSON_FIELD(struct oci_seccomp, default_errno_ret, "defaultErrnoRet"),
	JSON_FIELD(struct oci_seccomp, architectures, "architectures",
		   .names = oci_seccomp_arch_names),
	JSON_FIELD(struct oci_seccomp, flags, "flags", .names = oci_seccomp_flag_names),
	JSON_FIELD(struct oci_seccomp, listener_path, "listenerPath"),
	JSON_FIELD(struct oci_seccomp, listener_metadata, "listenerMetadata"),
	JSON_FIELD(struct oci_seccomp, syscalls, "syscalls", .sub = &syscall_table),
};
const struct json_table oci_seccomp_table = JSON_TABLE(struct oci_seccomp, seccomp_fields);

/* ---- what is left of linux ---- */
static const struct json_field intel_rdt_fields[] = {
	JSON_FIELD(struct oci_intel_rdt, clos_id, "closID"),
	JSON_FIELD(struct oci_intel_rdt, schemata, "schemata"),
	JSON_FIELD(struct oci_intel_rdt, l3_cache_schema, "l3CacheSchema"),
	JSON_FIELD(struct oci_intel_rdt, mem_bw_schema, "memBwSchema"),
	JSON_FIELD(struct oci_intel_rdt, enable_monitoring, "enableMonitoring"),
};
static const struct json_table intel_rdt_table =
	JSON_TABLE(struct oci_intel_rdt, intel_rdt_fields);

static const struct json_field memory_policy_fields[] = {
	JSON_FIELD(struct oci_memory_policy, mode, "mode", .required = true,
		   .names = oci_memory_policy_mode_names),
	JSON_FIELD(struct oci_memory_policy, nodes, "nodes"),
	JSON_FIELD(struct oci_memory_policy, flags, "flags",
		   .names = oci_memory_policy_flag_names),
};
static const struct json_table memory_policy_table =
	JSON_TABLE(struct oci_memory_policy, memory_policy_fields);

static const struct json_field personality_fields[] = {
	JSON_FIELD(struct oci_personality, domain, "domain", .required = true,
		   .names = oci_personality_names),
	JSON_FIELD(struct oci_personality, flags, "flags"),
};
static const struct json_table personality_table =
	JSON_TABLE(struct oci_personality, personality_fields);

static const struct json_field time_offset_fields[] = {
	JSON_FIELD(struct oci_time_offset, secs, "secs"),
	JSON_FIELD(struct oci_time_offset, nanosecs, "nanosecs"),
};
static const struct json_table time_offset_table =
	JSON_TABLE(struct oci_time_offset, time_offset_fields);

static const struct json_field time_offsets_fields[] = {
	JSON_FIELD(struct oci_time_offsets, boottime, "boottime", .sub = &time_offset_table),
	JSON_FIELD(struct oci_time_offsets, monotonic, "monotonic", .sub = &time_offset_table),
};
static const struct json_table time_offsets_table =
	JSON_TABLE(struct oci_time_offsets, time_offsets_fields);

static const struct json_field linux_fields[] = {
	JSON_FIELD(struct oci_linux, uid_mappings, "uidMappings", .sub = &oci_id_mapping_table),
	JSON_FIELD(struct oci_linux, gid_mappings, "gidMappings", .sub = &oci_id_mapping_table),
	JSON_FIELD(struct oci_linux, sysctl, "sysctl"),
	JSON_FIELD(struct oci_linux, resources, "resources", .sub = &oci_resources_table),
	JSON_FIELD(struct oci_linux, cgroups_path, "cgroupsPath"),
	JSON_FIELD(struct oci_linux, namespaces, "namespaces", .sub = &oci_namespace_table),
	JSON_FIELD(struct oci_linux, devices, "devices", .sub = &oci_device_table),
	JSON_KEYED(struct oci_linux, net_devices, "netDevices", .sub = &net_device_table),
	JSON_FIELD(struct oci_linux, seccomp, "seccomp", .sub = &oci_seccomp_table),
	JSON_FIELD(struct oci_linux, rootfs_propagation, "rootfsPropagation",
		   .names = oci_propagation_names),
	JSON_FIELD(struct oci_linux, masked_paths, "maskedPaths"),
	JSON_FIELD(struct oci_linux, readonly_paths, "readonlyPaths"),
	JSON_FIELD(struct oci_linux, mount_label, "mountLabel"),
	JSON_FIELD(struct oci_linux, intel_rdt, "intelRdt", .sub = &intel_rdt_table),
	JSON_FIELD(struct oci_linux, memory_policy, "memoryPolicy", .sub = &memory_policy_table),
	JSON_FIELD(struct oci_linux, personality, "personality", .sub = &personality_table),
	JSON_FIELD(struct oci_linux, time_offsets, "timeOffsets", .sub = &time_offsets_table),
};
const struct json_table oci_linux_table = JSON_TABLE(struct oci_linux, linux_fields);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.json of the OCI runtime-spec 1.3 (Linux part) as plain structs, member names as in the
 * spec in snake_case. Enumerations stay strings here; spec_parse has checked them against the
 * spec's lists. A `*_list` is an array of v[0..n).
 */
#pragma once

#include "spec/types.h"

/* ---- process (config.md#process) ---- */
struct oci_console_size { uint64_t height, width; };

struct oci_user {
	uint32_t uid, gid;
	struct opt_u32 umask;
	struct u32v additional_gids;
	char *username; /* Windows only; parsed, unused */
};

/* NULL pointer in oci_process: no "capabilities" key; both cases give five empty sets. */
struct oci_capabilities {
	struct strv bounding, permitted, effective, inheritable, ambient; /* "CAP_..." */
};

struct oci_rlimit { char *type; uint64_t soft, hard; };
struct oci_rlimit_list { struct oci_rlimit *v; size_t n; };

struct oci_io_priority { char *class_; struct opt_i32 priority; };

struct oci_scheduler {
	char *policy;
	struct opt_i32 nice, priority;
	struct strv flags;
	struct opt_u64 runtime, deadline, period; /* nanoseconds */
};

struct oci_cpu_affinity { char *initial, *final; }; /* "0-3,7" */

struct oci_process {
	struct opt_bool terminal;
	struct oci_console_size *console_size;
	char *cwd;
	struct strv env, args;
	char *command_line; /* Windows only; parsed, unused */
	struct oci_user user;
	struct oci_capabilities *capabilities;
	struct oci_rlimit_list rlimits;
	struct opt_bool no_new_privileges;
	char *apparmor_profile, *selinux_label;
	struct opt_i32 oom_score_adj;
	struct oci_io_priority *io_priority;
	struct oci_scheduler *scheduler;
	struct oci_cpu_affinity *exec_cpu_affinity;
};

/* ---- root, mounts, hooks ---- */
struct oci_root { char *path; struct opt_bool readonly; };

struct oci_id_mapping { uint32_t container_id, host_id, size; };
struct oci_id_mapping_list { struct oci_id_mapping *v; size_t n; };

struct oci_mount {
	char *destination, *source, *type;
	struct strv options;
	struct oci_id_mapping_list uid_mappings, gid_mappings;
};
struct oci_mount_list { struct oci_mount *v; size_t n; };

struct oci_hook { char *path; struct strv args, env; struct opt_i64 timeout; /* seconds */ };
struct oci_hook_list { struct oci_hook *v; size_t n; };
struct oci_hooks {
	struct oci_hook_list prestart, create_runtime, create_container, start_container,
		poststart, poststop;
};

/* ---- linux (config-linux.md) ---- */
struct oci_namespace { char *type, *path; }; /* path NULL: a new one */
struct oci_namespace_list { struct oci_namespace *v; size_t n; };

struct oci_device {
	char *type, *path; /* "c" "b" "u" "p" */
	struct opt_i64 major, minor;
	struct opt_u32 file_mode, uid, gid;
};
struct oci_device_list { struct oci_device *v; size_t n; };

struct oci_net_device { char *host_name /* the key */, *name; };
struct oci_net_device_list { struct oci_net_device *v; size_t n; };

struct oci_device_rule {
	bool allow;
	char *type; /* "a" "c" "b"; NULL = "a" */
	struct opt_i64 major, minor;
	char *access; /* subset of "rwm"; NULL = all */
};
struct oci_device_rule_list { struct oci_device_rule *v; size_t n; };

struct oci_memory { /* bytes; -1 = unlimited */
	struct opt_i64 limit, reservation, swap /* memory+swap */, kernel, kernel_tcp;
	struct opt_u64 swappiness;
	struct opt_bool disable_oom_killer, use_hierarchy, check_before_update;
};

struct oci_cpu {
	struct opt_u64 shares;
	struct opt_i64 quota;                /* microseconds a period; <= 0 = none */
	struct opt_u64 burst, period;        /* microseconds */
	struct opt_i64 realtime_runtime;
	struct opt_u64 realtime_period;
	char *cpus, *mems;
	struct opt_i64 idle;
};

struct oci_weight_device { int64_t major, minor; struct opt_u16 weight, leaf_weight; };
struct oci_weight_device_list { struct oci_weight_device *v; size_t n; };
struct oci_throttle_device { int64_t major, minor; uint64_t rate; };
struct oci_throttle_device_list { struct oci_throttle_device *v; size_t n; };
struct oci_block_io {
	struct opt_u16 weight, leaf_weight;
	struct oci_weight_device_list weight_device;
	struct oci_throttle_device_list throttle_read_bps_device, throttle_write_bps_device,
		throttle_read_iops_device, throttle_write_iops_device;
};

struct oci_hugepage_limit { char *page_size; uint64_t limit; };
struct oci_hugepage_limit_list { struct oci_hugepage_limit *v; size_t n; };

struct oci_interface_priority { char *name; uint32_t priority; };
struct oci_interface_priority_list { struct oci_interface_priority *v; size_t n; };
struct oci_network { struct opt_u32 class_id; struct oci_interface_priority_list priorities; };

struct oci_pids { struct opt_i64 limit; }; /* -1 = max, 0 is a limit (1.3) */

struct oci_rdma { char *device /* the key */; struct opt_u32 hca_handles, hca_objects; };
struct oci_rdma_list { struct oci_rdma *v; size_t n; };

struct oci_resources {
	struct str_map unified;
	struct oci_device_rule_list devices;
	struct oci_memory *memory;
	struct oci_cpu *cpu;
	struct oci_pids *pids;
	struct oci_block_io *block_io;
	struct oci_hugepage_limit_list hugepage_limits;
	struct oci_network *network;
	struct oci_rdma_list rdma;
};

struct oci_seccomp_arg { uint32_t index; uint64_t value; struct opt_u64 value_two; char *op; };
struct oci_seccomp_arg_list { struct oci_seccomp_arg *v; size_t n; };
struct oci_syscall {
	struct strv names;
	char *action;
	struct opt_u32 errno_ret;
	struct oci_seccomp_arg_list args;
};
struct oci_syscall_list { struct oci_syscall *v; size_t n; };
struct oci_seccomp {
	char *default_action;
	struct opt_u32 default_errno_ret;
	struct strv architectures, flags;
	char *listener_path, *listener_metadata;
	struct oci_syscall_list syscalls;
};

struct oci_intel_rdt {
	char *clos_id;
	struct strv schemata;
	char *l3_cache_schema, *mem_bw_schema;
	struct opt_bool enable_monitoring;
};

struct oci_memory_policy { char *mode, *nodes; struct strv flags; };
struct oci_personality { char *domain; struct strv flags; };
struct oci_time_offset { struct opt_i64 secs; struct opt_u32 nanosecs; };
struct oci_time_offsets { struct oci_time_offset *boottime, *monotonic; };

struct oci_linux {
	struct oci_id_mapping_list uid_mappings, gid_mappings;
	struct str_map sysctl;
	struct oci_resources *resources;
	char *cgroups_path;
	struct oci_namespace_list namespaces;
	struct oci_device_list devices;
	struct oci_net_device_list net_devices;
	struct oci_seccomp *seccomp;
	char *rootfs_propagation;
	struct strv masked_paths, readonly_paths;
	char *mount_label;
	struct oci_intel_rdt *intel_rdt;
	struct oci_memory_policy *memory_policy;
	struct oci_personality *personality;
	struct oci_time_offsets *time_offsets;
};

/* ---- the whole document ---- */
struct oci_spec {
	char *oci_version;
	struct oci_process *process;
	struct oci_root *root;
	char *hostname, *domainname;
	struct oci_mount_list mounts;
	struct oci_hooks *hooks;
	struct str_map annotations;
	struct oci_linux *linux_;
};

/* SPDX-License-Identifier: Apache-2.0 */
/* One list per enumeration; `features` prints them, the field tables check against them. */
#include "spec/names.h"

#include <stddef.h>

const char *const oci_hook_names[] = {
	"prestart", "createRuntime", "createContainer", "startContainer",
	"poststart", "poststop", NULL,
};

const char *const oci_namespace_names[] = {
	"mount", "pid", "network", "uts", "ipc", "user", "cgroup", "time", NULL,
};

const char *const oci_seccomp_action_names[] = {
	"SCMP_ACT_KILL",  "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD",
	"SCMP_ACT_TRAP",  "SCMP_ACT_ERRNO",        "SCMP_ACT_TRACE",
	"SCMP_ACT_ALLOW", "SCMP_ACT_LOG",          "SCMP_ACT_NOTIFY",
	NULL,
};

const char *const oci_seccomp_operator_names[] = {
	"SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE", "SCMP_CMP_EQ",
	"SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ", NULL,
};

const char *const oci_seccomp_arch_names[] = {
	"SCMP_ARCH_X86",         "SCMP_ARCH_X86_64",      "SCMP_ARCH_X32",
	"SCMP_ARCH_ARM",         "SCMP_ARCH_AARCH64",     "SCMP_ARCH_LOONGARCH64",
	"SCMP_ARCH_M68K",        "SCMP_ARCH_MIPS",        "SCMP_ARCH_MIPS64",
	"SCMP_ARCH_MIPS64N32",   "SCMP_ARCH_MIPSEL",      "SCMP_ARCH_MIPSEL64",
	"SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",         "SCMP_ARCH_PPC64",
	"SCMP_ARCH_PPC64LE",     "SCMP_ARCH_S390",        "SCMP_ARCH_S390X",
	"SCMP_ARCH_SH",          "SCMP_ARCH_SHEB",        "SCMP_ARCH_PARISC",
	"SCMP_ARCH_PARISC64",    "SCMP_ARCH_RISCV64",     NULL,
};

const char *const oci_seccomp_flag_names[] = {
	"SECCOMP_FILTER_FLAG_TSYNC",
	"SECCOMP_FILTER_FLAG_LOG",
	"SECCOMP_FILTER_FLAG_SPEC_ALLOW",
	"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
	NULL,
};

/* The schema has the first four; docker and podman send the recursive forms too. */
const char *const oci_propagation_names[] = {
	"private", "shared", "slave", "unbindable",
	"rprivate", "rshared", "rslave", "runbindable", NULL,
};

const char *const oci_personality_names[] = {"LINUX", "LINUX32", NULL};

const char *const oci_memory_policy_mode_names[] = {
	"MPOL_DEFAULT",   "MPOL_BIND",           "MPOL_INTERLEAVE", "MPOL_WEIGHTED_INTERLEAVE",
	"MPOL_PREFERRED", "MPOL_PREFERRED_MANY", "MPOL_LOCAL",      NULL,
};

const char *const oci_memory_policy_flag_names[] = {
	"MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES", NULL,
};

const char *const oci_scheduler_policy_names[] = {
	"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH",
	"SCHED_ISO", "SCHED_IDLE", "SCHED_DEADLINE", NULL,
};

const char *const oci_scheduler_flag_names[] = {
	"SCHED_FLAG_RESET_ON_FORK",  "SCHED_FLAG_RECLAIM",        "SCHED_FLAG_DL_OVERRUN",
	"SCHED_FLAG_KEEP_POLICY",    "SCHED_FLAG_KEEP_PARAMS",    "SCHED_FLAG_UTIL_CLAMP_MIN",
	"SCHED_FLAG_UTIL_CLAMP_MAX", NULL,
};

const char *const oci_ioprio_class_names[] = {
	"IOPRIO_CLASS_RT", "IOPRIO_CLASS_BE", "IOPRIO_CLASS_IDLE", NULL,
};

const char *const oci_device_type_names[] = {"c", "b", "u", "p", NULL};

/* getrlimit(2): those that Linux has. */
const char *const oci_rlimit_names[] = {
	"RLIMIT_AS",     "RLIMIT_CORE",       "RLIMIT_CPU",      "RLIMIT_DATA",
	"RLIMIT_FSIZE",  "RLIMIT_LOCKS",      "RLIMIT_MEMLOCK",  "RLIMIT_MSGQUEUE",
	"RLIMIT_NICE",   "RLIMIT_NOFILE",     "RLIMIT_NPROC",    "RLIMIT_RSS",
	"RLIMIT_RTPRIO", "RLIMIT_RTTIME",     "RLIMIT_SIGPENDING", "RLIMIT_STACK",
	NULL,
};

struct strv oci_names_to_strv(struct arena *a, const char *const *names)
{
	struct strv list = {0};

	while (names[list.n])
		list.n++;
	list.v = arena_array(a, list.n + 1, sizeof(*list.v));
	for (size_t i = 0; i < list.n; i++)
		list.v[i] = (char *)names[i];
	return list;
}

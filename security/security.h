/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container process may do: ids, capabilities, seccomp, resource limits, LSM labels,
 * scheduling, keys.
 *
 * sec_plan_build() turns config.json's `process` and `linux` into a struct sec_plan without a
 * system call; runtime/ prints it for `brig plan`. The actions below are rows of INIT's step
 * table. They use raw system calls only: INIT may share its memory with its parent, and libc's
 * setuid family signals "all threads"; they allocate nothing and read no file by path.
 *
 * The order of the rows, and why:
 *   sec_new_keyring         before the ids change: the new keyring must not belong to the caller
 *   sec_set_oom_score_adj   \ may need CAP_SYS_RESOURCE or CAP_SYS_NICE, which go away below
 *   sec_set_rlimits         |
 *   sec_set_scheduling      | (scheduler, io priority, memory policy; after the cgroup is joined)
 *   sec_set_affinity        / (exec only)
 *   sec_set_labels          acts on the next exec; needs the procfs fd
 *   sec_set_personality, sec_set_umask
 *   sec_install_filter      here when sec_filter_first(): without no-new-privileges the kernel
 *                           wants CAP_SYS_ADMIN; the filter must then allow what follows
 *   sec_set_ids             bounding set, groups, gid, uid; permitted capabilities are kept
 *   sec_set_caps            the other four sets
 *   sec_set_pdeathsig       after the ids: the kernel forgets it when credentials change
 *   sec_set_no_new_privs
 *   sec_install_filter      last before exec otherwise
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"

/* Bit n is capability n (linux/capability.h). */
struct sec_caps { uint64_t bounding, permitted, effective, inheritable, ambient; };

struct sec_rlimit { int resource; uint64_t soft, hard; /* UINT64_MAX = unlimited */ };

struct sec_scheduler { /* sched_setattr(2) */
	uint32_t policy;
	uint64_t flags; /* SCHED_FLAG_* */
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* nanoseconds */
};

struct sec_bits { unsigned long *v; size_t n_bits; }; /* CPUs or memory nodes; NULL: not asked */

struct sec_mempolicy { int mode; /* MPOL_* | MPOL_F_* */ struct sec_bits nodes; };

/* A seccomp program as seccomp(2) takes it. */
struct sec_filter {
	const struct sock_filter *insns;
	unsigned short n;
	uint32_t flags; /* SECCOMP_FILTER_FLAG_* */
	bool notify;    /* some call is answered by a listener: installing gives an fd */
};

struct sec_plan {
	uint32_t uid, gid; /* in the container */
	struct u32v groups;
	bool set_groups;  /* false: setgroups is denied in the user namespace, and none are asked for */
	bool keep_groups; /* the caller's stay */
	struct opt_u32 umask;
	struct sec_caps caps;
	int cap_last;        /* the kernel's highest capability */
	uint32_t securebits; /* SECBIT_*; 0 = leave alone */
	bool no_new_privs;
	struct { struct sec_rlimit *v; size_t n; } rlimits;
	struct opt_i32 oom_score_adj;
	const char *apparmor_profile, *selinux_label; /* NULL: leave alone */
	struct sec_scheduler *scheduler;              /* NULL: leave alone */
	struct opt_i32 io_priority;                   /* as ioprio_set(2) takes it */
	struct sec_mempolicy *mempolicy;              /* NULL: leave alone */
	struct opt_u32 personality;
	struct sec_bits affinity_initial, affinity_final; /* for exec; not for the first process */
	bool new_keyring;
	int pdeathsig;                       /* 0 = none */
	const struct oci_seccomp *seccomp;   /* NULL: none asked for */
	const struct sec_filter *filter;     /* set by the caller (sec_filter_cached/_default) */
};

/* What the plan must know of the host. */
struct sec_host {
	int cap_last;
	uint64_t cap_permitted; /* own; what a container without a new user namespace can get */
};

/* Two or three system calls. */
int sec_host_probe(struct sec_host *ret_host, struct err *e);

/* All borrowed; the spec must outlive the plan. */
struct sec_options {
	const struct oci_spec *spec;
	const struct sec_host *host;
	bool new_userns;       /* INIT is in a user namespace made for it: every capability is there */
	bool setgroups_denied; /* /proc/PID/setgroups of that namespace says "deny" */
	bool new_keyring;      /* false: --no-new-keyring */
	int pdeathsig;
	uint32_t securebits;
};

/*
 * Pure: no system call but for warnings in the log (a capability that this kernel does not know
 * or the runtime cannot give is a warning and left out, as the spec says).
 * No process.capabilities means five empty sets.
 */
int sec_plan_build(struct arena *a, const struct sec_options *opt, struct sec_plan **ret_plan,
		   struct err *e);

/* setgroups is denied, as is seen only after a user namespace was joined: an error when groups are asked for. */
int sec_deny_groups(struct sec_plan *p, struct err *e);

/* ---- the actions: 0 or -errno ---- */
/* An anonymous session keyring, always new, with the SELinux label of the process; no-op on kernels
 * without keys and where an outer filter denies every key call. */
int sec_new_keyring(const struct sec_plan *p, int procfs, struct err *e);
/* pid 0: the caller. The parent may do it for its child before the child runs (raising a hard
 * limit needs CAP_SYS_RESOURCE in the initial user namespace). */
int sec_set_rlimits(const struct sec_plan *p, pid_t pid, struct err *e);
int sec_set_oom_score_adj(const struct sec_plan *p, int procfs, struct err *e);
int sec_set_scheduling(const struct sec_plan *p, struct err *e);
/* Nothing when bits.v is NULL. */
int sec_set_affinity(const struct sec_bits *bits, struct err *e);
int sec_set_labels(const struct sec_plan *p, int procfs, struct err *e);
int sec_set_personality(const struct sec_plan *p, struct err *e);
int sec_set_umask(const struct sec_plan *p, struct err *e);
/*
 * Drops the bounding set, then sets groups, gid and uid, and reads them back. Note: a change of
 * uid makes the *memory* undumpable, so also that of a parent that shares it (its /proc/self
 * then belongs to root), and clears the parent-death signal.
 */
int sec_set_ids(const struct sec_plan *p, struct err *e);
/* Permitted, effective, inheritable, then ambient; afterwards nothing privileged works. */
int sec_set_caps(const struct sec_plan *p, struct err *e);
/* The caller must check afterwards that its parent is still there. */
int sec_set_pdeathsig(const struct sec_plan *p, struct err *e);
int sec_set_no_new_privs(const struct sec_plan *p, struct err *e);
/* The filter belongs before the ids (and not at the end). */
bool sec_filter_first(const struct sec_plan *p);
/* *ret_listener: the notify fd, or -1 when the filter has no SCMP_ACT_NOTIFY. No filter: no-op. */
int sec_install_filter(const struct sec_plan *p, int *ret_listener, struct err *e);

/* ---- seccomp programs ---- */

/*
 * Core scheduling: the calling process, and its later children, share the threads of a core with no
 * process outside of them at the same time. The second one tells whether it is needed and possible: 1,
 * 0 when each core has one thread only, -errno with the reason.
 */
int sec_core_scheduling(struct err *e);
int sec_core_scheduling_probe(struct err *e);

/* Every name of the profile has to be that of a call on some architecture. */
int sec_filter_check_names(const struct oci_seccomp *s, struct err *e);

#define SEC_RAW_ANNOTATION "run.oci.seccomp_bpf_data"
#define SEC_GROUPS_ANNOTATION "run.oci.keep_original_groups"

/* Compiles a profile (some 150 us for one of Docker's size); the result lives in a. */
/* The instructions in base64. */
int sec_filter_raw(struct arena *a, const char *text, const struct sec_filter **ret, struct err *e);
int sec_filter_build(struct arena *a, const struct oci_seccomp *s, struct sec_filter **ret_filter,
		     struct err *e);
/*
 * The same through a cache of compiled programs in the directory dirfd (0700, ours): a file that
 * is not ours, has another mode, size, version or profile is ignored and replaced. A cache that
 * cannot be written costs time only. dirfd < 0: no cache.
 */
int sec_filter_cached(struct arena *a, int dirfd, const struct oci_seccomp *s,
		      struct sec_filter **ret_filter, struct err *e);
/* The built-in profile for untrusted code: assembled from a constant table in microseconds, without
 * libseccomp and without a cache. config.json could not say the same: it has no "else". */
const struct sec_filter *sec_filter_default(struct arena *a);
/* The same for a container with these capabilities (bits), which is somebody's whole system: what
 * container engines allow for them, but for sockets that load modules, keys, and typing into terminals. */
const struct sec_filter *sec_filter_container(struct arena *a, uint64_t caps);

/* ---- names, for printing plans and features ---- */
/* "CAP_CHOWN", NULL when unknown; and back, -1 when unknown. */
const char *sec_cap_name(int cap);
int sec_cap_number(const char *name);
/* "RLIMIT_NOFILE", NULL when unknown. */
const char *sec_rlimit_name(int resource);
/* NULL-terminated lists of what config.json may name. */
extern const char *const sec_seccomp_actions[], *const sec_seccomp_operators[],
	*const sec_seccomp_archs[], *const sec_seccomp_flags[];
/* Whether this kernel takes the flag (one or two system calls). */
bool sec_seccomp_flag_supported(const char *flag);

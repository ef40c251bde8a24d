/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups: resources of a container -> list of (file, value) -> a cgroup with limits.
 *
 *   cg_probe       what the host has (a few system calls, hot path)
 *   cg_plan_build  pure: spec + probe result -> struct cg_plan, changes and asks nothing
 *   cg_create      makes the cgroup, enables controllers, writes limits; no process is in it yet
 *   cg_fd          v2: give it to clone3(CLONE_INTO_CGROUP); -1 otherwise: then call
 *   cg_attach      puts a process in (v1, systemd driver), before it runs any foreign code
 *   cg_kill, cg_freeze, cg_thaw, cg_stats, cg_apply, cg_procs    while it lives
 *   cg_destroy     ends what is left, removes the cgroup, its children and parents that we made
 *
 * Three drivers stand behind one struct cg: v2 by file system (v2.c), v1 (v1.c), and a systemd
 * scope (systemd.c), which after cg_attach is v2 again. cg_open gives back an open struct cg from
 * the strings cg_paths gave for a record.
 *
 * Default place: <base>/brig-<id>, one level, so that a start makes one directory and nothing is
 * shared between two starts. base is: the nearest cgroup above us (ourselves included) that
 * systemd marks as delegated ("user.delegate"); else for root the root of the mount ("/brig" in it
 * on a host with systemd), for others the topmost cgroup above us that we may write. A relative
 * cgroupsPath is below base, an absolute one below the root of the mount. See doc/cgroups.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "spec/oci.h"
#include "spec/types.h"

enum cg_kind {
	CG_NONE, /* no cgroup file system that we may write */
	CG_V2,
	CG_V1, /* legacy or hybrid: the controllers are on v1 hierarchies */
};

/* Controllers; the v2 name is used ("io" is "blkio" on v1). Bit 1u << x in masks. */
enum cg_controller {
	CG_CPU,
	CG_CPUSET,
	CG_MEMORY,
	CG_PIDS,
	CG_IO,
	CG_HUGETLB,
	CG_RDMA,
	CG_MISC,
	CG_CPUACCT, /* v1 only, like all that follow */
	CG_DEVICES,
	CG_FREEZER,
	CG_NET_CLS,
	CG_NET_PRIO,
	CG_PERF_EVENT,
	CG_CORE, /* files every cgroup has ("cgroup.max.depth", "*.pressure"): nothing to enable */
	CG_CONTROLLERS,
};
#define CG_BIT(c) (1u << (c))

/* "memory"...; v1 selects "blkio" for CG_IO. */
const char *cg_controller_name(enum cg_controller c, enum cg_kind kind);

/* One v1 hierarchy; co-mounted controllers (cpu,cpuacct) share one. */
struct cg_hierarchy {
	uint32_t controllers; /* mask */
	char *dir;            /* its directory below the mount: "memory", "cpu,cpuacct" */
	char *own;            /* our own path in it, begins with '/' */
};

/* What cg_probe found. Strings are in the arena given to it. */
struct cg_host {
	enum cg_kind kind;
	const char *mount; /* "/sys/fs/cgroup" */
	int root;          /* v2: O_PATH fd of the mount's root; -1 otherwise */
	uid_t euid;
	bool writable;        /* a child of base can be made */
	uint32_t controllers; /* mask: present on the host (v2: at the root of the mount) */
	char *own;            /* v2: our own path below the mount, begins with '/' */
	char *base;           /* where default and relative paths go, begins with '/' */
	struct cg_hierarchy v1[CG_CONTROLLERS];
	size_t v1_n;
	const char *why_none; /* CG_NONE or !writable: half a sentence for a message */
	const char *bus;      /* socket of a systemd that would make a scope for us; NULL: none */
};

/*
 * Looks at /sys/fs/cgroup and /proc/self/cgroup. A host without cgroups is not an error
 * (kind CG_NONE); only failing system calls are. About 10 system calls on v2.
 */
int cg_probe(struct arena *a, struct cg_host *ret_host, struct err *e);
/* Closes root. */
void cg_host_close(struct cg_host *h);
#define auto_cg_host __attribute__((cleanup(cg_host_close)))

/* What it means when the file of a setting does not exist. */
enum cg_missing {
	CG_MISSING_ERROR,           /* the limit cannot be enforced */
	CG_MISSING_OK,              /* it holds without the file */
	CG_MISSING_OK_WITHOUT_SWAP, /* it holds when the host has no swap (or an error) */
	CG_MISSING_NEXT,            /* the next setting is the substitute; skipped otherwise */
};

/* A limit: what is written where, and the config.json member it comes from (for messages). */
struct cg_setting {
	enum cg_controller controller;
	const char *file, *value;
	const char *origin; /* "linux.resources.memory.limit" */
	enum cg_missing missing;
	bool pair; /* bounded by the next one: when refused, that one goes first */
};
struct cg_setting_list {
	struct cg_setting *v;
	size_t n;
};

/* A rule of the device filter, after defaults were added. -1 = any number. */
struct cg_device_rule {
	bool allow;
	char type;       /* 'a' 'b' 'c' */
	unsigned access; /* CG_DEV_* */
	int64_t major, minor;
};
#define CG_DEV_MKNOD 1u
#define CG_DEV_READ  2u
#define CG_DEV_WRITE 4u
struct cg_device_list {
	struct cg_device_rule *v;
	size_t n;
};

/* The input of cg_plan_build; all const and borrowed. */
struct cg_request {
	const struct oci_spec *spec;
	const char *id; /* a valid id (str_valid_id) */
	const struct cg_host *host;
	bool rootless;    /* euid != 0, or in a user namespace: no device filter */
	bool systemd;     /* --systemd-cgroup: cgroupsPath is "slice:prefix:name" */
	bool disabled;    /* --cgroup-manager=disabled: no cgroup, limits are an error */
	bool best_effort; /* a limit that cannot be enforced is a warning, not an error */
	bool managed;     /* somebody will change limits later, as if cgroupsPath were named */
};

enum cg_driver { CG_DRIVER_NONE, CG_DRIVER_FS, CG_DRIVER_SYSTEMD };

struct cg_plan {
	enum cg_kind kind;
	enum cg_driver driver; /* CG_DRIVER_NONE: run without a cgroup of our own */
	char *path;            /* below the mount, begins with '/'; systemd: NULL */
	char *slice, *unit;    /* systemd driver */
	struct str_map annotations; /* systemd driver: has the properties of the unit; borrowed */
	const char *leaf;      /* systemd driver: the cgroup below the scope; "": the scope itself */
	const char *child;     /* the program's cgroup is this one below ours, without limits; or NULL */
	uid_t child_uid;       /* its owner */
	bool explicit_path;    /* from cgroupsPath: an existing empty cgroup is used as is */
	uint32_t controllers;  /* mask: have to be enabled for the settings */
	uint32_t wanted;       /* mask: nice to have (stats), enabled where that is free */
	struct cg_setting_list settings; /* in the order in which they are written */
	bool filter_devices; /* devices holds the whole policy, first match from the end */
	struct cg_device_list devices;
	bool delegate; /* chown to owner_uid (OCI "Cgroup ownership") */
	uid_t owner_uid;
	bool check_before_update;
	struct strv warnings; /* best effort or ignored members, one sentence each */
};

/*
 * Pure. The plan lives in the arena and borrows strings of the spec. Errors: a limit whose
 * controller the host lacks, values out of range, a path with "..", v1-only limits on v2, ...
 * each names the member of config.json and the fix.
 */
int cg_plan_build(struct arena *a, const struct cg_request *rq, struct cg_plan **ret_plan,
		  struct err *e);
/* For `update`: the settings of these resources only (no path, no devices unless listed). */
int cg_plan_update(struct arena *a, const struct oci_resources *r, const struct cg_request *rq,
		   struct cg_plan **ret_plan, struct err *e);

/* Annotations of crun: names of cgroups. */
#define CG_ANNOTATION_LEAF "run.oci.systemd.subgroup"
#define CG_ANNOTATION_CHILD "run.oci.delegate-cgroup"

/* An open cgroup. */
struct cg;

/*
 * Makes the cgroup with all settings. On failure nothing is left behind. With CG_DRIVER_NONE a
 * struct cg without a cgroup comes back, on which every function works trivially. Empties our own
 * cgroup into the leaf "brig-init" when base is our own cgroup and a controller is to be enabled.
 */
int cg_create(const struct cg_host *h, const struct cg_plan *p, struct cg **ret_cg, struct err *e);
/*
 * The same without the device program; cg_set_devices loads and attaches it later, before any
 * foreign code runs (it costs ~0.25 ms, which can overlap with the work of INIT).
 */
int cg_create_without_devices(const struct cg_host *h, const struct cg_plan *p, struct cg **ret_cg,
			      struct err *e);
int cg_set_devices(struct cg *cg, const struct cg_plan *p, struct err *e);
/* Borrowed fd for CLONE_INTO_CGROUP; -1: not possible, use cg_attach. */
int cg_fd(const struct cg *cg);
/* Moves a process in; systemd driver: makes the scope around it, then writes the settings. */
int cg_attach(struct cg *cg, pid_t pid, struct err *e);
/* Makes p->child and moves the process from our cgroup into it. */
int cg_enter_child(struct cg *cg, const struct cg_plan *p, pid_t pid, struct err *e);
/* Closes fds and frees; the cgroup stays. NULL is allowed. */
void cg_close(struct cg *cg);
static inline void cleanup_cg(struct cg **cg)
{
	cg_close(*cg);
	*cg = NULL;
}
#define auto_cg __attribute__((cleanup(cleanup_cg)))

/*
 * For a record: v2 one path "/..."; v1 "v1:memory:/...", one for each hierarchy; systemd also
 * "unit:NAME". No cgroup: n == 0. Complete only after cg_attach with the systemd driver.
 */
struct strv cg_paths(const struct cg *cg, struct arena *a);
/* -ENOENT when the cgroup is gone. The strings are checked like a hostile path. */
int cg_open(const struct strv *paths, struct cg **ret_cg, struct err *e);

/* Writes the settings of a plan to a live cgroup (`update`). When one is refused, those that were
 * written already get their old values again. */
int cg_apply(struct cg *cg, const struct cg_plan *p, struct err *e);

/* SIGKILL to every process in it and below, no fork escapes; does not wait. */
int cg_kill(struct cg *cg, struct err *e);
/* Return when all processes are stopped (or go on again); -ETIMEDOUT after 10 s. */
int cg_freeze(struct cg *cg, struct err *e);
int cg_thaw(struct cg *cg, struct err *e);
/* 1 frozen, 0 not, or -errno. */
int cg_is_frozen(struct cg *cg, struct err *e);
/* Pids (in our pid namespace) in the cgroup and below, in the arena. */
int cg_procs(struct cg *cg, struct arena *a, struct u32v *ret_pids, struct err *e);
/*
 * Kills what is left, waits until it is gone (cgroup.events; v1: pidfds), removes sub-cgroups, the
 * cgroup, and parents that any brig made and that are empty now. A cgroup that is gone already is
 * success. cg stays to be closed.
 */
int cg_destroy(struct cg *cg, struct err *e);

/* Removes the cgroup of cg_open, and no other, if nobody is in it and nothing below it. */
void cg_remove_empty(struct cg *cg);

struct cg_psi {
	bool set;
	uint64_t some_usec, full_usec;
};

/* Members are unset where the kernel or the missing controller gives no number. */
struct cg_stats {
	struct opt_u64 memory_current, memory_peak, memory_limit, memory_swap; /* bytes */
	struct opt_u64 oom, oom_kill; /* limit reached with nothing to reclaim; processes killed */
	struct opt_u64 cpu_usage_usec, cpu_user_usec, cpu_system_usec;
	struct opt_u64 cpu_periods, cpu_throttled, cpu_throttled_usec;
	struct opt_u64 pids_current, pids_peak, pids_limit, pids_max_events;
	struct opt_u64 io_read_bytes, io_write_bytes, io_reads, io_writes; /* over all devices */
	struct cg_psi cpu_psi, memory_psi, io_psi; /* totals since creation */
};

/* What to read; each costs one to four files. */
#define CG_STATS_MEMORY 1u
#define CG_STATS_CPU    2u
#define CG_STATS_PIDS   4u
#define CG_STATS_IO     8u
#define CG_STATS_PSI    16u
#define CG_STATS_ALL    31u
int cg_stats(struct cg *cg, unsigned what, struct cg_stats *ret_stats, struct err *e);
/* Only cpu_usage_usec, for a CPU-time limit: one pread on an fd kept open. Value or -errno. */
int64_t cg_cpu_usec(struct cg *cg);
/* Only the OOM kill count; value or -errno. */
int64_t cg_oom_kills(struct cg *cg);

/* CG_NONE: without a cgroup. */
enum cg_kind cg_kind_of(const struct cg *cg);
/*
 * A file of the cgroup as the kernel has it: "memory.events" on v2, "memory.oom_control" on v1, where
 * the controller chooses the hierarchy. The fd or -errno; -ENOENT also when there is no such
 * controller.
 */
int cg_open_file(const struct cg *cg, enum cg_controller c, const char *file, int flags);

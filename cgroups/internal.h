/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cgroups/ share. Nothing outside of this folder includes it. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "cgroups/cgroup.h"

#define CG_MOUNT "/sys/fs/cgroup"
/* The leaf into which the processes of a cgroup go that has to have children. */
#define CG_LEAF "brig-init"
/* How long we wait for the kernel to stop or bury processes, in milliseconds. */
#define CG_PATIENCE_MS 10000

/* ---- an open cgroup ---- */

/* One directory: v2 has one, v1 one for each hierarchy. */
struct cg_dir {
	uint32_t controllers; /* v1: mask of the hierarchy */
	int root;             /* O_PATH fd of the hierarchy's root */
	int fd;               /* O_PATH fd of the cgroup */
	char *path;           /* below root, begins with '/' */
	char *hierarchy;      /* v1: "memory" */
};

struct cg_ops;

struct cg {
	const struct cg_ops *ops; /* NULL: no cgroup at all */
	struct cg_dir dirs[CG_CONTROLLERS];
	size_t n;
	bool unfiltered; /* made by us a moment ago: there is no device program to replace */
	int cpu_stat;    /* kept open for cg_cpu_usec; -1 until then */
	const struct cg_plan *deferred; /* systemd driver before cg_attach; borrowed */
	char *bus;                      /* systemd driver: the socket to talk to */
	char *unit;                     /* systemd driver: name of the scope */
};

/* The part that differs between v1 and v2. Every function gets a cg with n > 0. */
struct cg_ops {
	int (*apply)(struct cg *cg, const struct cg_plan *p, struct err *e);
	int (*devices)(struct cg *cg, const struct cg_plan *p, struct err *e);
	int (*kill)(struct cg *cg, struct err *e);
	int (*freeze)(struct cg *cg, bool frozen, struct err *e);
	int (*is_frozen)(struct cg *cg, struct err *e);
	int (*procs_dir)(const struct cg *cg); /* fd of the directory that lists all members */
	int (*stats)(struct cg *cg, unsigned what, struct cg_stats *s, struct err *e);
	int64_t (*cpu_usec)(struct cg *cg);
	int64_t (*oom_kills)(struct cg *cg);
	int (*destroy)(struct cg *cg, struct err *e);
};
extern const struct cg_ops cg_ops_v1, cg_ops_v2;

int cg_stats_v2(struct cg *cg, unsigned what, struct cg_stats *s, struct err *e);
int64_t cg_cpu_usec_v2(struct cg *cg);
int64_t cg_oom_kills_v2(struct cg *cg);

struct cg *cg_alloc(const struct cg_ops *ops);
int cg_create_v1(const struct cg_host *h, const struct cg_plan *p, struct cg *cg, struct err *e);
int cg_create_v2(const struct cg_host *h, const struct cg_plan *p, struct cg *cg, struct err *e);
/* Only the directory, p->path; no limits yet. root: the mount's root, -1 to open it. */
int cg_make_v2(int root, const struct cg_plan *p, struct cg *cg, struct err *e);
/* Writes the limits of a plan, enabling controllers; own: the cgroup whose processes may move. */
int cg_settle_v2(struct cg *cg, const char *own, const struct cg_plan *p, struct err *e);
int cg_open_v1(const struct strv *paths, struct cg *cg, struct err *e);
int cg_open_v2(const char *path, struct cg *cg, struct err *e);
/* Path of the private socket of the service manager that we belong to, in buf; returns buf. */
const char *cg_systemd_socket(uid_t uid, char *buf, size_t size);
/* Makes the scope cg->unit around pid, in the plan's slice, and opens its cgroup. */
int cg_attach_systemd(struct cg *cg, const struct cg_plan *p, pid_t pid, struct err *e);
/* New limits for the scope of a live container; its files are not ours to write. */
int cg_update_scope(const struct cg *cg, const struct cg_plan *p, struct err *e);
/* Ends the scope and waits until its name is free; best effort, for an empty scope ends by itself. */
void cg_stop_scope(const struct cg *cg);
struct strbuf;
/* The beginning of an element of the array a(sv): a name and the type of the value to follow. */
void cg_put_property(struct strbuf *b, const char *name, const char *type);
/* The limits of the plan as elements of the array a(sv) at the end of b. */
int cg_put_limits(struct strbuf *b, const struct cg_plan *p, struct err *e);
void cg_put_accounting(struct strbuf *b);
/* The annotations org.systemd.property.* as elements of the array a(sv) at the end of b. */
int cg_put_properties(struct strbuf *b, const struct str_map *annotations, struct err *e);

/* ---- probe ---- */

/* The text of /proc/self/cgroup -> h->v1, h->own (v2), h->controllers (v1 part). */
int cg_parse_self(struct arena *a, const char *text, struct cg_host *h, struct err *e);
/* "cpu io memory" -> mask; unknown names are ignored. */
uint32_t cg_parse_controllers(const char *text);
int cg_open_root(struct err *e); /* CG_MOUNT when it is cgroup2, else -EMEDIUMTYPE */

/* ---- plan ---- */

struct cg_builder {
	struct arena *a;
	const struct cg_request *rq;
	struct cg_plan *p;
	size_t settings_cap, devices_cap, warnings_cap;
	bool no_swap; /* v2: memory.swap.max is 0 */
	struct err *e;
};

/* A place to write and where the wish came from. */
struct cg_target {
	enum cg_controller controller;
	const char *file, *origin;
	enum cg_missing missing;
	bool pair;
};
#define CG_TARGET(c, f, o, ...)                                                                    \
	{                                                                                          \
		.controller = (c), .file = (f), .origin = (o), __VA_ARGS__                         \
	}
void cg_add(struct cg_builder *b, const struct cg_target *t, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A limit that cannot be had: a warning with best_effort (returns 0), else an error. */
int cg_refuse(struct cg_builder *b, const char *origin, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cg_warn(struct cg_builder *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int cg_settings_v2(struct cg_builder *b, const struct oci_resources *r);
int cg_settings_v1(struct cg_builder *b, const struct oci_resources *r);
/* word: "max" (v2), "limit_in_bytes" (v1). */
int cg_settings_hugetlb(struct cg_builder *b, const struct oci_hugepage_limit_list *l,
			const char *word);
void cg_settings_rdma(struct cg_builder *b, const struct oci_rdma_list *l);
int cg_plan_devices(struct cg_builder *b, const struct oci_resources *r);
/* v1: the device policy as writes to devices.allow and devices.deny. */
int cg_settings_devices_v1(struct cg_builder *b);

/* cpu.shares (2 to 262144) -> cpu.weight (1 to 10000). */
unsigned cg_weight_of_shares(uint64_t shares);
/* Checks that all apply: returns the mask of controllers of a file name like "memory.max". */
enum cg_controller cg_controller_of_file(const char *file);

/* ---- device program ---- */

struct bpf_insn;
/* Writes the program for the rules to prog[max]; the length or -E2BIG. */
int cg_bpf_generate(const struct cg_device_list *rules, struct bpf_insn *prog, size_t max);
/* true: the rules allow everything, no program is needed. */
bool cg_devices_allow_all(const struct cg_device_list *rules);
/* Loads and attaches; with replace, programs attached before are detached after that. */
int cg_bpf_apply(int dir, const struct cg_device_list *rules, bool replace, struct err *e);

/* ---- files and trees ---- */

/* Writes all settings of the plan whose controller is in mask (v1) or all (v2, mask ~0). */
int cg_write_settings(const struct cg_dir *d, const struct cg_setting_list *l, uint32_t mask,
		      struct err *e);
/* What the files of these settings say; cg_put_back writes it again. The arena is the caller's to
 * free. */
struct cg_before {
	struct arena *arena;
	struct cg_setting_list list;
	int *dirs; /* of each setting; borrowed */
};
void cg_remember(const struct cg *cg, const struct cg_setting_list *l, struct cg_before *b);
void cg_put_back(const struct cg *cg, const struct cg_plan *p, const struct cg_before *b);
/* Moves the process into the directory's cgroup. */
int cg_join_dir(const struct cg_dir *d, pid_t pid, struct err *e);
/* Calls visit on the directory and each one below; stops at the first non-zero result. */
int cg_walk(int dir, int (*visit)(int dir, void *arg), void *arg, struct err *e);
/* Pids of one directory's cgroup.procs, appended. */
struct cg_pids {
	pid_t *v;
	size_t n, cap;
};
int cg_read_procs(int dir, struct cg_pids *pids);
/* Removes all directories below dir, deepest first; 0 or -errno, no message. */
int cg_remove_children(int dir);
/* rmdir of path below root; then of its parents for as long as they are ours and empty. */
int cg_remove_path(int root, const char *path, struct err *e);
/* Opens path (begins with '/') below root, O_PATH. The fd or -errno, no message. */
int cg_open_below(int root, const char *path);
/*
 * mkdir of path below root with missing parents, which get our mark. made: called on each
 * directory that was made (v1 cpuset), may be NULL. *ret_fresh: the last one is new.
 */
struct cg_mkdir {
	int root;
	const char *path;
	int (*made)(int parent, int dir);
	bool fresh; /* result: the last directory is new */
};
int cg_mkdir_path(struct cg_mkdir *m, struct err *e);
/* A path from a config or state file: begins with '/', no "..", no empty component, < PATH_MAX. */
bool cg_path_is_clean(const char *path);
/* "key value" lines: the value of key; false when absent. */
bool cg_find_value(const char *text, const char *key, uint64_t *ret_value);
/* Whole file as number ("max" = UINT64_MAX). */
struct opt_u64 cg_read_u64(int dir, const char *file);

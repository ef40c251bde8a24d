/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what will be done, decided before anything is changed. plan_build is the only function
 * that sees both the spec and the host, and it makes no system call; `brig plan` prints the result.
 */
#pragma once

#include "base/arena.h"
#include "json/writer.h"
#include "rootfs/rootfs.h"
#include "runtime/runtime.h"
#include "security/landlock.h"
#include "security/security.h"
#include "spec/oci.h"

/* How the maps of a new user namespace without mappings in the spec are chosen. */
enum plan_userns {
	PLAN_USERNS_SPEC,   /* strict OCI: only what the spec says */
	PLAN_USERNS_AUTO,   /* a private range when one can be had, else the caller's id alone */
	PLAN_USERNS_SINGLE,
	PLAN_USERNS_RANGE,
	PLAN_USERNS_CALLER, /* the caller is root inside, behind it are its subordinate ids */
};

struct plan_options {
	const char *id;          /* valid by str_valid_id */
	const char *bundle;      /* absolute */
	bool sandbox;            /* default seccomp profile, hidepid, no nested user namespaces */
	bool host_rootfs;        /* the built-in rootfs instead of root.path */
	const struct rootfs_overlay *overlay; /* layers instead of root.path */
	bool nodev;              /* binds are nodev (the caller's matter) and so is the root: in a user namespace
				  * the tree then has no devices but those that we put there */
	bool default_seccomp;
	bool container_seccomp;  /* the same, for a container with its capabilities */
	bool tiny_init;          /* pid 1 is our init, the payload its child */
	bool die_with_parent;
	bool best_effort;
	bool core_scheduling;    /* a cookie of its own: no thread of others beside it on a core */
	bool hostname_optional;  /* nobody asked for it */
	bool limits_change;      /* later, by an update, of which this start knows nothing */
	bool bind_proc;          /* sandbox: our /proc bound; others: the annotation org.brig.proc */
	bool no_pivot, no_new_keyring;
	enum plan_userns userns;
	bool systemd_cgroup, no_cgroup;
	bool create;             /* INIT waits for `start` before the exec */
	const char *handler_dir; /* where run.oci.handler is looked up; NULL: it has no effect */
	unsigned preserve_fds;
	struct strv extra_env;   /* instead of process.env's entries of the same name */
	struct oci_mount *extra_mount; /* behind those of the spec; may be NULL */
	unsigned listen_fds;     /* the first of preserve_fds */
	char *listen_pid;        /* the entry of extra_env that INIT writes its pid to */
	bool notify;             /* the container has a notify socket */
};

struct plan_join { const char *type, *path; uint64_t flag; };

struct plan {
	const struct oci_spec *spec;
	struct plan_options options;

	uint64_t new_ns;         /* CLONE_NEW* */
	struct plan_join *joins;
	size_t n_joins;
	bool share_vm;           /* INIT is a CLONE_VM child */

	struct oci_id_mapping_list uid_maps, gid_maps; /* of a new user namespace */
	bool setgroups_denied;

	struct cg_plan *cgroup;
	struct rootfs_plan *rootfs; /* NULL: no mount namespace */
	struct sec_plan *security;

	struct sec_wall *wall;   /* NULL: no Landlock */
	const char *handler;     /* name of the program that runs argv[1], argv[0] is it too; NULL: none */
	char **argv, **envp;     /* NULL-terminated; entries without '=' are dropped */
	size_t n_env;            /* envp has room for one more */
	bool find_home;          /* HOME is not given: from the container's passwd */
	const char *cwd;
	const char *hostname, *domainname; /* NULL: untouched */
};

/* All borrowed; the spec must outlive the plan. */
struct plan_input {
	const struct oci_spec *spec;
	const struct plan_options *options;
	const struct rt_host *host;
};

int plan_build(struct arena *a, const struct plan_input *in, struct plan **ret, struct err *e);

/* "pid" of CLONE_NEWPID. */
const char *plan_ns_name(uint64_t flag);
/* CLONE_NEW* of the namespaces that are joined by path. */
uint64_t plan_joined(const struct plan *p);
/* cg_paths before the cgroup exists, and the host directories that a mount of type cgroup shows. */
struct strv plan_cgroup_paths(struct arena *a, const struct plan *p, const struct rt_host *h);
void plan_cgroup_dirs(struct arena *a, const struct plan *p, const struct rt_host *h,
		      struct rootfs_options *ro);

void plan_write(struct json_writer *w, const struct plan *p);

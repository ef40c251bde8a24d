/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two documents about a running container: our own record (read and written by a field table;
 * a new key is one member and one row) and the OCI state object of runtime.md, which `state`,
 * hooks and seccomp agents get.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "json/fields.h"
#include "json/writer.h"
#include "spec/oci.h"

#define SPEC_STATE_VERSION 1

struct spec_state_namespace { char *type, *path; }; /* path: "/proc/PID/ns/X", or what was joined */
struct spec_state_namespace_list { struct spec_state_namespace *v; size_t n; };

struct spec_state_cgroup {
	char *manager;      /* "fs", "systemd"; NULL in the caller's cgroup */
	struct strv paths;  /* v2: one path below the mount; v1: "controller:path" each */
	struct strv made;   /* the same, about to be made where somebody else's may be: removed only if empty */
	char *scope, *slice; /* systemd */
	bool user;          /* the user's systemd instance */
};

struct spec_state {
	uint32_t version;         /* SPEC_STATE_VERSION; a newer one is refused */
	char *oci_version;        /* of the bundle */
	char *id, *bundle, *rootfs; /* absolute paths */
	char *created;            /* RFC 3339 with nanoseconds, UTC */
	char *phase;              /* "creating", "created", "running" */
	int64_t init_pid;         /* in the pid namespace of boot_id's host; 0 before the clone */
	uint64_t init_start_time; /* /proc/PID/stat field 22, clock ticks */
	char *boot_id;            /* /proc/sys/kernel/random/boot_id */
	struct opt_i64 owner_pid; /* the process that must live for the container to live */
	struct opt_u64 owner_start_time;
	bool ephemeral;
	bool systemd;             /* --systemd-cgroup was given: exec and update must know */
	bool rootless;
	struct spec_state_cgroup *cgroup; /* NULL without one */
	struct spec_state_namespace_list namespaces;
	char *console_socket;
	char *intel_rdt_dir;      /* a resctrl directory of ours to remove */
	struct str_map annotations;
	struct oci_spec *config;  /* NULL, or the configuration that exec and update need */
};

extern const struct json_table spec_state_table;

/* Text of a record. The ids and paths in it are checked, for they are used to delete things. */
int spec_state_parse(const char *text, size_t len, struct arena *a, struct spec_state **ret,
		     struct err *e);
void spec_state_write(struct json_writer *w, const struct spec_state *s);

/*
 * The OCI state object. status: "creating", "created", "running", "paused" or "stopped"; pid as
 * the reader sees it, 0 when stopped. `rootfs` and `created` are additional properties, which
 * go-runc and podman read.
 */
void spec_state_write_oci(struct json_writer *w, const struct spec_state *s, const char *status,
			  pid_t pid);
/* The same with runc's member `owner`: an entry of `brig list`. */
void spec_state_write_listed(struct json_writer *w, const struct spec_state *s, const char *status,
			     pid_t pid, const char *owner);
/* The container process state of config-linux.md for a seccomp agent: one fd, "seccompFd". pid: of
 * the process that the filter binds; the container's own is s->init_pid, or the same while that is 0. */
void spec_state_write_seccomp(struct json_writer *w, const struct spec_state *s,
			      const char *status, pid_t pid, const char *metadata);

/* A time since 1970 (not before) in the form of `created`: RFC 3339, UTC, nanoseconds; and the
 * current one. buf has SPEC_TIME_SIZE bytes; both return it. */
#define SPEC_TIME_SIZE 64
char *spec_time_format(char *buf, int64_t secs, long nanosecs);
char *spec_time_now(char *buf);

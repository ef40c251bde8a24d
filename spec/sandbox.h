/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox spec: a config.json in which everything may be left out but process.args, and what
 * is left out gets the hardened default. What OCI has no place for are settings: annotations
 * "org.brig.NAME" of the document, or options --NAME of `brig sandbox`; one table has them all.
 *
 *   sandbox_parse      text -> spec and options, as given; nothing filled in
 *   sandbox_set        one setting from the command line; overrides the document
 *   sandbox_defaults   pure: completes the spec; afterwards spec_validate() and plan_build() fit
 *
 * The document is strict where config.json is lenient: an unknown key or an unknown org.brig.*
 * annotation is an error, since a typo would make the sandbox weaker without a word. `hooks` are
 * refused: they run on the host.
 *
 * Rules for what is given: scalars and whole lists replace the default (an empty maskedPaths masks
 * nothing). Namespaces and rlimits are replaced by type, mounts by destination, the others stay;
 * process.env goes over the default variables. A bind mount is read-only unless it says "rw", and
 * nosuid and nodev unless it says "suid" or "dev".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "spec/oci.h"

#define SANDBOX_ANNOTATION "org.brig."
#define SANDBOX_WORKSPACE "/workspace"
#define SANDBOX_OUTPUTS "/outputs"
#define SANDBOX_SECRETS "/run/secrets"

enum sandbox_output_action { SANDBOX_OUTPUT_TRUNCATE, SANDBOX_OUTPUT_KILL };
enum sandbox_network { SANDBOX_NETWORK_NONE, SANDBOX_NETWORK_HOST };
enum sandbox_proc { SANDBOX_PROC_NEW, SANDBOX_PROC_BIND };
enum sandbox_userns { SANDBOX_USERNS_AUTO, SANDBOX_USERNS_SINGLE, SANDBOX_USERNS_RANGE };

/* Times in nanoseconds, sizes in bytes; a time limit of 0 is "none". sandbox_defaults sets every
 * member that has a default. */
struct sandbox_options {
	struct opt_u64 memory;       /* -> linux.resources.memory.limit and .swap */
	struct opt_u64 cpu_quota;    /* -> linux.resources.cpu.quota; microseconds in 100 ms */
	struct opt_u64 pids;         /* -> linux.resources.pids.limit, one more with init */
	struct opt_u64 timeout_ns, cpu_time_ns;
	struct opt_u64 output_limit; /* a stream */
	struct opt_u64 tmp_size, work_size, shm_size;
	struct opt_bool init, best_effort, core_scheduling;
	struct opt_u32 output_action, network, userns, proc; /* the enumerations above */
	struct strv env_allow;       /* names copied from the caller's environment */
	char *outputs;               /* directory of the host, absolute: SANDBOX_OUTPUTS, writable */
	char *outputs_at;            /* there instead; set by sandbox_defaults */
	char *ports;                 /* "80,443" or "all": TCP ports outside; NULL: none */
	char *image;                 /* a loaded image: the root file system; NULL: root.path, or the host's */
	char *stdin_text;            /* given to the program; NULL: nothing */

	struct strv secrets;         /* names; files SANDBOX_SECRETS/NAME, variables NAME_FILE */
	bool default_seccomp;        /* the spec has no filter of its own; set by sandbox_defaults */
	bool default_hostname;       /* the spec has none; set by sandbox_defaults */
	bool host_rootfs;            /* the spec has no root.path; set by sandbox_defaults */
	/* Which members of the spec were given, where its struct cannot tell. */
	bool given_masked, given_readonly;
};

/* What the defaults depend on besides the document. */
struct sandbox_host {
	bool cgroup_v2;               /* the limits go to a cgroup v2 */
	bool root_has_workspace;      /* root.path has a directory SANDBOX_WORKSPACE */
	const char *const *environ;   /* of the caller, for env_allow; NULL-terminated */
	struct oci_rlimit_list rlimits; /* current ones: what is above `hard` cannot be had */
	int64_t oom_score_adj;        /* current: it cannot always be lowered */
};

enum sandbox_kind {
	SANDBOX_SIZE,     /* "67108864", "64m", "64MiB": powers of 1024 */
	SANDBOX_DURATION, /* "5", "0.5s", "500ms", "2m", "1h", "none" */
	SANDBOX_CPUS,     /* "0.5" */
	SANDBOX_COUNT,
	SANDBOX_BOOL,
	SANDBOX_CHOICE,
	SANDBOX_NAMES,    /* annotation: "A,B"; option: repeated */
	SANDBOX_PATH,     /* absolute */
	SANDBOX_PORTS,    /* "80,443", "all", "none" */
	SANDBOX_TEXT,
};

struct sandbox_setting {
	const char *name;
	enum sandbox_kind kind;
	size_t offset;              /* in struct sandbox_options */
	const char *const *choices;
	uint64_t min;
	bool in_spec;               /* sandbox_defaults puts it into the spec: nothing of the key */
	const char *arg, *help;     /* for the command line; help NULL: an annotation only */
};
extern const struct sandbox_setting sandbox_settings[];
extern const size_t sandbox_n_settings;

/* A sandbox spec: its OCI part and its settings. */
struct sandbox {
	struct oci_spec *spec;
	struct sandbox_options options;
};

/* Text of a sandbox spec, at most JSON_MAX_BYTES. The result lives in a. */
int sandbox_parse(const char *text, size_t len, struct arena *a, struct sandbox *ret,
		  struct err *e);
/* An empty document, for when all comes from the command line. User 1000, process, root and linux
 * are there, nothing else. */
void sandbox_empty(struct arena *a, struct sandbox *ret);
/* One setting by its name; messages begin with "--name". Lists grow. */
int sandbox_set(struct sandbox_options *o, struct arena *a, const char *name, const char *value,
		struct err *e);
/*
 * Completes *sb in place. Errors: no args, a bad variable, ...; and what spec_validate finds. With
 * host_rootfs the spec's root has no path afterwards.
 */
int sandbox_defaults(struct arena *a, struct sandbox *sb, const struct sandbox_host *h,
		     struct err *e);
/*
 * "sandbox-env:" and the SHA-256 of the completed environment: the spec without process.args and
 * annotations, and the settings without stdin. The names of secrets count; their values are not
 * known here.
 */
char *sandbox_cache_key(struct arena *a, const struct sandbox *sb);

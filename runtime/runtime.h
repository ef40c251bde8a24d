/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every command of `brig` shares: the global options, the facts about the host, and the exit
 * codes of the programs.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/procfs.h"
#include "base/log.h"
#include "cgroups/cgroup.h"
#include "security/security.h"
#include "spec/oci.h"

struct rt_globals {
	char **argv;            /* of main(), to run ourselves again */
	const char *root;       /* --root: the state directory, absolute */
	const char *log_path;   /* --log, NULL = stderr */
	enum log_format log_format;
	enum log_level log_level;
	bool debug;
	bool systemd_cgroup;    /* --systemd-cgroup, --cgroup-manager=systemd */
	bool no_cgroup;         /* --cgroup-manager=disabled */
	const char *handler_dir; /* --handler-dir, absolute */
	bool trace_steps;       /* --trace-steps: microseconds per row on stderr */
};

enum {
	EXIT_SETUP_FAILED = 125,    /* brig could not start the program */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_TIMED_OUT = 124,
	EXIT_SIGNAL_BASE = 128,
};

/* Facts about the host and the caller, probed once at the start of a command. */
struct rt_host {
	uid_t euid;
	gid_t egid;
	bool privileged;        /* CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID effective in our user namespace */
	bool setgroups_denied;  /* in our user namespace, and so in all below it */
	bool may_copy_mounts;   /* privileged, and our mount namespace belongs to our user namespace */
	bool initial_userns;    /* ids outside of our own user namespace do not exist otherwise */
	bool have_subids;       /* a range of subordinate ids and the helpers to map it */
	struct oci_id_mapping subuid, subgid; /* container_id 0, host_id, size */
	int procfs;             /* base/procfs.h; owned by this struct */
	struct cg_host cgroups;
	struct sec_host security;
};

/* Strings live in a. */
int rt_host_probe(struct arena *a, struct rt_host *ret, struct err *e);
void rt_host_close(struct rt_host *h);

/* Every command: 0 or an exit code; errors are logged by the command's caller through `e`. */
typedef int rt_command(int argc, char **argv, const struct rt_globals *g);

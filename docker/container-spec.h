/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a record to what runtime/ starts: the OCI configuration and the options of the plan. The record
 * is not changed, but for `user` names that only the container's own files know; nothing is made on
 * the host.
 */
#pragma once

#include "docker/record.h"
#include "docker/share.h"
#include "runtime/plan.h"

struct dk_spec_input {
	struct dk_context *c;
	const struct dk_store *store;
	const struct dk_record *record;
	const struct rt_host *host;
	const struct dk_network *network;
	const struct dk_share *share; /* NULL: nothing of another container */
	const struct strv *link_env;  /* NULL: none */
};

struct dk_spec {
	struct oci_spec *oci;
	struct plan_options options;
	struct rootfs_overlay overlay;
	struct strv device_sources; /* the host's paths of linux.devices */
};

/* Engine errors. *ret must stay where it is: the options point into it. */
int dk_spec_build(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e);

/* ---- the parts; also for exec, update and inspect ---- */

/* What a further process in the container has: its process object without a user, and its filter. */
int dk_spec_process(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e);
int dk_spec_capabilities(struct arena *a, const struct dk_run_options *o, struct strv *ret, struct err *e);
/* container-mounts.c: in the order in which they are made. */
int dk_spec_mounts(const struct dk_spec_input *in, const struct dk_spec *spec, struct err *e);
/* container-devices.c: behind the resources; and what the plan has to know afterwards. */
int dk_spec_devices(const struct dk_spec_input *in, struct dk_spec *ret, struct err *e);
void dk_spec_place_devices(const struct dk_spec *s, struct rootfs_plan *p);
/* container-limits.c. */
struct oci_resources *dk_spec_resources(struct arena *a, const struct dk_run_options *o, struct err *e);
struct oci_rlimit_list dk_spec_rlimits(struct arena *a, const struct dk_run_options *o);
/* What is behind --security-opt: NULL, or the value of `key` ("seccomp", "apparmor", ...). */
const char *dk_security_opt(const struct dk_run_options *o, const char *key);
/* profile.c: Docker's form of a seccomp profile, for the capabilities that the container has. */
int dk_spec_seccomp(struct arena *a, const char *json, const struct strv *caps, struct oci_seccomp **ret,
		    struct err *e);
bool dk_no_new_privileges(const struct dk_run_options *o);

/* SPDX-License-Identifier: Apache-2.0 */
/* The enumerations of the schemas, NULL-terminated, in the order of the text. */
#pragma once

#include "base/types.h"
#include "base/arena.h"

extern const char *const oci_hook_names[], *const oci_namespace_names[],
	*const oci_seccomp_action_names[], *const oci_seccomp_operator_names[],
	*const oci_seccomp_arch_names[], *const oci_seccomp_flag_names[],
	*const oci_propagation_names[], *const oci_personality_names[],
	*const oci_memory_policy_mode_names[], *const oci_memory_policy_flag_names[],
	*const oci_scheduler_policy_names[], *const oci_scheduler_flag_names[],
	*const oci_ioprio_class_names[], *const oci_device_type_names[],
	*const oci_rlimit_names[];

/* A copy of such a list; the strings are shared. */
struct strv oci_names_to_strv(struct arena *a, const char *const *names);

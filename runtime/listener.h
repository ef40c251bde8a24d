/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.seccomp with SCMP_ACT_NOTIFY: the listener of the filter goes to the agent at listenerPath,
 * with the container process state of config-linux.md. INIT gets the listener from the kernel, the
 * parent sends it on: it knows the pid, and a failure is an error of the command.
 *
 * From the moment the filter is in force until the parent has sent the listener, INIT calls nothing
 * but write(2). What comes then (the rest of the set-up, if the filter is installed early, and the
 * exec) may ask the agent.
 */
#pragma once

#include <sys/types.h>

#include "nsenter/handover.h"
#include "security/security.h"
#include "spec/oci.h"
#include "spec/state.h"

struct rt_listener {
	int agent;   /* connected to listenerPath */
	int pair[2]; /* [1]: INIT sends it there; [0]: our end */
	const struct oci_seccomp *seccomp;
	struct ns_handover handover; /* INIT */
};

#define RT_LISTENER_NONE {.agent = -1, .pair = {-1, -1}}

/* Whether the profile (NULL: none) has a listener. */
bool listener_wanted(const struct oci_seccomp *s);
/* The profiles with a listener under which INIT could not hand it over. */
int listener_check(const struct oci_seccomp *s, struct err *e);
/* PARENT, before the process is made, which has to keep l->pair[1]. */
int listener_connect(struct rt_listener *l, const struct oci_seccomp *s, struct err *e);
/* INIT: installs p->filter and hands its listener over. The next row must be PARENT's listener_send. */
int listener_install(struct rt_listener *l, const struct sec_plan *p, struct err *e);
/* status: of the container; pid: of the process that installed the filter. */
int listener_send(struct rt_listener *l, const struct spec_state *state, const char *status, pid_t pid,
		  struct err *e);
void listener_close(struct rt_listener *l);

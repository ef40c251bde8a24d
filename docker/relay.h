/* SPDX-License-Identifier: Apache-2.0 */
/* Between our terminal and that of a process that is our child. */
#pragma once

#include "docker/attach.h"

struct dk_relay {
	int master, sigfd, pidfd; /* borrowed */
	bool input;               /* what is typed goes there */
	struct dk_keys keys;
};

/* Until the process has ended (it is not reaped) and its output is copied: 0; DK_DETACHED. */
int dk_relay(struct dk_relay *r, struct err *e);

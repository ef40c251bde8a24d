/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher: a small process that is forked before brigd listens and starts every `brig sandbox`
 * for it. So no program is ever started by the process that holds the connections, and starting one
 * copies the page tables of a small process only.
 *
 * Each start is one datagram: the arguments, and descriptors that become 0, 1 and 3, 4, ... of the
 * program; 2 is /dev/null. The answer brings a pidfd. When brigd is gone, the sandboxes end because
 * nobody reads their results any more, and after them the launcher.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/types.h"

enum { LAUNCH_FDS_MAX = 8, LAUNCH_BYTES_MAX = 65536 };

struct launch_request {
	const struct strv *argv;
	const int *fds; /* [0] becomes stdin, [1] stdout, [2] becomes 3, and so on; stay ours */
	size_t n_fds;
};

/* Forks it: to be called before anything is opened that a sandbox must not have. brig: the program. */
int launcher_start(const char *brig, struct err *e);
/* Returns when all it started has ended, or does not within a few seconds. */
void launcher_stop(void);
/* The descriptor to watch; answers come in the order of the requests. */
int launcher_descriptor(void);
int launcher_send(const struct launch_request *q, struct err *e);
/* The next answer: 1 with *ret_pidfd (or -errno in it), 0 when there is none, -errno when the
 * launcher is gone. */
int launcher_receive(int *ret_pidfd);

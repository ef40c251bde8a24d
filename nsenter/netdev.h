/* SPDX-License-Identifier: Apache-2.0 */
/* Moves network interfaces from the caller's network namespace into that of another process. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct ns_netdev {
	const char *host_name;
	const char *name; /* there; NULL: the same. May end in "%d", for the kernel to number. */
};

/*
 * Moves them in order and sets them up there. They keep their attributes and their permanent addresses of
 * global scope. pidfd: of a process in the target namespace. Whether all can be moved is checked
 * first: a name that does not exist here or exists there is an error and nothing has happened.
 */
int ns_move_netdevs(int pidfd, const struct ns_netdev *v, size_t n, struct err *e);

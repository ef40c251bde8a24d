/* SPDX-License-Identifier: Apache-2.0 */
/* Moves network interfaces from the caller's network namespace into that of another process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ns_netdev {
	const char *host_name;
	const char *name; /* there; NULL: the same. May end in "%d", for the kernel to number. */
	/* out */
	int index;        /* there; 0: has not moved */
	bool was_up;      /* here */
};

/*
 * Moves them in order and sets them up there. They keep their attributes and their permanent addresses of
 * global scope. pidfd: of a process in the target namespace. Whether all can be moved is checked
 * first: a name that does not exist here or exists there is an error and nothing has happened. On a later
 * failure those that have moved are back. *ret_netns keeps the target for ns_return_netdevs.
 */
int ns_move_netdevs(int pidfd, struct ns_netdev *v, size_t n, int *ret_netns, struct err *e);
/* All that have moved come back, also when nobody is in netns any more, with their names, addresses and state. */
int ns_return_netdevs(int netns, struct ns_netdev *v, size_t n, struct err *e);

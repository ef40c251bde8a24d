/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network namespace that is made while its owner does other things. It is what takes longest at a
 * start, a quarter of the whole, and nothing before the first process needs it: so a thread of the
 * caller's begins with it as soon as it is known that one is wanted, and leaves a descriptor of it. It belongs
 * to the caller's user namespace.
 */
#pragma once

#include "nsenter/clone.h"

struct ns_net_ahead { /* at one address from begin to take */
	bool with_lo;
	int fd;
	int socket;     /* in it, while lo is down */
	bool begun;     /* the thread has had a processor */
	unsigned alive; /* 0 when the thread is gone */
	long tid;
	struct clone_stack stack;
};

#define NS_NET_AHEAD_NONE {.fd = -1, .socket = -1}

/* with_lo: lo is set up, too. *n is NS_NET_AHEAD_NONE. It may stay so: where there is no second processor that
 * could do it, in builds whose processes share no memory. */
void ns_net_ahead_begin(struct ns_net_ahead *n, bool with_lo);
/* Waits for it. A descriptor for the caller to close (close-on-exec), or -1: nothing was begun, or it
 * failed. That is not reported: who makes a namespace in another way then will hear why. */
int ns_net_ahead_take(struct ns_net_ahead *n, int *ret_socket);
/* By *ret_socket, which the caller closes (close-on-exec; -1: lo is up, or there is no namespace). From any network
 * namespace, and by raw calls alone. -errno. */
int ns_net_ahead_lo_up(int socket);

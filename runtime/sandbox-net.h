/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A way out of a sandbox's own network namespace, for TCP ports that are named (--ports): pasta
 * carries the traffic, nftables rules in the namespace reject everything else, and the program has
 * no capability to change them. There is no way in, and none to the loopback of the host.
 *
 * Both belong to one process, the minder, which is root in the sandbox's user namespace and pid 1 of
 * a pid namespace: when it is killed, pasta is gone, too; and it is killed when we are.
 */
#pragma once

#include "base/err.h"
#include "nsenter/spawn.h"

#define SANDBOX_DNS_ADDRESS "192.0.0.3"

struct sandbox_net {
	const char *ports;       /* "80,443", or "all" */
	struct ns_child minder;  /* set by sandbox_net_connect */
};

/* init: the sandbox's first process, whose ids are mapped. Returns when the network works. */
int sandbox_net_connect(struct sandbox_net *n, const struct ns_child *init, struct err *e);
void sandbox_net_end(struct sandbox_net *n);

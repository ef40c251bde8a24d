/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting one running container with one network, and disconnecting it. */
#pragma once

#include "docker/network.h"

struct dk_connecting {
	const char *id, *name;
	const char *hostname, *hosts; /* the hosts file gets "ADDRESS HOSTNAME"; NULL: it does not */
	struct dk_endpoint *endpoint; /* what it wants; filled in */
	int pidfd;                    /* of its first process */
	int home;                     /* the caller's network namespace */
};

/* Starts the network's holder when it has none. Errors without the engine's prefix. */
int dk_connect(struct arena *a, const struct dk_roots *roots, const struct dk_connecting *c, struct err *e);
struct dk_disconnecting {
	const char *id;
	const struct dk_endpoint *endpoint; /* not changed */
	const char *hosts; /* the file, whose names of the network are taken out; NULL when it has ended */
};
/* With RUN/networks/lock held, and privileged (dk_net_enter). */
int dk_disconnect(struct arena *a, const struct dk_roots *roots, const struct dk_disconnecting *d,
		  struct err *e);

/* docker/hosts.c: only the host itself can ask its name server, for it listens on its loopback. */
bool dk_resolver_is_local(struct arena *a);

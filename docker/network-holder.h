/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that holds a network (see docker/network.h), and the user namespace above it.
 *
 * A network that is in use has the directory RUN/networks/ID:
 *
 *   holder   locked by the holder for as long as it lives; its pid
 *   use      locked (shared) by who is connecting a container; the holder ends only with the lock
 *            for itself alone
 *   e-IP     a container that is connected (docker/network-names.c)
 *
 * RUN/networks/lock is held by who starts a holder, gives an address or changes names.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "docker/network.h"

struct dk_holder {
	pid_t pid;
	int pidfd;
	int nl;     /* dk_holder_connect: a routing socket in its network namespace */
	int bridge; /* number of the bridge */
};
#define DK_HOLDER_NONE {.pid = 0, .pidfd = -1, .nl = -1}

struct dk_holder_want {
	const char *dir;  /* RUN/networks/ID */
	uint32_t gateway; /* the bridge's address, host byte order */
	unsigned prefix;
	bool egress;      /* with pasta */
	bool dns;         /* pasta answers for the host's resolver at DK_DNS_ADDRESS */
};

/* pasta's side of the network's way out; never seen by a container but in traceroute. IANA has these
 * addresses for such links (RFC 7335). */
#define DK_EGRESS_ADDRESS "192.0.0.2"
#define DK_EGRESS_GATEWAY "192.0.0.1"
#define DK_EGRESS_PREFIX "29"
#define DK_DNS_ADDRESS "192.0.0.3"

/* 1: there is one and *ret is set; 0: none; -errno. */
int dk_holder_find(const char *dir, struct dk_holder *ret, struct err *e);
/* Starts one, and returns when the network works. With RUN/networks/lock held. */
int dk_holder_start(const struct dk_holder_want *want, struct dk_holder *ret, struct err *e);
/* home: the caller's own network namespace. */
int dk_holder_connect(struct dk_holder *h, int home, struct err *e);
/* How many containers are connected; with h->nl. */
unsigned dk_holder_ports(const struct dk_holder *h);
/* Kills it and waits until it is gone, with all in its pid namespace. */
void dk_holder_stop(struct dk_holder *h);
void dk_holder_close(struct dk_holder *h);
#define auto_holder __attribute__((cleanup(dk_holder_close)))

/* Ports of the bridge are "v" and the container's address in eight hex digits. */
bool dk_port_name(const char *name, uint32_t *ret_address);

/* May the caller connect namespaces of others? */
bool dk_net_privileged(void);
/*
 * Enters the user namespace above all networks of an unprivileged caller, and a mount namespace that
 * belongs to it; makes one when there is none and `create`. 1: in it; 0: the caller is privileged
 * anyway, or there is none. With RUN/networks/lock held.
 */
int dk_net_enter(const char *networks, bool create, struct err *e);
/* Did dk_net_enter enter it? There is no way back, so this is so for good (in a monitor that starts its
 * container again, too). */
bool dk_net_nested(void);

/* Closes all descriptors from 3 on but these; sorts them. */
void dk_close_all_but(int *fds, size_t n);
/* 0, 1 and 2 are /dev/null afterwards. */
void dk_no_stdio(void);
/* All five sets are empty afterwards (the bounding one as far as it can be). */
bool dk_drop_capabilities(void);

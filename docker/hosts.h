/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files /etc/hosts, /etc/hostname and /etc/resolv.conf of a container, in its directory
 * DATA/containers/ID, to be bound into it. They are rewritten in place, for a bind mount keeps the file
 * and not its name. A container may write to its own; nothing here reads them again.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "docker/network.h"

struct dk_hosts {
	const char *dir;      /* DATA/containers/ID */
	const char *hostname, *domainname; /* domainname: NULL or "" */
	const struct dk_network *network;  /* prepared */
	struct strv extra_hosts;           /* --add-host: "name:ip", ip may be host-gateway */
	struct strv dns, dns_search, dns_options;
	/* container:X: its directory, whose three files are copied; else NULL. */
	const char *other;
};

/* Makes the three files, or writes them anew at a restart. */
int dk_hosts_write(struct arena *a, const struct dk_hosts *h, struct err *e);
/* The address at which containers of bridged networks reach the host; NULL: it has none. */
const char *dk_host_gateway(struct arena *a);

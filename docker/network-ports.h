/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published ports. They are bound before the container starts, in the host's network namespace, and
 * served by one process for each container, which lives in the network's namespace, runs as nobody
 * without any privilege, and ends with the container. RUN/networks/ports/ID is locked by it; in the
 * file are its pid and what is bound: "PID\n", then "tcp ADDRESS PORT\n" for each.
 */
#pragma once

#include "docker/network.h"

struct dk_listeners { int *v; size_t n; }; /* in the order of settings->bound */

struct dk_publish {
	const char *networks;    /* RUN/networks */
	const char *id, *name;   /* the container's */
	const char *endpoint_id; /* for messages */
};

/* Binds what the settings publish and fills settings->bound. Engine errors, with the prefix. */
int dk_ports_bind(struct arena *a, const struct dk_publish *p, struct dk_network_settings *s,
		  struct dk_listeners *ret, struct err *e);
void dk_ports_close(struct dk_listeners *l);

struct dk_serve {
	const struct dk_publish *publish;
	const struct dk_network_settings *settings;
	const struct dk_listeners *listeners;
	int container;   /* pidfd: the end of it is the end of the service */
	int holder;      /* pidfd */
	uint32_t address; /* the container's, host byte order */
};
/* Starts the process. */
int dk_ports_serve(const struct dk_serve *s, struct err *e);
/* Ends it, if it is still there. */
void dk_ports_end(const char *networks, const char *id);
/* Files of processes that are gone. */
void dk_ports_sweep(const char *networks);

/* docker/port-proxy.c: serves until `until` is readable. Never returns. */
struct dk_proxy_port { int listener; bool udp; uint16_t port; };
_Noreturn void dk_proxy_run(const struct dk_proxy_port *ports, size_t n, uint32_t address, int until);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a container, from `--network` to the interface in it.
 *
 *   none         a network namespace of its own with lo
 *   host         none of its own
 *   container:X  X's network namespace, and X's user namespace, which owns it
 *   NAME         a bridge that containers of one network share ("bridge" is always there)
 *
 * There is no daemon. A network with a running container has one holder process: pid 1 of a pid
 * namespace, in a user and a network namespace of its own, in which the bridge, its address (the
 * gateway) and pasta's tap device are; pasta is its child. When the last container has gone, so has
 * the last port of the bridge, and the holder ends; when the holder is killed, the kernel kills
 * pasta and takes down the rest. Nothing is left on the host in either case, and nothing of the
 * host's network configuration is ever changed. Networks cannot reach each other, and of the
 * host only what listens on an address of its interfaces, never its loopback.
 *
 * HOW A CONTAINER GETS ONE (docker/run.c, monitor.c, cmd-start.c):
 *
 *   create   dk_network_settle   checks what can be checked and fills the record's settings
 *   start    dk_network_prepare  before rt_host_probe: the network exists, the ports are bound, the
 *                                holder runs; without privileges the caller is in its user
 *                                namespace then (see below)
 *            rt_launch           for a bridged one with .network = dk_network_attach, .network_arg = the network
 *            dk_network_release  whatever became of it
 *   end      dk_network_end      also for a container of which only the record is left
 *
 * Without privileges one user namespace is above all containers with a bridged network, for only
 * who is above both ends may connect them. dk_network_prepare enters it (network->nested is true
 * then): the process is root there, its identifiers are those of the map, and the container's maps
 * have to be made from network->uid_maps and gid_maps instead of from subordinate ranges.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "docker/roots.h"
#include "docker/run-options.h"
#include "json/fields.h"
#include "spec/oci.h"

enum dk_network_kind { DK_NETWORK_NONE, DK_NETWORK_HOST, DK_NETWORK_CONTAINER, DK_NETWORK_BRIDGED };

/* A container's place in one network. */
struct dk_endpoint {
	char *network;          /* its name */
	struct strv aliases;    /* --network-alias */
	struct strv links;
	char *wanted_ip, *wanted_mac; /* NULL: any */
	/* Since the last start; NULL and 0 before it and when the container has ended. */
	char *network_id, *endpoint_id, *address, *gateway, *mac;
	uint32_t prefix;
};

/* A port that the image or --expose names, or -p. */
struct dk_port_rule {
	uint32_t container_port;
	char *proto;      /* "tcp", "udp" */
	bool published;
	char *host_ip;    /* as given; "" for all */
	char *host_port;  /* as given; "": any; "8000-8010": one of them */
};
/* What is bound while the container runs. */
struct dk_port_bound {
	uint32_t container_port, host_port;
	char *proto, *host_ip; /* "0.0.0.0", "::", "127.0.0.1" */
};

/* The part of a container's record that is the network's: settings and what came of them. */
struct dk_network_settings {
	char *mode; /* HostConfig.NetworkMode: "none", "host", "container:ID", "bridge", "default", NAME */
	struct { struct dk_endpoint *v; size_t n; } endpoints; /* bridged only; the first is mode's */
	struct { struct dk_port_rule *v; size_t n; } ports;
	bool publish_all;
	struct { struct dk_port_bound *v; size_t n; } bound;
	char *sandbox_id; /* 64 hex digits */
};
extern const struct json_table dk_network_settings_table;

enum dk_network_kind dk_network_kind(const struct dk_network_settings *s);
/* Whether the container has a netns whose interfaces can change (connect, disconnect). */
bool dk_network_is_bridged(const struct dk_network_settings *s);

struct dk_settle {
	const struct dk_run_options *options;
	const struct strv *image_ports; /* the image's ExposedPorts: "80/tcp"; may be NULL */
	const char *default_network;    /* of the configuration: "none", "bridge" */
};
/* Engine errors with "Error response from daemon: " in front. */
int dk_network_settle(struct arena *a, const struct dk_settle *in, struct dk_network_settings *ret,
		      struct err *e);

/* For `network connect`: what it wants makes sense. */
int dk_network_check_endpoint(const struct dk_endpoint *n, struct err *e);

/* Another container, for container:X. Found by the caller of dk_network_prepare, for that is the
 * store's work: 0 and *ret_pid (its first process, running), or an engine error. */
typedef int dk_find_running(void *arg, const char *name, int *ret_pid, struct err *e);

struct dk_network_start {
	struct dk_roots roots;
	const char *id, *name, *hostname;
	const char *files; /* the container's directory, where `hosts` is: DATA/containers/ID */
	struct dk_network_settings *settings; /* endpoints and bound are filled in */
	struct strv extra_hosts;              /* "name:ip", for the hosts file */
	dk_find_running *find;
	void *find_arg;
};

struct dk_network {
	enum dk_network_kind kind;
	bool own_netns;      /* the container gets a new network namespace */
	/* kind CONTAINER: the path of the namespace to join; the user namespace has to be joined, too. */
	char *join_net;
	int shared[2]; /* these two: network, user */
	bool nested;         /* see above */
	struct oci_id_mapping_list uid_maps, gid_maps; /* nested: all that the namespace above has */
	/* private */
	struct arena *arena;
	const struct dk_network_start *start;
	struct { int *v; size_t n; } listeners; /* for settings->bound */
	int *locks;          /* one for each endpoint, while it is being attached */
	size_t n_locks;
	int home;            /* the caller's own network namespace */
};

/* The memory is a's. On failure nothing is left. Engine errors as above. `start` is borrowed. */
int dk_network_prepare(struct arena *a, const struct dk_network_start *start, struct dk_network **ret,
		       struct err *e);
/* For rt_launch: INIT (pidfd) is in its namespaces and waits. */
int dk_network_attach(void *network, int pidfd, struct err *e);
/* Frees what only the start needed; n may be NULL. */
void dk_network_release(struct dk_network *n);
/*
 * The container has ended or did not start: its ports and names go, and the holder with the last
 * one. Never fails; may be called again, and for a container whose owner was killed. Addresses in
 * s->endpoints and s->bound are forgotten (write the record after it).
 */
void dk_network_end(const struct dk_roots *roots, const char *id, struct dk_network_settings *s);
/* What is only known while the container runs, for a record that others have changed meanwhile. */
void dk_network_forget(struct dk_network_settings *s);
/* For the sweep: names and holders that no living process stands for. Cheap when there is none. */
void dk_network_sweep(const struct dk_roots *roots);

/* ---- the networks themselves ---- */

struct dk_network_def {
	char *name, *id, *created; /* RFC 3339 with nanoseconds */
	char *driver;              /* "bridge", "host", "null" */
	char *subnet, *gateway, *ip_range; /* "172.18.0.0/16", "172.18.0.1" */
	bool internal, attachable;
	struct str_map options, labels;
	struct str_map aux; /* name to address */
	char *ipam_driver;
	struct str_map ipam_options;
	bool in_use; /* for who lists them; not in the file */
};

/* By name, id or unambiguous beginning of an id. `network X not found`, -ENOENT, without the
 * engine's prefix. "bridge", "host" and "none" are there from the start. */
int dk_network_find(struct arena *a, const struct dk_roots *roots, const char *name,
		    struct dk_network_def *ret, struct err *e);
struct dk_network_defs { struct dk_network_def *v; size_t n; };
int dk_network_all(struct arena *a, const struct dk_roots *roots, struct dk_network_defs *ret,
		   struct err *e);

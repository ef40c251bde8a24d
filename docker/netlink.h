/* SPDX-License-Identifier: Apache-2.0 */
/* What networks need of the kernel's netlink: bridges, pairs of interfaces, addresses, masquerading.
 * All take a socket of the network namespace that they are about and return 0 or -errno. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A routing socket of the network namespace of pidfd's process, and the namespace itself if ret_netns is
 * not NULL. home: the caller's own namespace, to which its thread goes back; -1: it could not, so a
 * child goes there and sends what it has opened. -errno when it may not.
 */
int dk_nl_open(int pidfd, int home, int *ret_netns);

/* Numbers of interfaces are > 0; 0: there is none. */
int dk_nl_index(int nl, const char *name);
/* With an address of its own: else it has one of its ports', which changes as those come and go, and who has
 * noted it sends to nobody for a while. */
int dk_nl_add_bridge(int nl, const char *name, const unsigned char mac[6]);
int dk_nl_up(int nl, int index);
int dk_nl_delete(int nl, int index);

struct dk_nl_pair {
	const char *name;      /* the end in the socket's namespace, a port of the bridge then */
	int bridge;            /* its number */
	const char *peer_name; /* "eth%d" */
	int peer_netns;        /* where the other end is made */
	unsigned char mac[6];  /* of the other end */
	uint32_t mtu;
};
/* *ret_peer: the other end's number in its namespace. */
int dk_nl_add_pair(int nl, const struct dk_nl_pair *p, int *ret_peer);

/* IPv4; addresses in host byte order. */
int dk_nl_add_address(int nl, int index, uint32_t address, unsigned prefix);
int dk_nl_add_default_route(int nl, uint32_t gateway);
bool dk_nl_has_default_route(int nl);

/* Calls fn for each interface. */
int dk_nl_each(int nl, void (*fn)(void *arg, int index, const char *name), void *arg);

/* A socket that tells of changes: groups of RTMGRP_*. */
int dk_nl_watch(unsigned groups);
/* What leaves the caller's network namespace by the interface gets that one's address (nf_tables). */
int dk_nl_masquerade(const char *interface);

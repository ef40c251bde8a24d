/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the uid and gid maps of a new user namespace, and /etc/subuid, /etc/subgid. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ns_idmap {
	uint32_t inside, outside, count; /* outside: in the caller's user namespace */
};

struct ns_idmaps {
	const struct ns_idmap *uids;
	size_t n_uids;
	const struct ns_idmap *gids;
	size_t n_gids;
};

enum ns_map_how {
	NS_MAP_DIRECT, /* the caller has CAP_SETUID and CAP_SETGID: two writes */
	NS_MAP_SELF,   /* just the caller's own uid and gid: setgroups denied, two writes */
	NS_MAP_HELPER, /* newuidmap and newgidmap from the package uidmap */
};

/* How these maps can be written by the caller. Never negative. */
enum ns_map_how ns_idmap_mode(const struct ns_idmaps *m);

/*
 * Writes the maps of pid, a child of the caller that it has not waited for and that waits in its
 * new user namespace, and reads them back. Overlaps, empty or too many (340) ranges, a range that
 * is not the caller's, a missing helper: an error that says so. Helpers run with an empty
 * environment; their stderr becomes the message.
 */
int ns_write_maps(int procfs, pid_t pid, const struct ns_idmaps *m, enum ns_map_how how,
		  struct err *e);

struct ns_subid {
	uint32_t start, count;
};

struct ns_user {
	uid_t uid;
	const char *name; /* NULL = not known */
};

/*
 * The ranges in file ("/etc/subuid" or "/etc/subgid") for the user, by number and by name. Returns
 * how many there are, at most max into ranges; 0 when there are none or no such file. A line that
 * makes no sense is skipped, as shadow does.
 */
int ns_subids(const char *file, const struct ns_user *u, struct ns_subid *ranges, size_t max,
	      struct err *e);

/* The login name of uid from /etc/passwd alone (no NSS) into buf; 1, 0 when there is none. */
int ns_user_name(uid_t uid, char *buf, size_t size, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is connected to a network in use: RUN/networks/ID/e-ADDRESS, one file for each container.
 * Containers of one network (not of "bridge", as with Docker) know each other by name: by lines in
 * their hosts files, which are kept up to date here. Such a line ends with a mark, and the rest of
 * the file is the container's: it may have written there, and it may have written anything.
 *
 * All with RUN/networks/lock held.
 */
#pragma once

#include "docker/network-holder.h"

struct dk_connected {
	char *id, *name, *hosts; /* hosts: the path of the file, NULL: none to keep */
	struct strv aliases;
	char *address, *mac;
	char *endpoint_id;
};

/* The file of an address. 1, 0 when there is none, -errno. */
int dk_connected_read(struct arena *a, const char *dir, uint32_t address, struct dk_connected *ret,
		      struct err *e);
int dk_connected_write(struct arena *a, const char *dir, uint32_t address, const struct dk_connected *c,
		       struct err *e);
void dk_connected_remove(const char *dir, uint32_t address);

/* Forgets whose interface has gone, and writes the names of the others into all hosts files. */
int dk_names_update(struct arena *a, const char *dir, const struct dk_holder *h, bool names, struct err *e);
/* Takes the names of this network out of a file. */
void dk_names_clear(struct arena *a, const char *dir, const char *hosts);
/* Adds a line to a hosts file. */
int dk_hosts_append(const char *path, const char *line, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes: DATA/volumes/NAME with the directory _data and volume.json. A volume appears by rename,
 * so a half-made one has no name. In use is what the record of a container names.
 *
 * A volume that is empty gets what the image has at the mount's target, when the container first
 * starts: the mount's option "tmpcopyup" does it (rootfs/), in the container's user namespace, so that
 * owners are right. Give it to every mount of a volume whose `fresh` is true, unless nocopy was asked for.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "docker/roots.h"
#include "json/fields.h"

struct dk_volume {
	char *name;       /* anonymous ones have 64 hex digits */
	char *created;    /* RFC 3339, seconds */
	char *driver;     /* "local" */
	struct str_map labels, options;
	bool anonymous;   /* made for a mount without a name: rm -v and --rm remove it */
	bool by_command;
	char *mountpoint; /* absolute; not in the file */
	bool fresh;       /* nothing has been put there yet; not in the file */
};

struct dk_volume_want {
	const char *name;   /* NULL: an anonymous one */
	const char *driver; /* NULL or "local" */
	struct str_map labels, options;
	bool by_command;    /* volume create: inspect shows no labels as {} and not as null */
};

/* The volume of that name, made when it is not there. Engine errors, with the prefix. */
int dk_volume_use(struct arena *a, const struct dk_roots *roots, const struct dk_volume_want *want,
		  struct dk_volume *ret, struct err *e);
/* -ENOENT: `get NAME: no such volume`, without the engine's prefix. */
int dk_volume_find(struct arena *a, const struct dk_roots *roots, const char *name,
		   struct dk_volume *ret, struct err *e);
struct dk_volumes { struct dk_volume *v; size_t n; };
int dk_volume_all(struct arena *a, const struct dk_roots *roots, struct dk_volumes *ret, struct err *e);
/* Removes it and all in it; whether it is in use is the caller's question. */
int dk_volume_remove(const struct dk_roots *roots, const char *name, struct err *e);

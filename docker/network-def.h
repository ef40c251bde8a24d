/* SPDX-License-Identifier: Apache-2.0 */
/* The records of networks, DATA/networks/ID.json, and which addresses a network has. */
#pragma once

#include "docker/network.h"

struct dk_cidr { uint32_t base, mask; unsigned prefix; }; /* host byte order */

/* "10.0.0.0/8"; bits behind the prefix are allowed and dropped. False: it is none. */
bool dk_cidr_parse(const char *text, struct dk_cidr *ret);
bool dk_ipv4_parse(const char *text, uint32_t *ret);
char *dk_ipv4_text(struct arena *a, uint32_t address);
bool dk_cidr_overlaps(const struct dk_cidr *a, const struct dk_cidr *b);

/* "bridge", "host", "none". */
bool dk_network_predefined(const char *name);
char *dk_network_predefined_id(struct arena *a, const struct dk_roots *roots, const char *name);

/*
 * Makes a network from what want names: subnet and gateway are chosen when they are NULL; name,
 * options, labels and so on are taken. Fills in the rest. Engine errors, without the prefix.
 */
int dk_network_create(struct arena *a, const struct dk_roots *roots, struct dk_network_def *want,
		      struct err *e);
int dk_network_remove(const struct dk_roots *roots, const struct dk_network_def *d, struct err *e);

/* n random bytes as hex digits, NUL behind. */
void dk_random_hex(char *ret, size_t n);
/* Opens the file path below the directory for flock, both made when they are missing. */
int dk_lock_file(const char *dir, const char *name, struct err *e);
/* mkdir -p, 0700. */
int dk_make_dirs(const char *path, struct err *e);

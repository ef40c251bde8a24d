/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker inspect` of whatever has that name. Each kind has one function; those that nobody has
 * written are NULL (weak).
 */
#pragma once

#include "docker/commands.h"
#include "docker/record.h"
#include "docker/value.h"

/* 0 and *ret; -ENOENT and the engine error of that kind ("...No such container: X"); other errors. */
typedef int dk_inspect_fn(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
			  struct dk_value *ret, struct err *e);

dk_inspect_fn dk_inspect_container;
__attribute__((weak)) dk_inspect_fn dk_inspect_image;
__attribute__((weak)) dk_inspect_fn dk_inspect_network;
__attribute__((weak)) dk_inspect_fn dk_inspect_volume;

/* All arguments by one function: `docker network inspect` and the like. The exit code. */
int dk_inspect_all(struct dk_context *c, const struct dk_args *args, dk_inspect_fn *fn, struct err *e);

/* Its parts in other files. dk_health_document puts State.Health. */
struct dk_value dk_network_document(struct arena *a, const struct dk_store *s, const struct dk_record *r,
				    const struct dk_look *look);
void dk_health_document(struct arena *a, const struct dk_store *s, const struct dk_record *r,
			struct dk_value *state);
/* The document of a container (docker/document.c). */
struct dk_value dk_container_document(struct dk_context *c, const struct dk_store *s,
				      const struct dk_record *r);

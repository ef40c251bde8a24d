/* SPDX-License-Identifier: Apache-2.0 */
/* Removing images: what `rmi` and the prunes have in common. */
#pragma once

#include "docker/image-program.h"
#include "docker/record.h"

/* The first container of an image: of those that run, or of those that do not. */
struct dk_image_use { char *running, *stopped; /* ids; NULL: none */ };
int dk_image_uses(struct dk_context *c, const char *image_id, struct dk_image_use *ret, struct err *e);

/* Removes the record (its names must be gone); kept when a container that does not run needs it. */
int dk_image_forget(struct dk_context *c, const struct img_store *s, const char *id, struct err *e);
/* Clears the store of what nobody uses; the chain ids of the layers that went, and the bytes. */
int dk_image_clear(struct dk_context *c, const struct img_store *s, struct strv *ret_layers, uint64_t *ret_bytes,
		   struct err *e);
/* The layers of `image` that are among `gone`, top first, as "Deleted: sha256:..." lines. */
void dk_image_print_layers(const struct img_image *image, const struct strv *gone);

/*
 * Removes what no container uses: dangling images, with `all` those with names, too. Appends Docker's
 * lines ("untagged: ...", "deleted: ...") and adds the bytes. For `image prune` and
 * `system prune`.
 */
struct dk_image_pruned { struct strbuf lines; uint64_t bytes; };
int dk_image_prune(struct dk_context *c, bool all, const struct str_map *filter,
		   struct dk_image_pruned *in_out, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image store: the directory `images` of the data root, an OCI image layout with the layers
 * unpacked beside the blobs.
 *
 *   oci-layout, index.json      the layout's own files (for skopeo, umoci, ...)
 *   blobs/sha256/HEX            configurations, manifests, layers as they came
 *   layers/HEX20/diff           a layer unpacked as overlayfs takes it; HEX20: of its chain id
 *   layers/HEX20/info           its whole chain id, diff id, blob and sizes (JSON)
 *   ids/HEX                     the record of the image with that id (image.h)
 *   kept/HEX                    the same of a removed image whose layers a container still uses
 *   refs/NAME                   one per tag or digest, '/' written as '%': a hard link to the record,
 *                               so that `run NAME` opens and reads one file
 *   tmp/                        what is being made
 *   lock                        shared by who adds images, exclusive for who clears away
 *
 * Nothing here changes once it has its name, except index.json. Reading takes no lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/types.h"
#include "image/image.h"
#include "image/reference.h"

struct img_store {
	int dir;          /* of `images`; -1: there is no store yet, which is an empty one */
	const char *path; /* borrowed: the data root */
};

/* Opens; that there is none yet is no error. One system call. */
int img_store_open(struct img_store *s, const char *data_root, struct err *e);
/* Opens and makes what is missing, the data root included (modes 0700, 0600). */
int img_store_create(struct img_store *s, const char *data_root, struct err *e);
void img_store_close(struct img_store *s);

/*
 * The image that Docker would take for `text`: "busybox", "busybox:1", "name@sha256:...", an id
 * ("sha256:..." or 64 digits) or the first digits of one. A name is looked up first. Returns 1 and
 * fills *ret; 0: no such image; -EINVAL: no reference (Docker's sentence); -ENOTUNIQ: several ids
 * begin so. Three system calls for a name. "host" and "host:latest" are always there.
 */
int img_resolve(const struct img_store *s, const char *text, struct arena *a, struct img_image *ret,
		struct err *e);
/* By its full id; as above. Finds a removed one, too, that is kept for a container. */
int img_by_id(const struct img_store *s, const char *id, struct arena *a, struct img_image *ret,
	      struct err *e);
/* Whether nobody has removed it meanwhile: to be asked after the layers are mounted and the container
 * has been recorded, since `rmi` first removes the image and then looks who uses it. */
bool img_still_there(const struct img_store *s, const struct img_image *image);

/*
 * The directories of the layers, top first: "DATA/images/layers/0123456789abcdef0123/diff". What
 * differs is at most 26 bytes: 127 of them fit into a page of mount options when the working
 * directory is `layers`. The one directory of a linked image; none for "host".
 */
struct strv img_layer_dirs(const struct img_store *s, struct arena *a, const struct img_image *image);
/* The configuration document as it came (for `image inspect`, `history`), in a. */
int img_config_text(const struct img_store *s, const struct img_image *image, struct arena *a,
		    const char **ret, struct err *e);

/* An image with all its names. */
struct img_listed {
	struct img_image image;
	struct strv tags;    /* familiar: "busybox:latest" */
	struct strv digests; /* "busybox@sha256:..." */
};
struct img_list { struct img_listed *v; size_t n; };
/* All images, newest first; damaged records are left out with a warning. "host" is not among them. */
int img_list(const struct img_store *s, struct arena *a, struct img_list *ret, struct err *e);
/* The names of one image. */
int img_names(const struct img_store *s, struct arena *a, struct img_listed *in_out, struct err *e);

/* Gives the image the name (full form), which is taken from another image if it had it. */
int img_tag(const struct img_store *s, const char *id, const struct img_ref *ref, struct err *e);
/* 1: removed; 0: there was no such name. The image stays. */
int img_untag(const struct img_store *s, const struct img_ref *ref, struct err *e);
/* Adds or replaces the record of an image that has all its layers in place; without a name. */
int img_add(const struct img_store *s, const struct img_image *image, struct err *e);
/* Removes the record of an image (its names must be gone); 1, or 0 when there was none. What only it used
 * stays until `brig-image gc`. keep: a container goes on using its layers, and `start` may ask for it. */
int img_remove(const struct img_store *s, const char *id, bool keep, struct err *e);
/* Forgets the kept images for which used(id, arg) is false. */
int img_drop_kept(const struct img_store *s, bool (*used)(const char *id, void *arg), void *arg,
		  struct err *e);
/* Writes index.json anew from the names. */
int img_write_index(const struct img_store *s, struct err *e);

/* The lock: an fd that holds it, to be closed. wait false: -EWOULDBLOCK when another process has it. */
int img_lock(const struct img_store *s, bool exclusive, bool wait, struct err *e);

/* The name of a layer's directory below `layers`. */
enum { IMG_LAYER_NAME = 20 };
void img_layer_name(const char *chain, char ret[IMG_LAYER_NAME + 1]);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of images: [DOMAIN/]PATH[:TAG][@DIGEST]. People write "busybox"; what is stored and compared
 * is "docker.io/library/busybox:latest", and what they are shown is "busybox:latest" again.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct img_ref {
	const char *domain; /* "docker.io", "localhost:5000" */
	const char *path;   /* "library/busybox" */
	const char *tag;    /* NULL when none was given */
	const char *digest; /* "sha256:<64 hex>", NULL when none was given */
};

/*
 * Docker's normalisation. Errors (-EINVAL) are Docker's own sentences: "invalid reference format",
 * "invalid reference format: repository name (library/UPPER) must be lowercase", ...
 */
int img_ref_parse(struct arena *a, const char *text, struct img_ref *ret, struct err *e);

/* "docker.io/library/busybox:latest"; the tag is "latest" when there is neither tag nor digest. With
 * both, the digest says which image it is and the tag is left out. */
char *img_ref_full(struct arena *a, const struct img_ref *r);
/* The same as people write it: "busybox:latest". */
char *img_ref_familiar(struct arena *a, const struct img_ref *r);
/* Without tag and digest: "busybox". */
char *img_ref_familiar_name(struct arena *a, const struct img_ref *r);

/* "sha256:" and 64 lower-case hexadecimal digits (CVE-2024-3727: a digest becomes a path). */
bool img_digest_valid(const char *s);
/* n lower-case hexadecimal digits and no more. */
bool img_is_hex(const char *s, size_t n);

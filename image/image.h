/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one image: its record, a small JSON document made when the image was loaded.
 * `run` needs nothing else. Every string came from an archive and is hostile: it may become a value
 * of the container's configuration, never a path or a choice of code on the host.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "json/fields.h"

struct img_name { char *name; };

struct img_healthcheck {
	struct strv test;                         /* NONE | CMD ARG... | CMD-SHELL TEXT */
	int64_t interval, timeout, start_period;  /* nanoseconds; 0: the default */
	int64_t start_interval;
	int64_t retries;
};

/* "config" of an image's configuration. */
struct img_config {
	char *user, *working_dir, *stop_signal;
	struct strv env; /* NAME=VALUE each; what had no "=" has been dropped (CVE-2021-3602 class) */
	struct strv entrypoint, cmd, shell, on_build;
	struct str_map labels;
	struct { struct img_name *v; size_t n; } volumes, exposed_ports; /* "/data", "80/tcp" */
	struct img_healthcheck *healthcheck; /* NULL: none */
};

struct img_layer {
	char *chain;    /* chain id of this layer and all below: "sha256:<64 hex>" */
	char *diff_id;  /* digest of the uncompressed archive */
	uint64_t size;  /* of its files */
};

struct img_image {
	char *id;       /* digest of the configuration: "sha256:<64 hex>" */
	char *manifest; /* digest of the manifest in the store */
	char *manifest_type; /* its media type; NULL: OCI's */
	char *created;  /* RFC 3339, NULL when the image does not say */
	char *os, *architecture, *variant, *author, *comment;
	uint64_t size;  /* of all layers */
	struct img_config config;
	struct { struct img_layer *v; size_t n; } layers; /* top first */
	char *link;     /* `import --link`: the absolute path of the root file system, no layers */
	bool host;      /* the built-in root file system made of the host's /usr; no layers */
};

extern const struct json_table img_config_table, img_image_table;

/* The configuration document (OCI or Docker) into *ret, which the caller has zeroed; fills all but
 * id, manifest, the layers' sizes and size. */
int img_read_config(struct arena *a, const char *text, size_t len, struct img_image *ret,
		    struct err *e);
/* The chain ids from the diff ids of layers, which are top first. */
void img_chain_ids(struct arena *a, struct img_image *image);

/* The record to text and back. */
void img_write_record(const struct img_image *image, struct strbuf *b);
int img_read_record(struct arena *a, const char *text, size_t len, struct img_image *ret,
		    struct err *e);

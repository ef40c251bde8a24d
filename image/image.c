/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two documents: the configuration as the image's maker wrote it, with names in Go's style and
 * layers from the bottom up, and our record, which holds the same in the order that `run` needs and
 * with the chain ids worked out. The "config" object is the same in both.
 */
#include "image/image.h"

#include <errno.h>
#include <string.h>

#include "base/sha256.h"
#include "image/reference.h"

enum { MAX_LAYERS = 127 }; /* as many as Docker takes: more need several overlay mounts */

static const struct json_field healthcheck_fields[] = {
	JSON_FIELD(struct img_healthcheck, test, "Test"),
	JSON_FIELD(struct img_healthcheck, interval, "Interval"),
	JSON_FIELD(struct img_healthcheck, timeout, "Timeout"),
	JSON_FIELD(struct img_healthcheck, start_period, "StartPeriod"),
	JSON_FIELD(struct img_healthcheck, start_interval, "StartInterval"),
	JSON_FIELD(struct img_healthcheck, retries, "Retries"),
};
static const struct json_table healthcheck_table =
	JSON_TABLE(struct img_healthcheck, healthcheck_fields);

static const struct json_table name_table = {.size = sizeof(struct img_name)};

static const struct json_field config_fields[] = {
	JSON_FIELD(struct img_config, user, "User"),
	JSON_KEYED(struct img_config, exposed_ports, "ExposedPorts", .sub = &name_table),
	JSON_FIELD(struct img_config, env, "Env"),
	JSON_FIELD(struct img_config, cmd, "Cmd"),
	JSON_FIELD(struct img_config, healthcheck, "Healthcheck", .sub = &healthcheck_table),
	JSON_KEYED(struct img_config, volumes, "Volumes", .sub = &name_table),
	JSON_FIELD(struct img_config, working_dir, "WorkingDir"),
	JSON_FIELD(struct img_config, entrypoint, "Entrypoint"),
	JSON_FIELD(struct img_config, on_build, "OnBuild"),
	JSON_FIELD(struct img_config, labels, "Labels"),
	JSON_FIELD(struct img_config, stop_signal, "StopSignal"),
	JSON_FIELD(struct img_config, shell, "Shell"),
};
const struct json_table img_config_table = JSON_TABLE(struct img_config, config_fields);

static const struct json_field layer_fields[] = {
	JSON_FIELD(struct img_layer, chain, "chain", .required = true),
	JSON_FIELD(struct img_layer, diff_id, "diff", .required = true),
	JSON_FIELD(struct img_layer, size, "size"),
};
static const struct json_table layer_table = JSON_TABLE(struct img_layer, layer_fields);

static const struct json_field image_fields[] = {
	JSON_FIELD(struct img_image, id, "id", .required = true),
	JSON_FIELD(struct img_image, manifest, "manifest"),
	JSON_FIELD(struct img_image, manifest_type, "manifestType"),
	JSON_FIELD(struct img_image, created, "created"),
	JSON_FIELD(struct img_image, os, "os"),
	JSON_FIELD(struct img_image, architecture, "architecture"),
	JSON_FIELD(struct img_image, variant, "variant"),
	JSON_FIELD(struct img_image, author, "author"),
	JSON_FIELD(struct img_image, comment, "comment"),
	JSON_FIELD(struct img_image, size, "size"),
	JSON_INLINE(struct img_image, config, "config", .sub = &img_config_table),
	JSON_FIELD(struct img_image, layers, "layers", .sub = &layer_table),
	JSON_FIELD(struct img_image, link, "link"),
};
const struct json_table img_image_table = JSON_TABLE(struct img_image, image_fields);

struct rootfs_part { struct strv diff_ids; };

struct config_document {
	char *created, *os, *architecture, *variant, *author, *comment;
	struct img_config *config;
	struct rootfs_part *rootfs;
};

static const struct json_field rootfs_fields[] = {
	JSON_FIELD(struct rootfs_part, diff_ids, "diff_ids"),
};
static const struct json_table rootfs_table = JSON_TABLE(struct rootfs_part, rootfs_fields);

static const struct json_field document_fields[] = {
	JSON_FIELD(struct config_document, architecture, "architecture"),
	JSON_FIELD(struct config_document, author, "author"),
	JSON_FIELD(struct config_document, comment, "comment"),
	JSON_FIELD(struct config_document, config, "config", .sub = &img_config_table),
	JSON_FIELD(struct config_document, created, "created"),
	JSON_FIELD(struct config_document, os, "os"),
	JSON_FIELD(struct config_document, rootfs, "rootfs", .sub = &rootfs_table, .required = true),
	JSON_FIELD(struct config_document, variant, "variant"),
};
static const struct json_table document_table = JSON_TABLE(struct config_document, document_fields);

struct text { const char *p; size_t len; };

static int read_document(const struct json_reader *r, struct text text, const struct json_table *t,
			 void *out)
{
	const struct json *v;

	if (json_parse(text.p, text.len, r->arena, &v, r->e) < 0)
		return -r->e->code;
	return json_read_struct(r, v, t, out);
}

/* An entry without "=" would be filled from the host by somebody, sooner or later. */
static void drop_bad_env(struct strv *env)
{
	size_t n = 0;

	for (size_t i = 0; i < env->n; i++)
		if (strchr(env->v[i], '=') && env->v[i][0] != '=')
			env->v[n++] = env->v[i];
	if (env->v)
		env->v[n] = NULL;
	env->n = n;
}

static int take_layers(struct arena *a, const struct strv *diff_ids, struct img_image *ret,
		       struct err *e)
{
	if (diff_ids->n > MAX_LAYERS)
		return err_set(e, EINVAL, "the image has %zu layers, at most %d are possible",
			       diff_ids->n, MAX_LAYERS);
	ret->layers.n = diff_ids->n;
	ret->layers.v = arena_array(a, diff_ids->n, sizeof(*ret->layers.v));
	for (size_t i = 0; i < diff_ids->n; i++) {
		if (!img_digest_valid(diff_ids->v[i]))
			return err_set(e, EINVAL, "rootfs.diff_ids[%zu] is no sha256 digest", i);
		ret->layers.v[diff_ids->n - 1 - i].diff_id = diff_ids->v[i];
	}
	return 0;
}

/* Each becomes a part of containers, of their events and of lists that are searched from the front. */
static int check_numbers(const struct img_config *c, struct err *e)
{
	enum { MANY = 4096, VOLUMES = 512, PORTS = 3 * 65536 };
	const struct { const char *what; size_t n, max; } lists[] = {
		{"labels", c->labels.n, MANY}, {"volumes", c->volumes.n, VOLUMES}, {"variables", c->env.n, MANY},
		{"ports", c->exposed_ports.n, PORTS},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].n > lists[i].max)
			return err_set(e, E2BIG, "the image has %zu %s, at most %zu are possible", lists[i].n, lists[i].what,
				       lists[i].max);
	return 0;
}

int img_read_config(struct arena *a, const char *text, size_t len, struct img_image *ret,
		    struct err *e)
{
	struct config_document d = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};

	if (read_document(&r, (struct text){text, len}, &document_table, &d) < 0)
		return err_wrap(e, "the image's configuration");
	if (take_layers(a, &d.rootfs->diff_ids, ret, e) < 0 || (d.config && check_numbers(d.config, e) < 0))
		return err_wrap(e, "the image's configuration");
	ret->created = d.created;
	ret->os = d.os;
	ret->architecture = d.architecture;
	ret->variant = d.variant;
	ret->author = d.author;
	ret->comment = d.comment;
	if (d.config)
		ret->config = *d.config;
	drop_bad_env(&ret->config.env);
	img_chain_ids(a, ret);
	return 0;
}

void img_chain_ids(struct arena *a, struct img_image *image)
{
	char *below = NULL;

	for (size_t i = image->layers.n; i-- > 0;) {
		struct img_layer *l = &image->layers.v[i];
		char hex[SHA256_HEX + 1];
		char *pair;

		if (!below) {
			l->chain = l->diff_id;
		} else {
			pair = arena_printf(a, "%s %s", below, l->diff_id);
			sha256_hex(pair, strlen(pair), hex);
			l->chain = arena_printf(a, "sha256:%s", hex);
		}
		below = l->chain;
	}
}

void img_write_record(const struct img_image *image, struct strbuf *b)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	json_write_struct(&w, &img_image_table, image);
	strbuf_addc(b, '\n');
}

/* Our own file, but what becomes a path is checked all the same. */
static int check_record(const struct img_image *i, struct err *e)
{
	if (!img_digest_valid(i->id) || (i->manifest && !img_digest_valid(i->manifest)))
		return err_set(e, EINVAL, "a digest is damaged");
	if (i->link && i->link[0] != '/')
		return err_set(e, EINVAL, "link is not an absolute path");
	if (i->layers.n > MAX_LAYERS)
		return err_set(e, EINVAL, "too many layers");
	for (size_t l = 0; l < i->layers.n; l++)
		if (!img_digest_valid(i->layers.v[l].chain) || !img_digest_valid(i->layers.v[l].diff_id))
			return err_set(e, EINVAL, "a layer's digest is damaged");
	return 0;
}

int img_read_record(struct arena *a, const char *text, size_t len, struct img_image *ret,
		    struct err *e)
{
	struct img_image image = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};

	if (read_document(&r, (struct text){text, len}, &img_image_table, &image) < 0 ||
	    check_record(&image, e) < 0)
		return err_wrap(e, "record of an image");
	*ret = image;
	return 0;
}

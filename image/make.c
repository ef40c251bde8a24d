/* SPDX-License-Identifier: Apache-2.0 */
/* See make.h. The configuration is written with the keys in alphabetical order, as Docker's is. */
#include "image/make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "image/load.h"

struct maker {
	struct img_work *work;
	const struct img_make *m;
	const struct json *document, *base_config; /* base_config: NULL without a base */
	struct img_layer_job job;                  /* of the new layer */
	const char *link;
	char created[64];
	struct err *e;
};

static void set_time(struct maker *k)
{
	struct timespec now;
	struct tm tm;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(k->created, sizeof(k->created), "%s.%09ldZ", text, now.tv_nsec);
}

static const char *architecture(void)
{
	static char machine[65];
	struct utsname u;

	if (uname(&u) < 0)
		return "unknown";
	if (strcmp(u.machine, "x86_64") == 0)
		return "amd64";
	if (strcmp(u.machine, "aarch64") == 0)
		return "arm64";
	snprintf(machine, sizeof(machine), "%s", u.machine);
	return machine;
}

static void write_optional(struct json_writer *w, const char *key, const char *value)
{
	if (value && *value)
		json_member_str(w, key, value);
}

static void write_history(struct maker *k, struct json_writer *w)
{
	const struct json *old = json_get(k->base_config, "history");

	json_key(w, "history");
	json_begin_array(w);
	for (size_t i = 0; old && old->type == JSON_ARRAY && i < old->n; i++)
		json_value(w, &old->items[i]);
	json_begin_object(w);
	write_optional(w, "author", json_get_str(k->document, "author"));
	write_optional(w, "comment", json_get_str(k->document, "comment"));
	json_member_str(w, "created", k->created);
	write_optional(w, "created_by", json_get_str(k->document, "created_by"));
	json_end_object(w);
	json_end_array(w);
}

static void write_rootfs(struct maker *k, struct json_writer *w)
{
	const struct img_image *base = k->m->base;

	json_key(w, "rootfs");
	json_begin_object(w);
	json_key(w, "diff_ids");
	json_begin_array(w);
	for (size_t i = base ? base->layers.n : 0; i-- > 0;)
		json_str(w, base->layers.v[i].diff_id);
	if (!k->link)
		json_str(w, k->job.info.diff_id);
	json_end_array(w);
	json_member_str(w, "type", "layers");
	json_end_object(w);
}

static void write_config(struct maker *k, struct strbuf *b)
{
	const struct json *config = json_get(k->document, "config");
	struct json_writer w;

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	json_member_str(&w, "architecture", architecture());
	write_optional(&w, "author", json_get_str(k->document, "author"));
	write_optional(&w, "comment", json_get_str(k->document, "comment"));
	json_key(&w, "config");
	if (config) {
		json_value(&w, config);
	} else {
		json_begin_object(&w);
		json_end_object(&w);
	}
	json_member_str(&w, "created", k->created);
	write_history(k, &w);
	if (k->link)
		json_member_str(&w, "org.brig.link", k->link);
	json_member_str(&w, "os", "linux");
	write_rootfs(k, &w);
	json_end_object(&w);
}

static void write_descriptor(struct json_writer *w, const struct img_layer_info *info)
{
	json_begin_object(w);
	json_member_str(w, "mediaType", info->media_type);
	json_member_str(w, "digest", info->blob);
	json_member_u64(w, "size", info->blob_size);
	json_end_object(w);
}

static int write_manifest(struct maker *k, const struct img_image *image, size_t config_len,
			  struct strbuf *b)
{
	struct json_writer w;
	const struct img_layer_info config = {.media_type = IMG_CONFIG_TYPE, .blob = image->id,
					      .blob_size = config_len};

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	json_member_u64(&w, "schemaVersion", 2);
	json_member_str(&w, "mediaType", IMG_MANIFEST_TYPE);
	json_key(&w, "config");
	write_descriptor(&w, &config);
	json_key(&w, "layers");
	json_begin_array(&w);
	for (size_t i = image->layers.n; i-- > 0;) {
		struct img_layer_info info;

		if (img_layer_info(k->work->store, k->work->arena, image->layers.v[i].chain, &info, k->e) <= 0)
			return k->e->code ? -k->e->code : err_set(k->e, ENOENT, "a layer of the image is missing");
		write_descriptor(&w, &info);
	}
	json_end_array(&w);
	json_end_object(&w);
	return 0;
}

static int name_image(struct maker *k, const struct img_image *image)
{
	struct img_ref ref;

	if (!k->m->name)
		return img_write_index(k->work->store, k->e);
	if (img_ref_parse(k->work->arena, k->m->name, &ref, k->e) < 0)
		return -k->e->code;
	return img_tag(k->work->store, image->id, &ref, k->e);
}

static int publish(struct maker *k, const char **ret_id)
{
	struct arena *a = k->work->arena;
	const struct img_image *base = k->m->base;
	auto_strbuf struct strbuf config = {0}, manifest = {0};
	struct img_image image = {0};
	const char *digest;

	write_config(k, &config);
	if (img_put_blob(k->work, config.p, config.len, &digest, k->e) < 0 ||
	    img_read_config(a, arena_strndup(a, config.p, config.len), config.len, &image, k->e) < 0)
		return -k->e->code;
	image.id = (char *)digest;
	image.link = (char *)k->link;
	for (size_t i = 0; i < image.layers.n; i++) {
		image.layers.v[i].size = i == 0 ? k->job.info.size : base->layers.v[i - 1].size;
		image.size += image.layers.v[i].size;
	}
	if (write_manifest(k, &image, config.len, &manifest) < 0 ||
	    img_put_blob(k->work, manifest.p, manifest.len, &digest, k->e) < 0)
		return -k->e->code;
	image.manifest = (char *)digest;
	if (img_add(k->work->store, &image, k->e) < 0 || name_image(k, &image) < 0)
		return -k->e->code;
	*ret_id = image.id;
	return 0;
}

static int read_documents(struct maker *k)
{
	const char *text;

	if (json_parse(k->m->document, k->m->document_len, k->work->arena, &k->document, k->e) < 0)
		return -k->e->code;
	if (!k->m->base)
		return 0;
	if (img_config_text(k->work->store, k->m->base, k->work->arena, &text, k->e) < 0)
		return -k->e->code;
	return json_parse(text, strlen(text), k->work->arena, &k->base_config, k->e);
}

int img_spool(struct img_work *w, int fd, struct err *e)
{
	auto_close int out = openat(w->dir, "m0", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	auto_free char *buf = malloc(256 << 10);
	uint64_t total = 0;
	ssize_t n;

	if (out < 0 || !buf)
		return err_sys(e, "make a file in the image store");
	while ((n = io_read_upto(fd, buf, 256 << 10)) > 0) {
		int r = io_write_all(out, buf, (size_t)n);

		total += (uint64_t)n;
		if (r < 0)
			return err_set(e, -r, "write into the image store in %s: %s", w->store->path,
				       err_name(-r));
		if (total > w->budget.max_bytes)
			return err_set(e, EFBIG, "the archive is larger than %llu bytes (BRIG_IMAGE_MAX_BYTES sets "
				       "the limit)", (unsigned long long)w->budget.max_bytes);
	}
	return n < 0 ? err_set(e, (int)-n, "read the archive: %s", err_name((int)-n)) : 0;
}

/* The new layer may be one that the store has: then only its info is taken. */
static int add_layer(struct maker *k)
{
	struct img_work *w = k->work;
	const struct img_image *base = k->m->base;
	struct img_layer_info there;
	int have;

	k->job = (struct img_layer_job){.fd = openat(w->dir, "m0", O_RDONLY | O_CLOEXEC), .spool = 0};
	if (k->job.fd < 0)
		return err_sys(k->e, "open the layer");
	if (img_layers_unpack(w, &k->job, 1, k->e) < 0)
		return -k->e->code;
	if (base && base->layers.n) {
		struct img_image pair = {0};
		struct img_layer *layers = arena_array(w->arena, base->layers.n + 1, sizeof(*layers));

		layers[0].diff_id = k->job.info.diff_id;
		memcpy(layers + 1, base->layers.v, base->layers.n * sizeof(*layers));
		pair.layers.v = layers;
		pair.layers.n = base->layers.n + 1;
		img_chain_ids(w->arena, &pair);
		k->job.info.chain = layers[0].chain;
	}
	have = img_layer_info(w->store, w->arena, k->job.info.chain, &there, k->e);
	if (have < 0)
		return have;
	if (have == 1) {
		k->job.info = there;
		return 0;
	}
	k->job.fd = 0; /* there is something to publish; the descriptor itself is closed */
	if (img_layer_write_info(w, 0, &k->job.info, k->e) < 0)
		return -k->e->code;
	return img_layers_publish(w, &k->job, 1, k->e);
}

int img_make(struct img_work *w, const struct img_make *m, const char **ret_id, struct err *e)
{
	struct maker k = {.work = w, .m = m, .e = e};

	if (m->fd >= 0 && img_spool(w, m->fd, e) < 0)
		return -e->code;
	set_time(&k);
	if (read_documents(&k) < 0 || add_layer(&k) < 0)
		return -e->code;
	return publish(&k, ret_id);
}

int img_make_link(struct img_work *w, const struct img_make *m, const char *path, const char **ret_id,
		  struct err *e)
{
	struct maker k = {.work = w, .m = m, .link = path, .e = e};

	set_time(&k);
	return read_documents(&k) < 0 ? -e->code : publish(&k, ret_id);
}

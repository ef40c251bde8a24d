/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig-image load`: spool the archive, read its manifests, unpack the layers that the store does not
 * have, then publish layers, documents, record and names, in this order. Until the last step nobody
 * can see the image.
 */
#include "image/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "image/layers.h"
#include "image/manifest.h"
#include "json/writer.h"

struct load {
	struct img_work work;
	struct img_members members;
	struct img_sources sources;
	struct img_layer_job *jobs;
	size_t n_jobs;
	struct img_progress progress;
	const struct img_load_options *options;
};

static struct img_layer_job *find_job(const struct load *l, const char *chain)
{
	for (size_t i = 0; i < l->n_jobs; i++)
		if (strcmp(l->jobs[i].chain, chain) == 0)
			return &l->jobs[i];
	return NULL;
}

/* A job for the layer `from` of the source, unless another image has the same. */
static int add_job(struct load *l, const struct img_source *s, size_t from_bottom, struct err *e)
{
	const struct img_layer *layer = &s->image.layers.v[s->image.layers.n - 1 - from_bottom];
	const struct img_source_layer *source = &s->layers[from_bottom];
	struct img_layer_job *j;
	int have;

	if (find_job(l, layer->chain))
		return 0;
	j = &l->jobs[l->n_jobs++];
	*j = (struct img_layer_job){.chain = layer->chain, .diff_id = layer->diff_id, .blob = source->digest,
				    .fd = -1, .spool = source->member->spool};
	have = img_layer_info(l->work.store, l->work.arena, layer->chain, &j->info, e);
	if (have != 0)
		return have < 0 ? have : 0;
	j->fd = img_member_open(&l->members, source->member, e);
	return j->fd < 0 ? j->fd : 0;
}

static int make_jobs(struct load *l, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < l->sources.n; i++)
		n += l->sources.v[i].image.layers.n;
	l->jobs = arena_array(l->work.arena, n + 1, sizeof(*l->jobs));
	for (size_t i = 0; i < l->sources.n; i++)
		for (size_t k = 0; k < l->sources.v[i].image.layers.n; k++)
			if (add_job(l, &l->sources.v[i], k, e) < 0)
				return -e->code;
	return 0;
}

static void write_descriptor(struct json_writer *w, const char *type, const char *digest, uint64_t size)
{
	json_begin_object(w);
	json_member_str(w, "mediaType", type);
	json_member_str(w, "digest", digest);
	json_member_u64(w, "size", size);
	json_end_object(w);
}

/* The manifest of an image that came without one. */
static void make_manifest(const struct load *l, const struct img_source *s, struct strbuf *b)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	json_member_u64(&w, "schemaVersion", 2);
	json_member_str(&w, "mediaType", IMG_MANIFEST_TYPE);
	json_key(&w, "config");
	write_descriptor(&w, IMG_CONFIG_TYPE, s->image.id, s->config_len);
	json_key(&w, "layers");
	json_begin_array(&w);
	for (size_t i = s->image.layers.n; i-- > 0;) {
		const struct img_layer_info *info = &find_job(l, s->image.layers.v[i].chain)->info;

		write_descriptor(&w, info->media_type, info->blob, info->blob_size);
	}
	json_end_array(&w);
	json_end_object(&w);
}

/* An OCI manifest may name other blobs for layers that the store has already. */
static int keep_blobs(struct load *l, const struct img_source *s, struct err *e)
{
	for (size_t i = 0; i < s->image.layers.n; i++) {
		const struct img_source_layer *layer = &s->layers[i];
		char from[16], to[96];
		struct stat st;

		if (!layer->digest || layer->member->spool < 0)
			continue;
		snprintf(from, sizeof(from), "m%d", layer->member->spool);
		snprintf(to, sizeof(to), "blobs/sha256/%s", layer->digest + strlen("sha256:"));
		if (fstatat(l->work.dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* published with its layer */
		if (img_check_blob(&l->work, from, layer->digest, e) < 0)
			return -e->code;
		if (renameat(l->work.dir, from, l->work.store->dir, to) < 0)
			return err_sys(e, "put a layer into the image store");
	}
	return 0;
}

static int publish_image(struct load *l, struct img_source *s, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const char *digest;

	for (size_t i = 0; i < s->image.layers.n; i++) {
		struct img_layer *layer = &s->image.layers.v[i];

		layer->size = find_job(l, layer->chain)->info.size;
		s->image.size += layer->size;
	}
	if (s->manifest)
		strbuf_add(&b, s->manifest, s->manifest_len);
	else
		make_manifest(l, s, &b);
	if (s->manifest && keep_blobs(l, s, e) < 0)
		return -e->code;
	if (img_put_blob(&l->work, s->config, s->config_len, &digest, e) < 0 ||
	    img_put_blob(&l->work, b.p, b.len, &digest, e) < 0)
		return -e->code;
	s->image.manifest = (char *)digest;
	s->image.manifest_type = (char *)s->manifest_type;
	return img_add(l->work.store, &s->image, e);
}

/* What `load` says of one name, and the name itself. */
static int give_name(struct load *l, const struct img_source *s, const char *name, struct err *e)
{
	struct arena *a = l->work.arena;
	struct img_ref ref;
	struct img_image old;
	struct err ignored = {0};
	const char *familiar;

	if (img_ref_parse(a, name, &ref, e) < 0)
		return err_wrap(e, "a name in the archive");
	if (!l->options->names.n)
		ref.digest = NULL; /* a digest belongs to a registry, not to who made the archive */
	familiar = img_ref_familiar(a, &ref);
	if (img_resolve(l->work.store, img_ref_full(a, &ref), a, &old, &ignored) == 1 &&
	    strcmp(old.id, s->image.id) != 0 && !old.host && !l->options->silent)
		printf("The image %s already exists, renaming the old one with ID %s to empty string\n", familiar,
		       old.id);
	if (img_tag(l->work.store, s->image.id, &ref, e) < 0)
		return -e->code;
	if (!l->options->silent)
		printf("Loaded image: %s\n", familiar);
	return 0;
}

static int give_names(struct load *l, struct img_source *s, struct err *e)
{
	const struct strv *names = l->options->names.n ? &l->options->names : &s->names;

	if (names->n == 0) {
		if (!l->options->silent)
			printf("Loaded image ID: %s\n", s->image.id);
		return img_write_index(l->work.store, e);
	}
	for (size_t i = 0; i < names->n; i++)
		if (give_name(l, s, names->v[i], e) < 0)
			return -e->code;
	return 0;
}

static void warn(const struct load *l)
{
	uint64_t lost = 0, devices = 0;

	for (size_t i = 0; i < l->n_jobs; i++) {
		lost += l->jobs[i].lost_xattrs;
		devices += l->jobs[i].skipped_devices;
	}
	if (lost)
		fprintf(stderr, "Warning: %llu extended attributes were left out, the file system of the image "
				"store cannot hold them\n", (unsigned long long)lost);
	if (devices)
		fprintf(stderr, "Warning: %llu devices in /dev were left out, a container has its own\n",
			(unsigned long long)devices);
}

static int note_id(const struct load *l, const char *id, struct err *e)
{
	if (l->options->ids > 0 && dprintf(l->options->ids, "%s\n", id) < 0)
		return err_sys(e, "say which images were loaded");
	return 0;
}

static int run(struct load *l, int fd, struct err *e)
{
	if (img_members_read(&l->members, fd, &l->work.budget, e) < 0 ||
	    img_sources_read(&l->members, &l->sources, e) < 0)
		return -e->code;
	/* what was spooled and what is unpacked are counted apart */
	atomic_store(&l->work.budget.bytes, 0);
	if (make_jobs(l, e) < 0 || img_layers_unpack(&l->work, l->jobs, l->n_jobs, e) < 0 ||
	    img_layers_publish(&l->work, l->jobs, l->n_jobs, e) < 0)
		return -e->code;
	warn(l);
	for (size_t i = 0; i < l->sources.n; i++)
		if (publish_image(l, &l->sources.v[i], e) < 0 || give_names(l, &l->sources.v[i], e) < 0 ||
		    note_id(l, l->sources.v[i].image.id, e) < 0)
			return -e->code;
	return 0;
}

int img_load(const struct img_store *s, int fd, const struct img_load_options *options, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct load l = {.options = options};
	int r = img_work_begin(&l.work, s, a, e);

	if (options->width) {
		img_progress_init(&l.progress, options->width);
		l.work.progress = &l.progress;
	}
	l.members = (struct img_members){.arena = a, .store = s, .work = l.work.dir};
	if (r == 0)
		r = run(&l, fd, e);
	img_work_end(&l.work);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archive is an OCI layout (index.json, blobs) and a `docker save` archive (manifest.json,
 * repositories) at the same time, as recent versions of Docker write it. Layers are written
 * uncompressed under their diff ids: older versions of Docker do not know zstd, and one name is right
 * for both formats. What is decompressed is checked against its digest on the way; a layer whose blob
 * is damaged ends the command.
 */
#include "image/save.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "image/layers.h"
#include "image/load.h"
#include "image/stream.h"

struct saved {
	struct img_image image;
	const char *config;
	const char *manifest_digest;
	size_t manifest_len;
	struct strv names; /* full forms */
};

struct save {
	const struct img_store *store;
	struct arena *arena;
	struct archive *out;
	struct archive_entry *entry;
	struct saved *v;
	size_t n;
	struct strv written; /* member names */
	size_t written_room;
	struct err *e;
};

static void append(struct arena *a, struct strv *list, char *s)
{
	char **more = arena_array(a, list->n + 2, sizeof(char *));

	if (list->n)
		memcpy(more, list->v, list->n * sizeof(char *));
	more[list->n++] = s;
	list->v = more;
}

/* ---- what is wanted ---- */

static struct saved *saved_of(struct save *k, const struct img_image *image)
{
	for (size_t i = 0; i < k->n; i++)
		if (str_eq(k->v[i].image.id, image->id))
			return &k->v[i];
	k->v[k->n] = (struct saved){.image = *image};
	return &k->v[k->n++];
}

static int check_kind(struct save *k, const struct img_image *image, const char *text)
{
	if (!image->host && !image->link)
		return 0;
	return err_set(k->e, EINVAL, "%s is %s of this host and cannot be saved: make an image of it by tar and "
		       "import", text, image->host ? "the file system" : "a directory");
}

/* All tags of a repository; 0 when it has none. */
static int add_repository(struct save *k, const char *text, const struct img_list *all)
{
	struct img_ref ref, tag;
	struct err ignored = {0};
	int found = 0;

	if (img_ref_parse(k->arena, text, &ref, &ignored) < 0 || ref.tag || ref.digest)
		return 0;
	for (size_t i = 0; i < all->n; i++)
		for (size_t t = 0; t < all->v[i].tags.n; t++) {
			if (img_ref_parse(k->arena, all->v[i].tags.v[t], &tag, &ignored) < 0 ||
			    !str_eq(tag.domain, ref.domain) || !str_eq(tag.path, ref.path))
				continue;
			if (check_kind(k, &all->v[i].image, text) < 0)
				return -k->e->code;
			append(k->arena, &saved_of(k, &all->v[i].image)->names, img_ref_full(k->arena, &tag));
			found++;
		}
	return found;
}

static int add_wanted(struct save *k, const char *text, const struct img_list *all)
{
	struct img_image image;
	struct img_ref ref;
	struct err ignored = {0};
	struct saved *s;
	int r;

	r = add_repository(k, text, all);
	if (r != 0)
		return r < 0 ? r : 0;
	r = img_resolve(k->store, text, k->arena, &image, k->e);
	if (r < 0 && r != -EINVAL)
		return r;
	if (r <= 0)
		return err_set(k->e, ENOENT, "No such image: %s", text);
	if (check_kind(k, &image, text) < 0)
		return -k->e->code;
	s = saved_of(k, &image);
	/* by id there is no name to be kept */
	if (img_ref_parse(k->arena, text, &ref, &ignored) == 0 && !ref.digest &&
	    img_resolve(k->store, img_ref_full(k->arena, &ref), k->arena, &image, &ignored) == 1)
		append(k->arena, &s->names, img_ref_full(k->arena, &ref));
	return 0;
}

/* ---- members ---- */

static int failed(struct save *k)
{
	int code = archive_errno(k->out) > 0 ? archive_errno(k->out) : EIO;

	return err_set(k->e, code, "write the archive: %s", err_name(code));
}

/* 1: a member of that name is there already. */
static int begin_member(struct save *k, const char *name, uint64_t size)
{
	for (size_t i = 0; i < k->written.n; i++)
		if (strcmp(k->written.v[i], name) == 0)
			return 1;
	append(k->arena, &k->written, arena_strdup(k->arena, name));
	archive_entry_clear(k->entry);
	archive_entry_copy_pathname(k->entry, name);
	archive_entry_set_filetype(k->entry, AE_IFREG);
	archive_entry_set_perm(k->entry, 0644);
	archive_entry_set_size(k->entry, (la_int64_t)size);
	archive_entry_set_mtime(k->entry, 0, 0); /* the same images make the same archive */
	return archive_write_header(k->out, k->entry) == ARCHIVE_OK ? 0 : failed(k);
}

static int write_text(struct save *k, const char *name, const char *text, size_t len)
{
	int r = begin_member(k, name, len);

	if (r != 0)
		return r < 0 ? r : 0;
	return archive_write_data(k->out, text, len) == (la_ssize_t)len ? 0 : failed(k);
}

static int write_blob(struct save *k, const char *text, size_t len, const char **ret_digest)
{
	char hex[SHA256_HEX + 1];

	sha256_hex(text, len, hex);
	*ret_digest = arena_printf(k->arena, "sha256:%s", hex);
	return write_text(k, arena_printf(k->arena, "blobs/sha256/%s", hex), text, len);
}

static int copy_layer(struct save *k, struct img_stream *s, const struct img_layer_info *info)
{
	const void *data;
	size_t n;
	la_int64_t at;
	uint64_t total = 0;
	int r;

	while ((r = archive_read_data_block(s->raw, &data, &n, &at)) == ARCHIVE_OK) {
		sha256_add(&s->tar_sum, data, n);
		total += n;
		if (total > info->tar_size)
			break;
		if (archive_write_data(k->out, data, n) != (la_ssize_t)n)
			return failed(k);
	}
	if (r != ARCHIVE_EOF && r != ARCHIVE_OK)
		return img_stream_error(s, k->e);
	if (total != info->tar_size)
		return err_set(k->e, EBADMSG, "layer %s in the image store is damaged", info->blob);
	return 0;
}

static int write_layer(struct save *k, const struct img_layer *layer)
{
	struct img_layer_info info;
	struct img_stream s;
	auto_close int fd = -1;
	char sum[72];
	int r = img_layer_info(k->store, k->arena, layer->chain, &info, k->e);

	if (r <= 0)
		return r < 0 ? r : err_set(k->e, ENOENT, "layer %s is not in the image store", layer->chain);
	r = begin_member(k, arena_printf(k->arena, "blobs/sha256/%s", layer->diff_id + 7), info.tar_size);
	if (r != 0)
		return r < 0 ? r : 0;
	fd = openat(k->store->dir, arena_printf(k->arena, "blobs/sha256/%s", info.blob + 7),
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(k->e, "open layer %s in the image store", info.blob);
	if (img_stream_open_raw(&s, fd, k->e) < 0)
		return -k->e->code;
	r = copy_layer(k, &s, &info);
	img_stream_digests(&s, NULL, sum);
	img_stream_close(&s);
	if (r == 0 && strcmp(sum, layer->diff_id) != 0)
		return err_set(k->e, EBADMSG, "layer %s in the image store is damaged", info.blob);
	return r;
}

static void descriptor(struct json_writer *w, const char *type, const char *digest, uint64_t size)
{
	json_begin_object(w);
	json_member_str(w, "mediaType", type);
	json_member_str(w, "digest", digest);
	json_member_u64(w, "size", size);
}

static int write_manifest(struct save *k, struct saved *s)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_u64(&w, "schemaVersion", 2);
	json_member_str(&w, "mediaType", IMG_MANIFEST_TYPE);
	json_key(&w, "config");
	descriptor(&w, IMG_CONFIG_TYPE, s->image.id, strlen(s->config));
	json_end_object(&w);
	json_key(&w, "layers");
	json_begin_array(&w);
	for (size_t i = s->image.layers.n; i-- > 0;) {
		struct img_layer_info info = {0};

		if (img_layer_info(k->store, k->arena, s->image.layers.v[i].chain, &info, k->e) < 0)
			return -k->e->code;
		descriptor(&w, "application/vnd.oci.image.layer.v1.tar", s->image.layers.v[i].diff_id,
			   info.tar_size);
		json_end_object(&w);
	}
	json_end_array(&w);
	json_end_object(&w);
	s->manifest_len = b.len;
	return write_blob(k, b.p, b.len, &s->manifest_digest);
}

static int write_image(struct save *k, struct saved *s)
{
	const char *digest;

	if (img_config_text(k->store, &s->image, k->arena, &s->config, k->e) < 0 ||
	    write_blob(k, s->config, strlen(s->config), &digest) < 0)
		return -k->e->code;
	if (strcmp(digest, s->image.id) != 0)
		return err_set(k->e, EBADMSG, "the configuration of %s in the image store is damaged", s->image.id);
	for (size_t i = s->image.layers.n; i-- > 0;)
		if (write_layer(k, &s->image.layers.v[i]) < 0)
			return -k->e->code;
	return write_manifest(k, s);
}

/* ---- the documents ---- */

static void index_entry(struct save *k, struct json_writer *w, const struct saved *s, const char *name)
{
	struct img_ref ref;
	struct err ignored = {0};

	descriptor(w, IMG_MANIFEST_TYPE, s->manifest_digest, s->manifest_len);
	if (name && img_ref_parse(k->arena, name, &ref, &ignored) == 0) {
		json_key(w, "annotations");
		json_begin_object(w);
		json_member_str(w, "io.containerd.image.name", name);
		json_member_str(w, "org.opencontainers.image.ref.name", ref.tag);
		json_end_object(w);
	}
	json_end_object(w);
}

static int write_index(struct save *k)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_u64(&w, "schemaVersion", 2);
	json_member_str(&w, "mediaType", "application/vnd.oci.image.index.v1+json");
	json_key(&w, "manifests");
	json_begin_array(&w);
	for (size_t i = 0; i < k->n; i++) {
		for (size_t n = 0; n < k->v[i].names.n; n++)
			index_entry(k, &w, &k->v[i], k->v[i].names.v[n]);
		if (k->v[i].names.n == 0)
			index_entry(k, &w, &k->v[i], NULL);
	}
	json_end_array(&w);
	json_end_object(&w);
	return write_text(k, "index.json", b.p, b.len);
}

static const char *familiar(struct save *k, const char *full)
{
	struct img_ref ref;
	struct err ignored = {0};

	return img_ref_parse(k->arena, full, &ref, &ignored) < 0 ? full : img_ref_familiar(k->arena, &ref);
}

static int write_docker_manifest(struct save *k)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_array(&w);
	for (size_t i = 0; i < k->n; i++) {
		const struct saved *s = &k->v[i];

		json_begin_object(&w);
		json_key(&w, "Config");
		json_str(&w, arena_printf(k->arena, "blobs/sha256/%s", s->image.id + 7));
		json_key(&w, "RepoTags");
		if (s->names.n == 0)
			json_null(&w);
		else
			json_begin_array(&w);
		for (size_t n = 0; n < s->names.n; n++)
			json_str(&w, familiar(k, s->names.v[n]));
		if (s->names.n)
			json_end_array(&w);
		json_key(&w, "Layers");
		json_begin_array(&w);
		for (size_t l = s->image.layers.n; l-- > 0;)
			json_str(&w, arena_printf(k->arena, "blobs/sha256/%s", s->image.layers.v[l].diff_id + 7));
		json_end_array(&w);
		json_end_object(&w);
	}
	json_end_array(&w);
	return write_text(k, "manifest.json", b.p, b.len);
}

static int write_all(struct save *k)
{
	static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";

	for (size_t i = 0; i < k->n; i++)
		if (write_image(k, &k->v[i]) < 0)
			return -k->e->code;
	if (write_index(k) < 0 || write_docker_manifest(k) < 0 ||
	    write_text(k, "oci-layout", layout, strlen(layout)) < 0)
		return -k->e->code;
	return archive_write_close(k->out) == ARCHIVE_OK ? 0 : failed(k);
}

int img_save(const struct img_store *s, const struct strv *names, int out, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct save k = {.store = s, .arena = a, .e = e};
	struct img_list all;
	int r = img_list(s, a, &all, e);

	if (r < 0)
		return r;
	k.v = arena_array(a, all.n + names->n + 1, sizeof(*k.v));
	for (size_t i = 0; i < names->n; i++)
		if (add_wanted(&k, names->v[i], &all) < 0)
			return -e->code;
	k.out = archive_write_new();
	k.entry = archive_entry_new();
	if (!k.out || !k.entry)
		return err_set(e, ENOMEM, "out of memory");
	archive_write_set_format_pax_restricted(k.out);
	archive_write_set_bytes_in_last_block(k.out, 1);
	r = archive_write_open_fd(k.out, out) == ARCHIVE_OK ? write_all(&k) : failed(&k);
	archive_write_free(k.out);
	archive_entry_free(k.entry);
	return r;
}

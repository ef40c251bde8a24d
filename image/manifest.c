/* SPDX-License-Identifier: Apache-2.0 */
/* See manifest.h. An archive of a recent `docker save` has both documents; manifest.json says the same
 * with less, and older programs have only that, so it comes first. */
#include "image/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/sha256.h"
#include "base/str.h"
#include "json/json.h"

enum { MAX_IMAGES = 256, MAX_INDEX_DEPTH = 2 };

#define TYPE_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define TYPE_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"

static struct img_source *add_source(const struct img_members *m, struct img_sources *s, struct err *e)
{
	if (s->n >= MAX_IMAGES) {
		err_set(e, EFBIG, "the archive has more than %d images", MAX_IMAGES);
		return NULL;
	}
	if (!s->v)
		s->v = arena_array(m->arena, MAX_IMAGES, sizeof(*s->v));
	return &s->v[s->n++];
}

static const char *sum(struct arena *a, const char *text, size_t len)
{
	char hex[SHA256_HEX + 1];

	sha256_hex(text, len, hex);
	return arena_printf(a, "sha256:%s", hex);
}

/* The digest in a member's name, or NULL: blobs/sha256/HEX, HEX.json, HEX.tar. */
static const char *digest_in_name(struct arena *a, const char *name)
{
	const char *base = strrchr(name, '/');
	char *hex = arena_strdup(a, base ? base + 1 : name);

	if (base && !str_starts(name, "blobs/sha256/"))
		return NULL;
	hex[strcspn(hex, ".")] = '\0';
	return img_is_hex(hex, 64) ? arena_printf(a, "sha256:%s", hex) : NULL;
}

static const struct img_member *find_named(const struct img_members *m, const char *name, struct err *e)
{
	const struct img_member *member = name ? img_members_find(m, name) : NULL;
	char shown[120];

	if (!member)
		err_set(e, ENOENT, "the archive has no %s, which its manifest names",
			str_escape(shown, sizeof(shown), name ? name : "configuration"));
	return member;
}

/* Reads the configuration; `digest` NULL: any. */
static int read_config(const struct img_members *m, const struct img_member *member, const char *digest,
		       struct img_source *s, struct err *e)
{
	const char *have;

	if (img_member_text(m, member, &s->config, &s->config_len, e) < 0)
		return -e->code;
	have = sum(m->arena, s->config, s->config_len);
	if (digest && strcmp(have, digest) != 0)
		return err_set(e, EBADMSG, "the digest of the configuration is %s, not %s", have, digest);
	if (img_read_config(m->arena, s->config, s->config_len, &s->image, e) < 0)
		return -e->code;
	s->image.id = (char *)have;
	s->layers = arena_array(m->arena, s->image.layers.n, sizeof(*s->layers));
	return 0;
}

static int check_layer_count(const struct img_source *s, const struct json *layers, struct err *e)
{
	size_t n = layers && layers->type == JSON_ARRAY ? layers->n : 0;

	if (n != s->image.layers.n)
		return err_set(e, EINVAL, "the manifest has %zu layers, but the configuration %zu", n,
			       s->image.layers.n);
	return 0;
}

static int docker_image(const struct img_members *m, const struct json *v, struct img_source *s,
			struct err *e)
{
	const struct json *layers = json_get(v, "Layers"), *tags = json_get(v, "RepoTags");
	const char *config = json_get_str(v, "Config");
	const struct img_member *member = find_named(m, config, e);

	if (!member || read_config(m, member, digest_in_name(m->arena, config), s, e) < 0 ||
	    check_layer_count(s, layers, e) < 0)
		return -e->code;
	for (size_t i = 0; i < s->image.layers.n; i++) {
		const struct json *layer = &layers->items[i];

		if (layer->type != JSON_STRING)
			return err_set(e, EINVAL, "a layer is not a string");
		s->layers[i].member = find_named(m, layer->text, e);
		if (!s->layers[i].member)
			return -e->code;
	}
	if (!tags || tags->type != JSON_ARRAY)
		return 0;
	s->names.v = arena_array(m->arena, tags->n + 1, sizeof(char *));
	for (size_t i = 0; i < tags->n; i++)
		if (tags->items[i].type == JSON_STRING)
			s->names.v[s->names.n++] = (char *)tags->items[i].text;
	return 0;
}

static int docker_images(const struct img_members *m, const struct json *v, struct img_sources *ret,
			 struct err *e)
{
	if (v->type != JSON_ARRAY)
		return err_set(e, EINVAL, "it is not an array");
	for (size_t i = 0; i < v->n; i++) {
		struct img_source *s = add_source(m, ret, e);

		if (!s || docker_image(m, &v->items[i], s, e) < 0)
			return -e->code;
	}
	return 0;
}

/* The document that a descriptor names, checked. */
static int open_descriptor(const struct img_members *m, const struct json *d, const struct json **ret_doc,
			   struct img_source *text, struct err *e)
{
	const char *digest = json_get_str(d, "digest");
	const struct img_member *member;

	if (!digest || !img_digest_valid(digest))
		return err_set(e, EINVAL, "a digest is no sha256 digest");
	member = find_named(m, img_blob_name(m->arena, digest), e);
	if (!member || img_member_text(m, member, &text->manifest, &text->manifest_len, e) < 0)
		return -e->code;
	if (strcmp(sum(m->arena, text->manifest, text->manifest_len), digest) != 0)
		return err_set(e, EBADMSG, "the digest of %s is not what its name says", member->name);
	return json_parse(text->manifest, text->manifest_len, m->arena, ret_doc, e);
}

static int oci_image(const struct img_members *m, const struct json *doc, struct img_source *s, struct err *e)
{
	const struct json *layers = json_get(doc, "layers"), *config = json_get(doc, "config");
	const char *digest = json_get_str(config, "digest");
	const struct img_member *member;

	if (!digest || !img_digest_valid(digest))
		return err_set(e, EINVAL, "the manifest names no configuration");
	member = find_named(m, img_blob_name(m->arena, digest), e);
	if (!member || read_config(m, member, digest, s, e) < 0 || check_layer_count(s, layers, e) < 0)
		return -e->code;
	for (size_t i = 0; i < s->image.layers.n; i++) {
		struct img_source_layer *l = &s->layers[i];

		l->digest = json_get_str(&layers->items[i], "digest");
		if (!l->digest || !img_digest_valid(l->digest))
			return err_set(e, EINVAL, "the digest of a layer is no sha256 digest");
		l->member = find_named(m, img_blob_name(m->arena, l->digest), e);
		if (!l->member)
			return -e->code;
	}
	return 0;
}

static bool is_ours(const struct json *platform)
{
	static const char *const machines[][2] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"armv7l", "arm"}, {"riscv64", "riscv64"},
		{"s390x", "s390x"}, {"ppc64le", "ppc64le"}, {"i686", "386"},
	};
	const char *os = json_get_str(platform, "os"), *arch = json_get_str(platform, "architecture");
	struct utsname u;

	if (!platform)
		return true;
	if (!str_eq(os, "linux") || uname(&u) < 0)
		return false;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (str_eq(machines[i][1], arch) && strcmp(machines[i][0], u.machine) == 0)
			return true;
	return false;
}

/* The descriptor of an index that this machine can run. */
static const struct json *choose(const struct json *index, struct err *e)
{
	const struct json *list = json_get(index, "manifests");

	if (!list || list->type != JSON_ARRAY) {
		err_set(e, EINVAL, "an index has no manifests");
		return NULL;
	}
	for (size_t i = 0; i < list->n; i++)
		if (is_ours(json_get(&list->items[i], "platform")))
			return &list->items[i];
	err_set(e, ENOEXEC, "the image is for other platforms than this one");
	return NULL;
}

static void take_name(const struct img_members *m, const struct json *descriptor, struct img_source *s)
{
	const struct json *notes = json_get(descriptor, "annotations");
	const char *name = json_get_str(notes, "io.containerd.image.name");

	if (!name)
		name = json_get_str(notes, "org.opencontainers.image.ref.name");
	/* only a tag, which many programs write there, is no name of an image */
	if (!name || !(strchr(name, ':') || strchr(name, '/')))
		return;
	s->names.v = arena_array(m->arena, 2, sizeof(char *));
	s->names.v[0] = (char *)name;
	s->names.n = 1;
}

static int oci_descriptor(const struct img_members *m, const struct json *d, struct img_source *s,
			  struct err *e)
{
	const struct json *doc;

	for (int depth = 0; depth <= MAX_INDEX_DEPTH; depth++) {
		const char *type;

		if (open_descriptor(m, d, &doc, s, e) < 0)
			return -e->code;
		/* A document that is two things at once is read differently by each reader (CVE-2021-41190). */
		if (json_get(doc, "manifests") && (json_get(doc, "layers") || json_get(doc, "config")))
			return err_set(e, EINVAL, "a manifest is an index as well");
		type = json_get_str(doc, "mediaType");
		if (type && json_get_str(d, "mediaType") && strcmp(type, json_get_str(d, "mediaType")) != 0)
			return err_set(e, EINVAL, "a manifest is of another type than its descriptor says");
		if (!json_get(doc, "manifests")) {
			s->manifest_type = type ? type : json_get_str(d, "mediaType");
			if (!s->manifest_type || (strcmp(s->manifest_type, TYPE_OCI_MANIFEST) != 0 &&
						  strcmp(s->manifest_type, TYPE_DOCKER_MANIFEST) != 0))
				return err_set(e, EINVAL, "a manifest is of an unknown type");
			return oci_image(m, doc, s, e);
		}
		d = choose(doc, e);
		if (!d)
			return -e->code;
	}
	return err_set(e, EINVAL, "its indexes are nested too deep");
}

static int oci_images(const struct img_members *m, const struct json *v, struct img_sources *ret,
		      struct err *e)
{
	const struct json *list = json_get(v, "manifests");

	if (!list || list->type != JSON_ARRAY)
		return err_set(e, EINVAL, "it has no manifests");
	for (size_t i = 0; i < list->n; i++) {
		struct img_source *s = add_source(m, ret, e);

		if (!s || oci_descriptor(m, &list->items[i], s, e) < 0)
			return -e->code;
		take_name(m, &list->items[i], s);
	}
	return 0;
}

int img_sources_read(const struct img_members *m, struct img_sources *ret, struct err *e)
{
	const char *name = "manifest.json";
	const struct img_member *member = img_members_find(m, name);
	bool docker = member;
	const struct json *v;
	const char *text;
	size_t len;
	int r;

	*ret = (struct img_sources){0};
	if (!member)
		member = img_members_find(m, name = "index.json");
	if (!member) { /* Docker falls back to the format of its first years, and that is what it says */
		err_set(e, ENOENT, "open %s/tmp/docker-import-%d/repositories: no such file or directory",
			m->store->path, m->work);
		return img_members_hint(m, e);
	}
	if (img_member_text(m, member, &text, &len, e) < 0)
		return -e->code;
	r = json_parse(text, len, m->arena, &v, e);
	if (r == 0)
		r = docker ? docker_images(m, v, ret, e) : oci_images(m, v, ret, e);
	return r < 0 ? err_wrap(e, "%s", name) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker pull` and `docker push`: skopeo moves the image between the registry and an archive, which
 * brig-image loads or writes. The digest under which a registry has the image becomes one of its
 * names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "docker/commands.h"
#include "docker/happenings.h"
#include "docker/container.h"
#include "docker/registry.h"

struct transfer {
	struct dk_context *c;
	struct img_ref ref;
	const char *platform; /* OS/ARCH[/VARIANT] or NULL */
	bool quiet;
	FILE *out;            /* where is said what happens */
	char *scratch;
	struct err *e;
};

static void add_common(struct transfer *t, struct strv *argv, const char *tls_option)
{
	dk_args_add(t->c, argv, "skopeo");
	if (t->platform) {
		char *os = arena_strdup(t->c->arena, t->platform), *arch = strchr(os, '/'), *variant;

		if (arch)
			*arch++ = '\0';
		variant = arch ? strchr(arch, '/') : NULL;
		if (variant)
			*variant++ = '\0';
		dk_args_add(t->c, argv, "--override-os");
		dk_args_add(t->c, argv, os);
		if (arch) {
			dk_args_add(t->c, argv, "--override-arch");
			dk_args_add(t->c, argv, arch);
		}
		if (variant) {
			dk_args_add(t->c, argv, "--override-variant");
			dk_args_add(t->c, argv, variant);
		}
	}
	dk_args_add(t->c, argv, tls_option[0] == 'i' ? "inspect" : "copy");
	dk_registry_auth(t->c, argv, false);
	if (dk_registry_is_local(t->ref.domain))
		dk_args_add(t->c, argv, tls_option[0] == 'i' ? "--tls-verify=false" : tls_option);
}

static const char *remote(struct transfer *t)
{
	return arena_printf(t->c->arena, "docker://%s", img_ref_full(t->c->arena, &t->ref));
}

/* The digest of what the name means in the registry: of the list, where it is one. */
static int remote_digest(struct transfer *t, char **ret)
{
	auto_strbuf struct strbuf out = {0};
	struct strv argv = {0};
	int r;

	add_common(t, &argv, "inspect");
	dk_args_add(t->c, &argv, "--format");
	dk_args_add(t->c, &argv, "{{.Digest}}");
	dk_args_add(t->c, &argv, remote(t));
	r = dk_run_skopeo(t->c, &argv, &out, t->e);
	if (r != 0)
		return r;
	if (out.len)
		out.p[strcspn(out.p, "\n")] = '\0';
	if (!img_digest_valid(strbuf_str(&out)))
		return dk_daemon_error(t->c, t->e, EBADMSG, "the registry names no sha256 digest");
	*ret = arena_strdup(t->c->arena, out.p);
	return 0;
}

static int fetch(struct transfer *t, const char *archive)
{
	auto_strbuf struct strbuf out = {0};
	struct strv argv = {0};

	add_common(t, &argv, "--src-tls-verify=false");
	dk_args_add(t->c, &argv, remote(t));
	/* this form keeps the configuration, and so the image's id, as it is in the registry */
	dk_args_add(t->c, &argv, arena_printf(t->c->arena, "docker-archive:%s", archive));
	return dk_run_skopeo(t->c, &argv, &out, t->e);
}

static int load(struct transfer *t, const char *archive, const char *digest)
{
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	struct img_ref by_digest = t->ref;
	struct img_image image;
	struct strv argv = {0};
	struct img_store s;
	int r;

	by_digest.tag = NULL;
	by_digest.digest = digest;
	dk_args_add(t->c, &argv, "load");
	dk_args_add(t->c, &argv, "--silent");
	dk_args_add(t->c, &argv, "--name");
	dk_args_add(t->c, &argv, img_ref_full(t->c->arena, t->ref.digest ? &by_digest : &t->ref));
	dk_args_add(t->c, &argv, archive);
	r = dk_run_brig_image(t->c, &argv, &p, t->e);
	if (r != 0 || t->ref.digest)
		return r;
	r = dk_image_store(t->c, &s, t->e);
	if (r == 0)
		r = img_resolve(&s, img_ref_full(t->c->arena, &t->ref), t->c->arena, &image, t->e);
	if (r == 1)
		r = img_tag(&s, image.id, &by_digest, t->e);
	img_store_close(&s);
	return r < 0 ? r : 0;
}

/* The id that the name has now; "" for none. */
static const char *present_id(struct transfer *t)
{
	struct err ignored = {0};
	struct img_image image;
	struct img_store s;
	const char *id = "";

	if (dk_image_store(t->c, &s, &ignored) == 0 &&
	    img_resolve(&s, img_ref_full(t->c->arena, &t->ref), t->c->arena, &image, &ignored) == 1)
		id = image.id;
	img_store_close(&s);
	return id;
}

static int pull(struct transfer *t)
{
	const char *before = present_id(t), *archive;
	char *digest;
	int r;

	fflush(t->out);
	r = remote_digest(t, &digest);
	if (r == 0 && !t->quiet) {
		fprintf(t->out, "%s: Pulling from %s\n", t->ref.digest ? t->ref.digest : t->ref.tag ? t->ref.tag : "latest",
			t->ref.path);
		fflush(t->out);
	}
	if (r == 0)
		r = dk_scratch(t->c, &t->scratch, t->e);
	if (r != 0)
		return r;
	archive = arena_printf(t->c->arena, "%s/image.tar", t->scratch);
	r = fetch(t, archive);
	if (r == 0)
		r = load(t, archive, digest);
	dk_scratch_remove(t->scratch);
	if (r == 0)
		dk_image_event(&t->c->store->roots, "pull", img_ref_familiar(t->c->arena, &t->ref),
			       img_ref_familiar_name(t->c->arena, &t->ref), NULL);
	if (r != 0 || t->quiet)
		return r;
	fprintf(t->out, "Digest: %s\nStatus: %s for %s\n", digest,
		str_eq(before, present_id(t)) ? "Image is up to date" : "Downloaded newer image",
		img_ref_familiar(t->c->arena, &t->ref));
	return 0;
}

int dk_pull_image(struct dk_context *c, const char *ref, bool quiet, struct err *e)
{
	struct transfer t = {.c = c, .quiet = quiet, .out = stderr, .e = e};

	if (img_ref_parse(c->arena, ref, &t.ref, e) < 0)
		return -e->code;
	return pull(&t);
}

int dk_cmd_pull(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_pull_options *o = args->options;
	struct transfer t = {.c = c, .quiet = o->quiet, .out = stdout, .e = e};
	int r;

	if (img_ref_parse(c->arena, args->argv[0], &t.ref, e) < 0)
		return -e->code;
	if (o->all_tags && (t.ref.tag || t.ref.digest))
		return dk_error(c, e, EINVAL, "tag can't be used with --all-tags/-a");
	if (o->all_tags)
		return dk_error(c, e, ENOSYS, "--all-tags is not supported: pull the tags by name");
	t.platform = o->platform && *o->platform ? o->platform : NULL;
	if (!t.ref.tag && !t.ref.digest && !o->quiet)
		printf("Using default tag: latest\n");
	r = pull(&t);
	if (r == 0)
		printf("%s\n", img_ref_full(c->arena, &t.ref));
	return r;
}

static int push(struct transfer *t)
{
	auto_strbuf struct strbuf out = {0};
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	const char *full = img_ref_full(t->c->arena, &t->ref), *archive;
	struct strv save = {0}, argv = {0};
	FILE *f;
	int r = dk_scratch(t->c, &t->scratch, t->e);

	if (r < 0)
		return r;
	archive = arena_printf(t->c->arena, "%s/image.tar", t->scratch);
	f = fopen(archive, "we");
	if (!f)
		return err_sys(t->e, "make %s", archive);
	p.out = fileno(f);
	dk_args_add(t->c, &save, "save");
	dk_args_add(t->c, &save, full);
	r = dk_run_brig_image(t->c, &save, &p, t->e);
	fclose(f);
	if (r != 0)
		return r;
	add_common(t, &argv, "--dest-tls-verify=false");
	dk_args_add(t->c, &argv, arena_printf(t->c->arena, "docker-archive:%s:%s", archive, full));
	dk_args_add(t->c, &argv, remote(t));
	return dk_run_skopeo(t->c, &argv, &out, t->e);
}

/* What a registry says to a push is shown without who passes it on. */
static int bare(struct dk_context *c, struct err *e)
{
	static const char engine[] = "Error response from daemon: ";
	const char *text = dk_error_text(c, e);

	return str_starts(text, engine) ? dk_error(c, e, e->code, "%s", arena_strdup(c->arena, text + strlen(engine)))
					: -e->code;
}

int dk_cmd_push(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_pull_options *o = args->options;
	struct transfer t = {.c = c, .quiet = o->quiet, .out = stdout, .e = e};
	char *digest;
	int r;

	if (img_ref_parse(c->arena, args->argv[0], &t.ref, e) < 0)
		return -e->code;
	if (o->all_tags)
		return dk_error(c, e, ENOSYS, "--all-tags is not supported: push the tags by name");
	if (!t.ref.tag && !t.ref.digest && !o->quiet)
		printf("Using default tag: latest\n");
	if (!o->quiet)
		printf("The push refers to repository [%s/%s]\n", t.ref.domain, t.ref.path);
	fflush(stdout);
	if (!*present_id(&t))
		return dk_error(c, e, ENOENT, "An image does not exist locally with the tag: %s",
				img_ref_familiar_name(c->arena, &t.ref));
	r = push(&t);
	if (t.scratch)
		dk_scratch_remove(t.scratch);
	if (r == 0)
		r = remote_digest(&t, &digest);
	if (r == 0)
		dk_image_event(&c->store->roots, "push", img_ref_familiar(c->arena, &t.ref),
			       img_ref_familiar_name(c->arena, &t.ref), NULL);
	if (r == 0 && o->quiet)
		printf("%s\n", img_ref_full(c->arena, &t.ref));
	else if (r == 0)
		printf("%s: digest: %s\n", t.ref.tag ? t.ref.tag : "latest", digest);
	return r < 0 ? bare(c, e) : r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker rmi`. By a name: the name goes, and with the last one the image, unless a container uses it.
 * By an id: the image with all its names, if they are of one repository or with --force.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docker/commands.h"
#include "docker/happenings.h"
#include "docker/image-remove.h"

struct removal {
	struct dk_context *c;
	const struct img_store *store;
	const char *text; /* as given */
	bool force;
	struct img_listed image;
	struct dk_image_use use;
	struct err *e;
};

static const char *short_id(struct removal *r, const char *id)
{
	if (str_starts(id, "sha256:"))
		id += strlen("sha256:");
	return arena_printf(r->c->arena, "%.12s", id);
}

static int conflict(struct removal *r, const char *how, const char *why, const char *container)
{
	return dk_daemon_error(r->c, r->e, EBUSY, "conflict: unable to delete %s (%s) - image is %s%s%s",
			       short_id(r, r->image.image.id), how, why, container ? " " : "",
			       container ? short_id(r, container) : "");
}

/* One repository, and at most one tag. */
static bool is_single(struct removal *r)
{
	struct img_ref first = {0}, ref;
	struct err ignored = {0};

	if (r->image.tags.n > 1)
		return false;
	for (size_t i = 0; i < r->image.tags.n + r->image.digests.n; i++) {
		const char *name = i < r->image.tags.n ? r->image.tags.v[i] : r->image.digests.v[i - r->image.tags.n];

		if (img_ref_parse(r->c->arena, name, &ref, &ignored) < 0)
			continue;
		if (i == 0)
			first = ref;
		else if (!str_eq(first.domain, ref.domain) || !str_eq(first.path, ref.path))
			return false;
	}
	return true;
}

static void tell(struct removal *r, const char *action)
{
	const struct img_image *i = &r->image.image;

	dk_image_event(&r->c->store->roots, action, i->id, i->id, &i->config.labels);
}

static int untag(struct removal *r, const char *name)
{
	struct img_ref ref;

	if (img_ref_parse(r->c->arena, name, &ref, r->e) < 0 || img_untag(r->store, &ref, r->e) < 0)
		return -r->e->code;
	printf("Untagged: %s\n", img_ref_familiar(r->c->arena, &ref));
	tell(r, "untag");
	return 0;
}

static int untag_all(struct removal *r)
{
	for (size_t i = 0; i < r->image.tags.n; i++)
		if (untag(r, r->image.tags.v[i]) < 0)
			return -r->e->code;
	for (size_t i = 0; i < r->image.digests.n; i++)
		if (untag(r, r->image.digests.v[i]) < 0)
			return -r->e->code;
	return 0;
}

/* quiet: a name has been removed already, and what stops us now is no failure. */
static int delete(struct removal *r, bool quiet)
{
	struct strv gone;
	uint64_t bytes;

	if (img_names(r->store, r->c->arena, &r->image, r->e) < 0)
		return -r->e->code;
	if (r->use.running)
		return quiet ? 0 : conflict(r, "cannot be forced", "being used by running container",
					    r->use.running);
	if (!r->force && r->use.stopped)
		return quiet ? 0 : conflict(r, "must be forced", "being used by stopped container",
					    r->use.stopped);
	if (!r->force && r->image.tags.n + r->image.digests.n > 0)
		return quiet ? 0 : conflict(r, "must be forced", "referenced in multiple repositories", NULL);
	if (untag_all(r) < 0 || dk_image_forget(r->c, r->store, r->image.image.id, r->e) < 0)
		return -r->e->code;
	printf("Deleted: %s\n", r->image.image.id);
	tell(r, "delete");
	if (dk_image_clear(r->c, r->store, &gone, &bytes, r->e) < 0)
		return -r->e->code;
	dk_image_print_layers(&r->image.image, &gone);
	return 0;
}

static int remove_by_id(struct removal *r)
{
	if (is_single(r)) {
		if (r->use.running)
			return conflict(r, "cannot be forced", "being used by running container", r->use.running);
		if (!r->force && r->use.stopped)
			return conflict(r, "must be forced", "being used by stopped container", r->use.stopped);
		if (untag_all(r) < 0)
			return -r->e->code;
	}
	return delete(r, false);
}

/* Digests of a repository without tags are of no use. */
static int drop_digests(struct removal *r, const struct img_ref *gone)
{
	struct img_ref ref;
	struct err ignored = {0};

	for (size_t i = 0; i < r->image.tags.n; i++)
		if (img_ref_parse(r->c->arena, r->image.tags.v[i], &ref, &ignored) == 0 &&
		    str_eq(ref.domain, gone->domain) && str_eq(ref.path, gone->path))
			return 0;
	for (size_t i = 0; i < r->image.digests.n; i++)
		if (img_ref_parse(r->c->arena, r->image.digests.v[i], &ref, &ignored) == 0 &&
		    str_eq(ref.domain, gone->domain) && str_eq(ref.path, gone->path) &&
		    untag(r, r->image.digests.v[i]) < 0)
			return -r->e->code;
	return img_names(r->store, r->c->arena, &r->image, r->e);
}

static int remove_by_name(struct removal *r, const struct img_ref *ref)
{
	const char *user = r->use.running ? r->use.running : r->use.stopped;

	if (!r->force && is_single(r) && user)
		return dk_daemon_error(r->c, r->e, EBUSY,
				       "conflict: unable to remove repository reference \"%s\" (must force) - "
				       "container %s is using its referenced image %s",
				       r->text, short_id(r, user), short_id(r, r->image.image.id));
	if (untag(r, img_ref_full(r->c->arena, ref)) < 0 ||
	    img_names(r->store, r->c->arena, &r->image, r->e) < 0)
		return -r->e->code;
	if (!ref->digest && drop_digests(r, ref) < 0)
		return -r->e->code;
	return r->image.tags.n + r->image.digests.n > 0 ? 0 : delete(r, true);
}

static bool is_id_of(const char *text, const char *id)
{
	return str_starts(id, text) || str_starts(id + strlen("sha256:"), text);
}

static int remove_one(struct removal *r)
{
	struct img_ref ref;
	struct err ignored = {0};

	if (dk_image_find(r->c, r->store, r->text, &r->image.image, r->e) < 0)
		return -r->e->code;
	if (r->image.image.host)
		return dk_daemon_error(r->c, r->e, EBUSY, "conflict: unable to delete host (cannot be forced) - "
				       "image is built in");
	if (img_names(r->store, r->c->arena, &r->image, r->e) < 0 ||
	    dk_image_uses(r->c, r->image.image.id, &r->use, r->e) < 0)
		return -r->e->code;
	if (is_id_of(r->text, r->image.image.id) || img_ref_parse(r->c->arena, r->text, &ref, &ignored) < 0)
		return remove_by_id(r);
	return remove_by_name(r, &ref);
}

int dk_cmd_rmi(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_rmi_options *o = args->options;
	struct img_store s;
	int exit_code = 0;

	if (dk_image_store(c, &s, e) < 0)
		return -e->code;
	for (int i = 0; i < args->argc; i++) {
		struct err bad = {0};
		struct removal r = {.c = c, .store = &s, .text = args->argv[i], .force = o->force, .e = &bad};

		if (remove_one(&r) >= 0)
			continue;
		dk_print_error(c, &bad);
		if (!(o->force && bad.code == ENOENT))
			exit_code = 1;
	}
	img_store_close(&s);
	return exit_code;
}

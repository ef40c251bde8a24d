/* SPDX-License-Identifier: Apache-2.0 */
/* See dk_image_prune. */
#include <stdio.h>
#include <string.h>

#include "docker/happenings.h"
#include "docker/image-remove.h"
#include "docker/image-rows.h"

static int remove_names(struct dk_context *c, const struct img_store *s, const struct strv *names,
			struct strbuf *lines, struct err *e)
{
	for (size_t i = 0; i < names->n; i++) {
		struct img_ref ref;

		if (img_ref_parse(c->arena, names->v[i], &ref, e) < 0 || img_untag(s, &ref, e) < 0)
			return -e->code;
		strbuf_printf(lines, "untagged: %s\n", names->v[i]);
	}
	return 0;
}

static int prune_image(struct dk_context *c, const struct img_store *s, const struct img_listed *l,
		       struct strbuf *lines, struct err *e)
{
	struct dk_image_use use;

	if (dk_image_uses(c, l->image.id, &use, e) < 0)
		return -e->code;
	if (use.running || use.stopped)
		return 0;
	if (remove_names(c, s, &l->tags, lines, e) < 0 || remove_names(c, s, &l->digests, lines, e) < 0 ||
	    dk_image_forget(c, s, l->image.id, e) < 0)
		return -e->code;
	for (size_t i = 0; i < l->tags.n + l->digests.n; i++)
		dk_image_event(&c->store->roots, "untag", l->image.id, l->image.id, &l->image.config.labels);
	dk_image_event(&c->store->roots, "delete", l->image.id, l->image.id, &l->image.config.labels);
	strbuf_printf(lines, "deleted: %s\n", l->image.id);
	return 0;
}

static int prune(struct dk_context *c, struct dk_image_filter *f, bool all, struct strbuf *lines, struct err *e)
{
	struct img_list list;

	if (dk_image_filter_open(f, e) < 0 || img_list(f->store, c->arena, &list, e) < 0)
		return -e->code;
	if (f->dangling == 0)
		all = true;
	f->dangling = -1;
	for (size_t i = 0; i < list.n; i++) {
		if (!dk_image_filter_matches(f, &list.v[i]) || (list.v[i].tags.n && !all))
			continue;
		if (prune_image(c, f->store, &list.v[i], lines, e) < 0)
			return -e->code;
	}
	return 0;
}

int dk_image_prune(struct dk_context *c, bool all, const struct str_map *filter,
		   struct dk_image_pruned *in_out, struct err *e)
{
	struct img_store s;
	struct dk_image_filter f = {.c = c, .store = &s, .filter = filter,
				    .allowed = "dangling label label! until "};
	struct strv gone;
	uint64_t freed = 0;
	int r = dk_image_store(c, &s, e);

	if (r == 0)
		r = prune(c, &f, all, &in_out->lines, e);
	if (r == 0)
		r = dk_image_clear(c, &s, &gone, &freed, e);
	for (size_t i = 0; r == 0 && i < gone.n; i++)
		strbuf_printf(&in_out->lines, "deleted: %s\n", gone.v[i]);
	in_out->bytes += freed;
	img_store_close(&s);
	return r;
}

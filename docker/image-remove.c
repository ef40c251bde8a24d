/* SPDX-License-Identifier: Apache-2.0 */
/* See image-remove.h. The order is: record, then a look at the containers, then the layers; a container
 * that is started meanwhile either is seen here or sees that its image has gone (img_still_there). */
#include "docker/image-remove.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docker/store.h"

struct search { const struct dk_store *store; const char *image; struct dk_image_use use; struct arena *arena; };

static int look(struct dk_record *r, void *arg)
{
	struct search *s = arg;
	struct dk_look l;

	if (!str_eq(r->image_id, s->image))
		return 0;
	dk_container_look(s->store, r, &l);
	if (l.running && !s->use.running)
		s->use.running = arena_strdup(s->arena, r->id);
	if (!l.running && !s->use.stopped)
		s->use.stopped = arena_strdup(s->arena, r->id);
	return 0;
}

int dk_image_uses(struct dk_context *c, const char *image_id, struct dk_image_use *ret, struct err *e)
{
	struct search s = {.image = image_id, .arena = c->arena};
	struct dk_store *store;

	if (dk_store_open(c, &store, e) < 0)
		return -e->code;
	s.store = store;
	if (dk_record_each(store, c->arena, look, &s, e) < 0)
		return -e->code;
	*ret = s.use;
	return 0;
}

int dk_image_forget(struct dk_context *c, const struct img_store *s, const char *id, struct err *e)
{
	struct dk_image_use use;

	/* kept first: what nobody turns out to use is dropped before the store is cleared */
	if (img_remove(s, id, true, e) < 0)
		return -e->code;
	return dk_image_uses(c, id, &use, e);
}

struct used { struct dk_context *c; struct err *e; };

static bool is_used(const char *id, void *arg)
{
	struct used *u = arg;
	struct dk_image_use use;

	/* in doubt it stays */
	return dk_image_uses(u->c, id, &use, u->e) < 0 || use.running || use.stopped;
}

int dk_image_clear(struct dk_context *c, const struct img_store *s, struct strv *ret_layers, uint64_t *ret_bytes,
		   struct err *e)
{
	auto_strbuf struct strbuf out = {0};
	struct dk_program p = {.in = -1, .out = -1, .captured = &out};
	struct used u = {c, e};
	struct strv argv = {0}, lines = {0};
	char *text, *save = NULL;
	int r = img_drop_kept(s, is_used, &u, e);

	*ret_layers = (struct strv){0};
	*ret_bytes = 0;
	dk_args_add(c, &argv, "gc");
	if (r == 0)
		r = dk_run_brig_image(c, &argv, &p, e);
	if (r != 0)
		return r < 0 ? r : err_set(e, EIO, "the image store could not be cleared");
	text = arena_strdup(c->arena, strbuf_str(&out));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		dk_args_add(c, &lines, line);
	if (lines.n == 0)
		return 0;
	str_u64(lines.v[lines.n - 1], UINT64_MAX, ret_bytes);
	lines.n--;
	*ret_layers = lines;
	return 0;
}

void dk_image_print_layers(const struct img_image *image, const struct strv *gone)
{
	for (size_t i = 0; i < image->layers.n; i++)
		for (size_t g = 0; g < gone->n; g++)
			if (str_eq(image->layers.v[i].chain, gone->v[g]))
				printf("Deleted: %s\n", gone->v[g]);
}

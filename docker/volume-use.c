/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/volume-use.h"

#include <string.h>

#include "base/str.h"

struct collecting { struct arena *a; struct dk_volume_users *users; };

static int note_user(struct dk_record *r, void *arg)
{
	struct collecting *w = arg;
	struct dk_volume_users *l = w->users;

	for (size_t i = 0; i < r->options.mounts.n; i++) {
		const struct dk_mount *m = &r->options.mounts.v[i];

		if (m->type != DK_MOUNT_VOLUME || !m->source)
			continue;
		if ((l->n & (l->n - 1)) == 0) {
			struct dk_volume_user *v = arena_array(w->a, l->n ? 2 * l->n : 1, sizeof(*v));

			if (l->n)
				memcpy(v, l->v, l->n * sizeof(*v));
			l->v = v;
		}
		l->v[l->n++] = (struct dk_volume_user){m->source, r->id};
	}
	return 0;
}

int dk_volume_users(struct dk_context *c, struct dk_volume_users *ret, struct err *e)
{
	struct collecting w = {c->arena, ret};
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	*ret = (struct dk_volume_users){0};
	return r < 0 ? r : dk_record_each(s, c->arena, note_user, &w, e);
}

size_t dk_volume_links(const struct dk_volume_users *l, const char *volume)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += str_eq(l->v[i].volume, volume);
	return n;
}

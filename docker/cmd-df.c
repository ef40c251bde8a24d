/* SPDX-License-Identifier: Apache-2.0 */
/* `docker system df`: what the store takes, and what of it nobody uses. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/build-cache.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/image-remove.h"
#include "docker/list.h"
#include "docker/tree-size.h"
#include "docker/units.h"
#include "docker/usage.h"
#include "docker/volume-use.h"
#include "image/store.h"

struct row {
	const char *type;
	size_t total, active;
	uint64_t size, reclaimable;
};

static const struct row *row_of(const void *row)
{
	return row;
}

static struct dk_value get_type(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(row_of(row)->type);
}

static struct dk_value get_total(struct arena *a, const void *row)
{
	return dk_stringf(a, "%zu", row_of(row)->total);
}

static struct dk_value get_active(struct arena *a, const void *row)
{
	return dk_stringf(a, "%zu", row_of(row)->active);
}

static struct dk_value get_size(struct arena *a, const void *row)
{
	char size[DK_UNIT_MAX];

	return dk_string(arena_strdup(a, dk_human_size_precision(size, (double)row_of(row)->size, 4)));
}

static struct dk_value get_reclaimable(struct arena *a, const void *row)
{
	const struct row *x = row_of(row);
	char size[DK_UNIT_MAX];

	dk_human_size_precision(size, (double)x->reclaimable, 4);
	if (!x->size)
		return dk_string(arena_strdup(a, size));
	return dk_stringf(a, "%s (%u%%)", size, (unsigned)(x->reclaimable * 100 / x->size));
}

static const struct dk_column columns[] = {
	{"Active", "ACTIVE", get_active, NULL}, {"Reclaimable", "RECLAIMABLE", get_reclaimable, NULL},
	{"Size", "SIZE", get_size, NULL}, {"TotalCount", "TOTAL", get_total, NULL},
	{"Type", "TYPE", get_type, NULL},
};
static const struct dk_columns df_columns = DK_COLUMNS("*formatter.diskUsageContext", columns);

static int count_images(struct dk_context *c, struct row *r, struct err *e)
{
	struct img_store s;
	struct img_list list;
	int code = img_store_open(&s, c->store->roots.data, e);

	if (code < 0)
		return code;
	code = img_list(&s, c->arena, &list, e);
	img_store_close(&s);
	if (code < 0)
		return code;
	r->total = list.n;
	r->size = dk_tree_size(arena_printf(c->arena, "%s/images/layers", c->store->roots.data));
	for (size_t i = 0; i < list.n; i++) {
		struct dk_image_use use;

		if (dk_image_uses(c, list.v[i].image.id, &use, e) < 0)
			return -e->code;
		r->active += use.running || use.stopped;
	}
	if (!r->active)
		r->reclaimable = r->size;
	return 0;
}

static int count_containers(struct dk_context *c, struct row *r, struct err *e)
{
	struct dk_row_filter want = {.all = true, .last = -1};
	struct dk_rows rows;

	if (dk_rows_load(c, &want, &rows, e) < 0)
		return -e->code;
	r->total = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		uint64_t size = dk_tree_size(dk_container_path(c->store, rows.v[i].record->id, "rw/diff"));

		r->active += rows.v[i].look.running;
		r->size += size;
		if (!rows.v[i].look.running)
			r->reclaimable += size;
	}
	return 0;
}

static int count_volumes(struct dk_context *c, struct row *r, struct err *e)
{
	struct dk_volume_users users;
	struct dk_volumes all;

	if (dk_volume_users(c, &users, e) < 0 || dk_volume_all(c->arena, &c->store->roots, &all, e) < 0)
		return -e->code;
	r->total = all.n;
	for (size_t i = 0; i < all.n; i++) {
		uint64_t size = dk_tree_size(all.v[i].mountpoint);
		bool used = dk_volume_links(&users, all.v[i].name) > 0;

		r->active += used;
		r->size += size;
		if (!used)
			r->reclaimable += size;
	}
	return 0;
}

static void count_build_cache(struct dk_context *c, struct row *r)
{
	struct dk_build_cache cache;

	dk_build_cache_look(c->store, &cache);
	r->total = cache.objects.n;
	r->active = cache.in_use ? cache.objects.n : 0;
	r->size = cache.size;
	r->reclaimable = cache.in_use ? 0 : cache.size;
}

static int say(const char *text, struct err *e)
{
	return dk_write_stdout(text, strlen(text), e);
}

static int print_verbose(struct dk_context *c, struct err *e)
{
	struct dk_build_cache cache;
	char size[DK_UNIT_MAX];

	dk_build_cache_look(c->store, &cache);
	dk_human_size_precision(size, (double)cache.size, 4);
	if (say("Images space usage:\n\n", e) < 0 || dk_print_image_usage(c, e) < 0 ||
	    say("\nContainers space usage:\n\n", e) < 0 || dk_print_container_usage(c, e) < 0 ||
	    say("\nLocal Volumes space usage:\n\n", e) < 0 || dk_print_volume_usage(c, e) < 0)
		return -e->code;
	return say(arena_printf(c->arena, "\nBuild cache usage: %s\n\n", size), e);
}

int dk_cmd_system_df(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_df_options *o = args->options;
	struct row *rows = arena_array(c->arena, 4, sizeof(*rows));
	struct dk_format_spec spec = {
		.columns = &df_columns, .format = o->format,
		.table = "table {{.Type}}\t{{.TotalCount}}\t{{.Active}}\t{{.Size}}\t{{.Reclaimable}}"};
	struct dk_format *f;
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	if (r == 0 && o->verbose && o->format && *o->format)
		return dk_error(c, e, EOPNOTSUPP, "--verbose has tables only: leave --format out");
	if (r == 0 && o->verbose)
		return print_verbose(c, e);
	rows[0].type = "Images";
	rows[1].type = "Containers";
	rows[2].type = "Local Volumes";
	rows[3].type = "Build Cache";
	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	if (r == 0)
		r = count_images(c, &rows[0], e);
	if (r == 0)
		r = count_containers(c, &rows[1], e);
	if (r == 0)
		r = count_volumes(c, &rows[2], e);
	if (r == 0)
		count_build_cache(c, &rows[3]);
	for (int i = 0; r == 0 && i < 4; i++)
		r = dk_format_row(f, &rows[i], e);
	return r < 0 ? r : dk_format_close(f, e);
}

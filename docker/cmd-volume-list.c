/* SPDX-License-Identifier: Apache-2.0 */
/* `docker volume ls` and `inspect`. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/inspect.h"
#include "docker/prune.h"
#include "docker/tree-size.h"
#include "docker/units.h"
#include "docker/usage.h"
#include "docker/volume-use.h"

/* ---- ls ---- */

static const struct dk_volume *volume_of(const void *row)
{
	return row;
}

static struct dk_value get_name(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(volume_of(row)->name);
}

static struct dk_value get_driver(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(volume_of(row)->driver);
}

static struct dk_value get_scope(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("local");
}

static struct dk_value get_mountpoint(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(volume_of(row)->mountpoint);
}

static struct dk_value get_labels(struct arena *a, const void *row)
{
	return dk_string(dk_labels_text(a, &volume_of(row)->labels));
}

static struct dk_value get_label(struct arena *a, const void *row, const char *key)
{
	const struct str_map *m = &volume_of(row)->labels;

	(void)a;
	for (size_t i = 0; i < m->n; i++)
		if (str_eq(m->v[i].key, key))
			return dk_string(m->v[i].value);
	return dk_string("");
}

static struct dk_value get_unknown(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("N/A");
}

/* ls does not look so far, for it takes long. */
struct measured { struct dk_volume volume; size_t links; uint64_t size; };

static struct dk_value get_links(struct arena *a, const void *row)
{
	return dk_stringf(a, "%zu", ((const struct measured *)row)->links);
}

static struct dk_value get_size(struct arena *a, const void *row)
{
	char size[DK_UNIT_MAX];

	return dk_string(arena_strdup(a, dk_human_size(size, (double)((const struct measured *)row)->size)));
}

static const struct dk_column usage_columns[] = {
	{"Links", "LINKS", get_links, NULL}, {"Name", "VOLUME NAME", get_name, NULL}, {"Size", "SIZE", get_size, NULL},
};
static const struct dk_columns measured_columns = DK_COLUMNS("*formatter.volumeContext", usage_columns);

int dk_print_volume_usage(struct dk_context *c, struct err *e)
{
	const struct dk_format_spec spec = {.columns = &measured_columns, .table = "table {{.Name}}\t{{.Links}}\t{{.Size}}"};
	struct dk_volume_users users;
	struct dk_volumes all;
	struct dk_format *f;
	int r = dk_volume_users(c, &users, e);

	if (r == 0)
		r = dk_volume_all(c->arena, &c->store->roots, &all, e);
	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct measured m = {all.v[i], dk_volume_links(&users, all.v[i].name), dk_tree_size(all.v[i].mountpoint)};

		r = dk_format_row(f, &m, e);
	}
	return r < 0 ? r : dk_format_close(f, e);
}

static const struct dk_column columns[] = {
	{"Availability", "AVAILABILITY", get_unknown, NULL}, {"Driver", "DRIVER", get_driver, NULL},
	{"Group", "GROUP", get_unknown, NULL}, {"Label", "", NULL, get_label},
	{"Labels", "LABELS", get_labels, NULL}, {"Links", "LINKS", get_unknown, NULL},
	{"Mountpoint", "MOUNTPOINT", get_mountpoint, NULL}, {"Name", "VOLUME NAME", get_name, NULL},
	{"Scope", "SCOPE", get_scope, NULL}, {"Size", "SIZE", get_unknown, NULL},
	{"Status", "STATUS", get_unknown, NULL},
};
static const struct dk_columns volume_columns = DK_COLUMNS("*formatter.volumeContext", columns);

int dk_cmd_volume_ls(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const known[] = {"dangling", "driver", "label", "name", NULL};
	const struct dk_list_options *o = args->options;
	const struct str_map *filter = &o->filter;
	struct dk_format_spec spec = {.columns = &volume_columns, .format = o->format,
				      .table = "table {{.Driver}}\t{{.Name}}",
				      .quiet = o->quiet ? "{{.Name}}" : NULL,
				      .raw = "name: {{.Name}}\ndriver: {{.Driver}}\n",
				      .raw_quiet = "name: {{.Name}}"};
	int dangling = dk_filter_bool(c, filter, "dangling", e);
	struct dk_volume_users users = {0};
	struct dk_volumes all;
	struct dk_format *f;
	struct dk_store *s;
	int r = dangling < -1 ? dangling : dk_check_filter(c, filter, known, e);

	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	if (r == 0)
		r = dk_store_open(c, &s, e);
	if (r == 0 && dangling >= 0)
		r = dk_volume_users(c, &users, e);
	if (r == 0)
		r = dk_volume_all(c->arena, &s->roots, &all, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		const struct dk_volume *v = &all.v[i];

		if (dk_pattern_fits(filter, "name", v->name) && dk_word_fits(filter, "driver", v->driver, false) &&
		    dk_labels_fit(filter, &v->labels) &&
		    (dangling < 0 || dangling == (dk_volume_links(&users, v->name) == 0)))
			r = dk_format_row(f, v, e);
	}
	return r < 0 ? r : dk_format_close(f, e);
}

/* ---- inspect ---- */

int dk_inspect_volume(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
		      struct dk_value *ret, struct err *e)
{
	struct dk_value v = dk_struct("volume.Volume");
	struct arena *a = c->arena;
	struct dk_volume found;
	struct dk_store *s;

	(void)o;
	if (dk_store_open(c, &s, e) < 0)
		return -e->code;
	if (dk_volume_find(a, &s->roots, ref, &found, e) < 0)
		return dk_daemon_error(c, e, e->code, "%s", arena_strdup(a, e->msg));
	dk_put(a, &v, "CreatedAt", dk_string(found.created));
	dk_put(a, &v, "Driver", dk_string(found.driver));
	dk_put(a, &v, "Labels", dk_string_map(a, &found.labels, !found.by_command));
	dk_put(a, &v, "Mountpoint", dk_string(found.mountpoint));
	dk_put(a, &v, "Name", dk_string(found.name));
	dk_put(a, &v, "Options", dk_string_map(a, &found.options, true));
	dk_put(a, &v, "Scope", dk_string("local"));
	*ret = v;
	return 0;
}

int dk_cmd_volume_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_inspect_all(c, args, dk_inspect_volume, e);
}

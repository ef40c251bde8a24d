/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of one filter are alternatives, but for labels, which all have to fit; different filters all
 * have to fit. Without --all only what runs is shown, unless a filter asks for a state.
 */
#include "docker/list.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "docker/tree-size.h"
#include "image/store.h"

struct query {
	struct dk_context *c;
	const struct dk_row_filter *want;
	struct dk_rows rows;
	const char *before, *since; /* creation times */
	struct strv ancestors;      /* ids of images */
	size_t cap;
};

/* ---- one filter value ---- */

static bool name_fits(struct query *q, const struct dk_row *x, const char *v)
{
	char *slashed = arena_printf(q->c->arena, "/%s", x->record->name);
	regex_t re;
	bool fits;

	if (regcomp(&re, v, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	fits = regexec(&re, x->record->name, 0, NULL, 0) == 0 || regexec(&re, slashed, 0, NULL, 0) == 0;
	regfree(&re);
	return fits;
}

static bool id_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)q;
	return str_starts(x->record->id, v);
}

static bool label_fits(struct query *q, const struct dk_row *x, const char *v)
{
	const struct str_map *m = &x->record->config.labels;
	size_t n = strcspn(v, "=");
	(void)q;

	for (size_t i = 0; i < m->n; i++)
		if (strncmp(m->v[i].key, v, n) == 0 && !m->v[i].key[n])
			return !v[n] || str_eq(m->v[i].value, v + n + 1);
	return false;
}

static bool status_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)q;
	return str_eq(x->look.status, v);
}

static bool exited_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)q;
	return !x->look.running && !str_eq(x->look.status, DK_CREATED) && strtol(v, NULL, 10) == x->record->state.exit_code;
}

static bool ancestor_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)v; /* has been resolved */
	for (size_t i = 0; i < q->ancestors.n; i++)
		if (str_eq(q->ancestors.v[i], x->record->image_id))
			return true;
	return false;
}

static bool volume_fits(struct query *q, const struct dk_row *x, const char *v)
{
	const struct dk_run_options *o = &x->record->options;
	(void)q;

	for (size_t i = 0; i < o->mounts.n; i++)
		if (str_eq(o->mounts.v[i].source, v) || str_eq(o->mounts.v[i].target, v))
			return true;
	return false;
}

static bool network_fits(struct query *q, const struct dk_row *x, const char *v)
{
	const struct dk_network_settings *n = &x->record->network;
	(void)q;

	if (!n->endpoints.n)
		return str_eq(n->mode, v);
	for (size_t i = 0; i < n->endpoints.n; i++)
		if (str_eq(n->endpoints.v[i].network, v) ||
		    (n->endpoints.v[i].network_id && strlen(v) >= 12 && str_starts(n->endpoints.v[i].network_id, v)))
			return true;
	return false;
}

static bool health_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)q;
	return str_eq(x->health ? x->health : "none", v);
}

/* "80", "80/tcp", "80-90". */
static bool in_ports(const char *v, uint32_t port, const char *proto)
{
	char *end;
	unsigned long from = strtoul(v, &end, 10), to = from;

	if (*end == '-')
		to = strtoul(end + 1, &end, 10);
	return port >= from && port <= to && str_eq(proto, *end == '/' ? end + 1 : "tcp");
}

static bool publish_fits(struct query *q, const struct dk_row *x, const char *v)
{
	const struct dk_network_settings *n = &x->record->network;
	(void)q;

	for (size_t i = 0; x->look.running && i < n->bound.n; i++)
		if (in_ports(v, n->bound.v[i].host_port, n->bound.v[i].proto))
			return true;
	return false;
}

static bool expose_fits(struct query *q, const struct dk_row *x, const char *v)
{
	const struct dk_network_settings *n = &x->record->network;
	(void)q;

	for (size_t i = 0; i < n->ports.n; i++)
		if (in_ports(v, n->ports.v[i].container_port, n->ports.v[i].proto))
			return true;
	return false;
}

static bool before_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)v;
	return strcmp(x->record->created, q->before) < 0;
}

static bool since_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)v;
	return strcmp(x->record->created, q->since) > 0;
}

static bool task_fits(struct query *q, const struct dk_row *x, const char *v)
{
	(void)q;
	(void)x;
	return str_eq(v, "false") || str_eq(v, "0"); /* there is no swarm */
}

static const char *const states[] = {"created", "running", "paused", "restarting", "removing", "exited", "dead", NULL};
static const char *const healths[] = {"starting", "healthy", "unhealthy", "none", NULL};

static const struct {
	const char *name;
	bool (*fits)(struct query *q, const struct dk_row *x, const char *v);
	const char *const *words;
	bool every, shows_all;
} filters[] = {
	{"ancestor", ancestor_fits, NULL, false, false}, {"before", before_fits, NULL, false, true},
	{"exited", exited_fits, NULL, false, true}, {"expose", expose_fits, NULL, false, false},
	{"health", health_fits, healths, false, false}, {"id", id_fits, NULL, false, false},
	{"is-task", task_fits, NULL, false, false}, {"label", label_fits, NULL, true, false},
	{"name", name_fits, NULL, false, false}, {"network", network_fits, NULL, false, false},
	{"publish", publish_fits, NULL, false, false}, {"since", since_fits, NULL, false, true},
	{"status", status_fits, states, false, true}, {"volume", volume_fits, NULL, false, false},
};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]) };

static int find_filter(const char *name)
{
	for (int i = 0; i < FILTERS; i++)
		if (str_eq(filters[i].name, name))
			return i;
	return -1;
}

/* ---- all of them ---- */

static int resolve_time(struct query *q, const char *ref, const char **ret, struct err *e)
{
	struct dk_record *r;

	if (dk_container_find(q->c, ref, &r, e) < 0)
		return dk_daemon_error(q->c, e, ENOENT, "no such container %s", ref);
	*ret = r->created;
	return 0;
}

static int resolve_image(struct query *q, const char *ref, struct err *e)
{
	struct img_store images;
	struct img_image image = {0};
	char **v = arena_array(q->c->arena, q->ancestors.n + 2, sizeof(char *));
	int r = img_store_open(&images, q->c->store->roots.data, e);

	if (r < 0)
		return r;
	if (q->ancestors.n)
		memcpy(v, q->ancestors.v, q->ancestors.n * sizeof(char *));
	if (img_resolve(&images, ref, q->c->arena, &image, e) == 1)
		v[q->ancestors.n++] = image.id;
	q->ancestors.v = v;
	img_store_close(&images);
	*e = (struct err){0};
	return 0;
}

static int prepare(struct query *q, const struct str_pair *p, struct err *e)
{
	int i = find_filter(p->key);

	if (i < 0)
		return dk_daemon_error(q->c, e, EINVAL, "Invalid filter '%s'", p->key);
	if (filters[i].words && str_index(filters[i].words, p->value) < 0)
		return dk_daemon_error(q->c, e, EINVAL, "Invalid filter '%s=%s'", p->key, p->value);
	if (filters[i].fits == before_fits)
		return resolve_time(q, p->value, &q->before, e);
	if (filters[i].fits == since_fits)
		return resolve_time(q, p->value, &q->since, e);
	return filters[i].fits == ancestor_fits ? resolve_image(q, p->value, e) : 0;
}

static bool fits_filter(struct query *q, const struct dk_row *x, int i)
{
	bool asked = false, fits = filters[i].every;

	for (size_t k = 0; k < q->want->filter.n; k++) {
		const struct str_pair *p = &q->want->filter.v[k];

		if (!str_eq(p->key, filters[i].name))
			continue;
		asked = true;
		if (filters[i].every)
			fits = fits && filters[i].fits(q, x, p->value);
		else
			fits = fits || filters[i].fits(q, x, p->value);
	}
	return !asked || fits;
}

static bool shows_all(const struct query *q)
{
	if (q->want->all || q->want->last >= 0)
		return true;
	for (size_t k = 0; k < q->want->filter.n; k++)
		if (filters[find_filter(q->want->filter.v[k].key)].shows_all)
			return true;
	return false;
}

static int take(struct dk_record *r, void *arg)
{
	struct query *q = arg;
	struct dk_row x = {.record = r};

	dk_container_look(q->c->store, r, &x.look);
	if (!x.look.running && !shows_all(q))
		return 0;
	if (x.look.running && r->config.healthcheck)
		x.health = dk_health_status(q->c->arena, q->c->store, r);
	for (int i = 0; i < FILTERS; i++)
		if (!fits_filter(q, &x, i))
			return 0;
	if (q->rows.n == q->cap) {
		struct dk_row *v = arena_array(q->c->arena, q->cap ? 2 * q->cap : 16, sizeof(*v));

		if (q->rows.n)
			memcpy(v, q->rows.v, q->rows.n * sizeof(*v));
		q->rows.v = v;
		q->cap = q->cap ? 2 * q->cap : 16;
	}
	q->rows.v[q->rows.n++] = x;
	return 0;
}

static int newest_first(const void *x, const void *y)
{
	return strcmp(((const struct dk_row *)y)->record->created, ((const struct dk_row *)x)->record->created);
}

int dk_rows_load(struct dk_context *c, const struct dk_row_filter *want, struct dk_rows *ret, struct err *e)
{
	struct query q = {.c = c, .want = want};
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	for (size_t i = 0; r == 0 && i < want->filter.n; i++)
		r = prepare(&q, &want->filter.v[i], e);
	if (r == 0)
		r = dk_record_each(s, c->arena, take, &q, e);
	if (r < 0)
		return r;
	if (q.rows.n)
		qsort(q.rows.v, q.rows.n, sizeof(*q.rows.v), newest_first);
	if (want->last >= 0 && q.rows.n > (size_t)want->last)
		q.rows.n = (size_t)want->last;
	*ret = q.rows;
	return 0;
}

void dk_row_measure(struct dk_context *c, struct dk_row *row)
{
	struct img_store images;
	struct img_image image = {0};
	struct err ignored = {0};

	row->size = dk_tree_size(dk_container_path(c->store, row->record->id, "rw/diff"));
	if (img_store_open(&images, c->store->roots.data, &ignored) < 0)
		return;
	if (img_by_id(&images, row->record->image_id, c->arena, &image, &ignored) == 1)
		row->image_size = image.size;
	img_store_close(&images);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker network ls` and `inspect`. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/inspect.h"
#include "docker/network-def.h"
#include "docker/network-use.h"
#include "docker/prune.h"
#include "docker/store.h"

enum { SHORT_ID = 12 };

/* ---- ls ---- */

struct row { const struct dk_network_def *d; bool no_trunc; };

static const struct dk_network_def *def_of(const void *row)
{
	return ((const struct row *)row)->d;
}

static struct dk_value get_id(struct arena *a, const void *row)
{
	const char *id = def_of(row)->id;

	return dk_string(((const struct row *)row)->no_trunc ? id : arena_strndup(a, id, SHORT_ID));
}

static struct dk_value get_name(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(def_of(row)->name);
}

static struct dk_value get_driver(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(def_of(row)->driver);
}

static struct dk_value get_scope(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("local");
}

/* As the recorded engine has it: it does not say so of IPv4 either. */
static struct dk_value get_false(struct arena *a, const void *row)
{
	(void)a, (void)row;
	return dk_string("false");
}

static struct dk_value get_internal(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(def_of(row)->internal ? "true" : "false");
}

static struct dk_value get_labels(struct arena *a, const void *row)
{
	return dk_string(dk_labels_text(a, &def_of(row)->labels));
}

static struct dk_value get_label(struct arena *a, const void *row, const char *key)
{
	const struct str_map *m = &def_of(row)->labels;

	(void)a;
	for (size_t i = 0; i < m->n; i++)
		if (str_eq(m->v[i].key, key))
			return dk_string(m->v[i].value);
	return dk_string("");
}

/* Go's way to print a time: "2026-01-02 03:04:05.123 +0000 UTC". */
static struct dk_value get_created(struct arena *a, const void *row)
{
	char *text = arena_printf(a, "%s", def_of(row)->created), *t = strchr(text, 'T');

	if (t)
		*t = ' ';
	return dk_string(arena_printf(a, "%.*s +0000 UTC", (int)strcspn(text, "Z"), text));
}

static const struct dk_column columns[] = {
	{"CreatedAt", "CREATED AT", get_created, NULL}, {"Driver", "DRIVER", get_driver, NULL},
	{"ID", "NETWORK ID", get_id, NULL}, {"IPv4", "IPV4", get_false, NULL},
	{"IPv6", "IPV6", get_false, NULL}, {"Internal", "INTERNAL", get_internal, NULL},
	{"Label", "", NULL, get_label}, {"Labels", "LABELS", get_labels, NULL},
	{"Name", "NAME", get_name, NULL}, {"Scope", "SCOPE", get_scope, NULL},
};
static const struct dk_columns network_columns = DK_COLUMNS("*network.networkContext", columns);

static bool is_listed(const struct str_map *f, const struct dk_network_def *d, int dangling)
{
	const char *type = dk_network_predefined(d->name) ? "builtin" : "custom";

	return dk_pattern_fits(f, "name", d->name) && dk_word_fits(f, "id", d->id, true) &&
	       dk_word_fits(f, "driver", d->driver, false) && dk_word_fits(f, "type", type, false) &&
	       dk_word_fits(f, "scope", "local", false) && dk_labels_fit(f, &d->labels) &&
	       (dangling < 0 || dangling == (str_eq(type, "custom") && !d->in_use));
}

int dk_cmd_network_ls(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const known[] = {"dangling", "driver", "id", "label", "name", "scope", "type", NULL};
	const struct dk_list_options *o = args->options;
	struct dk_format_spec spec = {
		.columns = &network_columns, .format = o->format,
		.table = "table {{.ID}}\t{{.Name}}\t{{.Driver}}\t{{.Scope}}",
		.quiet = o->quiet ? "{{.ID}}" : NULL,
		.raw = "network_id: {{.ID}}\nname: {{.Name}}\ndriver: {{.Driver}}\nscope: {{.Scope}}\n",
		.raw_quiet = "network_id: {{.ID}}"};
	int dangling = dk_filter_bool(c, &o->filter, "dangling", e);
	struct dk_network_defs all;
	struct dk_format *f;
	struct dk_store *s;
	int r = dangling < -1 ? dangling : dk_check_filter(c, &o->filter, known, e);

	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	if (r == 0)
		r = dk_store_open(c, &s, e);
	if (r == 0)
		r = dk_network_all(c->arena, &s->roots, &all, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct row *row = arena_new_of(c->arena, struct row);

		*row = (struct row){&all.v[i], o->no_trunc};
		if (dangling >= 0)
			all.v[i].in_use = dk_network_connected(c->arena, &s->roots, all.v[i].id).n > 0;
		if (is_listed(&o->filter, &all.v[i], dangling))
			r = dk_format_row(f, row, e);
	}
	return r < 0 ? r : dk_format_close(f, e);
}

/* ---- inspect ---- */

static struct dk_value ipam(struct arena *a, const struct dk_network_def *d)
{
	struct dk_value v = dk_struct("network.IPAM"), list = dk_array();
	struct dk_value one = dk_struct("network.IPAMConfig");

	dk_put(a, &v, "Driver", dk_string("default"));
	dk_put(a, &v, "Options", dk_string_map(a, &d->ipam_options, dk_network_predefined(d->name)));
	if (d->subnet) {
		dk_put(a, &one, "Subnet", dk_string(d->subnet));
		if (d->ip_range)
			dk_put(a, &one, "IPRange", dk_string(d->ip_range));
		dk_put(a, &one, "Gateway", dk_string(d->gateway));
		if (d->aux.n)
			dk_put(a, &one, "AuxiliaryAddresses", dk_string_map(a, &d->aux, false));
		dk_push(a, &list, one);
	}
	dk_put(a, &v, "Config", list);
	return v;
}

static struct dk_value containers(struct arena *a, const struct dk_roots *roots, const struct dk_network_def *d)
{
	struct dk_connected_list l = dk_network_connected(a, roots, d->id);
	struct dk_cidr cidr = {0};
	struct dk_value v = dk_dict();

	if (d->subnet)
		dk_cidr_parse(d->subnet, &cidr);
	for (size_t i = 0; i < l.n; i++) {
		struct dk_value one = dk_struct("network.EndpointResource");
		const struct dk_connected *x = &l.v[i];

		dk_put(a, &one, "Name", dk_string(x->name));
		dk_put(a, &one, "EndpointID", dk_string(x->endpoint_id));
		dk_put(a, &one, "MacAddress", dk_string(x->mac));
		dk_put(a, &one, "IPv4Address", dk_stringf(a, "%s/%u", x->address, cidr.prefix));
		dk_put(a, &one, "IPv6Address", dk_string(""));
		dk_put(a, &v, x->id, one);
	}
	return v;
}

int dk_inspect_network(struct dk_context *c, const char *ref, const struct dk_inspect_options *o,
		       struct dk_value *ret, struct err *e)
{
	struct dk_value v = dk_struct("network.Inspect"), from = dk_struct("network.ConfigReference");
	struct arena *a = c->arena;
	struct dk_network_def d;
	struct dk_store *s;

	(void)o;
	if (dk_store_open(c, &s, e) < 0)
		return -e->code;
	if (dk_network_find(a, &s->roots, ref, &d, e) < 0)
		return dk_daemon_error(c, e, e->code, "%s", arena_strdup(a, e->msg));
	dk_put(a, &v, "Name", dk_string(d.name));
	dk_put_named(a, &v, "Id", "ID", dk_string(d.id));
	dk_put(a, &v, "Created", dk_string(d.created));
	dk_put(a, &v, "Scope", dk_string("local"));
	dk_put(a, &v, "Driver", dk_string(d.driver));
	dk_put(a, &v, "EnableIPv6", dk_bool(false));
	dk_put(a, &v, "IPAM", ipam(a, &d));
	dk_put(a, &v, "Internal", dk_bool(d.internal));
	dk_put(a, &v, "Attachable", dk_bool(d.attachable));
	dk_put(a, &v, "Ingress", dk_bool(false));
	dk_put(a, &from, "Network", dk_string(""));
	dk_put(a, &v, "ConfigFrom", from);
	dk_put(a, &v, "ConfigOnly", dk_bool(false));
	dk_put(a, &v, "Containers", containers(a, &s->roots, &d));
	dk_put(a, &v, "Options", dk_string_map(a, &d.options, false));
	dk_put(a, &v, "Labels", dk_string_map(a, &d.labels, false));
	*ret = v;
	return 0;
}

int dk_cmd_network_inspect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	return dk_inspect_all(c, args, dk_inspect_network, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker network create`, `rm` and `prune`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/network-def.h"
#include "docker/network-use.h"
#include "docker/prune.h"
#include "docker/store.h"

/* ---- create ---- */

/* Options of Docker's bridge that say what is so here anyway. */
static bool is_default_option(const struct str_pair *o)
{
	static const struct { const char *key, *value; } same[] = {
		{"com.docker.network.bridge.enable_ip_masquerade", "true"},
		{"com.docker.network.bridge.enable_icc", "true"},
		{"com.docker.network.bridge.name", NULL}, /* the bridge is where nobody can see it */
		{"com.docker.network.driver.mtu", NULL},
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (str_eq(o->key, same[i].key) && (!same[i].value || str_eq(o->value, same[i].value)))
			return true;
	return false;
}

/* What Docker's client finds wrong before it asks. */
static int check_ranges(struct dk_context *c, const struct dk_network_create_options *o, struct err *e)
{
	const struct { const char *what; const struct strv *given; } of[] = {
		{"range", &o->ip_range}, {"gateway", &o->gateway},
	};

	if (o->ip_range.n > o->subnet.n || o->gateway.n > o->subnet.n)
		return dk_error(c, e, EINVAL, "every ip-range or gateway must have a corresponding subnet");
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < of[i].given->n; j++) {
			const char *text = of[i].given->v[j];
			char *base = arena_strndup(c->arena, text, strcspn(text, "/"));
			struct dk_cidr net;
			uint32_t ip;
			bool found = false;

			for (size_t k = 0; k < o->subnet.n; k++)
				found |= !dk_cidr_parse(o->subnet.v[k], &net) ||
					 (dk_ipv4_parse(base, &ip) && (ip & net.mask) == net.base);
			if (!found)
				return dk_error(c, e, EINVAL, "no matching subnet for %s %s", of[i].what, text);
		}
	return 0;
}

static int check_create(struct dk_context *c, const struct dk_network_create_options *o, const char *name,
			struct err *e)
{
	char clean[200];

	if (o->driver && *o->driver && !str_eq(o->driver, "bridge"))
		return dk_daemon_error(c, e, ENOENT, "plugin \"%s\" not found", o->driver);
	if (o->ipam_driver && *o->ipam_driver && !str_eq(o->ipam_driver, "default"))
		return dk_daemon_error(c, e, ENOENT, "plugin \"%s\" not found", o->ipam_driver);
	if (dk_network_predefined(name))
		return dk_daemon_error(c, e, EPERM, "operation is not permitted on predefined %s network", name);
	if (!str_valid_id(name))
		return dk_daemon_error(c, e, EINVAL, "invalid network name: %s", str_escape(clean, sizeof(clean), name));
	if (o->ipv6.set && o->ipv6.v)
		return dk_daemon_error(c, e, EINVAL, "IPv6 is not supported: networks of brig have IPv4 only");
	if (o->ipv4.set && !o->ipv4.v)
		return dk_daemon_error(c, e, EINVAL, "IPv4 must be enabled: networks of brig have IPv4 only");
	if (o->ingress || o->config_only || (o->config_from && *o->config_from) ||
	    (o->scope && *o->scope && !str_eq(o->scope, "local")))
		return dk_daemon_error(c, e, EINVAL, "swarm and configuration-only networks are not supported");
	if (o->subnet.n > 1 || o->gateway.n > 1 || o->ip_range.n > 1)
		return dk_daemon_error(c, e, EINVAL, "bridge driver doesn't support multiple subnets");
	for (size_t i = 0; i < o->opt.n; i++)
		if (!is_default_option(&o->opt.v[i]))
			return dk_daemon_error(c, e, EINVAL, "network option %s=%s is not supported", o->opt.v[i].key,
					       o->opt.v[i].value);
	return 0;
}

static char *first(const struct strv *v)
{
	return v->n ? v->v[0] : NULL;
}

int dk_cmd_network_create(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_network_create_options *o = args->options;
	struct dk_network_def d = {
		.name = args->argv[0], .driver = "bridge", .internal = o->internal, .attachable = o->attachable,
		.subnet = first(&o->subnet), .gateway = first(&o->gateway), .ip_range = first(&o->ip_range),
		.labels = o->labels, .options = o->opt, .aux = o->aux_address, .ipam_driver = "default",
		.ipam_options = o->ipam_opt,
	};
	struct dk_store *s;
	int r = check_ranges(c, o, e);

	if (r == 0)
		r = check_create(c, o, args->argv[0], e);
	if (r == 0)
		r = dk_store_open(c, &s, e);
	if (r < 0)
		return r;
	if (dk_network_create(c->arena, &s->roots, &d, e) < 0) {
		const char *why = arena_strdup(c->arena, e->msg);

		return dk_daemon_error(c, e, e->code, "%s", why);
	}
	r = dk_write_stdout(arena_printf(c->arena, "%s\n", d.id), strlen(d.id) + 1, e);
	return r;
}

/* ---- rm, prune ---- */

static int remove_one(struct dk_context *c, const struct dk_roots *roots, const char *ref, struct err *e)
{
	struct dk_network_def d;
	int r = dk_network_find(c->arena, roots, ref, &d, e);

	if (r < 0)
		return dk_daemon_error(c, e, -r, "%s", arena_strdup(c->arena, e->msg));
	if (dk_network_predefined(d.name))
		return dk_daemon_error(c, e, EPERM, "%s is a pre-defined network and cannot be removed", d.name);
	r = dk_network_remove_unused(c->arena, roots, &d, e);
	if (r == -EBUSY)
		return dk_daemon_error(c, e, EBUSY, "error while removing network: network %s id %s has active "
						    "endpoints", d.name, d.id);
	return r < 0 ? dk_daemon_error(c, e, -r, "%s", arena_strdup(c->arena, e->msg)) : 0;
}

int dk_cmd_network_rm(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_force_options *o = args->options;
	struct dk_store *s;
	bool failed = false;

	if (dk_store_open(c, &s, e) < 0)
		return -e->code;
	for (int i = 0; i < args->argc; i++) {
		int r = remove_one(c, &s->roots, args->argv[i], e);

		if (r == 0 || (r == -ENOENT && o->force)) {
			if (r == 0)
				printf("%s\n", args->argv[i]);
			continue;
		}
		dk_print_error(c, e);
		failed = true;
	}
	fflush(stdout);
	*e = (struct err){0};
	return failed ? dk_fail(1, "exit status 1") : 0;
}

int dk_prune_networks(struct dk_context *c, const struct str_map *filter, struct err *e)
{
	struct dk_network_defs all;
	bool first_one = true;
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	if (r == 0)
		r = dk_network_all(c->arena, &s->roots, &all, e);
	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		const struct dk_network_def *d = &all.v[i];

		if (dk_network_predefined(d->name) || !dk_labels_fit(filter, &d->labels))
			continue;
		r = dk_until_fits(c, filter, d->created, e);
		if (r <= 0)
			continue;
		r = dk_network_remove_unused(c->arena, &s->roots, d, e);
		if (r == -EBUSY) {
			r = 0;
			continue;
		}
		if (r == 0)
			printf("%s%s\n", first_one ? "Deleted Networks:\n" : "", d->name);
		first_one = false;
	}
	if (!first_one)
		printf("\n");
	fflush(stdout);
	return r < 0 ? r : 0;
}

int dk_cmd_network_prune(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	static const char *const known[] = {"label", "label!", "until", NULL};
	const struct dk_prune_options *o = args->options;
	int r = dk_check_filter(c, &o->filter, known, e);

	if (r < 0)
		return r;
	if (!o->force && !dk_confirm("WARNING! This will remove all custom networks not used by at least one "
				     "container."))
		return 0;
	return dk_prune_networks(c, &o->filter, e);
}

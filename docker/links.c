/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/links.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/lists.h"

struct link {
	struct dk_container *k;
	const struct dk_endpoint *in; /* the network */
	char *name, *alias;
	struct dk_record *other;
	const char *address;
};

static void split(struct arena *a, const char *text, char **name, char **alias)
{
	size_t n = strcspn(text, ":");

	*name = arena_strndup(a, text + (*text == '/'), n - (*text == '/'));
	*alias = text[n] && text[n + 1] ? arena_strdup(a, text + n + 1) : *name;
}

static int check(struct dk_context *c, const struct strv *links, struct err *e)
{
	for (size_t i = 0; i < links->n; i++) {
		char *name, *alias, id[DK_ID_SIZE];

		split(c->arena, links->v[i], &name, &alias);
		if (dk_container_find_id(c, name, id, &(struct err){0}) < 0)
			return dk_daemon_error(c, e, ENOENT, "could not get container for %s: No such container: %s", name,
					       name);
		if (!str_valid_id(alias))
			return dk_daemon_error(c, e, EINVAL, "invalid link alias: %s", alias);
	}
	return 0;
}

int dk_links_check(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	int r = check(c, &o->links, e);

	for (size_t i = 0; r == 0 && i < o->networks.n; i++)
		r = check(c, &o->networks.v[i].links, e);
	return r;
}

/* ---- the variables ---- */

static void put(struct link *l, struct strv *env, const char *what, const char *value)
{
	char *entry = arena_printf(l->k->c->arena, "%s_%s=%s", l->alias, what, value);

	for (char *p = entry; *p && p < entry + strlen(l->alias); p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
	dk_strv_add(l->k->c->arena, env, entry);
}

static void put_port(struct link *l, struct strv *env, const char *text, bool first)
{
	struct arena *a = l->k->c->arena;
	const char *slash = strchr(text, '/'), *proto = slash ? slash + 1 : "tcp";
	char *port = arena_strndup(a, text, strcspn(text, "/"));
	char *name = arena_printf(a, "PORT_%s_%s", port, proto);
	char *url = arena_printf(a, "%s://%s:%s", proto, l->address, port);

	for (char *p = name; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	if (first)
		put(l, env, "PORT", url);
	put(l, env, name, url);
	put(l, env, arena_printf(a, "%s_ADDR", name), l->address);
	put(l, env, arena_printf(a, "%s_PORT", name), port);
	put(l, env, arena_printf(a, "%s_PROTO", name), proto);
}

static void put_variables(struct link *l, struct strv *env)
{
	const struct dk_container_config *c = &l->other->config;
	struct arena *a = l->k->c->arena;

	for (size_t i = 0; i < c->exposed_ports.n; i++)
		put_port(l, env, c->exposed_ports.v[i], i == 0);
	put(l, env, "NAME", arena_printf(a, "/%s/%s", l->k->record->name, l->alias));
	for (size_t i = 0; i < c->env.n; i++) {
		const char *v = c->env.v[i], *equals = strchr(v, '=');

		if (equals && !str_starts(v, "HOME=") && !str_starts(v, "PATH="))
			put(l, env, arena_printf(a, "ENV_%.*s", (int)(equals - v), v), equals + 1);
	}
}

/* ---- at the start ---- */

/* Its address in this network; NULL: it has none. */
static const char *address_of(const struct dk_record *r, const char *network)
{
	for (size_t i = 0; i < r->network.endpoints.n; i++)
		if (str_eq(r->network.endpoints.v[i].network, network))
			return r->network.endpoints.v[i].address;
	return NULL;
}

static int add(struct link *l, struct strv *hosts, struct strv *env, struct err *e)
{
	bool bridge = str_eq(l->in->network, "bridge");
	struct dk_context *c = l->k->c;
	struct dk_look look = {0};

	if (dk_container_find(c, l->name, &l->other, e) < 0)
		return -e->code;
	dk_container_look(l->k->store, l->other, &look);
	if (bridge && !look.running)
		return dk_daemon_error(c, e, ESRCH, "Cannot link to a non running container: /%s AS /%s/%s", l->other->name,
				       l->k->record->name, l->alias);
	l->address = look.running ? address_of(l->other, l->in->network) : NULL;
	if (!l->address && bridge)
		return dk_daemon_error(c, e, EINVAL, "Cannot link to /%s, as it does not belong to the default network",
				       l->other->name);
	if (!l->address)
		return 0;
	dk_strv_add(c->arena, hosts, arena_printf(c->arena, "%s:%s", l->alias, l->address));
	if (bridge && !str_eq(l->alias, l->other->name))
		dk_strv_add(c->arena, hosts, arena_printf(c->arena, "%s:%s", l->other->name, l->address));
	if (bridge)
		put_variables(l, env);
	return 0;
}

int dk_links_add(struct dk_container *k, struct strv *hosts, struct strv *env, struct err *e)
{
	const struct dk_network_settings *n = &k->record->network;

	for (size_t i = 0; i < n->endpoints.n; i++)
		for (size_t j = 0; j < n->endpoints.v[i].links.n; j++) {
			struct link l = {.k = k, .in = &n->endpoints.v[i]};

			split(k->c->arena, n->endpoints.v[i].links.v[j], &l.name, &l.alias);
			if (add(&l, hosts, env, e) < 0)
				return -e->code;
		}
	return 0;
}

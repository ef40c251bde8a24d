/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --network: a name, or name=...,alias=... . The flags of the only network that older clients knew
 * (--ip, --network-alias, ...) belong to the first one.
 */
#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"

/* Docker's test for the long form: one word character on both sides of some "=". */
static bool is_long_form(const char *text)
{
	for (const char *s = text; (s = strchr(s, '=')); s++)
		if (s > text && (isalnum((unsigned char)s[-1]) || s[-1] == '_') &&
		    (isalnum((unsigned char)s[1]) || s[1] == '_'))
			return true;
	return false;
}

static int set_driver_option(struct arena *a, struct dk_network_attach *n, char *value, struct err *e)
{
	char *eq = strchr(value, '=');

	if (!eq)
		return err_set(e, EINVAL, "invalid key value pair format in driver options");
	dk_map_add(a, &n->driver_options, dk_trim(a, arena_strndup(a, value, (size_t)(eq - value))),
		   dk_trim(a, eq + 1), true);
	return 0;
}

static int set_field(struct arena *a, struct dk_network_attach *n, const char *field, struct err *e)
{
	char *lower = dk_lower(a, field), *eq = strchr(lower, '=');
	const char *key;
	char *value;

	if (!eq || eq == lower)
		return err_set(e, EINVAL, "invalid field %s", lower);
	key = dk_trim(a, arena_strndup(a, lower, (size_t)(eq - lower)));
	value = dk_trim(a, eq + 1);
	if (str_eq(key, "name"))
		n->name = value;
	else if (str_eq(key, "alias"))
		dk_strv_add(a, &n->aliases, value);
	else if (str_eq(key, "ip"))
		n->ip = value;
	else if (str_eq(key, "ip6"))
		n->ip6 = value;
	else if (str_eq(key, "mac-address"))
		n->mac = value;
	else if (str_eq(key, "link-local-ip"))
		dk_strv_add(a, &n->link_local_ips, value);
	else if (str_eq(key, "driver-opt"))
		return set_driver_option(a, n, value, e);
	else if (str_eq(key, "gw-priority")) {
		if (str_i64(value, &n->gw_priority) < 0)
			return err_set(e, EINVAL, "invalid gw-priority (%s): invalid syntax", value);
	} else
		return err_set(e, EINVAL, "invalid field key %s", key);
	return 0;
}

int dk_flag_network(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct { struct dk_network_attach *v; size_t n; } *list = slot->out;
	struct arena *a = slot->c->arena;
	struct dk_network_attach n = {0};
	struct strv fields = {0};

	if (!is_long_form(text)) {
		n.name = arena_strdup(a, text);
		*dk_list_add(a, list) = n;
		return 0;
	}
	if (dk_split_csv(a, text, &fields, e) < 0)
		return -e->code;
	for (size_t i = 0; i < fields.n; i++)
		if (set_field(a, &n, fields.v[i], e) < 0)
			return -e->code;
	if (!n.name || !*n.name)
		return err_set(e, EINVAL, "network name/id is not specified");
	*dk_list_add(a, list) = n;
	return 0;
}

static bool user_defined(const char *name)
{
	static const char *const words[] = {"default", "bridge", "host", "none", NULL};

	return str_index(words, name) < 0 && !str_starts(name, "container:");
}

static int both(const char *flag, const char *what, struct err *e)
{
	return err_set(e, EINVAL, "conflicting options: cannot specify both %s and per-network %s", flag, what);
}

/* The single flags belong to the first network. */
static int apply_flags(const struct dk_run_options *o, struct dk_network_attach *n, struct err *e)
{
	if (n->aliases.n && o->network_aliases.n)
		return both("--network-alias", "alias", e);
	if (n->ip && o->ip)
		return both("--ip", "IPv4 address", e);
	if (n->ip6 && o->ip6)
		return both("--ip6", "IPv6 address", e);
	if (n->mac && o->mac_address)
		return both("--mac-address", "MAC address", e);
	if (n->link_local_ips.n && o->link_local_ips.n)
		return both("--link-local-ip", "link-local IP addresses", e);
	if (o->network_aliases.n)
		n->aliases = o->network_aliases;
	if (o->links.n && user_defined(n->name))
		n->links = o->links;
	if (o->link_local_ips.n)
		n->link_local_ips = o->link_local_ips;
	n->ip = o->ip ? o->ip : n->ip;
	n->ip6 = o->ip6 ? o->ip6 : n->ip6;
	n->mac = o->mac_address ? o->mac_address : n->mac;
	return 0;
}

/* Six or eight bytes in hexadecimal, with one separator throughout. */
static bool is_mac(const char *s)
{
	size_t n = strlen(s);

	if (n != 17 && n != 23)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i % 3 == 2 ? s[i] != s[2] || (s[i] != ':' && s[i] != '-') : !isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static int check_network(struct dk_context *c, const struct dk_run_options *o, size_t i, struct err *e)
{
	const struct dk_network_attach *n = &o->networks.v[i];
	const char *s = n->name + strspn(n->name, " \t\n");

	if (!*s)
		return err_set(e, EINVAL, "no name set for network");
	if (!user_defined(n->name) && n->aliases.n)
		return err_set(e, EINVAL, "network-scoped aliases are only supported for user-defined networks");
	if (n->mac && !is_mac(n->mac))
		return dk_error(c, e, EINVAL, "%s is not a valid mac address", n->mac);
	for (size_t j = 0; j < i; j++)
		if (str_eq(o->networks.v[j].name, n->name))
			return dk_error(c, e, EINVAL, "network %s is specified multiple times",
					dk_quoted(c->arena, n->name));
	return 0;
}

int dk_check_networks(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	bool user = false, fixed = false;

	if (o->mac_address && !is_mac(o->mac_address))
		return dk_error(c, e, EINVAL, "%s is not a valid mac address", o->mac_address);
	for (size_t i = 0; i < o->networks.n; i++) {
		if (i == 0 && apply_flags(o, &o->networks.v[0], e) < 0)
			return -e->code;
		if (check_network(c, o, i, e) < 0)
			return -e->code;
		if (user_defined(o->networks.v[i].name))
			user = true;
		else
			fixed = true;
	}
	if (user && fixed)
		return err_set(e, EINVAL, "conflicting options: cannot attach both user-defined and non-user-defined network-modes");
	if (!o->networks.n && o->network_aliases.n)
		return err_set(e, EINVAL, "network-scoped aliases are only supported for user-defined networks");
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int dk_resolve_networks(struct dk_context *c, const struct dk_run_options *o, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	size_t n = o->networks.n;
	const char *names[n ? n : 1];

	if (n && (o->networks.v[0].ip || o->networks.v[0].ip6) && !user_defined(o->networks.v[0].name))
		return dk_daemon_error(c, e, EINVAL, "user specified IP address is supported on user defined networks only");
	for (size_t i = 0; i < n; i++)
		if ((o->networks.v[i].ip && !dk_is_ip(o->networks.v[i].ip)) ||
		    (o->networks.v[i].ip6 && !dk_is_ip(o->networks.v[i].ip6)))
			return dk_daemon_error(c, e, EINVAL, "invalid IP address: %s",
					       o->networks.v[i].ip ? o->networks.v[i].ip : o->networks.v[i].ip6);
	if (n < 2 || user_defined(o->networks.v[0].name))
		return 0;
	for (size_t i = 0; i < n; i++)
		names[i] = o->networks.v[i].name;
	qsort(names, n, sizeof(names[0]), compare_names);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", names[i]);
	return dk_daemon_error(c, e, EINVAL, "Container cannot be connected to network endpoints: %s", b.p);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What --network, -p and their company mean: everything that is known before the start. */
#include "docker/network.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "docker/network-def.h"

#define ENGINE "Error response from daemon: "

static const struct json_field endpoint_fields[] = {
	JSON_FIELD(struct dk_endpoint, network, "network", .required = true),
	JSON_FIELD(struct dk_endpoint, aliases, "aliases"),
	JSON_FIELD(struct dk_endpoint, links, "links"),
	JSON_FIELD(struct dk_endpoint, wanted_ip, "wantedIp"),
	JSON_FIELD(struct dk_endpoint, wanted_mac, "wantedMac"),
	JSON_FIELD(struct dk_endpoint, network_id, "networkId"),
	JSON_FIELD(struct dk_endpoint, endpoint_id, "endpointId"),
	JSON_FIELD(struct dk_endpoint, address, "address"),
	JSON_FIELD(struct dk_endpoint, gateway, "gateway"),
	JSON_FIELD(struct dk_endpoint, mac, "mac"),
	JSON_FIELD(struct dk_endpoint, prefix, "prefix"),
};
static const struct json_table endpoint_table = JSON_TABLE(struct dk_endpoint, endpoint_fields);

static const struct json_field rule_fields[] = {
	JSON_FIELD(struct dk_port_rule, container_port, "containerPort"),
	JSON_FIELD(struct dk_port_rule, proto, "proto", .required = true),
	JSON_FIELD(struct dk_port_rule, published, "published"),
	JSON_FIELD(struct dk_port_rule, host_ip, "hostIp"),
	JSON_FIELD(struct dk_port_rule, host_port, "hostPort"),
};
static const struct json_table rule_table = JSON_TABLE(struct dk_port_rule, rule_fields);

static const struct json_field bound_fields[] = {
	JSON_FIELD(struct dk_port_bound, container_port, "containerPort"),
	JSON_FIELD(struct dk_port_bound, host_port, "hostPort"),
	JSON_FIELD(struct dk_port_bound, proto, "proto", .required = true),
	JSON_FIELD(struct dk_port_bound, host_ip, "hostIp", .required = true),
};
static const struct json_table bound_table = JSON_TABLE(struct dk_port_bound, bound_fields);

static const struct json_field settings_fields[] = {
	JSON_FIELD(struct dk_network_settings, mode, "mode"),
	JSON_FIELD(struct dk_network_settings, endpoints, "endpoints", .sub = &endpoint_table),
	JSON_FIELD(struct dk_network_settings, ports, "ports", .sub = &rule_table),
	JSON_FIELD(struct dk_network_settings, publish_all, "publishAll"),
	JSON_FIELD(struct dk_network_settings, bound, "bound", .sub = &bound_table),
	JSON_FIELD(struct dk_network_settings, sandbox_id, "sandboxId"),
};
const struct json_table dk_network_settings_table = JSON_TABLE(struct dk_network_settings, settings_fields);

enum dk_network_kind dk_network_kind(const struct dk_network_settings *s)
{
	if (!s->mode || str_eq(s->mode, "none"))
		return DK_NETWORK_NONE;
	if (str_eq(s->mode, "host"))
		return DK_NETWORK_HOST;
	return str_starts(s->mode, "container:") ? DK_NETWORK_CONTAINER : DK_NETWORK_BRIDGED;
}

bool dk_network_is_bridged(const struct dk_network_settings *s)
{
	return dk_network_kind(s) == DK_NETWORK_BRIDGED;
}

static bool user_defined(const struct dk_network_settings *s)
{
	return dk_network_is_bridged(s) && !str_eq(s->mode, "bridge") && !str_eq(s->mode, "default");
}

/* ---- ports ---- */

static void add_rule(struct dk_network_settings *s, const struct dk_port_rule *r)
{
	/* -p of a port that is exposed as well is one rule; -p twice are two. */
	for (size_t i = 0; i < s->ports.n && !r->published; i++)
		if (s->ports.v[i].container_port == r->container_port &&
		    str_eq(s->ports.v[i].proto, r->proto))
			return;
	s->ports.v[s->ports.n++] = *r;
}

/* The image's strings are hostile: what is no port is none. */
static bool parse_exposed(struct arena *a, const char *text, struct dk_port_rule *ret)
{
	const char *slash = strchr(text, '/');
	size_t digits = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t port;

	if (str_u64(arena_strndup(a, text, digits), UINT16_MAX, &port) < 0 || !port)
		return false;
	*ret = (struct dk_port_rule){.container_port = (uint32_t)port, .proto = "tcp"};
	if (slash && str_eq(slash + 1, "udp"))
		ret->proto = "udp";
	else if (slash && str_eq(slash + 1, "sctp"))
		ret->proto = "sctp";
	else if (slash && !str_eq(slash + 1, "tcp"))
		return false;
	return true;
}

static void settle_ports(struct arena *a, const struct dk_settle *in, struct dk_network_settings *s)
{
	const struct dk_run_options *o = in->options;
	size_t image = in->image_ports ? in->image_ports->n : 0;

	s->ports.v = arena_array(a, o->ports.n + image + 1, sizeof(*s->ports.v));
	for (int published = 1; published >= 0; published--)
		for (size_t i = 0; i < o->ports.n; i++) {
			const struct dk_port *p = &o->ports.v[i];

			if (p->published != published)
				continue;
			add_rule(s, &(struct dk_port_rule){p->container_port, p->proto, p->published, p->host_ip,
							   p->host_port});
		}
	for (size_t i = 0; i < image; i++) {
		struct dk_port_rule r;

		if (parse_exposed(a, in->image_ports->v[i], &r))
			add_rule(s, &r);
	}
	s->publish_all = o->publish_all;
}

/* ---- what does not go together ---- */

static int check_shared(const struct dk_run_options *o, struct err *e)
{
	static const char form[] = ENGINE "conflicting options: %s";

	if (o->hostname)
		return err_set(e, EINVAL, form, "hostname and the network mode");
	if (o->links.n)
		return err_set(e, EINVAL, form, "container type network can't be used with links. This would "
						"result in undefined behavior");
	if (o->dns.n)
		return err_set(e, EINVAL, form, "dns and the network mode");
	if (o->extra_hosts.n)
		return err_set(e, EINVAL, form, "custom host-to-IP mapping and the network mode");
	if (o->mac_address && *o->mac_address)
		return err_set(e, EINVAL, form, "mac-address and the network mode");
	if (o->publish_flags.n || o->publish_all)
		return err_set(e, EINVAL, form, "port publishing and the container type network mode");
	if (o->expose_flags.n)
		return err_set(e, EINVAL, form, "port exposing and the container type network mode");
	return 0;
}

/* Aliases are written into other containers' files. */
static int check_aliases(const struct strv *aliases, struct err *e)
{
	char clean[128];

	for (size_t i = 0; i < aliases->n; i++) {
		const char *s = aliases->v[i];

		if (!*s || strlen(s) > 253 ||
		    s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")])
			return err_set(e, EINVAL, ENGINE "invalid network alias: %s",
				       str_escape(clean, sizeof(clean), s));
	}
	return 0;
}

static int check_address(const struct dk_endpoint *n, struct err *e)
{
	uint32_t address;

	if (n->wanted_ip && !dk_ipv4_parse(n->wanted_ip, &address))
		return err_set(e, EINVAL, ENGINE "invalid IPv4 address: %s", n->wanted_ip);
	return 0;
}

int dk_network_check_endpoint(const struct dk_endpoint *n, struct err *e)
{
	int r = check_address(n, e);

	return r < 0 ? r : check_aliases(&n->aliases, e);
}

static int check_endpoint(const struct dk_network_settings *s, const struct dk_endpoint *n, bool ip6,
			  struct err *e)
{
	if (n->wanted_ip && !user_defined(s))
		return err_set(e, EINVAL, ENGINE "user specified IP address is supported on user defined "
						 "networks only");
	if (ip6)
		return err_set(e, EINVAL, ENGINE "IPv6 addresses are not supported: brig's networks have IPv4 only");
	if (n->aliases.n && !user_defined(s))
		return err_set(e, EINVAL, ENGINE "network-scoped alias is supported only for containers in user "
						 "defined networks");
	return dk_network_check_endpoint(n, e);
}

static const char *or_null(const char *s)
{
	return s && *s ? s : NULL;
}

static int settle_endpoint(struct arena *a, const struct dk_run_options *o, struct dk_network_settings *s,
			   struct err *e)
{
	const struct dk_network_attach *given = o->networks.n ? &o->networks.v[0] : NULL;
	struct dk_endpoint *n = arena_array(a, 1, sizeof(*n));
	const char *ip6 = given ? or_null(given->ip6) : NULL;

	*n = (struct dk_endpoint){
		.network = str_eq(s->mode, "default") ? "bridge" : s->mode,
		.aliases = given && given->aliases.n ? given->aliases : o->network_aliases,
		.links = given && given->links.n ? given->links : o->links,
		.wanted_ip = (char *)or_null(given && or_null(given->ip) ? given->ip : o->ip),
		.wanted_mac = (char *)or_null(given && or_null(given->mac) ? given->mac : o->mac_address),
	};
	if (dk_network_kind(s) == DK_NETWORK_BRIDGED) {
		s->endpoints.v = n;
		s->endpoints.n = 1;
	}
	return check_endpoint(s, n, ip6 || or_null(o->ip6), e);
}

static int too_many(struct arena *a, const struct dk_run_options *o, struct err *e)
{
	auto_strbuf struct strbuf names = {0};
	size_t n = o->networks.n;
	const char **v = arena_array(a, n, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		size_t k = i;

		for (; k > 0 && strcmp(v[k - 1], o->networks.v[i].name) > 0; k--)
			v[k] = v[k - 1];
		v[k] = o->networks.v[i].name;
	}
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", v[i]);
	return err_set(e, EINVAL, ENGINE "Container cannot be connected to network endpoints: %s",
		       strbuf_str(&names));
}

int dk_network_settle(struct arena *a, const struct dk_settle *in, struct dk_network_settings *ret,
		      struct err *e)
{
	const struct dk_run_options *o = in->options;
	struct dk_network_settings s = {.mode = (char *)in->default_network};
	char id[65];
	int r = 0;

	if (o->networks.n > 1)
		return too_many(a, o, e);
	if (o->networks.n)
		s.mode = o->networks.v[0].name;
	dk_random_hex(id, 32);
	s.sandbox_id = arena_strdup(a, id);
	settle_ports(a, in, &s);
	if (dk_network_kind(&s) == DK_NETWORK_CONTAINER)
		r = check_shared(o, e);
	if (r == 0)
		r = settle_endpoint(a, o, &s, e);
	if (r == 0)
		*ret = s;
	return r;
}

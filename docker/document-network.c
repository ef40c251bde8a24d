/* SPDX-License-Identifier: Apache-2.0 */
/* NetworkSettings of `docker inspect`. */
#include <string.h>

#include "base/str.h"
#include "docker/inspect.h"

enum { SHORT_ID = 12 };

static void put_text(struct arena *a, struct dk_value *v, const char *key, const char *text)
{
	dk_put(a, v, key, dk_string(text));
}

/* What is bound while it runs; exposed ports that are not published are null. */
static struct dk_value ports(struct arena *a, const struct dk_network_settings *n, bool running)
{
	struct dk_value v = dk_dict();

	if (!running)
		return v;
	for (size_t i = 0; dk_network_is_bridged(n) && i < n->ports.n; i++)
		dk_put(a, &v, arena_printf(a, "%u/%s", n->ports.v[i].container_port, n->ports.v[i].proto),
		       dk_null_array());
	for (size_t i = 0; i < n->bound.n; i++) {
		const struct dk_port_bound *p = &n->bound.v[i];
		char *key = arena_printf(a, "%u/%s", p->container_port, p->proto);
		const struct dk_value *have = dk_get(&v, key);
		struct dk_value list = have && !have->null ? *have : dk_array(), b = dk_struct("nat.PortBinding");

		put_text(a, &b, "HostIp", p->host_ip);
		put_text(a, &b, "HostPort", arena_printf(a, "%u", p->host_port));
		dk_push(a, &list, b);
		dk_put(a, &v, key, list);
	}
	return v;
}

static const char *network_id(struct arena *a, const struct dk_store *s, const char *name)
{
	struct dk_network_def def;
	struct err ignored = {0};

	return dk_network_find(a, &s->roots, name, &def, &ignored) == 0 ? def.id : "";
}

/* On a network of the user's it is known by its short id as well. */
static struct dk_value aliases(struct arena *a, const struct dk_record *r, const struct dk_endpoint *p)
{
	struct dk_value v = dk_strings(a, &p->aliases, false);

	if (p->network && !str_eq(p->network, "bridge"))
		dk_push(a, &v, dk_stringn(r->id, SHORT_ID));
	v.null = v.n == 0;
	return v;
}

struct at { const struct dk_store *store; const struct dk_record *record; };

static struct dk_value endpoint(struct arena *a, const struct at *at, const char *name,
				const struct dk_endpoint *p)
{
	static const struct dk_endpoint none;
	struct dk_value v = dk_struct("network.EndpointSettings");

	p = p ? p : &none;
	if (p->wanted_ip) {
		struct dk_value ipam = dk_struct("network.EndpointIPAMConfig");

		put_text(a, &ipam, "IPv4Address", p->wanted_ip);
		dk_put(a, &v, "IPAMConfig", ipam);
	} else {
		dk_put(a, &v, "IPAMConfig", dk_null_pointer("network.EndpointIPAMConfig"));
	}
	dk_put(a, &v, "Links", str_eq(p->network, "bridge") ? dk_null_array() : dk_strings(a, &p->links, true));
	dk_put(a, &v, "Aliases", aliases(a, at->record, p));
	put_text(a, &v, "MacAddress", p->mac);
	dk_put(a, &v, "DriverOpts", dk_null_dict());
	dk_put(a, &v, "GwPriority", dk_int(0));
	put_text(a, &v, "NetworkID", p->network_id ? p->network_id : network_id(a, at->store, name));
	put_text(a, &v, "EndpointID", p->endpoint_id);
	put_text(a, &v, "Gateway", p->gateway);
	put_text(a, &v, "IPAddress", p->address);
	dk_put(a, &v, "IPPrefixLen", dk_int(p->prefix));
	put_text(a, &v, "IPv6Gateway", "");
	put_text(a, &v, "GlobalIPv6Address", "");
	dk_put(a, &v, "GlobalIPv6PrefixLen", dk_int(0));
	dk_put(a, &v, "DNSNames", dk_strings(a, &p->aliases, true));
	return v;
}

static struct dk_value networks(struct arena *a, const struct dk_store *s, const struct dk_record *r)
{
	const struct dk_network_settings *n = &r->network;
	const struct at at = {s, r};
	struct dk_value v = dk_dict();

	for (size_t i = 0; i < n->endpoints.n; i++)
		dk_put(a, &v, n->endpoints.v[i].network, endpoint(a, &at, n->endpoints.v[i].network, &n->endpoints.v[i]));
	if (dk_network_kind(n) == DK_NETWORK_NONE)
		dk_put(a, &v, "none", endpoint(a, &at, "none", NULL));
	if (dk_network_kind(n) == DK_NETWORK_HOST)
		dk_put(a, &v, "host", endpoint(a, &at, "host", NULL));
	return v;
}

struct dk_value dk_network_document(struct arena *a, const struct dk_store *s, const struct dk_record *r,
				    const struct dk_look *look)
{
	static const struct dk_endpoint none;
	const struct dk_network_settings *n = &r->network;
	/* The old flat members are of the default bridge. */
	const struct dk_endpoint *p = n->endpoints.n && str_eq(n->endpoints.v[0].network, "bridge")
					      ? &n->endpoints.v[0] : &none;
	struct dk_value v = dk_struct("types.NetworkSettings");

	put_text(a, &v, "Bridge", "");
	put_text(a, &v, "SandboxID", n->sandbox_id);
	put_text(a, &v, "SandboxKey", look->pid ? arena_printf(a, "/proc/%d/ns/net", (int)look->pid) : "");
	dk_put(a, &v, "Ports", ports(a, n, look->running));
	dk_put(a, &v, "HairpinMode", dk_bool(false));
	put_text(a, &v, "LinkLocalIPv6Address", "");
	dk_put(a, &v, "LinkLocalIPv6PrefixLen", dk_int(0));
	dk_put(a, &v, "SecondaryIPAddresses", dk_null_array());
	dk_put(a, &v, "SecondaryIPv6Addresses", dk_null_array());
	put_text(a, &v, "EndpointID", p->endpoint_id);
	put_text(a, &v, "Gateway", p->gateway);
	put_text(a, &v, "GlobalIPv6Address", "");
	dk_put(a, &v, "GlobalIPv6PrefixLen", dk_int(0));
	put_text(a, &v, "IPAddress", p->address);
	dk_put(a, &v, "IPPrefixLen", dk_int(p->prefix));
	put_text(a, &v, "IPv6Gateway", "");
	put_text(a, &v, "MacAddress", p->mac);
	dk_put(a, &v, "Networks", networks(a, s, r));
	return v;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* -p [[IP:]HOST:]CONTAINER[/PROTO], its long form target=...,published=..., and --expose. */
#include <errno.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/parts.h"
#include "docker/units.h"

struct range { uint64_t first, last; };


static int parse_number(const char *text, uint64_t *ret, struct err *e)
{
	int r = str_u64(text, UINT16_MAX, ret);

	if (r == 0)
		return 0;
	return err_set(e, EINVAL, "strconv.ParseUint: parsing \"%s\": %s", text,
		       r == -ERANGE ? "value out of range" : "invalid syntax");
}

static int parse_range(struct arena *a, const char *text, struct range *r, struct err *e)
{
	const char *dash = strchr(text, '-');

	if (!*text)
		return err_set(e, EINVAL, "empty string specified for ports");
	if (!dash) {
		if (parse_number(text, &r->first, e) < 0)
			return -e->code;
		r->last = r->first;
		return 0;
	}
	if (parse_number(arena_strndup(a, text, (size_t)(dash - text)), &r->first, e) < 0 ||
	    parse_number(arena_strndup(a, dash + 1, strcspn(dash + 1, "-")), &r->last, e) < 0)
		return -e->code;
	if (r->last < r->first)
		return err_set(e, EINVAL, "invalid range specified for port: %s", text);
	return 0;
}

/* "80/udp" to "80" and "udp"; without a protocol "tcp". */
static char *split_proto(struct arena *a, const char *text, char **proto)
{
	size_t n = strcspn(text, "/");

	*proto = (char *)"";
	if (!n)
		return arena_strdup(a, "");
	*proto = (char *)"tcp";
	if (text[n] && text[n + 1] && text[n + 1] != '/')
		*proto = arena_strndup(a, text + n + 1, strcspn(text + n + 1, "/"));
	return arena_strndup(a, text, n);
}

/* An exposed port that is published too is one entry. `before`: the ports of earlier flags, for one
 * flag names none twice and may name 65535. */
static void add_port(struct arena *a, struct dk_run_options *o, size_t before, struct dk_port p)
{
	for (size_t i = 0; i < before; i++) {
		struct dk_port *old = &o->ports.v[i];

		if (old->container_port != p.container_port || !str_eq(old->proto, p.proto))
			continue;
		if (!p.published)
			return;
		if (!old->published) {
			*old = p;
			return;
		}
	}
	*dk_list_add(a, &o->ports) = p;
}

/* One specification, split at its colons. */
struct spec {
	char *ip, *host, *container, *proto;
	struct range host_range, container_range;
};

static struct spec split_spec(struct arena *a, const char *text)
{
	struct spec s = {.ip = (char *)"", .host = (char *)""};
	const char *last = strrchr(text, ':'), *before = NULL;

	if (!last) {
		s.container = arena_strdup(a, text);
		return s;
	}
	s.container = arena_strdup(a, last + 1);
	for (const char *p = text; p < last; p++)
		if (*p == ':')
			before = p;
	if (!before) {
		s.host = arena_strndup(a, text, (size_t)(last - text));
		return s;
	}
	s.host = arena_strndup(a, before + 1, (size_t)(last - before - 1));
	s.ip = arena_strndup(a, text, (size_t)(before - text));
	return s;
}

static void publish(struct arena *a, struct dk_run_options *o, const struct spec *s)
{
	const struct range *container = &s->container_range, *host = &s->host_range;
	bool host_range = container->first == container->last && host->first != host->last;
	size_t before = o->ports.n;

	for (uint64_t i = 0; i <= container->last - container->first; i++) {
		struct dk_port p = {.container_port = (uint16_t)(container->first + i), .published = true,
				    .proto = dk_lower(a, s->proto), .host_ip = s->ip, .host_port = (char *)""};
		unsigned long long first = host->first + i, last = host->last;

		if (*s->host)
			p.host_port = host_range ? arena_printf(a, "%llu-%llu", first, last)
						 : arena_printf(a, "%llu", first);
		add_port(a, o, before, p);
	}
}

static int publish_spec(struct dk_context *c, struct dk_run_options *o, const char *text, struct err *e)
{
	static const char *const protos[] = {"tcp", "udp", "sctp", NULL};
	struct arena *a = c->arena;
	struct spec s = split_spec(a, text);
	struct range *container = &s.container_range, *host = &s.host_range;
	struct err ignored = {0};
	char *port = split_proto(a, s.container, &s.proto);
	size_t n = strlen(s.ip);

	if (n > 2 && s.ip[0] == '[' && s.ip[n - 1] == ']')
		s.ip = arena_strndup(a, s.ip + 1, n - 2);
	if (*s.ip && !dk_is_ip(s.ip))
		return dk_error(c, e, EINVAL, "invalid IP address: %s", s.ip);
	if (!*port)
		return dk_error(c, e, EINVAL, "no port specified: %s<empty>", text);
	if (parse_range(a, port, container, &ignored) < 0)
		return dk_error(c, e, EINVAL, "invalid containerPort: %s", port);
	if (*s.host && parse_range(a, s.host, host, &ignored) < 0)
		return dk_error(c, e, EINVAL, "invalid hostPort: %s", s.host);
	if (*s.host && container->first != container->last &&
	    container->last - container->first != host->last - host->first)
		return dk_error(c, e, EINVAL, "invalid ranges specified for container and host Ports: %s and %s",
				port, s.host);
	if (str_index(protos, dk_lower(a, s.proto)) < 0)
		return dk_error(c, e, EINVAL, "invalid proto: %s", s.proto);
	publish(a, o, &s);
	return 0;
}

/* "target=80,published=8080,protocol=udp" in the short form. */
static char *short_form(struct dk_context *c, const char *text, struct err *e)
{
	const char *target = "", *published = "", *proto = "tcp";
	struct arena *a = c->arena;

	for (const char *s = text;; s++) {
		size_t n = strcspn(s, ","), k;
		char *field = arena_strndup(a, s, n);

		k = strcspn(field, "=");
		if (!k || !field[k]) {
			dk_error(c, e, EINVAL, "invalid publish opts format (should be name=value but got '%s')", field);
			return NULL;
		}
		field[k] = '\0';
		if (str_eq(field, "target"))
			target = field + k + 1;
		else if (str_eq(field, "published"))
			published = field + k + 1;
		else if (str_eq(field, "protocol"))
			proto = field + k + 1;
		s += n;
		if (!*s)
			return arena_printf(a, "%s:%s/%s", published, target, proto);
	}
}

static int expose(struct dk_context *c, struct dk_run_options *o, const char *text, struct err *e)
{
	struct range r = {0};
	struct err why = {0};
	char *proto, *port = split_proto(c->arena, text, &proto);
	size_t before = o->ports.n;

	if (strchr(text, ':'))
		return dk_error(c, e, EINVAL, "invalid port format for --expose: %s", text);
	if (parse_range(c->arena, port, &r, &why) < 0)
		return dk_error(c, e, EINVAL, "invalid range format for --expose: %s, error: %s", text, why.msg);
	for (uint64_t i = r.first; i <= r.last; i++)
		add_port(c->arena, o, before,
			 (struct dk_port){.container_port = (uint16_t)i, .proto = proto,
					  .host_ip = (char *)"", .host_port = (char *)""});
	return 0;
}

int dk_check_ports(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	for (size_t i = 0; i < o->publish_flags.n; i++) {
		const char *text = o->publish_flags.v[i];

		if (strchr(text, '='))
			text = short_form(c, text, e);
		if (!text || publish_spec(c, o, text, e) < 0)
			return -e->code;
	}
	for (size_t i = 0; i < o->expose_flags.n; i++)
		if (expose(c, o, o->expose_flags.v[i], e) < 0)
			return -e->code;
	return 0;
}

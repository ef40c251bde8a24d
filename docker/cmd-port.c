/* SPDX-License-Identifier: Apache-2.0 */
/* `docker port`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/record.h"

static void add_address(struct strbuf *b, const struct dk_port_bound *p)
{
	strbuf_printf(b, strchr(p->host_ip, ':') ? "[%s]:%u\n" : "%s:%u\n", p->host_ip, p->host_port);
}

static int by_port(const void *x, const void *y)
{
	const struct dk_port_bound *a = x, *b = y;
	int proto = strcmp(a->proto, b->proto);

	if (a->container_port != b->container_port)
		return a->container_port < b->container_port ? -1 : 1;
	return proto ? proto : strcmp(a->host_ip, b->host_ip);
}

static int one_port(struct dk_context *c, const struct dk_record *r, const char *wanted, struct strbuf *b,
		    struct err *e)
{
	const char *slash = strchr(wanted, '/'), *proto = slash ? slash + 1 : "tcp";
	size_t digits = slash ? (size_t)(slash - wanted) : strlen(wanted);
	uint64_t port = 0;

	str_u64(arena_strndup(c->arena, wanted, digits), UINT16_MAX, &port);
	for (size_t i = 0; i < r->network.bound.n; i++) {
		const struct dk_port_bound *p = &r->network.bound.v[i];

		if (p->container_port == port && str_eq(p->proto, proto))
			add_address(b, p);
	}
	return b->len ? 0 : dk_error(c, e, ENOENT, "Error: No public port '%s' published for %s", wanted, r->name);
}

int dk_cmd_port(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	struct dk_record *r;
	struct dk_look look;

	if (dk_container_find(c, args->argv[0], &r, e) < 0)
		return -e->code;
	dk_container_look(c->store, r, &look);
	if (!look.running)
		r->network.bound.n = 0;
	if (r->network.bound.n)
		qsort(r->network.bound.v, r->network.bound.n, sizeof(*r->network.bound.v), by_port);
	if (args->argc > 1 && one_port(c, r, args->argv[1], &b, e) < 0)
		return -e->code;
	for (size_t i = 0; args->argc == 1 && i < r->network.bound.n; i++) {
		const struct dk_port_bound *p = &r->network.bound.v[i];

		strbuf_printf(&b, "%u/%s -> ", p->container_port, p->proto);
		add_address(&b, p);
	}
	return dk_write_stdout(strbuf_str(&b), b.len, e);
}

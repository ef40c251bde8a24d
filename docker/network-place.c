/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses are given by looking at the ports that the bridge has; their names say which are taken. */
#include "docker/network-place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "docker/netlink.h"
#include "docker/network-names.h"

const char *dk_networks_dir(struct arena *a, const struct dk_roots *r)
{
	return arena_printf(a, "%s/networks", r->run);
}

int dk_networks_lock(struct arena *a, const struct dk_roots *roots, struct err *e)
{
	const char *dir = dk_networks_dir(a, roots);
	int fd = dk_lock_file(dir, "lock", e);

	if (fd >= 0 && flock(fd, LOCK_EX) < 0) {
		close(fd);
		return err_sys(e, "lock %s", dir);
	}
	return fd;
}

int dk_place_find(struct arena *a, const struct dk_roots *roots, const char *name, struct dk_place *ret,
		  struct err *e)
{
	int r = dk_network_find(a, roots, name, &ret->def, e);

	if (r < 0)
		return r;
	if (!ret->def.subnet || !dk_cidr_parse(ret->def.subnet, &ret->subnet) ||
	    !dk_ipv4_parse(ret->def.gateway, &ret->gateway))
		return err_set(e, EINVAL, "network %s has no subnet", ret->def.name);
	ret->range = ret->subnet;
	if (ret->def.ip_range)
		dk_cidr_parse(ret->def.ip_range, &ret->range);
	ret->dir = arena_printf(a, "%s/%s", dk_networks_dir(a, roots), ret->def.id);
	return 0;
}

/* ---- addresses ---- */

struct used { uint32_t *v; size_t n, cap; };

static void note(struct used *u, uint32_t address)
{
	if (u->n == u->cap) {
		u->cap = u->cap ? 2 * u->cap : 64;
		u->v = xrealloc(u->v, u->cap * sizeof(*u->v));
	}
	u->v[u->n++] = address;
}

static void note_port(void *arg, int index, const char *name)
{
	uint32_t address;

	(void)index;
	if (dk_port_name(name, &address))
		note(arg, address);
}

static int compare(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static bool has(const struct used *u, uint32_t address)
{
	return u->n && bsearch(&address, u->v, u->n, sizeof(*u->v), compare);
}

static int pick(const struct dk_place *p, const char *wanted, const struct used *u, uint32_t *ret, struct err *e)
{
	uint32_t last = p->range.base | ~p->range.mask, a;

	if (wanted) {
		if (!dk_ipv4_parse(wanted, &a) || (a & p->subnet.mask) != p->subnet.base)
			return err_set(e, EINVAL, "Invalid address %s: It does not belong to any of this network's "
						  "subnets", wanted);
		if (has(u, a))
			return err_set(e, EADDRINUSE, "Address already in use");
		*ret = a;
		return 0;
	}
	for (a = p->range.base; a <= last; a++) {
		bool edge = a == p->subnet.base || a == (p->subnet.base | ~p->subnet.mask);

		if (!edge && !has(u, a)) {
			*ret = a;
			return 0;
		}
	}
	return err_set(e, EADDRNOTAVAIL, "no available IPv4 addresses on this network's address pools: %s (%s)",
		       p->def.name, p->def.id);
}

int dk_place_address(const struct dk_place *p, const struct dk_holder *h, const char *wanted, uint32_t *ret,
		     struct err *e)
{
	struct used u = {0};
	int r;

	note(&u, p->gateway);
	for (size_t i = 0; i < p->def.aux.n; i++) {
		uint32_t a;

		if (dk_ipv4_parse(p->def.aux.v[i].value, &a))
			note(&u, a);
	}
	r = dk_nl_each(h->nl, note_port, &u);
	if (r < 0)
		r = err_set(e, -r, "list the network's ports: %s", err_name(-r));
	qsort(u.v, u.n, sizeof(*u.v), compare);
	if (r == 0)
		r = pick(p, wanted, &u, ret, e);
	free(u.v);
	return r;
}

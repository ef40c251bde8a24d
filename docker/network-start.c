/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting a container when it starts; network-end.c has the other end.
 *
 * What a container has in a network is the kernel's: a pair of interfaces that goes with either end's
 * namespace. So addresses are given by looking at the ports that the bridge has, and nothing has to
 * be taken back when a container is killed. The files beside it only say whose the ports are.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "docker/netlink.h"
#include "docker/network-connect.h"
#include "docker/network-names.h"
#include "docker/network-place.h"
#include "docker/network-ports.h"
#include "nsenter/ns.h"

enum { MTU = 1500 };

#define ENGINE "Error response from daemon: "

static int engine_error(struct err *e)
{
	char text[sizeof(e->msg)];

	snprintf(text, sizeof(text), "%s", e->msg);
	return err_set(e, e->code, ENGINE "%s", text);
}

static bool parse_mac(const char *text, unsigned char mac[6])
{
	char end;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2], &mac[3],
		      &mac[4], &mac[5], &end) == 6;
}

/* ---- one interface ---- */

struct inside { int netns, nl; }; /* the container's */

static int open_inside(int pidfd, int home, struct inside *ret, struct err *e)
{
	int nl = dk_nl_open(pidfd, dk_net_nested() ? -1 : home, &ret->netns);

	if (nl < 0)
		return err_set(e, -nl, "enter the container's network namespace: %s", err_name(-nl));
	ret->nl = nl;
	return 0;
}

static uint32_t mtu_of(const struct dk_network_def *d)
{
	for (size_t i = 0; i < d->options.n; i++) {
		uint64_t v;

		if (str_eq(d->options.v[i].key, "com.docker.network.driver.mtu") &&
		    str_u64(d->options.v[i].value, UINT16_MAX, &v) == 0)
			return (uint32_t)v;
	}
	return MTU;
}

struct interface {
	uint32_t address;
	unsigned char mac[6];
};

static int choose_mac(struct interface *i, const struct dk_endpoint *n, struct err *e)
{
	i->mac[0] = 0x02;
	i->mac[1] = 0x42;
	for (int k = 0; k < 4; k++)
		i->mac[2 + k] = (unsigned char)(i->address >> (24 - 8 * k));
	if (n->wanted_mac && !parse_mac(n->wanted_mac, i->mac))
		return err_set(e, EINVAL, "invalid MAC address: %s", n->wanted_mac);
	return 0;
}

static int make_pair(const struct dk_place *p, const struct dk_holder *h, const struct inside *in,
		     const struct interface *i, struct err *e)
{
	char name[IFNAMSIZ];
	struct dk_nl_pair pair = {.name = name, .bridge = h->bridge, .peer_name = "eth%d",
				  .peer_netns = in->netns, .mtu = mtu_of(&p->def)};
	int peer, r;

	snprintf(name, sizeof(name), "v%08x", i->address);
	memcpy(pair.mac, i->mac, sizeof(pair.mac));
	r = dk_nl_add_pair(h->nl, &pair, &peer);
	if (r < 0)
		return err_set(e, -r, "make the container's interface: %s", err_name(-r));
	r = dk_nl_add_address(in->nl, peer, i->address, p->subnet.prefix);
	if (r == 0)
		r = dk_nl_up(in->nl, peer);
	if (r == 0 && !p->def.internal && !dk_nl_has_default_route(in->nl))
		r = dk_nl_add_default_route(in->nl, p->gateway);
	if (r < 0)
		dk_nl_delete(h->nl, dk_nl_index(h->nl, name));
	return r < 0 ? err_set(e, -r, "set up the container's interface: %s", err_name(-r)) : 0;
}

static int record(struct arena *a, const struct dk_place *p, const struct dk_connecting *c, uint32_t address,
		  struct err *e)
{
	const struct dk_endpoint *n = c->endpoint;
	struct dk_connected connected = {
		.id = (char *)c->id, .name = (char *)c->name, .hosts = (char *)c->hosts,
		.aliases = n->aliases, .address = n->address, .mac = n->mac,
		.endpoint_id = n->endpoint_id};

	return dk_connected_write(a, p->dir, address, &connected, e);
}

/* With the lock held and the holder's socket open. */
static int connect_locked(struct arena *a, const struct dk_place *p, const struct dk_connecting *c,
			  const struct dk_holder *h, struct err *e)
{
	struct dk_endpoint *n = c->endpoint;
	struct inside in = {-1, -1};
	struct interface made = {0};
	const unsigned char *m = made.mac;
	int r = dk_place_address(p, h, n->wanted_ip, &made.address, e);

	if (r == 0)
		r = choose_mac(&made, n, e);
	if (r == 0)
		r = open_inside(c->pidfd, c->home, &in, e);
	if (r == 0)
		r = make_pair(p, h, &in, &made, e);
	cleanup_close(&in.nl);
	cleanup_close(&in.netns);
	if (r < 0)
		return r;
	n->network = p->def.name;
	n->network_id = p->def.id;
	n->address = dk_ipv4_text(a, made.address);
	n->prefix = p->subnet.prefix;
	n->gateway = p->def.gateway;
	n->mac = arena_printf(a, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	r = record(a, p, c, made.address, e);
	if (r == 0 && c->hosts && c->hostname)
		r = dk_hosts_append(c->hosts, arena_printf(a, "%s\t%s\n", n->address, c->hostname), e);
	if (r == 0)
		r = dk_names_update(a, p->dir, h, !dk_network_predefined(p->def.name), e);
	return r;
}

static char *new_id(struct arena *a)
{
	char id[65];

	dk_random_hex(id, 32);
	return arena_strdup(a, id);
}

/* The use lock keeps the holder alive from now on; the caller closes it. */
static int hold_network(struct arena *a, const struct dk_place *p, int *ret_use, struct err *e)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	auto_close int use = dk_lock_file(p->dir, "use", e);
	struct dk_holder_want want = {.dir = p->dir, .gateway = p->gateway, .prefix = p->subnet.prefix,
				      .egress = !p->def.internal, .dns = dk_resolver_is_local(a)};
	int r;

	if (use < 0)
		return use;
	if (flock(use, LOCK_SH) < 0)
		return err_sys(e, "lock %s/use", p->dir);
	r = dk_holder_find(p->dir, &h, e);
	if (r == 0)
		r = dk_holder_start(&want, &h, e);
	if (r >= 0)
		*ret_use = take_fd(&use);
	return r < 0 ? r : 0;
}

int dk_connect(struct arena *a, const struct dk_roots *roots, const struct dk_connecting *c, struct err *e)
{
	auto_close int lock = dk_networks_lock(a, roots, e), use = -1;
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	struct dk_place p;
	int r;

	if (lock < 0)
		return lock;
	r = dk_place_find(a, roots, c->endpoint->network, &p, e);
	if (r == 0)
		r = dk_net_enter(dk_networks_dir(a, roots), true, e);
	if (r >= 0)
		r = hold_network(a, &p, &use, e);
	if (r < 0)
		return r;
	r = dk_holder_find(p.dir, &h, e);
	if (r == 0)
		r = err_set(e, EIO, "the holder of network %s ended", p.def.name);
	if (r > 0)
		r = dk_holder_connect(&h, c->home, e);
	if (r < 0)
		return r;
	if (!c->endpoint->endpoint_id)
		c->endpoint->endpoint_id = new_id(a);
	return connect_locked(a, &p, c, &h, e);
}

/* ---- the start ---- */

/* What the user namespace above has, as maps of one below it: one to one. */
static int read_maps(struct arena *a, const char *file, struct oci_id_mapping_list *ret, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	char *save = NULL;
	int r = io_read_file(AT_FDCWD, file, 16 << 10, &text, e);

	if (r < 0)
		return r;
	ret->v = arena_array(a, 1 + text.len / 2, sizeof(*ret->v));
	for (char *line = strtok_r(text.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned inside, outside, count;

		if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3)
			ret->v[ret->n++] = (struct oci_id_mapping){inside, inside, count};
	}
	return 0;
}

static int enter(struct dk_network *n, struct err *e)
{
	int r = dk_net_enter(dk_networks_dir(n->arena, &n->start->roots), true, e);

	n->nested = dk_net_nested();
	if (r >= 0 && n->nested) {
		r = read_maps(n->arena, "/proc/self/uid_map", &n->uid_maps, e);
		if (r == 0)
			r = read_maps(n->arena, "/proc/self/gid_map", &n->gid_maps, e);
	}
	return r < 0 ? r : 0;
}

static int prepare_bridged(struct dk_network *n, struct err *e)
{
	const struct dk_network_start *s = n->start;
	struct dk_network_settings *set = s->settings;
	struct dk_publish publish = {.networks = dk_networks_dir(n->arena, &s->roots), .id = s->id, .name = s->name};
	size_t count = set->endpoints.n;
	struct dk_place *places = arena_array(n->arena, count, sizeof(*places));
	auto_close int lock = -1;
	struct dk_listeners l;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		r = dk_place_find(n->arena, &s->roots, set->endpoints.v[i].network, &places[i], e);
		set->endpoints.v[i].endpoint_id = new_id(n->arena);
	}
	if (r < 0)
		return engine_error(e);
	if (!count)
		return 0; /* disconnected from all: as with none */
	publish.endpoint_id = set->endpoints.v[0].endpoint_id;
	r = dk_ports_bind(n->arena, &publish, set, &l, e);
	if (r < 0)
		return r;
	n->listeners.v = l.v;
	n->listeners.n = l.n;
	lock = dk_networks_lock(n->arena, &s->roots, e);
	r = lock < 0 ? lock : enter(n, e);
	n->locks = arena_array(n->arena, count, sizeof(*n->locks));
	for (size_t i = 0; i < count && r == 0; i++) {
		r = hold_network(n->arena, &places[i], &n->locks[i], e);
		n->n_locks += r == 0;
	}
	return r < 0 ? engine_error(e) : 0;
}

/* By descriptors, and looked at again when they are open: a pid may be somebody else's at once, the
 * host's even, and his namespaces would be joined. */
static int prepare_shared(struct dk_network *n, struct err *e)
{
	const struct dk_network_start *s = n->start;
	const char *name = s->settings->mode + strlen("container:");
	int pid, again, r = s->find(s->find_arg, name, &pid, e);

	if (r == 0)
		r = ns_open(arena_printf(n->arena, "/proc/%d/ns/net", pid), CLONE_NEWNET, &n->shared[0], e);
	if (r == 0)
		r = ns_open(arena_printf(n->arena, "/proc/%d/ns/user", pid), CLONE_NEWUSER, &n->shared[1], e);
	if (r == 0)
		r = s->find(s->find_arg, name, &again, e);
	if (r < 0)
		return r;
	if (again != pid)
		return err_set(e, EAGAIN, ENGINE "container %s has been restarted meanwhile", name);
	n->join_net = arena_printf(n->arena, "/proc/self/fd/%d", n->shared[0]);
	return 0;
}

int dk_network_prepare(struct arena *a, const struct dk_network_start *start, struct dk_network **ret,
		       struct err *e)
{
	struct dk_network *n = arena_new_of(a, struct dk_network);
	int r = 0;

	*n = (struct dk_network){.kind = dk_network_kind(start->settings), .arena = a, .start = start, .home = -1,
				.shared = {-1, -1}};
	n->own_netns = n->kind == DK_NETWORK_NONE || n->kind == DK_NETWORK_BRIDGED;
	if (n->kind == DK_NETWORK_CONTAINER)
		r = prepare_shared(n, e);
	if (n->kind == DK_NETWORK_BRIDGED) {
		r = ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &n->home, e);
		if (r == 0)
			r = prepare_bridged(n, e);
	}
	if (r < 0)
		dk_network_release(n);
	else
		*ret = n;
	return r;
}

static int serve_ports(struct dk_network *n, int pidfd, struct err *e)
{
	const struct dk_network_start *s = n->start;
	const struct dk_endpoint *first = &s->settings->endpoints.v[0];
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	const char *networks = dk_networks_dir(n->arena, &s->roots);
	struct dk_publish publish = {.networks = networks, .id = s->id, .name = s->name};
	struct dk_listeners l = {n->listeners.v, n->listeners.n};
	struct dk_serve serve = {.publish = &publish, .settings = s->settings, .listeners = &l,
				 .container = pidfd};
	int r;

	if (!l.n || !s->settings->endpoints.n || !dk_ipv4_parse(first->address, &serve.address))
		return 0;
	r = dk_holder_find(arena_printf(n->arena, "%s/%s", networks, first->network_id), &h, e);
	if (r <= 0)
		return r < 0 ? r : err_set(e, EIO, "the network's holder ended");
	serve.holder = h.pidfd;
	return dk_ports_serve(&serve, e);
}

int dk_network_attach(void *network, int pidfd, struct err *e)
{
	struct dk_network *n = network;
	const struct dk_network_start *s = n->start;
	const char *hosts = arena_printf(n->arena, "%s/hosts", s->files);
	int r = 0;

	for (size_t i = 0; i < s->settings->endpoints.n && r == 0; i++) {
		struct dk_connecting c = {.id = s->id, .name = s->name, .hostname = s->hostname, .hosts = hosts,
					  .endpoint = &s->settings->endpoints.v[i], .pidfd = pidfd,
					  .home = n->home};

		r = dk_connect(n->arena, &s->roots, &c, e);
	}
	return r < 0 ? r : serve_ports(n, pidfd, e);
}

void dk_network_release(struct dk_network *n)
{
	struct dk_listeners l;

	if (!n)
		return;
	l = (struct dk_listeners){n->listeners.v, n->listeners.n};
	dk_ports_close(&l);
	n->listeners.n = 0;
	for (size_t i = 0; i < n->n_locks; i++)
		cleanup_close(&n->locks[i]);
	n->n_locks = 0;
	cleanup_close(&n->home);
	cleanup_close(&n->shared[0]);
	cleanup_close(&n->shared[1]);
}

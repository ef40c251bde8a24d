/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting a container when it starts and disconnecting it when it has ended.
 *
 * What a container has in a network is the kernel's: a pair of interfaces that goes with either end's
 * namespace. So addresses are given by looking at the ports that the bridge has, and nothing has to
 * be taken back when a container is killed. The files beside it only say whose the ports are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sys.h"
#include "docker/netlink.h"
#include "docker/network-connect.h"
#include "docker/network-def.h"
#include "docker/network-names.h"
#include "docker/network-ports.h"
#include "docker/remove.h"
#include "nsenter/ns.h"

enum { MTU = 1500, ID_DIGITS = 64, ENDING_MS = 500 };

#define ENGINE "Error response from daemon: "

struct place { /* one network and where it is kept */
	struct dk_network_def def;
	struct dk_cidr subnet, range;
	uint32_t gateway;
	const char *dir;
};

static const char *networks_dir(struct arena *a, const struct dk_roots *r)
{
	return arena_printf(a, "%s/networks", r->run);
}

static int engine_error(struct err *e)
{
	char text[sizeof(e->msg)];

	snprintf(text, sizeof(text), "%s", e->msg);
	return err_set(e, e->code, ENGINE "%s", text);
}

static int lock_all(struct arena *a, const struct dk_roots *roots, struct err *e)
{
	const char *dir = networks_dir(a, roots);
	int fd = dk_lock_file(dir, "lock", e);

	if (fd >= 0 && flock(fd, LOCK_EX) < 0) {
		close(fd);
		return err_sys(e, "lock %s", dir);
	}
	return fd;
}

static int find_place(struct arena *a, const struct dk_roots *roots, const char *name, struct place *ret,
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
	ret->dir = arena_printf(a, "%s/%s", networks_dir(a, roots), ret->def.id);
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

static int pick(const struct place *p, const char *wanted, const struct used *u, uint32_t *ret, struct err *e)
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

static int choose_address(const struct place *p, const struct dk_holder *h, const char *wanted,
			  uint32_t *ret, struct err *e)
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

static int make_pair(const struct place *p, const struct dk_holder *h, const struct inside *in,
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

static int record(struct arena *a, const struct place *p, const struct dk_connecting *c, uint32_t address,
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
static int connect_locked(struct arena *a, const struct place *p, const struct dk_connecting *c,
			  const struct dk_holder *h, struct err *e)
{
	struct dk_endpoint *n = c->endpoint;
	struct inside in = {-1, -1};
	struct interface made = {0};
	const unsigned char *m = made.mac;
	int r = choose_address(p, h, n->wanted_ip, &made.address, e);

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
static int hold_network(struct arena *a, const struct place *p, int *ret_use, struct err *e)
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
	auto_close int lock = lock_all(a, roots, e), use = -1;
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	struct place p;
	int r;

	if (lock < 0)
		return lock;
	r = find_place(a, roots, c->endpoint->network, &p, e);
	if (r == 0)
		r = dk_net_enter(networks_dir(a, roots), true, e);
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
	int r = dk_net_enter(networks_dir(n->arena, &n->start->roots), true, e);

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
	struct dk_publish publish = {.networks = networks_dir(n->arena, &s->roots), .id = s->id, .name = s->name};
	size_t count = set->endpoints.n;
	struct place *places = arena_array(n->arena, count, sizeof(*places));
	auto_close int lock = -1;
	struct dk_listeners l;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		r = find_place(n->arena, &s->roots, set->endpoints.v[i].network, &places[i], e);
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
	lock = lock_all(n->arena, &s->roots, e);
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
	n->join_user = arena_printf(n->arena, "/proc/self/fd/%d", n->shared[1]);
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
	const char *networks = networks_dir(n->arena, &s->roots);
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

	if (n->kind != DK_NETWORK_BRIDGED)
		return 0;
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

/* ---- the end ---- */

/*
 * The last one ends the network. The use lock is taken before the interface goes: the holder, which would
 * end by itself then, waits for it. It is not to be had while somebody else is about to use the network.
 */
static void end_if_last(struct arena *a, const char *dir, struct dk_holder *h, int use)
{
	if (use < 0 || dk_holder_ports(h) > 0)
		return;
	dk_holder_stop(h);
	/* Who opens these files holds the lock that the caller has. */
	unlink(arena_printf(a, "%s/holder", dir));
	unlink(arena_printf(a, "%s/use", dir));
	rmdir(dir);
}

/* The files of a network whose holder has ended by itself. With the lock held. */
static void forget_ended(const char *dir)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	struct err ignored;
	auto_close int use = access(dir, F_OK) < 0 ? -1 : dk_lock_file(dir, "use", &ignored);

	if (use >= 0 && flock(use, LOCK_EX | LOCK_NB) == 0 && dk_holder_find(dir, &h, &ignored) == 0)
		dk_remove_tree(AT_FDCWD, dir, &ignored);
}

/* The container's namespace is gone by now as a rule, and the holder may be about to end for it. */
static bool ended_by_itself(const char *dir, const struct dk_holder *h)
{
	struct pollfd p = {.fd = h->pidfd, .events = POLLIN};

	if (h->pid && !(h->nl >= 0 && dk_holder_ports(h) > 0) && poll(&p, 1, ENDING_MS) <= 0)
		return false;
	forget_ended(dir);
	return access(dir, F_OK) < 0;
}

static void drop_interface(struct arena *a, const char *dir, struct dk_holder *h, uint32_t address,
			   const char *id)
{
	struct dk_connected c;
	struct err ignored;
	char name[IFNAMSIZ];
	int index;

	if (dk_connected_read(a, dir, address, &c, &ignored) <= 0 || !str_eq(c.id, id))
		return; /* it is another one's by now */
	snprintf(name, sizeof(name), "v%08x", address);
	index = dk_nl_index(h->nl, name);
	if (index > 0)
		dk_nl_delete(h->nl, index);
	dk_connected_remove(dir, address);
}

int dk_disconnect(struct arena *a, const struct dk_roots *roots, const struct dk_disconnecting *d,
		  struct err *e)
{
	const struct dk_endpoint *n = d->endpoint;
	const char *dir = arena_printf(a, "%s/%s", networks_dir(a, roots), n->network_id);
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	auto_close int home = -1, use = -1;
	struct err ignored;
	uint32_t address;
	int r;

	if (!dk_ipv4_parse(n->address, &address))
		return 0;
	r = dk_holder_find(dir, &h, e);
	if (r > 0)
		r = ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &home, e);
	if (r == 0 && h.pid)
		r = dk_holder_connect(&h, home, e);
	if (r < 0 || !h.pid)
		return ended_by_itself(dir, &h) ? 0 : r;
	use = dk_lock_file(dir, "use", &ignored);
	if (use >= 0 && flock(use, LOCK_EX | LOCK_NB) < 0)
		cleanup_close(&use);
	drop_interface(a, dir, &h, address, d->id);
	if (d->hosts)
		dk_names_clear(a, dir, d->hosts);
	r = dk_names_update(a, dir, &h, !dk_network_predefined(n->network), e);
	end_if_last(a, dir, &h, use);
	return (r < 0 || use < 0) && ended_by_itself(dir, &h) ? 0 : r;
}

static void end_here(const struct dk_roots *roots, const char *id, const struct dk_network_settings *s)
{
	auto_arena struct arena *a = arena_new();
	const char *networks = networks_dir(a, roots);
	struct err ignored;
	auto_close int lock = lock_all(a, roots, &ignored);

	if (lock < 0 || dk_net_enter(networks, false, &ignored) < 0)
		return;
	if (s->bound.n)
		dk_ports_end(networks, id);
	for (size_t i = 0; i < s->endpoints.n; i++) {
		struct dk_disconnecting d = {.id = id, .endpoint = &s->endpoints.v[i]};

		if (d.endpoint->address && d.endpoint->network_id)
			dk_disconnect(a, roots, &d, &ignored);
	}
}

static bool has_anything(const struct dk_network_settings *s)
{
	for (size_t i = 0; i < s->endpoints.n; i++)
		if (s->endpoints.v[i].address)
			return true;
	return s->bound.n > 0;
}

void dk_network_forget(struct dk_network_settings *s)
{
	for (size_t i = 0; i < s->endpoints.n; i++) {
		struct dk_endpoint *n = &s->endpoints.v[i];

		n->network_id = n->endpoint_id = n->address = n->gateway = n->mac = NULL;
		n->prefix = 0;
	}
	s->bound.n = 0;
}

void dk_network_end(const struct dk_roots *roots, const char *id, struct dk_network_settings *s)
{
	if (!has_anything(s))
		return;
	if (dk_net_privileged()) {
		end_here(roots, id, s);
	} else {
		/* In a child, for there is no way back out of a user namespace. */
		pid_t pid = fork();

		if (pid == 0) {
			end_here(roots, id, s);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	dk_network_forget(s);
}

/* Of a holder that was killed with all its containers. */
static void sweep_one(struct arena *a, const struct dk_roots *roots, const char *dir)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	struct err ignored;
	auto_close int lock = -1;

	if (dk_holder_find(dir, &h, &ignored) != 0)
		return;
	lock = lock_all(a, roots, &ignored);
	if (lock >= 0)
		forget_ended(dir);
}

void dk_network_sweep(const struct dk_roots *roots)
{
	auto_arena struct arena *a = arena_new();
	const char *networks = networks_dir(a, roots);
	DIR *d = opendir(networks);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strlen(entry->d_name) == ID_DIGITS)
			sweep_one(a, roots, arena_printf(a, "%s/%s", networks, entry->d_name));
	if (d) {
		closedir(d);
		dk_ports_sweep(networks);
	}
}

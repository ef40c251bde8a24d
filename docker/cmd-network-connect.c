/* SPDX-License-Identifier: Apache-2.0 */
/* `docker network connect` and `disconnect`: of a running container at once, of another at its next start. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/happenings.h"
#include "docker/network-connect.h"
#include "docker/network-def.h"
#include "docker/network-holder.h"
#include "docker/record.h"
#include "nsenter/ns.h"
#include "runtime/container.h"

struct change {
	struct dk_context *c;
	struct dk_record *record;
	struct dk_network_def network;
	struct dk_endpoint endpoint;
	const struct dk_network_connect_options *options;
};

static int find_both(struct change *w, const char *network, const char *container, struct err *e)
{
	struct dk_context *c = w->c;
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	if (r < 0)
		return r;
	r = dk_network_find(c->arena, &s->roots, network, &w->network, e);
	if (r < 0)
		return dk_daemon_error(c, e, -r, "%s", arena_strdup(c->arena, e->msg));
	return dk_container_find(c, container, &w->record, e);
}

static int engine_error(struct change *w, struct err *e)
{
	return dk_daemon_error(w->c, e, e->code, "%s", arena_strdup(w->c->arena, e->msg));
}

static struct dk_endpoint *find_endpoint(struct dk_network_settings *n, const char *network)
{
	for (size_t i = 0; i < n->endpoints.n; i++)
		if (str_eq(n->endpoints.v[i].network, network))
			return &n->endpoints.v[i];
	return NULL;
}

/* ---- connect ---- */

static int check_connect(struct change *w, struct err *e)
{
	const struct dk_network_connect_options *o = w->options;
	struct dk_context *c = w->c;

	switch (dk_network_kind(&w->record->network)) {
	case DK_NETWORK_NONE:
		return dk_daemon_error(c, e, EINVAL, "container cannot be connected to multiple networks with one of "
						     "the networks in private (none) mode");
	case DK_NETWORK_HOST:
	case DK_NETWORK_CONTAINER:
		return dk_daemon_error(c, e, EINVAL, "container sharing network namespace with another container or "
						     "host cannot be connected to any other network");
	case DK_NETWORK_BRIDGED:
		break;
	}
	if (!w->network.subnet)
		return dk_daemon_error(c, e, EINVAL, "container cannot be connected to %s networks",
				       w->network.name);
	if (find_endpoint(&w->record->network, w->network.name))
		return dk_daemon_error(c, e, EEXIST, "endpoint with name %s already exists in network %s",
				       w->record->name, w->network.name);
	if (o->ip6 && *o->ip6)
		return dk_daemon_error(c, e, EINVAL, "IPv6 addresses are not supported: brig's networks have IPv4 only");
	if (o->link.n)
		return dk_daemon_error(c, e, EINVAL, "--link of a container that is there already is not "
						     "supported: containers of a network know each other by name");
	if (o->link_local_ip.n || o->driver_opt.n)
		return dk_daemon_error(c, e, EINVAL, "link-local addresses and driver options are not supported");
	w->endpoint = (struct dk_endpoint){
		.network = w->network.name, .aliases = o->alias,
		.wanted_ip = o->ip && *o->ip ? o->ip : NULL};
	return dk_network_check_endpoint(&w->endpoint, e);
}

static int add_to_record(struct dk_record *r, void *arg, struct err *e)
{
	struct change *w = arg;
	struct dk_network_settings *n = &r->network;
	struct dk_endpoint *v = arena_array(w->c->arena, n->endpoints.n + 1, sizeof(*v));

	(void)e;
	if (find_endpoint(n, w->network.name))
		return 1;
	if (n->endpoints.n)
		memcpy(v, n->endpoints.v, n->endpoints.n * sizeof(*v));
	v[n->endpoints.n++] = w->endpoint;
	n->endpoints.v = v;
	return 0;
}

static int connect_running(struct change *w, int pidfd, struct err *e)
{
	struct dk_store *s = w->c->store;
	auto_close int home = -1;
	struct dk_connecting c = {
		.id = w->record->id, .name = w->record->name, .hostname = w->record->config.hostname,
		.hosts = dk_container_path(s, w->record->id, "hosts"), .endpoint = &w->endpoint, .pidfd = pidfd};
	int r = ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &home, e);

	c.home = home;
	if (r == 0)
		r = dk_connect(w->c->arena, &s->roots, &c, e);
	return r < 0 ? engine_error(w, e) : 0;
}

/* Of a container that runs: *ret_pidfd, to be closed; -1: it does not run. */
static int open_init(struct change *w, int *ret_pidfd)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	struct dk_look look;
	struct err ignored;

	dk_container_look(w->c->store, w->record, &look);
	*ret_pidfd = -1;
	if (look.running && rt_container_open(w->c->arena, &w->c->store->runtime, w->record->id, &k, &ignored) == 0)
		*ret_pidfd = take_fd(&k.pidfd);
	return 0;
}

int dk_cmd_network_connect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct change w = {.c = c, .options = args->options};
	auto_close int pidfd = -1;
	int r = find_both(&w, args->argv[0], args->argv[1], e);

	if (r == 0)
		r = check_connect(&w, e);
	if (r == 0)
		r = open_init(&w, &pidfd);
	if (r == 0 && pidfd >= 0)
		r = connect_running(&w, pidfd, e);
	if (r == 0)
		r = dk_record_update(c->store, w.record->id, add_to_record, &w, e);
	if (r == 0 && pidfd >= 0)
		dk_network_event(&c->store->roots, "connect", &w.network, w.record->id);
	return r;
}

/* ---- disconnect ---- */

static int drop_from_record(struct dk_record *r, void *arg, struct err *e)
{
	struct change *w = arg;
	struct dk_network_settings *n = &r->network;
	struct dk_endpoint *p = find_endpoint(n, w->network.name);
	size_t at;

	(void)e;
	if (!p)
		return 1;
	at = (size_t)(p - n->endpoints.v);
	memmove(p, p + 1, (n->endpoints.n - at - 1) * sizeof(*p));
	n->endpoints.n--;
	return 0;
}

static int disconnect_running(struct change *w, const struct dk_endpoint *p, struct err *e)
{
	const struct dk_roots *roots = &w->c->store->roots;
	const char *networks = arena_printf(w->c->arena, "%s/networks", roots->run);
	auto_close int lock = dk_lock_file(networks, "lock", e);
	struct dk_disconnecting d = {.id = w->record->id, .endpoint = p,
				     .hosts = dk_container_path(w->c->store, w->record->id, "hosts")};
	int r = lock < 0 ? lock : flock(lock, LOCK_EX) < 0 ? err_sys(e, "lock %s", networks) : 0;

	if (r == 0)
		r = dk_net_enter(networks, false, e);
	if (r >= 0)
		r = dk_disconnect(w->c->arena, roots, &d, e);
	return r < 0 ? engine_error(w, e) : 0;
}

int dk_cmd_network_disconnect(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	struct change w = {.c = c};
	const struct dk_endpoint *p;
	bool connected;
	int r = find_both(&w, args->argv[0], args->argv[1], e);

	if (r < 0)
		return r;
	p = find_endpoint(&w.record->network, w.network.name);
	if (!p)
		return dk_daemon_error(c, e, ENOENT, "container %s is not connected to network %s", w.record->id,
				       w.network.name);
	connected = p->address && p->network_id;
	if (connected)
		r = disconnect_running(&w, p, e);
	if (r == 0)
		r = dk_record_update(c->store, w.record->id, drop_from_record, &w, e);
	if (r == 0 && connected)
		dk_network_event(&c->store->roots, "disconnect", &w.network, w.record->id);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Disconnecting a container, also one of which only the record is left, and what remains of networks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/netlink.h"
#include "docker/network-connect.h"
#include "docker/network-names.h"
#include "docker/network-place.h"
#include "docker/network-ports.h"
#include "docker/remove.h"
#include "nsenter/ns.h"

enum { ID_DIGITS = 64, ENDING_MS = 5000 };

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
	const char *dir = arena_printf(a, "%s/%s", dk_networks_dir(a, roots), n->network_id);
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
	const char *networks = dk_networks_dir(a, roots);
	struct err ignored;
	auto_close int lock = dk_networks_lock(a, roots, &ignored);

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
	lock = dk_networks_lock(a, roots, &ignored);
	if (lock >= 0)
		forget_ended(dir);
}

void dk_network_sweep(const struct dk_roots *roots)
{
	auto_arena struct arena *a = arena_new();
	const char *networks = dk_networks_dir(a, roots);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/network-use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/network-def.h"
#include "docker/remove.h"
#include "nsenter/ns.h"

enum { ENDING_MS = 5000 }; /* of a busy machine */

static char *dir_of(struct arena *a, const struct dk_roots *roots, const char *id)
{
	return arena_printf(a, "%s/networks/%s", roots->run, id);
}

/* Takes those away first whose interface has gone, if the caller may look. */
static void refresh(struct arena *a, const char *dir, struct dk_holder *h)
{
	auto_close int home = -1;
	struct err ignored;

	if (dk_net_privileged() && ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &home, &ignored) == 0 &&
	    dk_holder_connect(h, home, &ignored) == 0)
		dk_names_update(a, dir, h, false, &ignored);
}

static void collect(struct arena *a, const char *dir, struct dk_connected_list *ret)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t cap = 0;

	while (d && (entry = readdir(d))) {
		struct err ignored;
		uint32_t address;

		if (strlen(entry->d_name) != 10 || !str_starts(entry->d_name, "e-"))
			continue;
		address = (uint32_t)strtoul(entry->d_name + 2, NULL, 16);
		if (ret->n == cap) {
			struct dk_connected *v = arena_array(a, cap ? 2 * cap : 8, sizeof(*v));

			if (cap)
				memcpy(v, ret->v, cap * sizeof(*v));
			ret->v = v;
			cap = cap ? 2 * cap : 8;
		}
		ret->n += dk_connected_read(a, dir, address, &ret->v[ret->n], &ignored) > 0;
	}
	if (d)
		closedir(d);
}

struct dk_connected_list dk_network_connected(struct arena *a, const struct dk_roots *roots, const char *id)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	const char *dir = dir_of(a, roots, id);
	struct dk_connected_list l = {0};
	struct err ignored;

	if (dk_holder_find(dir, &h, &ignored) <= 0)
		return l;
	refresh(a, dir, &h);
	collect(a, dir, &l);
	return l;
}

/* A holder ends when the last container has gone, which takes a moment. */
static bool ends(const struct dk_holder *h)
{
	struct pollfd p = {.fd = h->pidfd, .events = POLLIN};

	return poll(&p, 1, ENDING_MS) > 0;
}

static bool in_use(const char *networks, const char *dir)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	auto_close int home = -1, use = -1;
	struct err ignored;
	int r = dk_holder_find(dir, &h, &ignored);

	if (r <= 0)
		return r < 0;
	if (dk_net_enter(networks, false, &ignored) < 0 ||
	    ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &home, &ignored) < 0)
		return true; /* it cannot be known */
	if (dk_holder_connect(&h, home, &ignored) < 0)
		return !ends(&h);
	if (dk_holder_ports(&h) > 0)
		return true;
	use = dk_lock_file(dir, "use", &ignored);
	/* Held by the holder that ends, or by who is about to use it. */
	if (use < 0 || flock(use, LOCK_EX | LOCK_NB) < 0)
		return !ends(&h);
	/* With the lock nobody comes. */
	if (dk_holder_ports(&h) > 0)
		return true;
	dk_holder_stop(&h);
	return false;
}

int dk_network_remove_unused(struct arena *a, const struct dk_roots *roots, const struct dk_network_def *d,
			     struct err *e)
{
	const char *networks = arena_printf(a, "%s/networks", roots->run);
	auto_close int lock = dk_lock_file(networks, "lock", e), dir = -1;
	struct err ignored;

	if (lock < 0)
		return lock;
	if (flock(lock, LOCK_EX) < 0)
		return err_sys(e, "lock %s", networks);
	if (in_use(networks, dir_of(a, roots, d->id)))
		return -EBUSY;
	if (dk_network_remove(roots, d, e) < 0)
		return -e->code;
	dir = open(networks, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		dk_remove_tree(dir, d->id, &ignored);
	return 0;
}

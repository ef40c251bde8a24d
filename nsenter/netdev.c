/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sockets, one in each namespace; the caller's thread is in the other one for as long as it
 * takes to make the second.
 *
 * An interface moves under a name of our own, for it is found by that in the target whatever number
 * it has there, and gets its final one then; should that fail (the kernel is asked, not we: only it
 * knows the numbers of a template), it moves back. A move sets it down and takes its addresses
 * away, so these are read before and added again. What is not a real device would end with the namespace of a
 * start that failed, so all move back then.
 */
#include "nsenter/netdev.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "nsenter/ns.h"
#include "nsenter/rtnl.h"

enum { ADDRESSES_MAX = 64, ADDRESS_BYTES = 16, NOT_HERE = 0 };

struct address {
	struct ifaddrmsg m;
	uint32_t flags, priority;
	unsigned char local[ADDRESS_BYTES], address[ADDRESS_BYTES], broadcast[ADDRESS_BYTES];
	bool has_local, has_address, has_broadcast, has_priority;
};

struct addresses {
	unsigned index; /* of the interface */
	size_t n;
	struct address v[ADDRESSES_MAX];
};

struct move {
	int here, there;  /* sockets */
	int home, target; /* namespaces */
};

#define MOVE_NONE {-1, -1, -1, -1}

/* ---- links ---- */

static int take_link(const struct nlmsghdr *m, void *arg)
{
	if (m->nlmsg_type == RTM_NEWLINK)
		*(struct ifinfomsg *)arg = *(const struct ifinfomsg *)NLMSG_DATA(m);
	return 0;
}

/* The number of an interface, NOT_HERE, or -errno. */
static int look_up(int fd, const char *name, struct ifinfomsg *ret)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC};
	struct rtnl_request q;
	int r;

	rtnl_begin(&q, RTM_GETLINK, 0, &i, sizeof(i));
	rtnl_add(&q, IFLA_IFNAME, name, strlen(name) + 1);
	*ret = (struct ifinfomsg){.ifi_index = NOT_HERE};
	r = rtnl_call(fd, &q, take_link, ret);
	return r == -ENODEV ? NOT_HERE : r < 0 ? r : ret->ifi_index;
}

static int find_link(int fd, const char *name)
{
	struct ifinfomsg i;

	return look_up(fd, name, &i);
}

/* netns < 0: stays. */
static int change_link(int fd, int index, int netns, const char *name)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_NEWLINK, 0, &i, sizeof(i));
	if (netns >= 0)
		rtnl_add(&q, IFLA_NET_NS_FD, &netns, sizeof(netns));
	rtnl_add(&q, IFLA_IFNAME, name, strlen(name) + 1);
	return rtnl_call(fd, &q, NULL, NULL);
}

static int set_up(int fd, int index)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP,
			      .ifi_change = IFF_UP};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_NEWLINK, 0, &i, sizeof(i));
	return rtnl_call(fd, &q, NULL, NULL);
}

/* ---- addresses ---- */

static bool take_bytes(const struct nlmsghdr *m, uint16_t attr, void *to, size_t n)
{
	const struct rtattr *a = rtnl_find(m, sizeof(struct ifaddrmsg), attr, n);

	if (a)
		memcpy(to, RTA_DATA(a), n);
	return a != NULL;
}

static size_t address_size(const struct ifaddrmsg *m)
{
	return m->ifa_family == AF_INET ? 4 : m->ifa_family == AF_INET6 ? 16 : 0;
}

static int take_address(const struct nlmsghdr *m, void *arg)
{
	struct addresses *l = arg;
	struct address a = {.m = *(const struct ifaddrmsg *)NLMSG_DATA(m)};
	size_t n = address_size(&a.m);

	if (m->nlmsg_type != RTM_NEWADDR || a.m.ifa_index != l->index || !n)
		return 0;
	a.flags = a.m.ifa_flags;
	take_bytes(m, IFA_FLAGS, &a.flags, sizeof(a.flags));
	if (!(a.flags & IFA_F_PERMANENT) || a.m.ifa_scope != RT_SCOPE_UNIVERSE)
		return 0;
	if (l->n == ADDRESSES_MAX)
		return -E2BIG;
	a.has_local = take_bytes(m, IFA_LOCAL, a.local, n);
	a.has_address = take_bytes(m, IFA_ADDRESS, a.address, n);
	a.has_broadcast = take_bytes(m, IFA_BROADCAST, a.broadcast, n);
	a.has_priority = take_bytes(m, IFA_RT_PRIORITY, &a.priority, sizeof(a.priority));
	l->v[l->n++] = a;
	return 0;
}

static int read_addresses(int fd, struct addresses *ret)
{
	struct ifaddrmsg m = {.ifa_family = AF_UNSPEC};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_GETADDR, NLM_F_DUMP, &m, sizeof(m));
	return rtnl_call(fd, &q, take_address, ret);
}

static int add_address(int fd, int index, const struct address *a)
{
	const uint32_t wishes = IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR |
				IFA_F_NOPREFIXROUTE | IFA_F_MCAUTOJOIN;
	uint32_t flags = a->flags & wishes;
	size_t n = address_size(&a->m);
	struct ifaddrmsg m = a->m;
	struct rtnl_request q;

	m.ifa_index = (unsigned)index;
	m.ifa_flags = (unsigned char)flags;
	rtnl_begin(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));
	rtnl_add(&q, IFA_FLAGS, &flags, sizeof(flags));
	if (a->has_local)
		rtnl_add(&q, IFA_LOCAL, a->local, n);
	if (a->has_address)
		rtnl_add(&q, IFA_ADDRESS, a->address, n);
	if (a->has_broadcast)
		rtnl_add(&q, IFA_BROADCAST, a->broadcast, n);
	if (a->has_priority)
		rtnl_add(&q, IFA_RT_PRIORITY, &a->priority, sizeof(a->priority));
	return rtnl_call(fd, &q, NULL, NULL);
}

/* ---- the move ---- */

static int fail(struct err *e, const struct ns_netdev *d, int r, const char *what)
{
	return err_set(e, -r, "network device %s: %s: %s", d->host_name, what, err_name(-r));
}

static const char *final_name(const struct ns_netdev *d)
{
	return d->name && *d->name ? d->name : d->host_name;
}

/* netns: a pidfd, or the namespace itself. */
static int open_there(struct move *m, int netns, struct err *e)
{
	int r = ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &m->home, e);

	if (r < 0)
		return r;
	if (setns(netns, CLONE_NEWNET) < 0)
		return err_sys(e, "enter the container's network namespace");
	m->there = rtnl_open();
	r = ns_open("/proc/thread-self/ns/net", CLONE_NEWNET, &m->target, e);
	if (setns(m->home, CLONE_NEWNET) < 0)
		abort(); /* nothing may go on in the wrong namespace */
	if (r == 0 && m->there < 0)
		r = err_set(e, -m->there, "make a netlink socket: %s", err_name(-m->there));
	return r;
}

static int open_move(struct move *m, int netns, struct err *e)
{
	m->here = rtnl_open();
	return m->here < 0 ? err_set(e, -m->here, "make a netlink socket: %s", err_name(-m->here))
			   : open_there(m, netns, e);
}

static void close_move(struct move *m)
{
	cleanup_close(&m->here);
	cleanup_close(&m->there);
	cleanup_close(&m->home);
	cleanup_close(&m->target);
}

static int check(const struct move *m, const struct ns_netdev *d, struct err *e)
{
	const char *name = final_name(d);
	int r = find_link(m->here, d->host_name);

	if (r == NOT_HERE)
		return err_set(e, ENODEV, "network device %s: does not exist", d->host_name);
	if (r > 0 && !strchr(name, '%')) {
		r = find_link(m->there, name);
		if (r > 0)
			return err_set(e, EEXIST, "network device %s: the container has a %s already",
				       d->host_name, name);
	}
	return r < 0 ? fail(e, d, r, "look it up") : 0;
}

/* fd: where it has arrived as l->index, with the name that it is to keep. */
static int settle(int fd, const struct ns_netdev *d, bool up, const struct addresses *l, struct err *e)
{
	int index = (int)l->index, r = up ? set_up(fd, index) : 0;

	if (r < 0)
		return fail(e, d, r, "set it up");
	for (size_t i = 0; i < l->n; i++) {
		r = add_address(fd, index, &l->v[i]);
		if (r < 0)
			return fail(e, d, r, "give it its address again");
	}
	return 0;
}

static int arrive(const struct move *m, struct ns_netdev *d, const char *temporary,
		  struct addresses *l, struct err *e)
{
	int index = find_link(m->there, temporary), r;

	if (index <= 0)
		return fail(e, d, index < 0 ? index : -ENODEV, "find it in the container");
	d->index = index;
	l->index = (unsigned)index;
	r = change_link(m->there, index, -1, final_name(d));
	if (r < 0)
		return fail(e, d, r, "rename it in the container");
	return settle(m->there, d, true, l, e);
}

/* With these addresses. */
static int put_back(const struct move *m, const struct ns_netdev *d, struct addresses *l, struct err *e)
{
	int index, r = change_link(m->there, d->index, m->home, d->host_name);

	if (r < 0)
		return fail(e, d, r, "move it back");
	index = find_link(m->here, d->host_name);
	if (index <= 0)
		return fail(e, d, index < 0 ? index : -ENODEV, "find it again");
	l->index = (unsigned)index;
	return settle(m->here, d, d->was_up, l, e);
}

static int move_one(const struct move *m, struct ns_netdev *d, struct err *e)
{
	struct addresses l = {.n = 0};
	char temporary[IFNAMSIZ];
	struct ifinfomsg i;
	struct err ignored;
	int index = look_up(m->here, d->host_name, &i), r;

	if (index <= 0)
		return fail(e, d, index < 0 ? index : -ENODEV, "look it up");
	d->was_up = i.ifi_flags & IFF_UP;
	l.index = (unsigned)index;
	r = read_addresses(m->here, &l);
	if (r < 0)
		return fail(e, d, r, "read its addresses");
	snprintf(temporary, sizeof(temporary), "brig%x", (unsigned)index);
	r = change_link(m->here, index, m->target, temporary);
	if (r < 0)
		return fail(e, d, r, "move it into the container");
	r = arrive(m, d, temporary, &l, e);
	if (r < 0 && d->index) { /* it has not got all of its addresses yet */
		(void)put_back(m, d, &l, &ignored);
		d->index = 0;
	}
	return r;
}

static int return_one(const struct move *m, const struct ns_netdev *d, struct err *e)
{
	struct addresses l = {.index = (unsigned)d->index};
	int r = read_addresses(m->there, &l);

	return r < 0 ? fail(e, d, r, "read its addresses") : put_back(m, d, &l, e);
}

/* All are tried; the first error counts. */
static int return_all(const struct move *m, struct ns_netdev *v, size_t n, struct err *e)
{
	struct err ignored;
	int r = 0;

	for (size_t i = n; i-- > 0;) {
		if (v[i].index)
			r = return_one(m, &v[i], r < 0 ? &ignored : e) < 0 && r == 0 ? -e->code : r;
		v[i].index = 0;
	}
	return r;
}

int ns_return_netdevs(int netns, struct ns_netdev *v, size_t n, struct err *e)
{
	struct move m = MOVE_NONE;
	int r = open_move(&m, netns, e);

	if (r == 0)
		r = return_all(&m, v, n, e);
	close_move(&m);
	return r;
}

int ns_move_netdevs(int pidfd, struct ns_netdev *v, size_t n, int *ret_netns, struct err *e)
{
	struct move m = MOVE_NONE;
	struct err ignored;
	int r = open_move(&m, pidfd, e);

	for (size_t i = 0; i < n && r == 0; i++)
		r = check(&m, &v[i], e);
	for (size_t i = 0; i < n && r == 0; i++)
		r = move_one(&m, &v[i], e);
	if (r < 0)
		return_all(&m, v, n, &ignored);
	else
		*ret_netns = take_fd(&m.target);
	close_move(&m);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests are small and have one answer each, so they are written by hand (nsenter/rtnl.h). */
#include "docker/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nsenter/rtnl.h"

static void add_text(struct rtnl_request *q, uint16_t attr, const char *s)
{
	rtnl_add(q, attr, s, strlen(s) + 1);
}

static int take_index(const struct nlmsghdr *m, void *arg)
{
	const struct ifinfomsg *i = NLMSG_DATA(m);

	if (m->nlmsg_type == RTM_NEWLINK)
		*(int *)arg = i->ifi_index;
	return 0;
}

/* What `take` makes of the interface with that name. */
static int ask(int nl, const char *name, int (*take)(const struct nlmsghdr *m, void *arg), int *ret)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_GETLINK, 0, &i, sizeof(i));
	add_text(&q, IFLA_IFNAME, name);
	return rtnl_call(nl, &q, take, ret);
}

int dk_nl_index(int nl, const char *name)
{
	int index = 0, r = ask(nl, name, take_index, &index);

	return r == -ENODEV ? 0 : r < 0 ? r : index;
}

int dk_nl_add_bridge(int nl, const char *name, const unsigned char mac[6])
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC};
	struct rtnl_request q;
	size_t info;

	rtnl_begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &i, sizeof(i));
	add_text(&q, IFLA_IFNAME, name);
	rtnl_add(&q, IFLA_ADDRESS, mac, 6);
	info = rtnl_nest(&q, IFLA_LINKINFO);
	add_text(&q, IFLA_INFO_KIND, "bridge");
	rtnl_nest_end(&q, info);
	return rtnl_call(nl, &q, NULL, NULL);
}

int dk_nl_up(int nl, int index)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP,
			      .ifi_change = IFF_UP};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_NEWLINK, 0, &i, sizeof(i));
	return rtnl_call(nl, &q, NULL, NULL);
}

int dk_nl_delete(int nl, int index)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_DELLINK, 0, &i, sizeof(i));
	return rtnl_call(nl, &q, NULL, NULL);
}

static int take_peer(const struct nlmsghdr *m, void *arg)
{
	const struct rtattr *a = rtnl_find(m, sizeof(struct ifinfomsg), IFLA_LINK, sizeof(int));

	if (m->nlmsg_type == RTM_NEWLINK && a)
		memcpy(arg, RTA_DATA(a), sizeof(int));
	return 0;
}

static int peer_of(int nl, const char *name)
{
	int peer = 0, r = ask(nl, name, take_peer, &peer);

	return r < 0 ? r : peer > 0 ? peer : -ENODEV;
}

int dk_nl_add_pair(int nl, const struct dk_nl_pair *p, int *ret_peer)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct ifinfomsg other = {.ifi_family = AF_UNSPEC};
	struct rtnl_request q;
	size_t info, data, peer;
	int r;

	rtnl_begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &i, sizeof(i));
	add_text(&q, IFLA_IFNAME, p->name);
	rtnl_add(&q, IFLA_MASTER, &p->bridge, sizeof(p->bridge));
	rtnl_add(&q, IFLA_MTU, &p->mtu, sizeof(p->mtu));
	info = rtnl_nest(&q, IFLA_LINKINFO);
	add_text(&q, IFLA_INFO_KIND, "veth");
	data = rtnl_nest(&q, IFLA_INFO_DATA);
	/* The peer's attributes follow a struct ifinfomsg in this one. */
	peer = NLMSG_ALIGN(q.h.nlmsg_len);
	rtnl_add(&q, VETH_INFO_PEER, &other, sizeof(other));
	add_text(&q, IFLA_IFNAME, p->peer_name);
	rtnl_add(&q, IFLA_ADDRESS, p->mac, sizeof(p->mac));
	rtnl_add(&q, IFLA_MTU, &p->mtu, sizeof(p->mtu));
	rtnl_add(&q, IFLA_NET_NS_FD, &p->peer_netns, sizeof(p->peer_netns));
	rtnl_nest_end(&q, peer);
	rtnl_nest_end(&q, data);
	rtnl_nest_end(&q, info);
	r = rtnl_call(nl, &q, NULL, NULL);
	if (r < 0)
		return r;
	r = peer_of(nl, p->name);
	if (r < 0)
		return r;
	*ret_peer = r;
	return 0;
}

int dk_nl_add_address(int nl, int index, uint32_t address, unsigned prefix)
{
	struct ifaddrmsg m = {.ifa_family = AF_INET, .ifa_prefixlen = (unsigned char)prefix,
			      .ifa_index = (unsigned)index};
	uint32_t host = prefix >= 32 ? 0 : UINT32_MAX >> prefix;
	uint32_t local = htonl(address), broadcast = htonl(address | host);
	struct rtnl_request q;

	rtnl_begin(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	rtnl_add(&q, IFA_LOCAL, &local, sizeof(local));
	rtnl_add(&q, IFA_ADDRESS, &local, sizeof(local));
	rtnl_add(&q, IFA_BROADCAST, &broadcast, sizeof(broadcast));
	return rtnl_call(nl, &q, NULL, NULL);
}

int dk_nl_add_default_route(int nl, uint32_t gateway)
{
	struct rtmsg m = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT,
			  .rtm_scope = RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNICAST};
	uint32_t via = htonl(gateway);
	struct rtnl_request q;

	rtnl_begin(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	rtnl_add(&q, RTA_GATEWAY, &via, sizeof(via));
	return rtnl_call(nl, &q, NULL, NULL);
}

static int see_default(const struct nlmsghdr *m, void *arg)
{
	const struct rtmsg *r = NLMSG_DATA(m);

	if (m->nlmsg_type == RTM_NEWROUTE && r->rtm_family == AF_INET && r->rtm_dst_len == 0 &&
	    r->rtm_table == RT_TABLE_MAIN && r->rtm_type == RTN_UNICAST)
		*(bool *)arg = true;
	return 0;
}

bool dk_nl_has_default_route(int nl)
{
	struct rtmsg m = {.rtm_family = AF_INET};
	struct rtnl_request q;
	bool found = false;

	rtnl_begin(&q, RTM_GETROUTE, NLM_F_DUMP, &m, sizeof(m));
	rtnl_call(nl, &q, see_default, &found);
	return found;
}

struct each {
	void (*fn)(void *arg, int index, const char *name);
	void *arg;
};

static int see_link(const struct nlmsghdr *m, void *arg)
{
	const struct rtattr *a = rtnl_find(m, sizeof(struct ifinfomsg), IFLA_IFNAME, 2);
	const struct ifinfomsg *i = NLMSG_DATA(m);
	const struct each *each = arg;
	char name[IFNAMSIZ] = "";

	if (m->nlmsg_type != RTM_NEWLINK || !a)
		return 0;
	memcpy(name, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(name) ? RTA_PAYLOAD(a) : sizeof(name) - 1);
	each->fn(each->arg, i->ifi_index, name);
	return 0;
}

int dk_nl_each(int nl, void (*fn)(void *arg, int index, const char *name), void *arg)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC};
	struct each each = {fn, arg};
	struct rtnl_request q;

	rtnl_begin(&q, RTM_GETLINK, NLM_F_DUMP, &i, sizeof(i));
	return rtnl_call(nl, &q, see_link, &each);
}

int dk_nl_watch(unsigned groups)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = rtnl_open();

	if (fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

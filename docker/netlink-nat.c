/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masquerading by nf_tables: a table with one chain behind routing and one rule,
 * `oifname "NAME" masquerade`. The messages go in one batch, which the kernel does whole or not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/netlink.h"
#include "nsenter/rtnl.h"

enum { MESSAGES = 5, ACKED = 3, BATCH_MAX = MESSAGES * RTNL_REQUEST_MAX, PRIORITY_SNAT = 100 };

#define TABLE "brig"
#define CHAIN "egress"

struct batch {
	_Alignas(struct nlmsghdr) char bytes[BATCH_MAX];
	size_t len;
	uint32_t seq;
};

static void put(struct batch *b, const struct rtnl_request *q)
{
	struct nlmsghdr *h = (void *)(b->bytes + b->len);

	if (b->len + NLMSG_ALIGN(q->h.nlmsg_len) > sizeof(b->bytes))
		return; /* does not happen: there is room for MESSAGES */
	memcpy(h, q, q->h.nlmsg_len);
	h->nlmsg_seq = ++b->seq;
	b->len += NLMSG_ALIGN(q->h.nlmsg_len);
}

static void put_edge(struct batch *b, uint16_t type)
{
	struct nfgenmsg m = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0,
			     .res_id = htons(NFNL_SUBSYS_NFTABLES)};
	struct rtnl_request q;

	rtnl_begin(&q, type, 0, &m, sizeof(m));
	put(b, &q);
}

static void begin(struct rtnl_request *q, uint16_t type, uint16_t flags)
{
	struct nfgenmsg m = {.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0};

	rtnl_begin(q, (NFNL_SUBSYS_NFTABLES << 8) | type, NLM_F_CREATE | NLM_F_ACK | flags, &m, sizeof(m));
}

static void add_text(struct rtnl_request *q, uint16_t attr, const char *s)
{
	rtnl_add(q, attr, s, strlen(s) + 1);
}

static void add_u32(struct rtnl_request *q, uint16_t attr, uint32_t v)
{
	uint32_t be = htonl(v);

	rtnl_add(q, attr, &be, sizeof(be));
}

static void put_table(struct batch *b)
{
	struct rtnl_request q;

	begin(&q, NFT_MSG_NEWTABLE, 0);
	add_text(&q, NFTA_TABLE_NAME, TABLE);
	put(b, &q);
}

static void put_chain(struct batch *b)
{
	struct rtnl_request q;
	size_t hook;

	begin(&q, NFT_MSG_NEWCHAIN, 0);
	add_text(&q, NFTA_CHAIN_TABLE, TABLE);
	add_text(&q, NFTA_CHAIN_NAME, CHAIN);
	hook = rtnl_nest(&q, NFTA_CHAIN_HOOK);
	add_u32(&q, NFTA_HOOK_HOOKNUM, NF_INET_POST_ROUTING);
	add_u32(&q, NFTA_HOOK_PRIORITY, PRIORITY_SNAT);
	rtnl_nest_end(&q, hook);
	add_text(&q, NFTA_CHAIN_TYPE, "nat");
	put(b, &q);
}

/* An element of the rule's list; what belongs to it is added until expression_end. */
struct expression { size_t element, data; };

static struct expression expression(struct rtnl_request *q, const char *name)
{
	struct expression x = {.element = rtnl_nest(q, NFTA_LIST_ELEM)};

	add_text(q, NFTA_EXPR_NAME, name);
	x.data = rtnl_nest(q, NFTA_EXPR_DATA);
	return x;
}

static void expression_end(struct rtnl_request *q, struct expression x)
{
	rtnl_nest_end(q, x.data);
	rtnl_nest_end(q, x.element);
}

static void put_rule(struct batch *b, const char *interface)
{
	char name[IFNAMSIZ] = "";
	struct rtnl_request q;
	struct expression x;
	size_t list, data;

	strncpy(name, interface, sizeof(name) - 1);
	begin(&q, NFT_MSG_NEWRULE, NLM_F_APPEND);
	add_text(&q, NFTA_RULE_TABLE, TABLE);
	add_text(&q, NFTA_RULE_CHAIN, CHAIN);
	list = rtnl_nest(&q, NFTA_RULE_EXPRESSIONS);
	x = expression(&q, "meta");
	add_u32(&q, NFTA_META_KEY, NFT_META_OIFNAME);
	add_u32(&q, NFTA_META_DREG, NFT_REG_1);
	expression_end(&q, x);
	x = expression(&q, "cmp");
	add_u32(&q, NFTA_CMP_SREG, NFT_REG_1);
	add_u32(&q, NFTA_CMP_OP, NFT_CMP_EQ);
	data = rtnl_nest(&q, NFTA_CMP_DATA);
	rtnl_add(&q, NFTA_DATA_VALUE, name, sizeof(name));
	rtnl_nest_end(&q, data);
	expression_end(&q, x);
	x = expression(&q, "masq");
	expression_end(&q, x);
	rtnl_nest_end(&q, list);
	put(b, &q);
}

/* One acknowledgement for each of the three, or an error for the batch. */
static int read_answers(int fd)
{
	_Alignas(struct nlmsghdr) char buf[8192];
	int left = ACKED;

	while (left > 0) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		unsigned len = (unsigned)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (struct nlmsghdr *m = (void *)buf; NLMSG_OK(m, len); m = NLMSG_NEXT(m, len)) {
			const struct nlmsgerr *err = NLMSG_DATA(m);

			if (m->nlmsg_type != NLMSG_ERROR || m->nlmsg_len < NLMSG_LENGTH(sizeof(*err)))
				continue;
			if (err->error)
				return err->error;
			left--;
		}
	}
	return 0;
}

int dk_nl_masquerade(const char *interface)
{
	auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	struct batch b = {.len = 0};

	if (fd < 0)
		return -errno;
	put_edge(&b, NFNL_MSG_BATCH_BEGIN);
	put_table(&b);
	put_chain(&b);
	put_rule(&b, interface);
	put_edge(&b, NFNL_MSG_BATCH_END);
	if (send(fd, b.bytes, b.len, 0) < 0)
		return -errno;
	return read_answers(fd);
}

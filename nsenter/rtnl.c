/* SPDX-License-Identifier: Apache-2.0 */
/* One request at a time on a socket: every answer up to the acknowledgement belongs to it. */
#include "nsenter/rtnl.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int rtnl_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return fd < 0 ? -errno : fd;
}

void rtnl_begin(struct rtnl_request *q, uint16_t type, uint16_t flags, const void *fixed, size_t n)
{
	memset(q, 0, sizeof(*q));
	q->h = (struct nlmsghdr){.nlmsg_type = type, .nlmsg_len = NLMSG_LENGTH((uint32_t)n),
				 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)};
	memcpy(NLMSG_DATA(&q->h), fixed, n);
}

void rtnl_add(struct rtnl_request *q, uint16_t attr, const void *data, size_t n)
{
	size_t at = NLMSG_ALIGN(q->h.nlmsg_len);
	struct rtattr a = {.rta_type = attr, .rta_len = (unsigned short)RTA_LENGTH(n)};

	if (at + RTA_SPACE(n) > sizeof(q->bytes))
		return; /* our own callers add a few names and addresses */
	memcpy(q->bytes + at, &a, sizeof(a));
	if (n)
		memcpy(q->bytes + at + RTA_LENGTH(0), data, n);
	q->h.nlmsg_len = (uint32_t)(at + RTA_LENGTH(n));
}

size_t rtnl_nest(struct rtnl_request *q, uint16_t attr)
{
	size_t at = NLMSG_ALIGN(q->h.nlmsg_len);

	rtnl_add(q, attr | NLA_F_NESTED, NULL, 0);
	return at;
}

void rtnl_nest_end(struct rtnl_request *q, size_t nest)
{
	uint16_t len;

	/* It has the padding of its last attribute, which so has to be in the message. */
	q->h.nlmsg_len = NLMSG_ALIGN(q->h.nlmsg_len);
	len = (uint16_t)(q->h.nlmsg_len - nest);
	if (nest + sizeof(struct rtattr) <= sizeof(q->bytes))
		memcpy(q->bytes + nest + offsetof(struct rtattr, rta_len), &len, sizeof(len));
}

/* *done: nothing more comes. */
static int one_message(const struct nlmsghdr *m, rtnl_each *each, void *arg, bool *done)
{
	const struct nlmsgerr *err = NLMSG_DATA(m);

	if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR)
		*done = true;
	if (m->nlmsg_type == NLMSG_ERROR)
		return m->nlmsg_len < NLMSG_LENGTH(sizeof(*err)) ? -EPROTO : err->error;
	return *done || !each ? 0 : each(m, arg);
}

int rtnl_call(int fd, struct rtnl_request *q, rtnl_each *each, void *arg)
{
	_Alignas(struct nlmsghdr) char buf[16384];
	bool done = false;
	int result = 0;

	if ((q->h.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		q->h.nlmsg_flags |= NLM_F_ACK;
	if (send(fd, q, q->h.nlmsg_len, 0) < 0)
		return -errno;
	while (!done) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_TRUNC);
		unsigned left = (unsigned)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (size_t)n > sizeof(buf))
			return n < 0 ? -errno : -EMSGSIZE;
		for (struct nlmsghdr *m = (void *)buf; NLMSG_OK(m, left) && !done; m = NLMSG_NEXT(m, left)) {
			int r = one_message(m, each, arg, &done);

			result = result ? result : r;
		}
	}
	return result;
}

const struct rtattr *rtnl_find(const struct nlmsghdr *m, size_t fixed, uint16_t attr, size_t min)
{
	size_t at = NLMSG_LENGTH(NLMSG_ALIGN(fixed));
	const struct rtattr *a = (const void *)((const char *)m + at);
	int left = m->nlmsg_len < at ? 0 : (int)(m->nlmsg_len - at);

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == attr && RTA_PAYLOAD(a) >= min)
			return a;
	return NULL;
}

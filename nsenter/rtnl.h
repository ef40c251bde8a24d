/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the kernel's routing netlink, one at a time. */
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

enum { RTNL_REQUEST_MAX = 512 };

struct rtnl_request {
	union {
		struct nlmsghdr h;
		char bytes[RTNL_REQUEST_MAX];
	};
};

/* A socket of the caller's network namespace, or -errno. */
int rtnl_open(void);
/* Begins a request with its fixed part (struct ifinfomsg, ...). */
void rtnl_begin(struct rtnl_request *q, uint16_t type, uint16_t flags, const void *fixed, size_t n);
/* Adds an attribute; all of a request must fit into RTNL_REQUEST_MAX. */
void rtnl_add(struct rtnl_request *q, uint16_t attr, const void *data, size_t n);
/* An attribute that holds others: what is added between the two calls. */
size_t rtnl_nest(struct rtnl_request *q, uint16_t attr);
void rtnl_nest_end(struct rtnl_request *q, size_t nest);
/*
 * Sends it and reads what comes back: 0 or the kernel's -errno. each (may be NULL) is called for
 * every message that is not an error or the end; it returns 0, or -errno to be returned at the end.
 */
typedef int rtnl_each(const struct nlmsghdr *m, void *arg);
int rtnl_call(int fd, struct rtnl_request *q, rtnl_each *each, void *arg);
/* The attribute of a message with `fixed` bytes in front of them, or NULL; at least min bytes long. */
const struct rtattr *rtnl_find(const struct nlmsghdr *m, size_t fixed, uint16_t attr, size_t min);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread shares the thread pointer: raw calls, and no memory but the struct and its stack. It
 * is gone before the caller makes another process that shares its memory.
 */
#include "nsenter/net-ahead.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/raw.h"

enum { MASK_WORDS = 128, WORD_BITS = 64 }; /* 8192 processors, as many as Linux knows */

/* SIOCGSKNS (Linux 4.9) gives the namespace of a socket. */
static void thread_main(void *arg)
{
	struct ns_net_ahead *n = arg;
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK};
	long fd = raw_call(SYS_unshare, CLONE_NEWNET);

	if (fd < 0)
		return;
	fd = raw_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (raw_call(SYS_ioctl, fd, SIOCSIFFLAGS, (long)&lo) == 0)
		n->fd = (int)raw_call(SYS_ioctl, fd, SIOCGSKNS);
	raw_close((int)fd);
}

/* The processors that we may use, without the one that we are on. False: there is no other. */
static bool other_processors(uint64_t mask[MASK_WORDS], long *ret_bytes)
{
	unsigned here = 0;
	uint64_t any = 0;

	*ret_bytes = raw_call(SYS_sched_getaffinity, 0, MASK_WORDS * sizeof(*mask), (long)mask);
	if (*ret_bytes <= 0 || raw_call(SYS_getcpu, (long)&here, 0, 0) < 0 || here >= *ret_bytes * 8)
		return false;
	mask[here / WORD_BITS] &= ~(UINT64_C(1) << here % WORD_BITS);
	for (long i = 0; i < *ret_bytes / (long)sizeof(*mask); i++)
		any |= mask[i];
	return any != 0;
}

/* Left to itself the kernel may let it wait here until we sleep, which is when we need it. */
void ns_net_ahead_begin(struct ns_net_ahead *n)
{
	const struct clone_start start = {.main = thread_main, .arg = n};
	uint64_t elsewhere[MASK_WORDS];
	long bytes, tid;

	if (!clone_can_share_vm() || !other_processors(elsewhere, &bytes) || clone_stack_map(&n->stack) < 0)
		return;
	n->alive = 1;
	tid = clone_thread(&start, &n->stack, &n->alive);
	if (tid > 0) {
		raw_call(SYS_sched_setaffinity, tid, bytes, (long)elsewhere);
		return;
	}
	clone_stack_unmap(&n->stack);
	*n = (struct ns_net_ahead)NS_NET_AHEAD_NONE;
}

int ns_net_ahead_take(struct ns_net_ahead *n)
{
	unsigned alive;
	int fd;

	if (!n->stack.base)
		return -1;
	while ((alive = __atomic_load_n(&n->alive, __ATOMIC_ACQUIRE)) != 0)
		raw_call(SYS_futex, (long)&n->alive, FUTEX_WAIT, (long)alive, 0);
	clone_stack_unmap(&n->stack);
	fd = n->fd < 0 ? -1 : n->fd;
	*n = (struct ns_net_ahead)NS_NET_AHEAD_NONE;
	return fd;
}

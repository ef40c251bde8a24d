/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread shares the thread pointer: raw calls, and no memory but the struct and its stack. It
 * is gone before the caller makes another process that shares its memory.
 */
#include "nsenter/net-ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "base/raw.h"

enum {
	MASK_WORDS = 128, /* 8192 processors, as many as Linux knows */
	WORD_BITS = 64,
	PATIENCE_NS = 1000000, /* as long as it takes where nobody is in its way */
	SPINS = 5000,          /* 0.1 ms, more or less: to sleep and be woken takes as long in a virtual machine */
};

/* An outer filter that refuses setns refuses it here already, where nothing depends on it: we are in it. */
static int joinable(long fd)
{
	if (fd < 0 || raw_call(SYS_setns, fd, CLONE_NEWNET) == 0)
		return (int)fd;
	raw_close((int)fd);
	return -1;
}

int ns_net_ahead_lo_up(int socket)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK};

	return (int)raw_call(SYS_ioctl, socket, SIOCSIFFLAGS, (long)&lo);
}

/* SIOCGSKNS (Linux 4.9) gives the namespace of a socket. */
static void thread_main(void *arg)
{
	struct ns_net_ahead *n = arg;
	long fd;

	__atomic_store_n(&n->begun, true, __ATOMIC_RELAXED);
	fd = raw_call(SYS_unshare, CLONE_NEWNET);
	if (fd < 0)
		return;
	fd = raw_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!n->with_lo || ns_net_ahead_lo_up((int)fd) == 0)
		n->fd = joinable(raw_call(SYS_ioctl, fd, SIOCGSKNS));
	if (n->fd >= 0 && !n->with_lo)
		n->socket = (int)fd;
	else
		raw_close((int)fd);
}

/* Where we are; -1 where that cannot be known. */
static long processor(void)
{
	unsigned here = 0;

	return raw_call(SYS_getcpu, (long)&here, 0, 0) < 0 ? -1 : (long)here;
}

/* The processors that we may use, without the one that we are on. False: there is no other. */
static bool other_processors(uint64_t mask[MASK_WORDS], long *ret_bytes)
{
	long here = processor();
	uint64_t any = 0;

	*ret_bytes = raw_call(SYS_sched_getaffinity, 0, MASK_WORDS * sizeof(*mask), (long)mask);
	if (*ret_bytes <= 0 || here < 0 || here >= *ret_bytes * 8)
		return false;
	mask[here / WORD_BITS] &= ~(UINT64_C(1) << here % WORD_BITS);
	for (long i = 0; i < *ret_bytes / (long)sizeof(*mask); i++)
		any |= mask[i];
	return any != 0;
}

/* Left to itself the kernel may let it wait here until we sleep, which is when we need it. */
void ns_net_ahead_begin(struct ns_net_ahead *n, bool with_lo)
{
	const struct clone_start start = {.main = thread_main, .arg = n};
	uint64_t elsewhere[MASK_WORDS];
	long bytes;

	if (!clone_can_share_vm() || !other_processors(elsewhere, &bytes) || clone_stack_map(&n->stack) < 0)
		return;
	n->with_lo = with_lo;
	n->alive = 1;
	n->tid = clone_thread(&start, &n->stack, &n->alive);
	if (n->tid > 0) {
		raw_call(SYS_sched_setaffinity, n->tid, bytes, (long)elsewhere);
		return;
	}
	clone_stack_unmap(&n->stack);
	*n = (struct ns_net_ahead)NS_NET_AHEAD_NONE;
}

/* The other processor may be somebody else's, who goes before us: for a long time when we are nice, for ever when
 * he is of real time. We are about to sleep, so ours is free. A thread is moved by being allowed nothing else. */
static void call_here(const struct ns_net_ahead *n)
{
	uint64_t all[MASK_WORDS], only[MASK_WORDS] = {0};
	long here = processor(), bytes = raw_call(SYS_sched_getaffinity, 0, sizeof(all), (long)all);

	if (bytes <= 0 || here < 0 || here >= bytes * 8)
		return;
	only[here / WORD_BITS] = UINT64_C(1) << here % WORD_BITS;
	raw_call(SYS_sched_setaffinity, n->tid, bytes, (long)only);
	raw_call(SYS_sched_setaffinity, n->tid, bytes, (long)all);
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void wait_for(struct ns_net_ahead *n)
{
	const struct timespec patience = {.tv_nsec = PATIENCE_NS}, *most = &patience;
	unsigned alive;

	if (!__atomic_load_n(&n->begun, __ATOMIC_RELAXED)) {
		call_here(n);
		most = NULL;
	}
	for (int i = 0; most && i < SPINS && __atomic_load_n(&n->alive, __ATOMIC_ACQUIRE) != 0; i++)
		relax();
	while ((alive = __atomic_load_n(&n->alive, __ATOMIC_ACQUIRE)) != 0) {
		if (raw_call(SYS_futex, (long)&n->alive, FUTEX_WAIT, (long)alive, (long)most) != -ETIMEDOUT)
			continue;
		call_here(n);
		most = NULL;
	}
}

int ns_net_ahead_take(struct ns_net_ahead *n, int *ret_socket)
{
	int fd;

	*ret_socket = -1;
	if (!n->stack.base)
		return -1;
	wait_for(n);
	clone_stack_unmap(&n->stack);
	fd = n->fd < 0 ? -1 : n->fd;
	*ret_socket = n->socket;
	*n = (struct ns_net_ahead)NS_NET_AHEAD_NONE;
	return fd;
}

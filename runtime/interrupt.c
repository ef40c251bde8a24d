/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interrupt.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/cleanup.h"

static int open_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int open_timer(uint64_t ns)
{
	struct itimerspec t = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	auto_close int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, 0, &t, NULL) < 0)
		return -1;
	return take_fd(&fd);
}

static int add(int set, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return fd < 0 ? -1 : epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev);
}

int interrupt_open(struct interrupt *i, uint64_t limit_ns, struct err *e)
{
	if (!limit_ns) { /* nothing to join */
		i->set = open_signals();
		return i->set < 0 ? err_sys(e, "watch for signals during the set-up") : 0;
	}
	i->set = epoll_create1(EPOLL_CLOEXEC);
	i->signals = open_signals();
	i->timer = open_timer(limit_ns);
	if (i->set < 0 || add(i->set, i->signals) < 0 || add(i->set, i->timer) < 0)
		return err_sys(e, "watch for signals during the set-up");
	return 0;
}

void interrupt_close(struct interrupt *i)
{
	cleanup_close(&i->set);
	cleanup_close(&i->signals);
	cleanup_close(&i->timer);
}

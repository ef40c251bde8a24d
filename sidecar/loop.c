/* SPDX-License-Identifier: Apache-2.0 */
/* Timers are a list by time with one timerfd for its head; there are a few for each execution. */
#include "sidecar/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

static int epoll = -1;
static struct loop_fd timer_fd = {.fd = -1};
static struct loop_timer timers = {.prev = &timers, .next = &timers};

uint64_t loop_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void arm(void)
{
	uint64_t at = timers.next == &timers ? 0 : timers.next->at_ns;
	struct itimerspec t = {.it_value = {(time_t)(at / 1000000000), (long)(at % 1000000000)}};

	timerfd_settime(timer_fd.fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void timers_ready(struct loop_fd *f, uint32_t events)
{
	uint64_t count, now = loop_now();
	(void)events;

	if (read(f->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	while (timers.next != &timers && timers.next->at_ns <= now) {
		struct loop_timer *t = timers.next;

		loop_stop_timer(t);
		t->due(t);
	}
	arm();
}

int loop_open(struct err *e)
{
	int fd;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return err_sys(e, "make the event loop: epoll_create1");
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return err_sys(e, "make the event loop: timerfd_create");
	timer_fd.ready = timers_ready;
	return loop_add(&timer_fd, fd, EPOLLIN, e);
}

int loop_descriptor(void)
{
	return epoll;
}

void loop_run(void)
{
	struct epoll_event ev;

	/* Not for ever: the HTTP library has its turn between. */
	for (int i = 0; i < 64; i++) {
		struct loop_fd *f;

		if (epoll_wait(epoll, &ev, 1, 0) <= 0)
			return;
		f = ev.data.ptr;
		f->ready(f, ev.events);
	}
}

int loop_add(struct loop_fd *f, int fd, uint32_t events, struct err *e)
{
	struct epoll_event ev = {.events = events, .data.ptr = f};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_sys(e, "watch a descriptor");
	f->fd = fd;
	f->events = events;
	return 0;
}

void loop_change(struct loop_fd *f, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = f};

	if (f->fd >= 0 && events != f->events && epoll_ctl(epoll, EPOLL_CTL_MOD, f->fd, &ev) == 0)
		f->events = events;
}

void loop_forget(int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

void loop_close(struct loop_fd *f)
{
	if (f->fd >= 0)
		epoll_ctl(epoll, EPOLL_CTL_DEL, f->fd, NULL);
	cleanup_close(&f->fd);
}

static void insert(struct loop_timer *t)
{
	struct loop_timer *after = timers.prev; /* most new ones are the latest */

	while (after != &timers && after->at_ns > t->at_ns)
		after = after->prev;
	t->prev = after;
	t->next = after->next;
	after->next->prev = t;
	after->next = t;
}

void loop_set_timer(struct loop_timer *t, uint64_t ms)
{
	loop_stop_timer(t);
	t->at_ns = loop_now() + ms * 1000000;
	insert(t);
	if (timers.next == t)
		arm();
}

void loop_stop_timer(struct loop_timer *t)
{
	if (!t->at_ns)
		return;
	t->prev->next = t->next;
	t->next->prev = t->prev;
	t->at_ns = 0;
}

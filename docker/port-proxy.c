/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process behind published ports: connections are accepted on the host's side and made anew in
 * the network's namespace, where this process is; datagrams likewise, with one socket for each
 * sender. One loop, no threads; memory is bounded by the number of connections, and
 * when there are too many the next ones wait in the backlog.
 *
 * Both sides are hostile, and nothing of what passes is looked at.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "docker/network-ports.h"

enum { PAIRS_MAX = 400, FLOWS_MAX = 400, BUFFER = 32 << 10, DATAGRAM_MAX = 65535, EVENTS = 64,
       FLOW_SECONDS = 90, TICK_MS = 10000 };

enum kind { END, TCP_PORT, UDP_PORT, TCP_SIDE, UDP_FLOW };

/* What an event is about. */
struct source { enum kind kind; int fd; };

struct port {
	struct source s;
	uint16_t port;
};

struct side {
	struct source s;
	struct pair *pair;
	char *data;      /* what was read from the other side and not yet written here */
	size_t at, len;
	bool ended;      /* nothing more comes from here */
	bool shut;       /* and nothing more goes to here */
	uint32_t events;
};

struct pair {
	struct side side[2]; /* 0: the host's, 1: the container's */
	bool connecting, dead;
	struct pair *next;
};

struct flow { /* one sender's datagrams */
	struct source s;
	struct port *port;
	struct sockaddr_storage from;
	socklen_t from_len;
	time_t used;
	bool dead;
	struct flow *next;
};

struct proxy {
	int epoll;
	uint32_t address;
	struct pair *pairs;
	struct flow *flows;
	size_t n_pairs, n_flows;
	bool full;          /* TCP ports are not listened to */
	struct port *ports;
	size_t n_ports;
	char datagram[DATAGRAM_MAX];
};

static void watch(const struct proxy *p, struct source *s, uint32_t events, int op)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	epoll_ctl(p->epoll, op, s->fd, &ev);
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int connect_to(const struct proxy *p, uint16_t port, int type)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(p->address)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- connections ---- */

static void listen_again(struct proxy *p, bool on)
{
	p->full = !on;
	for (size_t i = 0; i < p->n_ports; i++)
		if (p->ports[i].s.kind == TCP_PORT)
			watch(p, &p->ports[i].s, on ? EPOLLIN : 0, EPOLL_CTL_MOD);
}

static void kill_pair(struct pair *c)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (c->dead)
		return;
	c->dead = true;
	for (int i = 0; i < 2; i++) {
		/* An unfinished connection is cut, so that the other end knows. */
		if (!c->side[i].shut)
			setsockopt(c->side[i].s.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(c->side[i].s.fd);
	}
}

/* One-shot, for a hang-up would be reported again and again while its data cannot be passed on. */
static void want(const struct proxy *p, struct pair *c)
{
	for (int i = 0; i < 2; i++) {
		struct side *here = &c->side[i], *there = &c->side[!i];
		uint32_t events = 0;

		if (c->connecting)
			events = i == 1 ? EPOLLOUT : 0;
		else
			events = (!here->ended && there->len == 0 ? EPOLLIN : 0) |
				 (here->len ? EPOLLOUT : 0);
		if (events != here->events)
			watch(p, &here->s, events | EPOLLONESHOT, EPOLL_CTL_MOD);
		here->events = events;
	}
}

static void accept_one(struct proxy *p, struct port *port)
{
	int fd = accept4(port->s.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int other = fd < 0 ? -1 : connect_to(p, port->port, SOCK_STREAM);
	struct pair *c;

	if (other < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	c = xrealloc(NULL, sizeof(*c));
	*c = (struct pair){.connecting = true, .next = p->pairs};
	for (int i = 0; i < 2; i++) {
		c->side[i].s = (struct source){TCP_SIDE, i ? other : fd};
		c->side[i].pair = c;
		c->side[i].data = xrealloc(NULL, BUFFER);
		watch(p, &c->side[i].s, EPOLLONESHOT, EPOLL_CTL_ADD);
	}
	p->pairs = c;
	want(p, c);
	if (++p->n_pairs == PAIRS_MAX)
		listen_again(p, false);
}

static bool try_again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* What is kept for this side goes out; false: the connection is broken. */
static bool drain(struct side *to, const struct side *from)
{
	while (to->len) {
		ssize_t n = send(to->s.fd, to->data + to->at, to->len, MSG_NOSIGNAL);

		if (n < 0)
			return try_again();
		to->at += (size_t)n;
		to->len -= (size_t)n;
	}
	if (from->ended && !to->shut) {
		to->shut = true;
		shutdown(to->s.fd, SHUT_WR);
	}
	return true;
}

static bool fill(struct side *from, struct side *to)
{
	ssize_t n = recv(from->s.fd, to->data, BUFFER, 0);

	if (n < 0)
		return try_again();
	from->ended = n == 0;
	to->at = 0;
	to->len = (size_t)n;
	return drain(to, from);
}

static void on_side(struct proxy *p, struct side *s, uint32_t events)
{
	struct pair *c = s->pair;
	struct side *other = &c->side[s == &c->side[0]];
	bool good = true;

	if (c->dead)
		return;
	s->events = 0;
	if (events & EPOLLERR) {
		good = false;
	} else if (c->connecting && s == &c->side[1]) {
		int error = 0;
		socklen_t len = sizeof(error);

		getsockopt(s->s.fd, SOL_SOCKET, SO_ERROR, &error, &len);
		good = error == 0;
		c->connecting = false;
	} else if (!c->connecting) {
		if (events & EPOLLOUT)
			good = drain(s, other);
		if (good && (events & (EPOLLIN | EPOLLHUP)) && !s->ended && other->len == 0)
			good = fill(s, other);
	}
	if (!good || (c->side[0].shut && c->side[1].shut))
		kill_pair(c);
	else
		want(p, c);
}

static void sweep_pairs(struct proxy *p)
{
	for (struct pair **at = &p->pairs; *at;) {
		struct pair *c = *at;

		if (!c->dead) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		free(c->side[0].data);
		free(c->side[1].data);
		free(c);
		p->n_pairs--;
	}
	if (p->full && p->n_pairs < PAIRS_MAX)
		listen_again(p, true);
}

/* ---- datagrams ---- */

static void kill_flow(struct flow *f)
{
	if (!f->dead)
		close(f->s.fd);
	f->dead = true;
}

static struct flow *oldest(struct proxy *p)
{
	struct flow *old = p->flows;

	for (struct flow *f = p->flows; f; f = f->next)
		if (!f->dead && (old->dead || f->used < old->used))
			old = f;
	return old;
}

static struct flow *flow_of(struct proxy *p, struct port *port, const struct sockaddr_storage *from,
			    socklen_t len)
{
	struct flow *f;
	int fd;

	for (f = p->flows; f; f = f->next)
		if (!f->dead && f->port == port && f->from_len == len && memcmp(&f->from, from, len) == 0)
			return f;
	if (p->n_flows >= FLOWS_MAX)
		kill_flow(oldest(p));
	fd = connect_to(p, port->port, SOCK_DGRAM);
	if (fd < 0)
		return NULL;
	f = xrealloc(NULL, sizeof(*f));
	*f = (struct flow){.s = {UDP_FLOW, fd}, .port = port, .from = *from, .from_len = len, .next = p->flows};
	p->flows = f;
	p->n_flows++;
	watch(p, &f->s, EPOLLIN, EPOLL_CTL_ADD);
	return f;
}

static void on_udp_port(struct proxy *p, struct port *port)
{
	struct sockaddr_storage from = {0};
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(port->s.fd, p->datagram, sizeof(p->datagram), 0, (struct sockaddr *)&from, &len);
	struct flow *f = n < 0 ? NULL : flow_of(p, port, &from, len);

	if (!f)
		return;
	f->used = now();
	send(f->s.fd, p->datagram, (size_t)n, MSG_NOSIGNAL);
}

static void on_flow(struct proxy *p, struct flow *f)
{
	ssize_t n = f->dead ? -1 : recv(f->s.fd, p->datagram, sizeof(p->datagram), 0);

	if (n < 0)
		return; /* nobody listens there, or not yet */
	f->used = now();
	sendto(f->port->s.fd, p->datagram, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&f->from, f->from_len);
}

static void sweep_flows(struct proxy *p)
{
	time_t t = p->flows ? now() : 0;

	for (struct flow **at = &p->flows; *at;) {
		struct flow *f = *at;

		if (!f->dead && t - f->used > FLOW_SECONDS)
			kill_flow(f);
		if (!f->dead) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		free(f);
		p->n_flows--;
	}
}

/* ---- the loop ---- */

static void on_event(struct proxy *p, struct source *s, uint32_t events)
{
	switch (s->kind) {
	case END:
		_exit(0);
	case TCP_PORT:
		if (!p->full)
			accept_one(p, (struct port *)s);
		break;
	case UDP_PORT:
		on_udp_port(p, (struct port *)s);
		break;
	case TCP_SIDE:
		on_side(p, (struct side *)s, events);
		break;
	case UDP_FLOW:
		on_flow(p, (struct flow *)s);
		break;
	}
}

_Noreturn void dk_proxy_run(const struct dk_proxy_port *ports, size_t n, uint32_t address, int until)
{
	struct proxy *p = xrealloc(NULL, sizeof(*p));
	struct source end = {END, until};
	struct epoll_event ev[EVENTS];

	memset(p, 0, sizeof(*p));
	p->address = address;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->ports = xrealloc(NULL, n * sizeof(*p->ports));
	p->n_ports = n;
	watch(p, &end, EPOLLIN, EPOLL_CTL_ADD);
	for (size_t i = 0; i < n; i++) {
		p->ports[i] = (struct port){{ports[i].udp ? UDP_PORT : TCP_PORT, ports[i].listener},
					    ports[i].port};
		watch(p, &p->ports[i].s, EPOLLIN, EPOLL_CTL_ADD);
	}
	for (;;) {
		int k = epoll_wait(p->epoll, ev, EVENTS, p->n_flows ? TICK_MS : -1);

		if (k < 0 && errno != EINTR)
			_exit(1);
		for (int i = 0; i < k; i++)
			on_event(p, ev[i].data.ptr, ev[i].events);
		/* Only now: an event of the same round may point at what has died in it. */
		sweep_pairs(p);
		sweep_flows(p);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both directions have a buffer that nothing is read for when it is full, so a side that does not read stops the
 * other. When the library has closed its end, the client gets the rest and a moment to read it: closing
 * with bytes unread would take the answer away from him.
 *
 * A client may say that he says nothing more (shutdown) and wait for his answer. On a unix socket that differs from having
 * gone. On TCP it does not, until something is sent: so he gets a "100 Continue", which every client of HTTP/1.1 passes
 * over, and whose machine answers with a reset if he has gone. One of HTTP/1.0 cannot be asked and counts as gone.
 */
#include "sidecar/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "json/writer.h"
#include "sidecar/access-log.h"
#include "sidecar/config.h"
#include "sidecar/head.h"
#include "sidecar/listen.h"
#include "sidecar/loop.h"
#include "sidecar/metrics.h"
#include "sidecar/server.h"

enum { PIECE = 16384, BUFFER_MAX = 65536, LINGER_MS = 2000, CLOSE_MS = 1000 };

enum phase {
	HEAD,      /* a head comes, or the next one may */
	BODY,
	ANSWER,    /* nothing more before it is written */
	REST,      /* it is written, but not all of it is here: what is said next comes behind it */
	UPGRADING, /* nothing more before the library has agreed */
	TUNNEL,
	LAST,      /* nothing more of this client */
};

struct guard {
	struct guard *prev, *next;
	struct loop_fd client, inner;
	struct loop_timer timer;
	struct strbuf in, pass, out; /* from the client, for the library, for the client */
	enum phase phase;
	uint64_t body_left;
	uint32_t heard;              /* which of EPOLLIN and EPOLLRDHUP can still tell us something about the client */
	bool last;                   /* no request comes behind the one that is being answered */
	bool one_zero, begun;        /* that one; something of its answer is there */
	bool lingering;
	int theirs;                  /* number of the library's end; -1: it is closed */
	struct guard_peer peer;
};

static struct guard guards = {.prev = &guards, .next = &guards}; /* the latest first */
static size_t n_guards;

static void free_guard(struct guard *g)
{
	g->prev->next = g->next;
	g->next->prev = g->prev;
	n_guards--;
	loop_stop_timer(&g->timer);
	loop_close(&g->client);
	loop_close(&g->inner);
	strbuf_free(&g->in);
	strbuf_free(&g->pass);
	strbuf_free(&g->out);
	free(g);
	listen_accept(n_guards < config.max_connections);
}

static void remove_front(struct strbuf *b, size_t n)
{
	if (n == b->len) {
		strbuf_free(b);
		return;
	}
	memmove(b->p, b->p + n, b->len - n);
	b->len -= n;
	b->p[b->len] = '\0';
}

/* False: there is nobody there any more. */
static bool flush(struct loop_fd *f, struct strbuf *b)
{
	ssize_t n = b->len && f->fd >= 0 ? send(f->fd, b->p, b->len, MSG_NOSIGNAL) : 0;

	if (n > 0)
		remove_front(b, (size_t)n);
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

static void watch(struct guard *g)
{
	bool room = g->lingering || (g->phase != LAST && g->in.len <= HEAD_MAX && g->pass.len < BUFFER_MAX);

	loop_change(&g->client, (((room ? EPOLLIN : 0) | EPOLLRDHUP) & g->heard) | (g->out.len ? EPOLLOUT : 0));
	loop_change(&g->inner, (g->out.len < BUFFER_MAX ? EPOLLIN : 0) | (g->pass.len ? EPOLLOUT : 0));
}

/* The library has ended it, or we have: the client is to read what there is for him. */
static void linger(struct guard *g)
{
	g->phase = LAST;
	g->theirs = -1;
	strbuf_free(&g->in);
	strbuf_free(&g->pass);
	loop_close(&g->inner);
	loop_stop_timer(&g->timer);
	if (!g->out.len && !g->lingering) {
		shutdown(g->client.fd, SHUT_WR);
		g->lingering = true;
	}
	loop_set_timer(&g->timer, g->lingering ? LINGER_MS : CLOSE_MS * 10);
	watch(g);
}

static void refuse(struct guard *g, int status, const char *why)
{
	auto_strbuf struct strbuf body = {0};
	struct conn c = {.path = (char *)"-"};
	struct json_writer w;

	json_writer_init(&w, &body, false);
	json_begin_object(&w);
	json_member_str(&w, "detail", why);
	json_end_object(&w);
	strbuf_printf(&g->out, "HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n"
		      "connection: close\r\n\r\n%s", status, reason_phrase(status), body.len, body.p);
	metrics_request(status);
	snprintf(c.peer, sizeof(c.peer), "%s", g->peer.name);
	access_log_write(&c, "-", status, body.len, 0);
	flush(&g->client, &g->out);
	linger(g);
}

static void overdue(struct loop_timer *t)
{
	struct guard *g = CONTAINER_OF(t, struct guard, timer);

	if (g->phase == LAST)
		free_guard(g);
	else
		refuse(g, 408, "The request did not come in time");
}

/* ---- from the client ---- */

static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

/* A whole head at the front of `in`; false: there is none yet, or it was refused. */
static bool take_head(struct guard *g)
{
	const char *why = NULL;
	struct head h;
	size_t n = 0;
	int status;

	while (g->in.len - n >= 2 && memcmp(g->in.p + n, "\r\n", 2) == 0)
		n += 2;
	if (n) /* at once: a client may send nothing else */
		remove_front(&g->in, n);
	n = g->in.len ? head_length(g->in.p, g->in.len) : 0;
	if (n > HEAD_MAX || (!n && g->in.len > HEAD_MAX)) {
		refuse(g, 431, "The head is too large");
		return false;
	}
	if (!n) {
		if (g->in.len && !g->timer.at_ns)
			loop_set_timer(&g->timer, config.head_s * 1000);
		return false;
	}
	status = head_check(g->in.p, n, &h, &g->pass, &why);
	if (status) {
		refuse(g, status, why);
		return false;
	}
	remove_front(&g->in, n);
	loop_stop_timer(&g->timer);
	if (h.expects && h.body && h.body <= config.max_body && !g->in.len) {
		strbuf_add(&g->out, go_on, strlen(go_on));
		flush(&g->client, &g->out);
	}
	g->phase = h.upgrade ? UPGRADING : h.body ? BODY : ANSWER;
	g->body_left = h.body;
	g->last = h.last;
	g->one_zero = h.one_zero;
	g->begun = false;
	if (h.body)
		loop_set_timer(&g->timer, config.body_s * 1000);
	return true;
}

static bool take_body(struct guard *g)
{
	size_t n = g->in.len < g->body_left ? g->in.len : (size_t)g->body_left;

	strbuf_add(&g->pass, g->in.p, n);
	remove_front(&g->in, n);
	g->body_left -= n;
	if (g->body_left)
		return false;
	loop_stop_timer(&g->timer);
	g->phase = ANSWER;
	return false;
}

static void take(struct guard *g)
{
	bool more = true;

	while (more && g->in.len && g->pass.len < BUFFER_MAX) {
		if (g->phase == HEAD) {
			more = take_head(g);
		} else if (g->phase == BODY) {
			more = take_body(g);
		} else if (g->phase == TUNNEL) {
			strbuf_add(&g->pass, g->in.p, g->in.len);
			strbuf_free(&g->in);
		} else {
			more = false;
		}
	}
}

/* What he has asked for whole is answered, and nothing more can come. */
static bool is_over(const struct guard *g)
{
	bool waits = g->in.len && g->pass.len >= BUFFER_MAX;

	return !g->heard && g->phase != ANSWER && g->phase != REST && g->phase != LAST && !waits;
}

static void forward(struct guard *g)
{
	take(g);
	if (is_over(g)) {
		linger(g);
		return;
	}
	flush(&g->inner, &g->pass); /* that the library is gone is told by its end */
	watch(g);
}

/* He has shut his side, and what came before that is here, or not (RDHUP). False: he has gone. */
static bool is_there(struct guard *g, uint32_t left)
{
	g->heard = left;
	if (g->phase == LAST || g->phase == UPGRADING || g->phase == TUNNEL)
		return g->phase == LAST && !g->lingering;
	if (g->phase != ANSWER || g->begun || str_eq(g->peer.name, "unix"))
		return true;
	if (!g->one_zero)
		strbuf_add(&g->out, go_on, strlen(go_on));
	return !g->one_zero && flush(&g->client, &g->out);
}

/* False: there is nobody there any more. */
static bool hear(struct guard *g, uint32_t events)
{
	char buf[PIECE];
	ssize_t n;

	if (!(g->client.events & EPOLLIN)) /* more is unread than is taken from him now */
		return !(events & (EPOLLHUP | EPOLLERR)) && (!(events & EPOLLRDHUP) || is_there(g, EPOLLIN));
	n = recv(g->client.fd, buf, sizeof(buf), 0);
	if (n == 0)
		return !(events & (EPOLLHUP | EPOLLERR)) && is_there(g, 0);
	if (n > 0 && g->phase != LAST)
		strbuf_add(&g->in, buf, (size_t)n);
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

static void client_ready(struct loop_fd *f, uint32_t events)
{
	struct guard *g = CONTAINER_OF(f, struct guard, client);

	if ((events & EPOLLOUT) && !flush(f, &g->out)) {
		free_guard(g);
		return;
	}
	if (g->phase == LAST && !g->out.len && !g->lingering) {
		linger(g);
		return;
	}
	if (g->phase == LAST && (events & EPOLLOUT) && !g->lingering)
		loop_set_timer(&g->timer, CLOSE_MS * 10); /* he reads on */
	if (hear(g, events))
		forward(g);
	else
		free_guard(g);
}

/* ---- from the library ---- */

static void end_answer(struct guard *g)
{
	int left = 0;

	if (g->phase == REST && ioctl(g->inner.fd, FIONREAD, &left) == 0 && left == 0)
		g->phase = HEAD;
}

static void inner_ready(struct loop_fd *f, uint32_t events)
{
	static const char agreed[] = "HTTP/1.1 101 ";
	struct guard *g = CONTAINER_OF(f, struct guard, inner);
	char buf[PIECE];
	ssize_t n;

	if (events & EPOLLOUT)
		flush(f, &g->pass);
	n = recv(f->fd, buf, sizeof(buf), 0);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		linger(g);
		return;
	}
	if (n > 0 && g->phase == UPGRADING)
		g->phase = (size_t)n >= strlen(agreed) && memcmp(buf, agreed, strlen(agreed)) == 0 ? TUNNEL : LAST;
	if (n > 0)
		strbuf_add(&g->out, buf, (size_t)n);
	g->begun |= n > 0;
	if (!flush(&g->client, &g->out)) {
		free_guard(g);
		return;
	}
	end_answer(g);
	forward(g);
}

/* ---- connections ---- */

/* Who has one IPv6 address has 2^64 of them; one that stands for an IPv4 address counts alone, as that does. */
static void describe_group(const struct in6_addr *a, struct guard_peer *p)
{
	struct in6_addr net = *a;

	if (IN6_IS_ADDR_V4MAPPED(a))
		return;
	memset(net.s6_addr + 8, 0, 8);
	inet_ntop(AF_INET6, &net, p->group, sizeof(p->group));
}

static void describe(int fd, struct guard_peer *p)
{
	union { struct sockaddr any; struct sockaddr_in in; struct sockaddr_in6 in6; } a = {0};
	socklen_t len = sizeof(a);

	*p = (struct guard_peer){0};
	if (getpeername(fd, &a.any, &len) < 0)
		return;
	if (a.any.sa_family == AF_UNIX) {
		snprintf(p->name, sizeof(p->name), "unix");
		p->local = true;
	} else if (a.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a.in.sin_addr, p->name, sizeof(p->name));
		p->local = (ntohl(a.in.sin_addr.s_addr) >> 24) == 127;
	} else if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.in6.sin6_addr, p->name, sizeof(p->name));
		p->local = IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
		describe_group(&a.in6.sin6_addr, p);
	}
	if (!*p->group)
		memcpy(p->group, p->name, sizeof(p->group));
}

/* Those of a unix socket are all one peer, and may be. */
static bool too_many(const struct guard_peer *p)
{
	size_t n = 0;

	for (struct guard *g = guards.next; g != &guards; g = g->next)
		n += str_eq(g->peer.group, p->group);
	return n >= config.max_peer_connections && !str_eq(p->name, "unix");
}

static int start(struct guard *g, int client, bool (*adopt)(int fd), struct err *e)
{
	int pair[2];

	if (loop_add(&g->client, client, EPOLLIN | EPOLLRDHUP, e) < 0)
		return -e->code;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return err_sys(e, "make a socket pair");
	if (loop_add(&g->inner, pair[0], EPOLLIN, e) < 0) {
		close(pair[0]);
		close(pair[1]);
		return -e->code;
	}
	g->theirs = pair[1];
	return adopt(pair[1]) ? 0 : err_set(e, EIO, "the library refuses");
}

void guard_accept(int client, bool (*adopt)(int fd))
{
	static const char busy[] = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n"
				   "connection: close\r\n\r\n";
	char unread[PIECE];
	struct guard_peer peer;
	struct guard *g;
	struct err e;

	describe(client, &peer);
	if (too_many(&peer)) {
		(void)!recv(client, unread, sizeof(unread), 0); /* or closing would take the answer away */
		(void)!send(client, busy, strlen(busy), MSG_NOSIGNAL);
		metrics_request(429);
		close(client);
		return;
	}
	g = xrealloc(NULL, sizeof(*g));
	*g = (struct guard){.client = {.fd = -1, .ready = client_ready}, .inner = {.fd = -1, .ready = inner_ready},
			    .timer = {.due = overdue}, .theirs = -1, .peer = peer, .heard = EPOLLIN | EPOLLRDHUP,
			    .prev = &guards, .next = guards.next};
	g->next->prev = g;
	guards.next = g;
	n_guards++;
	if (start(g, client, adopt, &e) < 0) {
		if (g->client.fd < 0)
			close(client);
		free_guard(g);
		return;
	}
	loop_set_timer(&g->timer, config.head_s * 1000);
	listen_accept(n_guards < config.max_connections);
}

void guard_describe(int fd, struct guard_peer *ret)
{
	*ret = (struct guard_peer){0};
	for (struct guard *g = guards.next; g != &guards; g = g->next)
		if (g->theirs == fd) {
			*ret = g->peer;
			return;
		}
}

bool guard_is_last(int fd)
{
	for (struct guard *g = guards.next; g != &guards; g = g->next)
		if (g->theirs == fd)
			return g->last;
	return false;
}

void guard_answered(int fd)
{
	for (struct guard *g = guards.next; g != &guards; g = g->next)
		if (g->theirs == fd && g->phase == ANSWER) {
			g->phase = REST;
			end_answer(g);
			forward(g);
			return;
		}
}

static void send_rest(struct guard *g, uint64_t until_ns)
{
	char buf[PIECE];
	ssize_t n = 1;

	while (n > 0 && g->inner.fd >= 0 && g->out.len < 64 << 20) {
		n = recv(g->inner.fd, buf, sizeof(buf), 0);
		if (n > 0)
			strbuf_add(&g->out, buf, (size_t)n);
	}
	while (g->out.len && flush(&g->client, &g->out) && loop_now() < until_ns) {
		struct pollfd p = {.fd = g->client.fd, .events = POLLOUT};

		if (g->out.len && poll(&p, 1, 100) < 0)
			return;
	}
}

void guard_close(void)
{
	uint64_t until_ns = loop_now() + CLOSE_MS * 1000000ull;

	while (guards.next != &guards) {
		send_rest(guards.next, until_ns);
		free_guard(guards.next);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 and WebSocket, without any type of the library below: server.c is the only file that
 * knows it. A request is given to the handler of its route when its body is complete; the answer
 * may come later. Whoever answers later sets `owner` and `gone`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum method { METHOD_GET, METHOD_POST, METHOD_OTHER };

struct conn {
	struct arena *a;            /* lives as long as the request or the WebSocket */
	enum method method;
	char *path;                 /* decoded, without the query */
	char *token;                /* ?token= */
	char *secret, *origin, *host; /* headers; NULL: not there */
	char request_id[65], peer[64];
	bool local;                 /* the peer is of this machine */
	char *subject;              /* WebSockets: who the token is for */
	struct strbuf body;         /* the request's body, or the WebSocket's last message */
	void *owner;
	void (*gone)(void *owner);  /* the peer went away; the conn is not to be used any more */
	struct conn_io *io;         /* server.c's */
};

struct reply {
	int status;
	const char *type;           /* NULL: application/json */
	const char *body;
	size_t len;
	int fd;                     /* has_fd: len bytes from this file are the body; it is taken over */
	bool has_fd;
	const char *headers;        /* further lines, each with CR LF; NULL */
};

/* Copies; once for each request. */
void conn_reply(struct conn *c, const struct reply *r);
const char *reason_phrase(int status);
/* {"detail": "..."}. */
void conn_reply_detail(struct conn *c, int status, const char *detail);

/* A text message. False when the peer does not take them and too much waits. */
void conn_send(struct conn *c, const char *text, size_t n);
/* Bytes that wait for the peer. */
size_t conn_unsent(const struct conn *c);
/* Called when all has been sent; NULL: not. */
void conn_on_sent(struct conn *c, void (*sent)(void *owner));
/* After what was sent; then nothing of it is called any more. */
void conn_close(struct conn *c, int code, const char *reason);

struct route {
	enum method method;
	const char *path;           /* exact, or a prefix when it ends with "/" */
	void (*handle)(struct conn *c);
};

struct ws_route {
	const char *path;
	/* NULL: accepted; else why not, with the status in *ret. */
	const char *(*check)(struct conn *c, int *ret_status);
	void (*opened)(struct conn *c);
	void (*message)(struct conn *c); /* in c->body */
};

struct server {
	const struct route *routes;     /* ends with a path of NULL */
	const struct ws_route *ws_routes;
	/* Before any route: false when it has answered. */
	bool (*authorise)(struct conn *c);
};

int server_open(const struct server *s, struct err *e);
/* Until server_stop. */
void server_run(void);
void server_stop(void);
/* No connections any more. */
void server_close_listeners(void);
void server_close(void);
/* Answers and messages that are not sent yet. */
size_t server_unsent(void);

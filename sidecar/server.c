/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libwebsockets' side. It gets no connection but one end of a socket pair whose other end guard.c has: so
 * what comes here has a head that nobody could understand in two ways, and their number is bounded
 * before any of the library's memory is taken. Our event loop is one descriptor of its poll loop.
 */
#include "sidecar/server.h"

#include <errno.h>
#include <inttypes.h>
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "json/writer.h"
#include "sidecar/access-log.h"
#include "sidecar/config.h"
#include "sidecar/guard.h"
#include "sidecar/head.h"
#include "sidecar/listen.h"
#include "sidecar/loop.h"
#include "sidecar/metrics.h"

enum {
	ANSWER_SECONDS = 10,      /* between parts of an answer */
	SPARE_SECONDS = 10,       /* beyond what guard.c gives a request */
	CHUNK = 32768,            /* of an answer, at a time */
	UNSENT_MAX = 4 << 20,     /* of a WebSocket's messages; more is a peer that does not read */
};

struct message { struct message *next; size_t len; unsigned char data[]; }; /* LWS_PRE, then text */

struct conn_io {
	struct conn c;
	struct lws *wsi;
	const struct ws_route *ws;
	uint64_t began_ns, body_left;
	char *head, *body;        /* the answer; body behind LWS_PRE bytes */
	size_t head_len, body_len, sent;
	int body_fd;              /* -1: in body */
	int status;
	bool dispatched, answered, replied, closing;
	struct message *first, *last;
	size_t unsent;
	void (*sent_all)(void *owner);
	int close_code;
	char close_reason[100];
};

static const struct server *server;
static struct lws_context *context;
static struct lws_vhost *vhost;
static struct lws *loop_wsi; /* our event loop's descriptor */
static size_t n_unsent;
static bool stopping;

size_t server_unsent(void)
{
	return n_unsent;
}

/* What a connection is about now; the library has a place for it even before an upgrade. */
static struct conn_io *io_of(struct lws *wsi)
{
	return lws_get_opaque_user_data(wsi);
}

/* ---- the beginning of a request ---- */

static const char *method_name(enum method m)
{
	static const char *const names[] = {"GET", "POST", "OTHER"};

	return names[m];
}

static enum method find_method(struct lws *wsi)
{
	if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI))
		return METHOD_GET;
	return lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) ? METHOD_POST : METHOD_OTHER;
}

static char *header(struct conn *c, struct lws *wsi, enum lws_token_indexes token)
{
	int n = lws_hdr_total_length(wsi, token);
	char *text;

	if (n <= 0)
		return NULL;
	text = arena_alloc(c->a, (size_t)n + 1);
	return lws_hdr_copy(wsi, text, n + 1, token) < 0 ? NULL : text;
}

/* name in lower case, with its colon. */
static char *custom_header(struct conn *c, struct lws *wsi, const char *name)
{
	int len = (int)strlen(name), n = lws_hdr_custom_length(wsi, name, len);
	char *text;

	if (n <= 0)
		return NULL;
	text = arena_alloc(c->a, (size_t)n + 1);
	return lws_hdr_custom_copy(wsi, text, n + 1, name, len) < 0 ? NULL : text;
}

static void describe_peer(struct conn *c, struct lws *wsi)
{
	struct guard_peer p;

	guard_describe(lws_get_socket_fd(wsi), &p);
	memcpy(c->peer, p.name, sizeof(c->peer));
	c->local = p.local;
}

static void set_request_id(struct conn *c, const char *given)
{
	uint64_t random[2] = {0};

	if (given && strlen(given) < sizeof(c->request_id) && str_valid_id(given)) {
		snprintf(c->request_id, sizeof(c->request_id), "%s", given);
		return;
	}
	if (getrandom(random, sizeof(random), 0) < 0)
		abort();
	snprintf(c->request_id, sizeof(c->request_id), "%016" PRIx64 "%016" PRIx64, random[0],
		 random[1]);
}

static struct conn_io *new_io(struct lws *wsi, const char *path)
{
	struct arena *a = arena_new();
	struct conn_io *io = arena_new_of(a, struct conn_io);
	struct conn *c = &io->c;
	const char *query;
	char token[4096];

	io->wsi = wsi;
	lws_set_opaque_user_data(wsi, io);
	io->body_fd = -1;
	io->began_ns = loop_now();
	c->a = a;
	c->io = io;
	c->method = find_method(wsi);
	c->path = arena_strdup(a, path);
	c->origin = header(c, wsi, WSI_TOKEN_ORIGIN);
	c->host = header(c, wsi, WSI_TOKEN_HOST);
	c->secret = custom_header(c, wsi, "x-zeroth-sandbox-secret:");
	query = lws_get_urlarg_by_name(wsi, "token=", token, sizeof(token));
	c->token = query ? arena_strdup(a, query) : NULL;
	describe_peer(c, wsi);
	set_request_id(c, custom_header(c, wsi, "x-request-id:"));
	return io;
}

static void free_io(struct conn_io *io)
{
	while (io->first) {
		struct message *m = io->first;

		io->first = m->next;
		free(m);
	}
	strbuf_free(&io->c.body);
	cleanup_close(&io->body_fd);
	free(io->head);
	free(io->body);
	arena_free(io->c.a);
}

/* The peer went away, or all is said. */
static void drop(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);

	if (!io)
		return;
	lws_set_opaque_user_data(wsi, NULL);
	n_unsent -= io->answered || io->close_code;
	if (io->c.gone && io->c.owner)
		io->c.gone(io->c.owner);
	if (io->ws || !io->replied)
		access_log_write(&io->c, io->ws ? "WEBSOCKET" : method_name(io->c.method),
				 io->ws ? 101 : 499, 0, (double)(loop_now() - io->began_ns) / 1e9);
	free_io(io);
}

/* ---- answers ---- */

const char *reason_phrase(int status)
{
	static const struct { int status; const char *phrase; } phrases[] = {
		{200, "OK"}, {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"},
		{404, "Not Found"}, {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"},
		{411, "Length Required"}, {413, "Content Too Large"}, {421, "Misdirected Request"},
		{422, "Unprocessable Content"}, {429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
		{503, "Service Unavailable"}, {505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Unknown";
}

/* The head is ours: the library's would add a name and a version. */
static void make_head(struct conn_io *io, const struct reply *r)
{
	struct strbuf b = {0};

	strbuf_add(&b, (char[LWS_PRE]){0}, LWS_PRE);
	strbuf_printf(&b,
		      "HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncontent-length: %zu\r\n"
		      "x-request-id: %s\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n"
		      "%sconnection: %s\r\n\r\n",
		      r->status, reason_phrase(r->status), r->type ? r->type : "application/json", r->len,
		      io->c.request_id, r->headers ? r->headers : "",
		      io->closing ? "close" : "keep-alive");
	io->head = b.p;
	io->head_len = b.len - LWS_PRE;
}

void conn_reply(struct conn *c, const struct reply *r)
{
	struct conn_io *io = c->io;

	if (io->answered)
		return;
	io->answered = true;
	n_unsent++;
	io->status = r->status;
	io->closing |= io->body_left > 0 || stopping || guard_is_last(lws_get_socket_fd(io->wsi));
	c->owner = NULL;
	make_head(io, r);
	io->body_len = r->len;
	if (r->has_fd) {
		io->body_fd = r->fd;
		io->body = xrealloc(NULL, LWS_PRE + CHUNK);
	} else {
		io->body = xrealloc(NULL, LWS_PRE + r->len + 1);
		memcpy(io->body + LWS_PRE, r->body, r->len);
	}
	lws_set_timeout(io->wsi, PENDING_TIMEOUT_HTTP_CONTENT, ANSWER_SECONDS);
	lws_callback_on_writable(io->wsi);
}

void conn_reply_detail(struct conn *c, int status, const char *detail)
{
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;

	json_writer_init(&w, &b, false);
	json_begin_object(&w);
	json_member_str(&w, "detail", detail);
	json_end_object(&w);
	conn_reply(c, &(struct reply){.status = status, .body = b.p, .len = b.len});
}

/* One piece at a time; -1 ends the connection. */
static int write_answer(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);
	char *piece;
	size_t n;

	if (!io || !io->answered)
		return 0;
	if (io->head_len) {
		if (lws_write(io->wsi, (unsigned char *)io->head + LWS_PRE, io->head_len,
			      LWS_WRITE_HTTP_HEADERS) < 0)
			return -1;
		io->head_len = 0;
		lws_callback_on_writable(io->wsi);
		return 0;
	}
	n = io->body_len - io->sent;
	if (n > CHUNK)
		n = CHUNK;
	piece = io->body + LWS_PRE + (io->body_fd < 0 ? io->sent : 0);
	if (io->body_fd >= 0 && pread(io->body_fd, piece, n, (off_t)io->sent) != (ssize_t)n)
		return -1;
	if (lws_write(io->wsi, (unsigned char *)piece, n,
		      io->sent + n == io->body_len ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
		return -1;
	io->sent += n;
	lws_set_timeout(io->wsi, PENDING_TIMEOUT_HTTP_CONTENT, ANSWER_SECONDS);
	if (io->sent < io->body_len) {
		lws_callback_on_writable(io->wsi);
		return 0;
	}
	io->replied = true;
	metrics_request(io->status);
	access_log_write(&io->c, method_name(io->c.method), io->status, io->body_len,
			 (double)(loop_now() - io->began_ns) / 1e9);
	n = io->closing;
	drop(wsi);
	if (n || lws_http_transaction_completed(wsi))
		return -1;
	guard_answered(lws_get_socket_fd(wsi));
	return 0;
}

/* ---- requests ---- */

static const struct route *find_route(const struct conn *c, bool *ret_path_known)
{
	for (const struct route *r = server->routes; r->path; r++) {
		bool prefix = str_ends(r->path, "/") && r->path[1];

		if (prefix ? !str_starts(c->path, r->path) : !str_eq(c->path, r->path))
			continue;
		if (r->method == c->method)
			return r;
		*ret_path_known = true;
	}
	return NULL;
}

static void dispatch(struct conn_io *io)
{
	bool path_known = false;
	const struct route *r = find_route(&io->c, &path_known);

	io->dispatched = true;
	lws_set_timeout(io->wsi, NO_PENDING_TIMEOUT, 0); /* an execution may take long */
	if (!server->authorise(&io->c))
		return;
	if (!r)
		conn_reply_detail(&io->c, path_known ? 405 : 404,
				  path_known ? "Method Not Allowed" : "Not Found");
	else
		r->handle(&io->c);
}

/* The length of the body; -1 and an answer when it is too large. */
static int64_t body_length(struct conn_io *io)
{
	const char *length = header(&io->c, io->wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH);

	if (length && str_u64(length, INT64_MAX, &io->body_left) < 0)
		io->body_left = INT64_MAX;
	if (io->body_left > config.max_body) {
		conn_reply_detail(&io->c, 413, "The body is too large");
		return -1;
	}
	return (int64_t)io->body_left;
}

static int begin_request(struct lws *wsi, const char *path)
{
	struct conn_io *io;

	drop(wsi);
	io = new_io(wsi, path);
	if (body_length(io) == 0)
		dispatch(io);
	return 0;
}

static int take_body(struct lws *wsi, const char *data, size_t n)
{
	struct conn_io *io = io_of(wsi);

	if (!io || io->answered)
		return 0;
	if (n > io->body_left)
		return -1;
	io->body_left -= n;
	strbuf_add(&io->c.body, data, n);
	return 0;
}

/* The library says it more than once, and of a body of no bytes, too. */
static int end_body(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);

	if (io && !io->answered && !io->dispatched && !io->body_left)
		dispatch(io);
	return 0;
}

/* ---- WebSockets ---- */

static const struct ws_route *find_ws_route(const char *path)
{
	for (const struct ws_route *r = server->ws_routes; r->path; r++)
		if (str_eq(r->path, path))
			return r;
	return NULL;
}

/* The library wants the answer at once. */
static int refuse_upgrade(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);

	if (lws_write(wsi, (unsigned char *)io->head + LWS_PRE, io->head_len, LWS_WRITE_HTTP_HEADERS) < 0 ||
	    lws_write(wsi, (unsigned char *)io->body + LWS_PRE, io->body_len, LWS_WRITE_HTTP_FINAL) < 0)
		return -1;
	io->replied = true;
	metrics_request(io->status);
	access_log_write(&io->c, "GET", io->status, io->body_len, 0);
	drop(wsi);
	return -1;
}

/* Before the upgrade: 0 lets it pass, -1 has answered and ends the connection. */
static int confirm_upgrade(struct lws *wsi)
{
	char path[256] = "";
	const char *why = "Not Found";
	const struct ws_route *r;
	int status = 404;
	struct conn_io *io;

	lws_hdr_copy(wsi, path, sizeof(path), WSI_TOKEN_GET_URI);
	r = find_ws_route(path);
	drop(wsi);
	io = new_io(wsi, path);
	if (r)
		why = r->check(&io->c, &status);
	if (!why) {
		io->ws = r;
		return 0;
	}
	io->closing = true;
	conn_reply_detail(&io->c, status, why);
	return refuse_upgrade(wsi);
}

static int opened(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);

	if (!io || !io->ws)
		return -1;
	io->ws->opened(&io->c);
	return 0;
}

/* The owner stays: he hears from drop() that his connection is gone. */
static void hang_up(struct conn_io *io, int code, const char *reason)
{
	if (io->closing)
		return;
	io->closing = true;
	io->close_code = code;
	n_unsent++;
	snprintf(io->close_reason, sizeof(io->close_reason), "%s", reason);
	lws_set_timeout(io->wsi, PENDING_TIMEOUT_CLOSE_SEND, ANSWER_SECONDS);
	lws_callback_on_writable(io->wsi);
}

static int take_message(struct lws *wsi, const char *data, size_t n)
{
	struct conn_io *io = io_of(wsi);

	if (!io || io->closing)
		return 0;
	if (io->c.body.len + n > config.max_body) {
		hang_up(io, 1009, "the message is too large");
		return 0;
	}
	strbuf_add(&io->c.body, data, n);
	if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
		return 0;
	io->ws->message(&io->c);
	io->c.body.len = 0;
	if (io->c.body.cap > 65536)
		strbuf_free(&io->c.body);
	return 0;
}

void conn_close(struct conn *c, int code, const char *reason)
{
	c->owner = NULL;
	hang_up(c->io, code, reason);
}

void conn_send(struct conn *c, const char *text, size_t n)
{
	struct conn_io *io = c->io;
	struct message *m;

	if (io->closing)
		return;
	if (io->unsent + n > UNSENT_MAX) {
		hang_up(io, 1008, "messages are not read");
		return;
	}
	m = xrealloc(NULL, sizeof(*m) + LWS_PRE + n + 1);
	*m = (struct message){.len = n};
	memcpy(m->data + LWS_PRE, text, n);
	if (io->last)
		io->last->next = m;
	else
		io->first = m;
	io->last = m;
	io->unsent += n;
	lws_callback_on_writable(io->wsi);
}

size_t conn_unsent(const struct conn *c)
{
	return c->io->unsent;
}

void conn_on_sent(struct conn *c, void (*sent)(void *owner))
{
	c->io->sent_all = sent;
}

static int close_now(struct conn_io *io)
{
	lws_close_reason(io->wsi, (enum lws_close_status)io->close_code,
			 (unsigned char *)io->close_reason, strlen(io->close_reason));
	return -1;
}

static int write_first(struct conn_io *io)
{
	struct message *m = io->first;
	int r = lws_write(io->wsi, m->data + LWS_PRE, m->len, LWS_WRITE_TEXT);

	io->first = m->next;
	if (!io->first)
		io->last = NULL;
	io->unsent -= m->len;
	free(m);
	return r;
}

/* As many as the kernel takes, within reason: others want their turn. */
static int write_message(struct lws *wsi)
{
	struct conn_io *io = io_of(wsi);

	if (!io)
		return -1;
	if (!io->first)
		return io->closing ? close_now(io) : 0;
	for (int i = 0; i < 64 && io->first && (i == 0 || !lws_send_pipe_choked(wsi)); i++)
		if (write_first(io) < 0)
			return -1;
	if (io->closing) /* he reads on */
		lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_SEND, ANSWER_SECONDS);
	if (io->first || io->closing)
		lws_callback_on_writable(io->wsi);
	if (!io->first && io->sent_all && io->c.owner)
		io->sent_all(io->c.owner);
	return 0;
}

/* ---- the library ---- */

static int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
			 size_t len)
{
	(void)user;
	switch (reason) {
	case LWS_CALLBACK_HTTP:
		return begin_request(wsi, in);
	case LWS_CALLBACK_HTTP_BODY:
		return take_body(wsi, in, len);
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return end_body(wsi);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return write_answer(wsi);
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
		return str_eq(in, "websocket") ? confirm_upgrade(wsi) : -1;
	case LWS_CALLBACK_ESTABLISHED:
		return opened(wsi);
	case LWS_CALLBACK_RECEIVE:
		return take_message(wsi, in, len);
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return write_message(wsi);
	case LWS_CALLBACK_CLOSED:
	case LWS_CALLBACK_CLOSED_HTTP:
		drop(wsi);
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		drop(wsi); /* not every end is a CLOSED: an upgrade that the library refuses is not */
		return 0;
	case LWS_CALLBACK_RAW_RX_FILE:
		loop_run();
		return 0;
	default:
		return 0;
	}
}

/* One for all: a client may name another one for its WebSocket. */
static const struct lws_protocols protocols[] = {
	{.name = "http", .callback = http_callback, .rx_buffer_size = 16384},
	{0},
};

static bool adopt(int fd)
{
	return lws_adopt_socket_vhost(vhost, fd);
}

static void accepted(int fd)
{
	guard_accept(fd, adopt);
}

int server_open(const struct server *s, struct err *e)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.max_http_header_data = HEAD_MAX + 1024,
		.max_http_header_pool = (unsigned short)(config.max_connections + 8),
		.timeout_secs = (unsigned)(config.head_s + config.body_s + SPARE_SECONDS),
		.keepalive_timeout = 60,
		.options = LWS_SERVER_OPTION_VALIDATE_UTF8,
		.server_string = "brigd",
		.vhost_name = "brigd",
	};
	lws_sock_file_fd_type fd = {.filefd = loop_descriptor()};

	server = s;
	lws_set_log_level(LLL_ERR, NULL);
	context = lws_create_context(&info);
	vhost = context ? lws_get_vhost_by_name(context, "brigd") : NULL;
	if (vhost)
		loop_wsi = lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, fd, protocols[0].name, NULL);
	if (!loop_wsi)
		return err_set(e, EIO, "set up libwebsockets");
	return listen_open(accepted, e);
}

void server_run(void)
{
	while (!stopping && lws_service(context, 0) >= 0)
		;
}

void server_stop(void)
{
	stopping = true;
	lws_cancel_service(context);
}

void server_close_listeners(void)
{
	listen_close();
}

void server_close(void)
{
	lws_context_destroy(context);
	guard_close();
}

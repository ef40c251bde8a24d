/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D-Bus by hand, because a statically linked program cannot load libsystemd, and we speak four
 * messages. What comes in is from systemd, but every length is checked before it is used.
 *
 * Layout of a message: byte order, type, flags, version; length of the body; serial; an array of
 * (field number, variant); padding to 8; body. Everything is aligned to its own size from the
 * beginning of the message.
 */
#include "cgroups/dbus.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define TIMEOUT_MS 25000
/* The answers we expect have less than a kilobyte; signals of systemd may carry a unit's path. */
#define MESSAGE_MAX      (256 * 1024)
#define FIELD_PATH       1
#define FIELD_INTERFACE  2
#define FIELD_MEMBER     3
#define FIELD_ERROR_NAME 4
#define FIELD_REPLY_TO   5
#define FIELD_DEST       6
#define FIELD_SIGNATURE  8

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- writing ---- */

void dbus_align(struct strbuf *b, size_t n)
{
	while (b->len % n)
		strbuf_addc(b, '\0');
}

void dbus_put_u32(struct strbuf *b, uint32_t v)
{
	dbus_align(b, 4);
	strbuf_add(b, &v, sizeof(v));
}

void dbus_put_u64(struct strbuf *b, uint64_t v)
{
	dbus_align(b, 8);
	strbuf_add(b, &v, sizeof(v));
}

void dbus_put_string(struct strbuf *b, const char *s)
{
	dbus_put_u32(b, (uint32_t)strlen(s));
	strbuf_add(b, s, strlen(s) + 1);
}

void dbus_put_signature(struct strbuf *b, const char *s)
{
	strbuf_addc(b, (char)strlen(s));
	strbuf_add(b, s, strlen(s) + 1);
}

struct dbus_array dbus_array_begin(struct strbuf *b)
{
	struct dbus_array a;

	dbus_put_u32(b, 0);
	a.length = b->len - sizeof(uint32_t);
	dbus_align(b, 8); /* there also when the array stays empty, and not part of its length */
	a.begin = b->len;
	return a;
}

void dbus_array_end(struct strbuf *b, struct dbus_array a)
{
	uint32_t size = (uint32_t)(b->len - a.begin);

	memcpy(b->p + a.length, &size, sizeof(size));
}

static void put_field(struct strbuf *b, char number, const char *type, const char *value)
{
	if (!value)
		return;
	dbus_align(b, 8);
	strbuf_addc(b, number);
	dbus_put_signature(b, type);
	if (*type == 'g')
		dbus_put_signature(b, value);
	else
		dbus_put_string(b, value);
}

int64_t dbus_send(struct dbus *d, const struct dbus_call *c, struct err *e)
{
	auto_strbuf struct strbuf m = {0};
	size_t body = c->body ? c->body->len : 0;
	uint32_t fields;
	int r;

	strbuf_add(&m, "l\1\0\1", 4);
	dbus_put_u32(&m, (uint32_t)body);
	dbus_put_u32(&m, ++d->serial);
	dbus_put_u32(&m, 0);
	put_field(&m, FIELD_PATH, "o", c->path);
	put_field(&m, FIELD_INTERFACE, "s", c->interface);
	put_field(&m, FIELD_MEMBER, "s", c->member);
	put_field(&m, FIELD_DEST, "s", c->destination);
	put_field(&m, FIELD_SIGNATURE, "g", c->signature);
	/* The length of the array is known only now; its elements begin at byte 16. */
	fields = (uint32_t)(m.len - 16);
	memcpy(m.p + 12, &fields, sizeof(fields));
	dbus_align(&m, 8);
	if (body)
		strbuf_add(&m, c->body->p, body);
	r = io_write_all(d->fd, m.p, m.len);
	if (r < 0)
		return err_set(e, -r, "send %s to systemd: %s", c->member, err_name(-r));
	return d->serial;
}

/* ---- reading ---- */

/* Exactly n bytes, before the connection's end of time. */
static int read_exactly(const struct dbus *d, void *buf, size_t n, struct err *e)
{
	size_t got = 0;

	while (got < n) {
		struct pollfd p = {.fd = d->fd, .events = POLLIN};
		int64_t left = d->end_ms - now_ms();
		ssize_t r;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return err_set(e, ETIMEDOUT, "systemd does not answer");
		r = recv(d->fd, (char *)buf + got, n - got, 0);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(e, "read the answer of systemd");
		if (r == 0)
			return err_set(e, ECONNRESET, "systemd closed the connection");
		got += (size_t)r;
	}
	return 0;
}

static int get_bytes(struct dbus_message *m, size_t align, size_t n, void *to)
{
	size_t at = (m->at + align - 1) / align * align;

	if (at > m->body.len || m->body.len - at < n)
		return -EBADMSG;
	memcpy(to, m->body.p + at, n);
	m->at = at + n;
	return 0;
}

int dbus_get_u32(struct dbus_message *m, uint32_t *ret_v)
{
	return get_bytes(m, 4, sizeof(*ret_v), ret_v);
}

static int get_text(struct dbus_message *m, size_t n, const char **ret_s)
{
	if (m->body.len - m->at <= n || m->body.p[m->at + n] != '\0')
		return -EBADMSG;
	*ret_s = m->body.p + m->at;
	m->at += n + 1;
	return 0;
}

int dbus_get_string(struct dbus_message *m, const char **ret_s)
{
	uint32_t n;

	return dbus_get_u32(m, &n) < 0 ? -EBADMSG : get_text(m, n, ret_s);
}

static void keep(char *to, size_t size, const char *s)
{
	snprintf(to, size, "%s", s);
}

/* One header field, read from the array as if it were a body. */
static int get_field(struct dbus_message *fields, struct dbus_message *m)
{
	const char *type, *text = "";
	uint8_t number, n;
	uint32_t u = 0;
	int r;

	if (get_bytes(fields, 8, 1, &number) < 0 || get_bytes(fields, 1, 1, &n) < 0 ||
	    get_text(fields, n, &type) < 0)
		return -EBADMSG;
	if (str_eq(type, "u"))
		r = dbus_get_u32(fields, &u);
	else if (str_eq(type, "s") || str_eq(type, "o"))
		r = dbus_get_string(fields, &text);
	else if (str_eq(type, "g"))
		r = get_bytes(fields, 1, 1, &n) < 0 ? -EBADMSG : get_text(fields, n, &text);
	else
		r = -EBADMSG;
	if (number == FIELD_REPLY_TO)
		m->reply_to = u;
	else if (number == FIELD_MEMBER)
		keep(m->member, sizeof(m->member), text);
	else if (number == FIELD_ERROR_NAME)
		keep(m->error, sizeof(m->error), text);
	return r;
}

static int get_fields(struct dbus_message *fields, struct dbus_message *m)
{
	while (fields->at < fields->body.len) {
		int r = get_field(fields, m);

		if (r < 0)
			return r;
	}
	return 0;
}

/* n bytes of the connection, appended. */
static int read_part(const struct dbus *d, size_t n, struct strbuf *b, struct err *e)
{
	char buf[4096];

	while (n > 0) {
		size_t part = n < sizeof(buf) ? n : sizeof(buf);
		int r = read_exactly(d, buf, part, e);

		if (r < 0)
			return r;
		strbuf_add(b, buf, part);
		n -= part;
	}
	return 0;
}

int dbus_receive(struct dbus *d, struct dbus_message *ret_m, struct err *e)
{
	struct dbus_message fields = {0}, m = {0};
	struct {
		uint8_t order, type, flags, version;
		uint32_t body, serial, fields;
	} head;
	int r = read_exactly(d, &head, sizeof(head), e);

	if (r < 0)
		return r;
	if (head.order != 'l' || head.body > MESSAGE_MAX || head.fields > MESSAGE_MAX)
		return err_set(e, EBADMSG, "systemd answered with no D-Bus message");
	m.type = head.type;
	/* The array begins at byte 16, so its own alignment is that of the message. */
	r = read_part(d, (head.fields + 7) & ~7u, &fields.body, e);
	fields.body.len = r < 0 ? 0 : head.fields;
	if (r == 0)
		r = read_part(d, head.body, &m.body, e);
	if (r == 0 && get_fields(&fields, &m) < 0)
		r = err_set(e, EBADMSG, "the header of a D-Bus message of systemd is broken");
	dbus_message_free(&fields);
	if (r < 0)
		dbus_message_free(&m);
	else
		*ret_m = m;
	return r;
}

void dbus_message_free(struct dbus_message *m)
{
	strbuf_free(&m->body);
}

/* ---- connection ---- */

/* One line of the peer, without its end. */
static int read_line(const struct dbus *d, char *line, size_t size, struct err *e)
{
	size_t n = 0;

	for (;;) {
		int r = read_exactly(d, line + n, 1, e);

		if (r < 0)
			return r;
		if (line[n] == '\n' || n + 1 == size)
			break;
		n++;
	}
	line[n] = '\0';
	return 0;
}

/*
 * EXTERNAL: the peer looks at our credentials. We name no uid, since in a user namespace (podman
 * without root) we have another one than the peer sees. BEGIN comes in the same piece: systemd's
 * end forgets a message that it reads together with BEGIN, until the next one arrives.
 */
static int authenticate(struct dbus *d, struct err *e)
{
	static const char hello[] = "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n";
	char line[128];
	int r = io_write_all(d->fd, hello, sizeof(hello) - 1);

	if (r < 0)
		return err_set(e, -r, "talk to systemd: %s", err_name(-r));
	do {
		r = read_line(d, line, sizeof(line), e);
		if (r < 0)
			return r;
	} while (str_starts(line, "DATA"));
	if (!str_starts(line, "OK "))
		return err_set(e, EACCES, "systemd refuses us as uid %u", geteuid());
	return 0;
}

int dbus_connect(struct dbus *d, const char *path, struct err *e)
{
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int r;

	if (fd < 0)
		return err_sys(e, "make a socket");
	if (strlen(path) >= sizeof(a.sun_path))
		return err_set(e, ENAMETOOLONG, "the path of systemd's socket is too long");
	memcpy(a.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return err_sys(e, "connect to systemd at %s", path);
	*d = (struct dbus){.fd = fd, .end_ms = now_ms() + TIMEOUT_MS};
	r = authenticate(d, e);
	if (r < 0)
		return r;
	(void)take_fd(&fd);
	return 0;
}

void dbus_close(struct dbus *d)
{
	close(d->fd);
}

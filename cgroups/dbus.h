/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few parts of D-Bus that asking systemd for a scope needs: one connection, calls with a body
 * made by hand, replies and signals. Little endian only, as all machines we build for are.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct dbus {
	int fd;
	uint32_t serial;
	int64_t end_ms; /* CLOCK_MONOTONIC: no call takes longer than this */
};

enum dbus_type { DBUS_CALL = 1, DBUS_REPLY, DBUS_ERROR, DBUS_SIGNAL };

struct dbus_message {
	enum dbus_type type;
	uint32_t reply_to; /* serial of the call, for replies and errors */
	char member[64];   /* of a signal */
	char error[128];   /* name of an error */
	struct strbuf body;
	size_t at; /* reading position in body */
};

/* Connects to a unix socket and authenticates as our effective uid. 0 or -errno. */
int dbus_connect(struct dbus *d, const char *path, struct err *e);
void dbus_close(struct dbus *d);

/* Who is called. destination NULL: the peer itself, no bus in between. */
struct dbus_call {
	const char *destination, *path, *interface, *member, *signature;
	const struct strbuf *body;
};
/* Sends a call; its serial or -errno. */
int64_t dbus_send(struct dbus *d, const struct dbus_call *c, struct err *e);
/* The next message, whatever it is; free with dbus_message_free. */
int dbus_receive(struct dbus *d, struct dbus_message *ret_m, struct err *e);
void dbus_message_free(struct dbus_message *m);

/* Writers align by the length of b, so b has to begin at an 8 byte border of the message. */
void dbus_align(struct strbuf *b, size_t n);
void dbus_put_u32(struct strbuf *b, uint32_t v);
void dbus_put_u64(struct strbuf *b, uint64_t v);
void dbus_put_string(struct strbuf *b, const char *s);
void dbus_put_signature(struct strbuf *b, const char *s);

/* An array of structures or dictionary entries: its length is known at its end. */
struct dbus_array {
	size_t length, begin;
};
struct dbus_array dbus_array_begin(struct strbuf *b);
void dbus_array_end(struct strbuf *b, struct dbus_array a);

/* Readers: -EBADMSG when the body is too short or a string is not terminated. */
int dbus_get_u32(struct dbus_message *m, uint32_t *ret_v);
int dbus_get_string(struct dbus_message *m, const char **ret_s);

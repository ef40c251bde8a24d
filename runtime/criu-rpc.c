/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/criu-rpc.h"

#include <errno.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5, MAX_FIELD = (1 << 29) - 1 };

/* ---- writing ---- */

static void put_varint(struct strbuf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_addc(b, (char)(v | 0x80));
	strbuf_addc(b, (char)v);
}

void criu_put_uint(struct strbuf *b, unsigned field, uint64_t v)
{
	put_varint(b, (uint64_t)field << 3 | WIRE_VARINT);
	put_varint(b, v);
}

void criu_put_bytes(struct strbuf *b, unsigned field, const void *data, size_t n)
{
	put_varint(b, (uint64_t)field << 3 | WIRE_BYTES);
	put_varint(b, n);
	strbuf_add(b, data, n);
}

void criu_put_str(struct strbuf *b, unsigned field, const char *s)
{
	criu_put_bytes(b, field, s, strlen(s));
}

void criu_put_pair(struct strbuf *b, unsigned field, const char *first, const char *second)
{
	auto_strbuf struct strbuf m = {0};

	criu_put_str(&m, 1, first);
	criu_put_str(&m, 2, second);
	criu_put_bytes(b, field, m.p, m.len);
}

void criu_put_inherit_fd(struct strbuf *b, const char *key, int fd)
{
	auto_strbuf struct strbuf m = {0};

	criu_put_str(&m, 1, key);
	criu_put_uint(&m, 2, (uint64_t)fd);
	criu_put_bytes(b, CRIU_OPT_INHERIT_FD, m.p, m.len);
}

void criu_put_request(struct strbuf *b, enum criu_type type, const struct strbuf *opts)
{
	criu_put_uint(b, 1, type);
	criu_put_bytes(b, 2, strbuf_str(opts), opts->len);
}

void criu_put_feature_check(struct strbuf *b)
{
	auto_strbuf struct strbuf features = {0};

	criu_put_uint(&features, 1, true);
	criu_put_uint(&features, 2, true);
	criu_put_uint(b, 1, CRIU_FEATURE_CHECK);
	criu_put_bytes(b, 5, features.p, features.len);
}

void criu_put_notify_done(struct strbuf *b, bool success)
{
	criu_put_uint(b, 1, CRIU_NOTIFY);
	criu_put_uint(b, 3, success);
}

/* ---- reading ---- */

static int read_varint(struct criu_reader *r, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->p < r->end; shift += 7) {
		unsigned char c = *r->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = v;
			return 0;
		}
	}
	return -EPROTO;
}

static int take_bytes(struct criu_reader *r, uint64_t n, struct criu_field *f)
{
	if (n > (uint64_t)(r->end - r->p))
		return -EPROTO;
	f->data = r->p;
	f->size = (size_t)n;
	r->p += n;
	return 0;
}

static int read_value(struct criu_reader *r, struct criu_field *f)
{
	uint64_t n;

	switch (f->wire) {
	case WIRE_VARINT:
		return read_varint(r, &f->value);
	case WIRE_64:
		return take_bytes(r, 8, f);
	case WIRE_32:
		return take_bytes(r, 4, f);
	case WIRE_BYTES:
		return read_varint(r, &n) < 0 ? -EPROTO : take_bytes(r, n, f);
	default:
		return -EPROTO;
	}
}

int criu_next_field(struct criu_reader *r, struct criu_field *ret)
{
	struct criu_field f = {0};
	uint64_t key;

	if (r->p == r->end)
		return 0;
	if (read_varint(r, &key) < 0 || key >> 3 == 0 || key >> 3 > MAX_FIELD)
		return -EPROTO;
	f.number = (unsigned)(key >> 3);
	f.wire = key & 7;
	if (read_value(r, &f) < 0)
		return -EPROTO;
	*ret = f;
	return 1;
}

static void copy_text(char *dst, size_t size, const struct criu_field *f)
{
	size_t n = f->size < size - 1 ? f->size : size - 1;

	memcpy(dst, f->data, n);
	dst[n] = '\0';
}

enum message { IN_REPLY, IN_RESTORE, IN_NOTIFY, IN_FEATURES };

static int read_message(enum message in, struct criu_reader r, struct criu_reply *reply);

static int read_inner(enum message in, const struct criu_field *f, struct criu_reply *reply)
{
	return read_message(in, (struct criu_reader){f->data, f->data + f->size}, reply);
}

static int use_number(enum message in, const struct criu_field *f, struct criu_reply *reply)
{
	if (in == IN_REPLY && f->number == 1)
		reply->type = (unsigned)f->value;
	else if (in == IN_REPLY && f->number == 2)
		reply->success = f->value;
	else if (in == IN_REPLY && f->number == 7)
		reply->cr_errno = (int)f->value;
	else if ((in == IN_RESTORE && f->number == 1) || (in == IN_NOTIFY && f->number == 2))
		reply->pid = (pid_t)f->value;
	else if (in == IN_FEATURES && f->number == 1)
		reply->mem_track = f->value;
	else if (in == IN_FEATURES && f->number == 2)
		reply->lazy_pages = f->value;
	return 0;
}

static int use_bytes(enum message in, const struct criu_field *f, struct criu_reply *reply)
{
	if (in == IN_NOTIFY && f->number == 1)
		copy_text(reply->script, sizeof(reply->script), f);
	if (in != IN_REPLY)
		return 0;
	switch (f->number) {
	case 4:
		return read_inner(IN_RESTORE, f, reply);
	case 5:
		return read_inner(IN_NOTIFY, f, reply);
	case 8:
		return read_inner(IN_FEATURES, f, reply);
	case 9:
		copy_text(reply->errmsg, sizeof(reply->errmsg), f);
		return 0;
	default:
		return 0;
	}
}

static int read_message(enum message in, struct criu_reader r, struct criu_reply *reply)
{
	struct criu_field f;
	int more;

	while ((more = criu_next_field(&r, &f)) > 0) {
		int used = f.wire == WIRE_VARINT ? use_number(in, &f, reply)
			   : f.wire == WIRE_BYTES ? use_bytes(in, &f, reply) : 0;

		if (used < 0)
			return used;
	}
	return more;
}

int criu_parse_reply(const void *data, size_t n, struct criu_reply *ret, struct err *e)
{
	const unsigned char *p = data;
	struct criu_reply reply = {0};

	if (read_message(IN_REPLY, (struct criu_reader){p, p + n}, &reply) < 0 || !reply.type)
		return err_set(e, EPROTO, "criu sent a reply that is none (%zu bytes)", n);
	*ret = reply;
	return 0;
}

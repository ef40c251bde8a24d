/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding of CRIU's messages: the bytes are those that protoc writes and reads. */
#include "runtime/criu-rpc.h"

#include <errno.h>

#include "tests/unit/test.h"

#define CHECK_BYTES(b, ...)                                                                  \
	do {                                                                                 \
		const unsigned char bytes_[] = {__VA_ARGS__};                                 \
		CHECK_INT((b).len, sizeof(bytes_));                                           \
		CHECK((b).len == sizeof(bytes_) && memcmp((b).p, bytes_, sizeof(bytes_)) == 0); \
	} while (0)

static void numbers(void)
{
	auto_strbuf struct strbuf b = {0}, large = {0};

	criu_put_uint(&b, CRIU_OPT_PID, 300);
	criu_put_uint(&b, CRIU_OPT_EMPTY_NS, 0x40000000);
	CHECK_BYTES(b, 0x10, 0xac, 0x02, 0xb0, 0x02, 0x80, 0x80, 0x80, 0x80, 0x04);
	criu_put_uint(&large, 1, UINT64_MAX);
	CHECK_BYTES(large, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

static void texts(void)
{
	auto_strbuf struct strbuf b = {0}, pair = {0}, inherit = {0};

	criu_put_str(&b, CRIU_OPT_LOG_FILE, "a.log");
	CHECK_BYTES(b, 0x52, 5, 'a', '.', 'l', 'o', 'g');
	criu_put_pair(&pair, CRIU_OPT_EXT_MNT, "/a", "");
	CHECK_BYTES(pair, 0xba, 0x01, 6, 0x0a, 2, '/', 'a', 0x12, 0);
	criu_put_inherit_fd(&inherit, "k", 6);
	CHECK_BYTES(inherit, 0xda, 0x01, 5, 0x0a, 1, 'k', 0x10, 6);
}

static void requests(void)
{
	auto_strbuf struct strbuf opts = {0}, b = {0}, empty = {0}, features = {0}, done = {0};

	criu_put_uint(&opts, CRIU_OPT_IMAGES_DIR_FD, 4);
	criu_put_request(&b, CRIU_DUMP, &opts);
	CHECK_BYTES(b, 0x08, 1, 0x12, 2, 0x08, 4);
	criu_put_request(&empty, CRIU_RESTORE, &(struct strbuf){0});
	CHECK_BYTES(empty, 0x08, 2, 0x12, 0);
	criu_put_feature_check(&features);
	CHECK_BYTES(features, 0x08, 9, 0x2a, 4, 0x08, 1, 0x10, 1);
	criu_put_notify_done(&done, true);
	CHECK_BYTES(done, 0x08, 6, 0x18, 1);
}

static void replies(void)
{
	const unsigned char notify[] = {0x08, 6, 0x10, 1, 0x2a, 16, 0x0a, 12, 'p', 'o', 's', 't', '-', 'r',
					'e', 's', 't', 'o', 'r', 'e', 0x10, 42};
	const unsigned char failed[] = {0x08, 2, 0x10, 0, 0x38, 17, 0x4a, 3, 'b', 'a', 'd'};
	const unsigned char restored[] = {0x08, 2, 0x10, 1, 0x22, 3, 0x08, 0xac, 0x02};
	const unsigned char features[] = {0x08, 9, 0x10, 1, 0x42, 4, 0x08, 1, 0x10, 0};
	struct criu_reply r;
	struct err e = {0};

	CHECK_INT(criu_parse_reply(notify, sizeof(notify), &r, &e), 0);
	CHECK_INT(r.type, CRIU_NOTIFY);
	CHECK(r.success);
	CHECK_STR(r.script, "post-restore");
	CHECK_INT(r.pid, 42);
	CHECK_INT(criu_parse_reply(failed, sizeof(failed), &r, &e), 0);
	CHECK(!r.success);
	CHECK_INT(r.cr_errno, 17);
	CHECK_STR(r.errmsg, "bad");
	CHECK_STR(r.script, "");
	CHECK_INT(criu_parse_reply(restored, sizeof(restored), &r, &e), 0);
	CHECK_INT(r.pid, 300);
	CHECK_INT(criu_parse_reply(features, sizeof(features), &r, &e), 0);
	CHECK(r.mem_track);
}

/* Fields of a newer criu: every wire type, and a known number with another type. */
static void unknown_fields(void)
{
	const unsigned char data[] = {0xf8, 0x07, 1, 0xf1, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 0x07, 1, 2,
				      3, 4, 0xfa, 0x07, 2, 0xff, 0xff, 0x10, 1, 0x3a, 1, 'x', 0x08, 1};
	struct criu_reply r;
	struct err e = {0};

	CHECK_INT(criu_parse_reply(data, sizeof(data), &r, &e), 0);
	CHECK_INT(r.type, CRIU_DUMP);
	CHECK(r.success);
	CHECK_INT(r.cr_errno, 0);
}

static void bad_replies(void)
{
	static const struct { unsigned char data[16]; size_t n; } bad[] = {
		{{0}, 0},                                  /* no type */
		{{0x10, 1}, 2},                            /* likewise */
		{{0x08}, 1},                               /* no value */
		{{0x08, 0x80}, 2},                         /* cut in a number */
		{{0x08, 1, 0x4a, 5, 'a'}, 5},              /* longer than the message */
		{{0x08, 1, 0x0b}, 3},                      /* groups are not used */
		{{0x08, 1, 0x07}, 3},                      /* field 0, no wire type */
		{{0x08, 1, 0x2a, 2, 0x0a, 9}, 6},          /* inside */
		{{0x08, 1, 0x4a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 13},
		{{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 12},
	};
	struct criu_reply r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {0};

		CHECK_INT(criu_parse_reply(bad[i].data, bad[i].n, &r, &e), -EPROTO);
		CHECK_INT(e.code, EPROTO);
	}
}

/* Texts are cut, never written beyond their arrays. */
static void long_texts(void)
{
	auto_strbuf struct strbuf notify = {0}, b = {0}, text = {0};
	struct criu_reply r;
	struct err e = {0};

	for (int i = 0; i < 1000; i++)
		strbuf_addc(&text, 'x');
	criu_put_str(&notify, 1, text.p);
	criu_put_uint(&b, 1, CRIU_NOTIFY);
	criu_put_bytes(&b, 5, notify.p, notify.len);
	criu_put_str(&b, 9, text.p);
	CHECK_INT(criu_parse_reply(b.p, b.len, &r, &e), 0);
	CHECK_INT(strlen(r.script), sizeof(r.script) - 1);
	CHECK_INT(strlen(r.errmsg), sizeof(r.errmsg) - 1);
}

TEST_MAIN(TEST(numbers), TEST(texts), TEST(requests), TEST(replies), TEST(unknown_fields),
	  TEST(bad_replies), TEST(long_texts))

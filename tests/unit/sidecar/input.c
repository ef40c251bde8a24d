/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from clients: requests, messages, tokens, base64. */
#include <errno.h>

#include "sidecar/base64.h"
#include "sidecar/config.h"
#include "sidecar/head.h"
#include "sidecar/request.h"
#include "sidecar/secret.h"
#include "sidecar/snippet.h"
#include "tests/unit/test.h"

struct config config = {.max_exec_ms = 15000};

static void base64(void)
{
	static const struct { const char *text, *bytes; enum base64_alphabet alphabet; } good[] = {
		{"", "", BASE64_STANDARD}, {"Zg==", "f", BASE64_STANDARD}, {"Zm8=", "fo", BASE64_STANDARD},
		{"Zm9v", "foo", BASE64_STANDARD}, {"+/+/", "\xfb\xff\xbf", BASE64_STANDARD},
		{"Zg", "f", BASE64_URL}, {"-_-_", "\xfb\xff\xbf", BASE64_URL},
	};
	static const struct { const char *text; enum base64_alphabet alphabet; } bad[] = {
		{"Zg", BASE64_STANDARD}, {"Zg=", BASE64_STANDARD}, {"Zh==", BASE64_STANDARD}, {"=", BASE64_STANDARD},
		{"Z===", BASE64_STANDARD}, {"Zm9v\n", BASE64_STANDARD}, {"-_-_", BASE64_STANDARD},
		{"Zg==", BASE64_URL}, {"Z", BASE64_URL}, {"Zh", BASE64_URL}, {"+/+/", BASE64_URL}, {"Zm 9v", BASE64_URL},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		auto_strbuf struct strbuf b = {0};

		CHECK(base64_decode(&b, good[i].text, strlen(good[i].text), good[i].alphabet));
		CHECK_STR(strbuf_str(&b), good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		auto_strbuf struct strbuf b = {0};

		CHECK(!base64_decode(&b, bad[i].text, strlen(bad[i].text), bad[i].alphabet));
	}
}

static void check_hmac(const char *key, const char *text, const char *hex)
{
	unsigned char sum[32];
	char have[65];

	hmac_sha256(key, text, strlen(text), sum);
	for (int i = 0; i < 32; i++)
		snprintf(have + 2 * i, 3, "%02x", sum[i]);
	CHECK_STR(have, hex);
}

/* RFC 4231, cases 1, 2 and 6. */
static void hmac(void)
{
	char key[132] = {0};

	memset(key, 0x0b, 20);
	check_hmac(key, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	check_hmac("Jefe", "what do ya want for nothing?",
		   "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, 131);
	check_hmac(key, "Test Using Larger Than Block-Size Key - Hash Key First",
		   "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* RFC 7515, A.1: a token that says everything but whom it is for. */
static void token_of_the_rfc(void)
{
	static const char key[] =
		"\x03\x23\x35\x4b\x2b\x0f\xa5\xbc\x83\x7e\x06\x65\x77\x7b\xa6\x8f\x5a\xb3\x28\xe6\xf0\x54\xc9"
		"\x28\xa9\x0f\x84\xb2\xd2\x50\x2e\xbf\xd3\xfb\x5a\x92\xd2\x06\x47\xef\x96\x8a\xb4\xc3\x77\x62"
		"\x3d\x22\x3d\x2e\x21\x72\x05\x2e\x4f\x08\xc0\xcd\x9a\xf5\x67\xd0\x80\xa3";
	static const char token[] =
		"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6"
		"Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
	char subject[JWT_SUBJECT_MAX], changed[sizeof(token)];

	CHECK_STR(jwt_check(token, key, 1300819379, subject), "the token does not say whom it is for");
	CHECK_STR(jwt_check(token, key, 1300819380, subject), "the token has expired");
	CHECK_STR(jwt_check(token, "another", 0, subject), "the token's signature is wrong");
	for (size_t i = 0; i < sizeof(token) - 1; i++) {
		memcpy(changed, token, sizeof(token));
		changed[i] ^= 1;
		CHECK(!strstr(jwt_check(changed, key, 0, subject), "whom"));
	}
}

static void secrets(void)
{
	CHECK(secret_equal("a", "a"));
	CHECK(!secret_equal("a", "b"));
	CHECK(!secret_equal("", ""));
	CHECK(!secret_equal(NULL, NULL));
	CHECK(!secret_equal(NULL, ""));
	CHECK(!secret_equal("a", NULL));
	CHECK(!secret_equal("a", "a "));
}

static void image_references(void)
{
	static const char *const good[] = {
		"host", "python", "python:3.12-slim", "library/python", "a.b/c", "localhost/x", "localhost:5000/x/y:z",
		"registry.example:443/a__b/c-d--e:T_1", "127.0.0.1:5000/x",
		"x@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"x:t@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	static const char *const bad[] = {
		"", "-x", "--rm", "A", "a b", "a:", "a:-x", "a::b", "/a", "a/", "a//b", "a/../b", "a___b", "a_", "_a",
		"a.", "a@", "a@sha256:12", "a:b:c", "a;b", "a\nb", "http://x", "x:/y", ":x", ".a/b:",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!image_reference_valid(good[i]))
			CHECK_STR("refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (image_reference_valid(bad[i]))
			CHECK_STR("taken", bad[i]);
}

static void all_problems_at_once(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf detail = {0};
	struct execute_request q;
	const char *text = "{\"image\":\"host\",\"command\":[\"true\"],\"cpu_cores\":-1}";

	CHECK_INT(execute_request_parse(a, text, strlen(text), &q, &detail), -EINVAL);
	CHECK_STR(detail.p, "{\"detail\":[{\"loc\":[\"body\",\"execution_id\"],\"msg\":\"Field required\","
			    "\"type\":\"missing\"},{\"loc\":[\"body\",\"cpu_cores\"],\"msg\":\"Input should be greater "
			    "than 0\",\"type\":\"greater_than\"}]}");
}

static void a_request(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf detail = {0};
	struct execute_request q;
	const char *text = "{\"execution_id\":\"x\",\"image\":\"host\",\"command\":[\"a\",\"\"],\"environment\":{\"A\":\"\"},"
			   "\"memory_mb\":64,\"later_field\":1}";

	CHECK_INT(execute_request_parse(a, text, strlen(text), &q, &detail), 0);
	CHECK_INT(q.command.n, 2);
	CHECK_STR(q.environment.v[0].key, "A");
	CHECK(q.timeout_seconds == 300 && q.cpu_cores == 0 && q.memory_mb == 64 && !q.network_access);
	CHECK_STR(q.working_directory, "/workspace");
}

static void a_snippet(void)
{
	auto_arena struct arena *a = arena_new();
	struct snippet *s = arena_new_of(a, struct snippet);
	const char *text = "{\"code\":\"x\",\"timeout_ms\":99999999,\"files\":{\"a\":\"AAE=\"},\"language\":\"sh\",\"who\":1}";
	struct err e = {0};

	CHECK_INT(snippet_parse(a, text, strlen(text), s, &e), 0);
	CHECK_INT(s->timeout_ms, 15000);
	CHECK_INT(s->language, SNIPPET_BASH);
	CHECK(s->n_files == 1 && s->files[0].data.len == 2 && s->files[0].data.p[1] == 1);
	snippet_free(s);
	text = "{\"code\":\"x\",\"files\":{\"a\":\"AAE=\",\"b\":\"?\"}}";
	CHECK_INT(snippet_parse(a, text, strlen(text), s, &e), -EINVAL);
	CHECK_STR(e.msg, "files: b is not base64");
	snippet_free(s);
}

static int check_head(const char *text, struct head *h, struct strbuf *kept)
{
	const char *why = "";

	CHECK_INT(head_length(text, strlen(text)), strlen(text));
	return head_check(text, strlen(text), h, kept, &why);
}

static void heads(void)
{
	static const struct { const char *text; int status; uint64_t body; bool upgrade; } rows[] = {
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 0, false},
		{"GET / HTTP/1.0\r\n\r\n", 0, 0, false},
		{"POST /a HTTP/1.1\r\nhost:\r\ncontent-length: \t 12 \r\n\r\n", 0, 12, false},
		{"GET /a?b HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\nConnection: a, Upgrade\r\n"
		 "Sec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\n\r\n", 0, 0, true},
		{"GET /a?b HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrades\r\n"
		 "Sec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\n\r\n", 400, 0, false},
		{"DELETE / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0, 0, false},
		{"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 405, 0, false},
		{"POST /a HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n", 400, 0, false},
		{"POST /a HTTP/1.1\r\nHost: x\r\n\r\n", 411, 0, false},
		{"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999999999999999999\r\n\r\n", 400, 0, false},
		{"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n", 400, 0, false},
		{"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n", 400, 0, false},
		{"GET / HTTP/1.1\nHost: x\r\n\r\n", 400, 0, false}, {"GET / HTTP/1.1\r\nHost: x\n\n", 400, 0, false},
		{"GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", 400, 0, false}, {"GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400, 0, false},
		{"GET / HTTP/1.1\r\nHost: x\r\nA: \x7f\r\n\r\n", 400, 0, false}, {"GET / HTTP/1.1\r\nA: b\r\n\r\n", 400, 0, false},
		{"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400, 0, false}, {"GET / x HTTP/1.1\r\nHost: x\r\n\r\n", 400, 0, false},
		{"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400, 0, false}, {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505, 0, false},
		{"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, 0, false}, {"G\xc3\xa9T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, 0, false},
		{"GET\r\n\r\n", 400, 0, false}, {"\n\n", 400, 0, false}, {"get / HTTP/1.1\r\nHost: x\r\n\r\n", 405, 0, false},
	};
	auto_strbuf struct strbuf kept = {0}, many = {0};
	struct head h;

	for (int n = 100; n <= 101; n++) {
		strbuf_adds(&many, "GET / HTTP/1.0\r\n");
		for (int i = 0; i < n; i++)
			strbuf_adds(&many, "a:\r\n");
		strbuf_adds(&many, "\r\n");
		CHECK_INT(check_head(many.p, &h, &kept), n == 100 ? 0 : 431);
		many.len = 0;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(check_head(rows[i].text, &h, &kept), rows[i].status);
		CHECK(rows[i].status || (h.body == rows[i].body && h.upgrade == rows[i].upgrade));
	}
	kept.len = 0;
	CHECK_INT(check_head("GET / HTTP/1.1\r\nHost: x\r\nupgrade: h2c\r\nHTTP2-Settings: a\r\nB: c\r\n\r\n", &h, &kept), 0);
	CHECK_STR(strbuf_str(&kept), "GET / HTTP/1.1\r\nHost: x\r\nB: c\r\n\r\n");
	CHECK_INT(head_length("GET / HTTP/1.1\r\nHost: x\r\n\r", 27), 0);
	CHECK_INT(head_length("a\r\n\r\nGET /", 10), 5);
}

TEST_MAIN(TEST(heads), TEST(base64), TEST(hmac), TEST(token_of_the_rfc), TEST(secrets), TEST(image_references),
	  TEST(all_problems_at_once), TEST(a_request), TEST(a_snippet))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets are compared by their SHA-256, in full and without branches: what the time tells is how
 * long the presented text is, which its sender knows.
 */
#include "sidecar/secret.h"

#include <string.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "base/str.h"
#include "json/json.h"
#include "sidecar/base64.h"

static bool equal_digests(const unsigned char *a, const unsigned char *b)
{
	volatile unsigned char differ = 0;

	for (size_t i = 0; i < SHA256_SIZE; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

static void digest(const char *text, unsigned char ret[SHA256_SIZE])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text, strlen(text));
	sha256_end(&s, ret);
}

bool secret_equal(const char *expected, const char *presented)
{
	unsigned char a[SHA256_SIZE], b[SHA256_SIZE];
	bool usable = expected && *expected && presented && *presented;

	digest(expected ? expected : "", a);
	digest(presented ? presented : "", b);
	return equal_digests(a, b) && usable;
}

void hmac_sha256(const char *key, const char *text, size_t n, unsigned char ret[32])
{
	unsigned char block[64] = {0}, pad[64], inner[SHA256_SIZE];
	size_t len = strlen(key);
	struct sha256 s;

	if (len > sizeof(block))
		digest(key, block);
	else
		memcpy(block, key, len);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] = block[i] ^ 0x36;
	sha256_init(&s);
	sha256_add(&s, pad, sizeof(pad));
	sha256_add(&s, text, n);
	sha256_end(&s, inner);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] = block[i] ^ 0x5c;
	sha256_init(&s);
	sha256_add(&s, pad, sizeof(pad));
	sha256_add(&s, inner, sizeof(inner));
	sha256_end(&s, ret);
}

/* ---- tokens ---- */

/* A part of the token as a JSON object; NULL when it is none. */
static const struct json *part(struct arena *a, const char *text, size_t n)
{
	auto_strbuf struct strbuf b = {0};
	const struct json *v = NULL;
	struct err e;

	if (!base64_decode(&b, text, n, BASE64_URL) ||
	    json_parse(strbuf_str(&b), b.len, a, &v, &e) < 0 || v->type != JSON_OBJECT)
		return NULL;
	return v;
}

static const char *check_claims(const struct json *claims, int64_t now, char *ret_subject)
{
	const struct json *exp = json_get(claims, "exp"), *nbf = json_get(claims, "nbf");
	const char *sub = json_get_str(claims, "sub");
	double t;

	if (!exp || json_to_f64(exp, &t) < 0)
		return "the token does not say when it expires";
	if (t <= (double)now)
		return "the token has expired";
	if (nbf && (json_to_f64(nbf, &t) < 0 || t > (double)now))
		return "the token is not valid yet";
	if (!sub || !*sub || strlen(sub) >= JWT_SUBJECT_MAX)
		return "the token does not say whom it is for";
	memcpy(ret_subject, sub, strlen(sub) + 1);
	return NULL;
}

const char *jwt_check(const char *token, const char *secret, int64_t now,
		      char ret_subject[JWT_SUBJECT_MAX])
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf signature = {0};
	const char *dot = strchr(token, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
	const struct json *head, *claims;
	unsigned char sum[SHA256_SIZE];

	if (!second || strchr(second + 1, '.'))
		return "the token is malformed";
	hmac_sha256(secret, token, (size_t)(second - token), sum);
	if (!base64_decode(&signature, second + 1, strlen(second + 1), BASE64_URL) ||
	    signature.len != sizeof(sum) || !equal_digests(sum, (const unsigned char *)signature.p))
		return "the token's signature is wrong";
	head = part(a, token, (size_t)(dot - token));
	claims = part(a, dot + 1, (size_t)(second - dot - 1));
	if (!head || !claims || !str_eq(json_get_str(head, "alg"), "HS256") || json_get(head, "crit"))
		return "the token is malformed";
	return check_claims(claims, now, ret_subject);
}

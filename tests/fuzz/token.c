/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: as they come (none is taken: the secret is unknown), and with a right signature. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "sidecar/config.h"
#include "sidecar/secret.h"

struct config config;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_base64(struct strbuf *b, const unsigned char *p, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
		size_t chars = n - i >= 3 ? 4 : n - i + 1;

		for (size_t k = 0; k < chars; k++)
			strbuf_addc(b, digits[v >> (18 - 6 * k) & 63]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_strbuf struct strbuf token = {0};
	char subject[JWT_SUBJECT_MAX] = "", *text = strndup((const char *)data, size);
	unsigned char sum[32];

	if (!jwt_check(text, "a secret that the fuzzer does not have", 1000, subject))
		abort();
	add_base64(&token, (const unsigned char *)"{\"alg\":\"HS256\"}", 15);
	strbuf_addc(&token, '.');
	add_base64(&token, data, size);
	hmac_sha256("key", token.p, token.len, sum);
	strbuf_addc(&token, '.');
	add_base64(&token, sum, sizeof(sum));
	if (!jwt_check(token.p, "key", 1000, subject) && !*subject)
		abort();
	free(text);
	return 0;
}

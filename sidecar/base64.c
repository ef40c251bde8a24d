/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/base64.h"

#include <stdint.h>
#include <string.h>

static int value_of(char c, enum base64_alphabet alphabet)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	const char *p = c ? strchr(digits, c) : NULL;

	if (p)
		return (int)(p - digits);
	if (c == (alphabet == BASE64_URL ? '-' : '+'))
		return 62;
	return c == (alphabet == BASE64_URL ? '_' : '/') ? 63 : -1;
}

bool base64_decode(struct strbuf *b, const char *text, size_t n, enum base64_alphabet alphabet)
{
	uint32_t bits = 0;
	unsigned n_bits = 0;

	if (alphabet == BASE64_STANDARD) {
		if (n % 4)
			return false;
		for (int i = 0; i < 2 && n && text[n - 1] == '='; i++)
			n--;
	}
	if (n % 4 == 1)
		return false;
	for (size_t i = 0; i < n; i++) {
		int v = value_of(text[i], alphabet);

		if (v < 0)
			return false;
		bits = bits << 6 | (uint32_t)v;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			strbuf_addc(b, (char)(bits >> n_bits));
			bits &= (1u << n_bits) - 1;
		}
	}
	return bits == 0;
}

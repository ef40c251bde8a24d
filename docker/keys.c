/* SPDX-License-Identifier: Apache-2.0 */
/* The keys by which one leaves a container's terminal. */
#include <errno.h>
#include <string.h>

#include "docker/attach.h"

static int parse_key(const char *s, size_t n)
{
	static const char special[] = "@[\\]^_";
	const char *p;

	if (n == 1)
		return (unsigned char)*s;
	if (n != 6 || strncmp(s, "ctrl-", 5) != 0)
		return -1;
	if (s[5] >= 'a' && s[5] <= 'z')
		return s[5] - 'a' + 1;
	p = strchr(special, s[5]);
	return !p ? -1 : *p == '@' ? 0 : (int)(p - special) + 26;
}

int dk_parse_keys(struct dk_context *c, const char *text, struct dk_keys *ret, struct err *e)
{
	struct dk_keys k = {.n = 0};
	const char *p = text && *text ? text : "ctrl-p,ctrl-q";

	while (*p) {
		size_t n = strcspn(p, ",");
		int key;

		n = n ? n : 1; /* a comma by itself */
		key = parse_key(p, n);
		if (key < 0 || k.n == DK_KEYS_MAX)
			return dk_error(c, e, EINVAL, "invalid detach keys (%s) provided", text);
		k.v[k.n++] = (unsigned char)key;
		p += n;
		p += *p == ',';
	}
	*ret = k;
	return 0;
}

bool dk_keys_type(const struct dk_keys *k, size_t *held, struct dk_bytes typed, struct strbuf *out)
{
	for (size_t i = 0; i < typed.n; i++) {
		if (k->n && typed.p[i] == k->v[*held]) {
			if (++*held == k->n)
				return true;
			continue;
		}
		strbuf_add(out, k->v, *held);
		*held = k->n && typed.p[i] == k->v[0];
		if (!*held)
			strbuf_add(out, &typed.p[i], 1);
		else if (k->n == 1)
			return true;
	}
	return false;
}

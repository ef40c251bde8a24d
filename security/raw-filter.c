/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp program that the caller has compiled: the annotation run.oci.seccomp_bpf_data, which crun
 * brought in, holds the instructions in base64. It stands in for linux.seccomp. The kernel checks it.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "security/internal.h"

static int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* The number of bytes, or -EINVAL. ret has room for 3 for each 4 characters. */
static ssize_t decode(const char *text, unsigned char *ret)
{
	size_t n = strlen(text), have = 0;

	if (n % 4)
		return -EINVAL;
	for (size_t i = 0; i < n; i += 4) {
		bool last = i + 4 == n;
		int pad = last && text[i + 3] == '=' ? 1 + (text[i + 2] == '=') : 0;
		uint32_t bits = 0;

		for (int k = 0; k < 4; k++) {
			int d = k >= 4 - pad ? 0 : digit(text[i + (size_t)k]);

			if (d < 0)
				return -EINVAL;
			bits = bits << 6 | (uint32_t)d;
		}
		for (int k = 0; k < 3 - pad; k++)
			ret[have++] = (unsigned char)(bits >> (16 - 8 * k));
	}
	return (ssize_t)have;
}

int sec_filter_raw(struct arena *a, const char *text, const struct sec_filter **ret, struct err *e)
{
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	unsigned char *bytes = arena_alloc(a, strlen(text) / 4 * 3 + 1);
	ssize_t n = decode(text, bytes);

	if (n <= 0 || (size_t)n % sizeof(struct sock_filter) ||
	    (size_t)n / sizeof(struct sock_filter) > BPF_MAXINSNS)
		return err_set(e, EINVAL, "annotations." SEC_RAW_ANNOTATION ": it is not the base64 of 1 to %d BPF "
			       "instructions", BPF_MAXINSNS);
	f->insns = (const struct sock_filter *)bytes;
	f->n = (unsigned short)((size_t)n / sizeof(struct sock_filter));
	*ret = f;
	return 0;
}

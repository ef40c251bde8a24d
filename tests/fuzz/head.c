/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of requests: what is passed on is a head by itself, and the same when it is looked at again. */
#include <stdlib.h>
#include <string.h>

#include "sidecar/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *why = NULL;
	auto_strbuf struct strbuf kept = {0}, again = {0};
	size_t n = head_length(text, size);
	struct head h, same;

	if (n > size)
		abort();
	if (!n || head_check(text, n, &h, &kept, &why)) {
		if (n && (!why || !*why))
			abort();
		return 0;
	}
	if (kept.len > n || memchr(kept.p, '\0', kept.len) || head_length(kept.p, kept.len) != kept.len)
		abort();
	for (size_t i = 0; i < kept.len; i++)
		if ((kept.p[i] == '\n') != (i > 0 && kept.p[i - 1] == '\r'))
			abort();
	if (head_check(kept.p, kept.len, &same, &again, &why) || same.body != h.body ||
	    same.upgrade != h.upgrade || again.len != kept.len || memcmp(again.p, kept.p, kept.len) != 0)
		abort();
	return 0;
}

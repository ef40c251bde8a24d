/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/page.h"

static const char page[] = {
#include "sidecar/page.inc"
};

/* The page's own style and script are inline; nothing may come from elsewhere, and nobody may frame it. */
void page_show(struct conn *c)
{
	conn_reply(c, &(struct reply){
		.status = 200, .type = "text/html; charset=utf-8", .body = page, .len = sizeof(page),
		.headers = "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; "
			   "script-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ws: wss:; "
			   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
			   "referrer-policy: no-referrer\r\n"});
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may use WebSockets and fetch files. With a token secret: whoever has a token. Without one:
 * peers of this machine, by a name of this machine in Host (a page of somebody else whose name
 * leads here has another), and from no page but our own.
 */
#pragma once

#include "sidecar/server.h"

/* NULL and c->subject is set, or why not and the status. */
const char *access_check(struct conn *c, int *ret_status);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between a client and the HTTP library: the library gets one end of a socket pair, and what
 * comes from the client goes there only when it is the whole head of a request that head.c has nothing
 * against, or of the body that this head announced, or of a WebSocket that has been opened. So the
 * library never decides where a request ends. Nor does it ever have two: with the next one behind a request
 * that is not answered yet, libwebsockets 4.1.6 spins, and reads memory that it has freed. Time for heads and bodies, and the number of connections,
 * in all and of one peer, are limited here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* group: who shares a limit with him. */
struct guard_peer { char name[64], group[64]; bool local; };

/* A new connection, which is taken over; adopt gets the library's end, to be closed by whoever has it. */
void guard_accept(int client, bool (*adopt)(int fd));
/* The peer behind the library's end. */
void guard_describe(int fd, struct guard_peer *ret);
/* The request that is being answered is the last of its connection. */
bool guard_is_last(int fd);
/* The answer is written: the next request may come, when all of it is here. */
void guard_answered(int fd);
/* The library is closed: sends what it has left behind, for a moment at most, and closes all. */
void guard_close(void);

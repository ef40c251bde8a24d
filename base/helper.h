/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are started to do one thing, and say on a pipe why they cannot: pasta, nft. */
#pragma once

struct err;

/*
 * Sets an error (EIO) with the last line that the program wrote to says (a pipe, not blocking), but for
 * those about the system log, which programs without a log complain of. what: "ports: pasta". Where a line
 * about a tun device is behind it, the permissions of /dev/net/tun are looked at: pasta opens it without
 * privileges. Returns -EIO.
 */
int helper_failed(int says, const char *what, struct err *e);

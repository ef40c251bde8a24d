/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets: those that systemd passes (LISTEN_FDS), else those of config.listen. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* accepted: gets each connection, close-on-exec; it owns it. */
int listen_open(void (*accepted)(int fd), struct err *e);
/* False while no more connections can be taken: they wait in the kernel. */
void listen_accept(bool on);
void listen_close(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of a container: a pty of its own devpts. INIT opens it and sends the master over a
 * unix socket: that of --console-socket, or one to `brig run`, which then copies between the
 * caller's terminal and the master.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "rootfs/rootfs.h"
#include "spec/oci.h"

/* Connects to the AF_UNIX stream socket at path (also longer than 107 bytes). The fd or -errno. */
int console_connect(const char *path, struct err *e);

/*
 * INIT, after rootfs_devices: opens the pty, binds it over /dev/console, sends the master over
 * `socket`, and makes the peer the controlling terminal. Returns the peer (close-on-exec); owner:
 * the uid of the process.
 */
int console_open(struct rootfs_plan *rootfs, const struct oci_console_size *size, uid_t owner,
		 int socket, struct err *e);

/* The first half of console_open: a new pty of the devpts below root (an fd), of the given size, else of that of
 * our standard input. Returns the peer, which is not yet the controlling terminal. */
int console_make(int root, const struct oci_console_size *size, uid_t owner, int *ret_master,
		 struct err *e);
/* Sends fd with the text `name` over a unix socket. */
int console_send(int socket, int fd, const char *name, struct err *e);

/* The master that INIT sent over the other end of a socket pair. */
int console_receive(int socket, struct err *e);

/*
 * Foreground: copies between our stdin/stdout and the master until pidfd (the container) ends;
 * our terminal is in raw mode meanwhile. Signals from sigfd are sent on; SIGWINCH resizes.
 */
int console_relay(int master, int sigfd, int pidfd, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of an attachment to a container with a monitor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "docker/cli.h"

enum { DK_DETACHED = -2, DK_KEYS_MAX = 32 };

struct dk_keys { unsigned char v[DK_KEYS_MAX]; size_t n; };
/* "ctrl-p,ctrl-q", "a,b"; "" none; NULL: the default. -EINVAL in Docker's words. */
int dk_parse_keys(struct dk_context *c, const char *text, struct dk_keys *ret, struct err *e);

struct dk_bytes { const unsigned char *p; size_t n; };
/* What is typed, to be sent on in *out: the beginning of the keys is held back until it is clear what it
 * is (*held: how many of them). True: they were typed. */
bool dk_keys_type(const struct dk_keys *k, size_t *held, struct dk_bytes typed, struct strbuf *out);

struct dk_attachment {
	int socket;        /* connected; owned */
	bool tty, input, output, error;
	bool proxy;        /* signals are sent on; else they end us */
	struct dk_keys keys; /* n == 0: none */
};

/*
 * Until the container has ended: its exit code; DK_DETACHED when the keys were typed; -errno. The
 * terminal is as before when it returns.
 */
int dk_attach(struct dk_attachment *a, struct err *e);

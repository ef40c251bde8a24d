/* SPDX-License-Identifier: Apache-2.0 */
/* A client in front of a monitor: for terminals, which one may detach from. */
#pragma once

#include "docker/attach.h"
#include "docker/container.h"

/* Starts k with a monitor, attached from the beginning and for as long as the container lives; the exit
 * code, 0 after detaching. -errno as dk_run_attached. */
int dk_run_monitored(struct dk_container *k, const struct dk_keys *keys, struct err *e);

struct dk_attach_how { bool no_stdin, proxy; const struct dk_keys *keys; };
/* To a container that runs. */
int dk_attach_running(struct dk_context *c, const struct dk_record *r, const struct dk_attach_how *how,
		      struct err *e);

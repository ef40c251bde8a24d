/* SPDX-License-Identifier: Apache-2.0 */
/* The process that answers for a container without a client, or with one at a terminal. */
#pragma once

#include "docker/container.h"

/*
 * Starts k in the background: a new process owns it, restarts it as its policy says, and ends with it.
 * Returns when the container runs. *k is not ours any more, also on failure (*e is an engine error, and has
 * been written down or the container removed).
 *
 * client: a socket of which the other end is attached from the beginning, and with which the
 * container dies; -1: none. It is taken.
 */
int dk_start_detached(struct dk_container *k, int client, struct err *e);

/* [life]: what a monitor does beside, for healthchecks; weak. NULL: nothing. */
struct dk_station_task;
__attribute__((weak)) struct dk_station_task *dk_health_task(struct dk_container *k);

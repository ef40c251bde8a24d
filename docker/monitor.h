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

/* Gives memory back: code and constants, which are not needed again soon; what is, comes back from the page
 * cache. */
void dk_monitor_shed(void);

/* What a monitor does beside, for healthchecks (docker/health-monitor.c); NULL: nothing. For each start. */
struct dk_station_task;
struct dk_station_task *dk_health_task(struct dk_container *k);
/* The container has ended: a probe that is at work is killed, and writes nothing any more. */
void dk_health_end(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* Running a container in the foreground, without a terminal: this process answers for it. */
#pragma once

#include "docker/container.h"

/*
 * Starts k, passes signals on, waits for the end, writes it down; the exit code. The container's streams are
 * ours where they are attached; where output has to be kept as well (no --rm), it goes through us.
 * -errno: the start failed (*e is an engine error), and has been written down or removed.
 */
int dk_run_attached(struct dk_container *k, struct err *e);

/* The exit code of `run` for an error of the start: 127, 126 or 125, by its words. */
int dk_start_exit_code(const char *msg);

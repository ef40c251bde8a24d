/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The WebSocket /session: one sandbox for as long as it lasts. The first message decides what is in
 * it: {"code": ...} a Python interpreter whose variables stay, {"action": "shell_command"...} or any
 * other action a shell on a terminal.
 */
#pragma once

#include "sidecar/server.h"

void session_opened(struct conn *c);
void session_message(struct conn *c);

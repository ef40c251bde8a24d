/* SPDX-License-Identifier: Apache-2.0 */
/* Two brig-image processes with a pipe between them. */
#pragma once

#include "docker/image-program.h"

/* 0 when both were well; else 1, with the message of the one that failed first on stderr. prefix: in front
 * of the second one's message; may be NULL. */
int dk_run_pair(struct dk_context *c, const struct strv *from, const struct strv *into, const char *prefix,
		struct err *e);

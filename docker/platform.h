/* SPDX-License-Identifier: Apache-2.0 */
/* `--platform OS[/ARCH[/VARIANT]]`: parsed as Docker does, and compared with an image's. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct dk_platform { const char *os, *architecture, *variant; /* NULL: not said */ };

/* -EINVAL with Docker's words. */
int dk_platform_parse(struct arena *a, const char *text, struct dk_platform *ret, struct err *e);
/* Does an image of this os and architecture (NULL: this machine's) answer for the platform? */
bool dk_platform_is(const struct dk_platform *p, const char *os, const char *architecture);
/* This machine's architecture in Go's words: amd64, arm64. */
const char *dk_machine(void);

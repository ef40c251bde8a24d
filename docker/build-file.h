/* SPDX-License-Identifier: Apache-2.0 */
/* Which images a Dockerfile builds on. */
#pragma once

#include "base/arena.h"
#include "base/types.h"

/*
 * The names behind FROM, and behind "from=" of COPY and RUN, that are no stage of the file itself; each
 * once, in the order of the file. given: --build-arg; env: for those without a value. What cannot be
 * read is left out: the builder says what is wrong with it.
 */
struct strv dk_build_images(struct arena *a, const char *text, const struct strv *given, char **env);

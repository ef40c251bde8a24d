/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about this program and the machine, for version and info. */
#pragma once

#include "docker/value.h"

/* "amd64" of "x86_64", as Go has it. */
const char *dk_go_arch(struct arena *a);
const char *dk_kernel_version(struct arena *a);
/* There is no Go in it. */
#define DK_GO_VERSION "none"

/* SPDX-License-Identifier: Apache-2.0 */
/* brig-image shuts itself in before it looks at an archive. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/*
 * From here on this process and its threads can open and change only what is below the given
 * directories (Landlock, Linux 5.19), make only the system calls that unpacking and packing take (seccomp),
 * execute nothing and gain no privileges. The first directory is its root, and each is cut off from what is
 * above it, if the process may do so: root, and root of a user namespace. What the kernel does not have is left out: the checks while
 * unpacking hold by themselves. Descriptors that are open stay so.
 */
int img_confine(const int *dirs, size_t n, struct err *e);

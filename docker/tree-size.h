/* SPDX-License-Identifier: Apache-2.0 */
/* How much is in a directory. */
#pragma once

#include <stdint.h>

/* The bytes of all regular files below path, each inode once where it has several names; what cannot be
 * read counts nothing, and neither do other file systems. */
uint64_t dk_tree_size(const char *path);

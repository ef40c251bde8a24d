/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by the processor's own instructions; private to base/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Whole blocks from the front of data; how many it did, 0 where the processor cannot. */
size_t sha256_fast_blocks(uint32_t h[8], const unsigned char *data, size_t n,
			  const uint32_t constants[64]);

/* SPDX-License-Identifier: Apache-2.0 */
/* Which containers have which volumes, by their records. */
#pragma once

#include "docker/record.h"
#include "docker/volume.h"

struct dk_volume_user { const char *volume, *container; };
struct dk_volume_users { struct dk_volume_user *v; size_t n; };
int dk_volume_users(struct dk_context *c, struct dk_volume_users *ret, struct err *e);
size_t dk_volume_links(const struct dk_volume_users *l, const char *volume);

/* SPDX-License-Identifier: Apache-2.0 */
/* What `update` changes: new limits laid over those that the container was made with. */
#pragma once

#include "base/arena.h"
#include "spec/oci.h"

/*
 * *saved becomes what the container has afterwards. The result is what is to be written: the groups
 * that `with` mentions, memory and cpu filled up from *saved, because their members depend on each
 * other (swap on the limit, quota on the period). A zero in a member of memory and cpu counts as
 * absent, as in config.json. Device rules are left out: they are not to be changed while a
 * container runs.
 */
struct oci_resources *update_merge(struct arena *a, struct oci_resources *saved,
				   const struct oci_resources *with);

/* SPDX-License-Identifier: Apache-2.0 */
/* `brig-image save`: an archive that docker, podman, skopeo and umoci read. Only in brig-image. */
#pragma once

#include "image/store.h"

/* names: what is to be in it, as the user wrote it; a name without tag means all tags of it. */
int img_save(const struct img_store *s, const struct strv *names, int out, struct err *e);

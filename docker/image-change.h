/* SPDX-License-Identifier: Apache-2.0 */
/* --change of import and commit: instructions of a Dockerfile onto an image's configuration. */
#pragma once

#include "docker/cli.h"
#include "image/image.h"

/* All of them in order; Docker's texts without "Error response from daemon: ". */
int dk_image_change(struct arena *a, const struct strv *changes, struct img_config *config, struct err *e);

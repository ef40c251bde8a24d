/* SPDX-License-Identifier: Apache-2.0 */
/* What brig-image is told of an image that it makes (import, commit). */
#pragma once

#include "docker/cli.h"
#include "image/image.h"

struct dk_image_document {
	const struct img_config *config;
	const char *author, *comment, *created_by;
};
/* As a file for the child (dk_text_file); the fd. */
int dk_image_document(struct dk_context *c, const struct dk_image_document *d, char **ret_path, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `system df -v`: each is printed by the file that has the list command's columns. */
#pragma once

#include "docker/cli.h"

int dk_print_image_usage(struct dk_context *c, struct err *e);
int dk_print_container_usage(struct dk_context *c, struct err *e);
int dk_print_volume_usage(struct dk_context *c, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens besides when a container starts and ends: its networks and volumes have events of their own.
 * All of one moment are one write.
 */
#pragma once

#include "docker/record.h"

/* "start", behind that it has been connected and that volumes have been mounted. */
void dk_events_of_start(const struct dk_store *s, const struct dk_record *r);
/* "die", and that it is disconnected and volumes are not mounted any more. */
void dk_events_of_end(const struct dk_store *s, const struct dk_record *r, int exit_code);

/* "connect" or "disconnect" of a network that is not the container's own end or start. */
void dk_network_event(const struct dk_roots *roots, const char *action, const struct dk_network_def *d,
		      const char *container);
/* Of an image; name as Docker has it: its id, or a name for "tag" and "pull". NULL labels: of the image
 * with that id, if there is one. */
void dk_image_event(const struct dk_roots *roots, const char *action, const char *id, const char *name,
		    const struct str_map *labels);

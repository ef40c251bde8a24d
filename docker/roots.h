/* SPDX-License-Identifier: Apache-2.0 */
/* Where records are kept and where run-time state is: the store fills it in (docker/store.h). */
#pragma once

struct dk_roots {
	const char *data; /* absolute: /var/lib/brig, $XDG_DATA_HOME/brig, BRIG_DOCKER_DATA */
	const char *run;  /* absolute: /run/brig, $XDG_RUNTIME_DIR/brig, BRIG_DOCKER_RUN */
};

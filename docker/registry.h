/* SPDX-License-Identifier: Apache-2.0 */
/* skopeo, which talks to registries: what pull, push and login have in common. */
#pragma once

#include "docker/image-program.h"

/* "--authfile FILE" of the docker configuration ($DOCKER_CONFIG, ~/.docker), if it is there or `make`. */
void dk_registry_auth(struct dk_context *c, struct strv *argv, bool make);
/* A registry on this machine is spoken to without TLS, as Docker does. */
bool dk_registry_is_local(const char *domain);
/* Runs skopeo; a failure is Docker's "Error response from daemon: ..." with skopeo's own reason. */
int dk_run_skopeo(struct dk_context *c, const struct strv *argv, struct strbuf *captured, struct err *e);
/* A new private directory for one transfer, and away with it. */
int dk_scratch(struct dk_context *c, char **ret_path, struct err *e);
void dk_scratch_remove(const char *path);

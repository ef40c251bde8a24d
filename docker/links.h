/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--link NAME[:ALIAS]`: the other container's address under that name in /etc/hosts, as it is at the
 * start. In the network "bridge" variables besides, which say what it listens on and what its own are.
 */
#pragma once

#include "docker/container.h"

/* When a container is made: those that are named exist. Engine errors. */
int dk_links_check(struct dk_context *c, const struct dk_run_options *o, struct err *e);
/* At a start, behind dk_network_prepare: adds "ALIAS:ADDRESS" to hosts and the variables to env. */
int dk_links_add(struct dk_container *k, struct strv *hosts, struct strv *env, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker rename` reserves the new name, writes the record and gives up the old name. While it does so
 * there is a mark, RUN/docker-run/.rename-ID, that it holds a lock on; a mark that nobody holds means that
 * it was killed in between, and the container may have two names.
 */
#pragma once

#include "docker/store.h"

/* Waits for another rename of the container. A descriptor, or an error. */
int dk_rename_mark(const struct dk_store *s, const char *id, struct err *e);
void dk_rename_unmark(const struct dk_store *s, const char *id, int mark);

/* entry: a name in RUN/docker-run. Those that are no mark are passed over. */
void dk_rename_repair(const struct dk_store *s, const char *entry);
/* Of all containers: the first command since the machine was started, when the marks have gone. */
void dk_rename_repair_all(const struct dk_store *s);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of the standard streams. Opening /dev/stdout again (nginx's log file, a shell's
 * >/dev/stderr) is checked against the owner of the pipe behind it, which is who called us: a payload
 * with another uid, or in a user namespace where the caller's uid does not exist, would be refused. So
 * pipes get the payload's uid, as under runc and crun. Files, devices and sockets keep their owner:
 * they may be the caller's own, and nothing needs it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "spec/oci.h"

/* The id outside of the user namespace with these maps (none: the same id); false when unmapped. */
bool stdio_host_uid(const struct oci_id_mapping_list *maps, uid_t uid, uid_t *ret_uid);
/*
 * fds: of the three streams, -1 for the stream's own number. Who may not give a pipe of its own away
 * (without root) makes it open for all. That we may neither is no error: it is so where ids are not
 * mapped.
 */
int stdio_own(const int fds[3], uid_t uid, struct err *e);

/*
 * In the container, before the exec: streams that are /dev/null become the container's own, whose node cannot be
 * changed through it. Only what is char 1:3 is replaced, and only by what is (CVE-2026-88265); where the container
 * has none they stay.
 */
void stdio_use_own_null(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own executable and the container (CVE-2019-5736). A process that joins a container, and the
 * first process of a new one, is a copy of brig until its exec, and "#!/proc/self/exe" makes even
 * the exec lead to brig's file: processes of the container can get hold of it by /proc/PID/exe and
 * write to it once nobody runs it (Linux 6.11 and 6.12 at any time). Being undumpable closes the
 * first way only to those without CAP_SYS_PTRACE, and not the second one.
 *
 * So where the ids of the container may write the file, brig runs itself again before it joins or
 * makes it, from a file that nobody can write: the same one through a detached read-only mount of
 * its own (no copy; no mount table that anybody could change has it), or without the privilege for
 * that, a sealed copy in memory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "spec/oci.h"

/* Whether ids of the container with the first process `pid` could write our executable. own_userns:
 * it has a user namespace that is not ours. */
bool self_is_exposed(int procfs, pid_t pid, bool own_userns);
/* The same for a container that is to be made; no mappings: it has no user namespace of its own. */
bool self_is_exposed_to(const struct oci_id_mapping_list *uids);
/* Nobody can write the file we run from: self_protect has been at work, or it is on a read-only mount. */
bool self_is_safe(void);
/*
 * Returns 0 when nobody can write the file we run from; else executes it again in such a way with
 * argv. Before anything is read that cannot be read again. -errno on failure.
 */
int self_protect(char **argv, struct err *e);

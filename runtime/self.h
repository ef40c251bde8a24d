/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own executable and the container (CVE-2019-5736). A process that joins a container, and the
 * first process of a new one, is a copy of brig until its exec, and "#!/proc/self/exe" makes even
 * the exec lead to brig's file: processes of the container can get hold of it by /proc/PID/exe and
 * write to it once nobody runs it (Linux 6.11 and 6.12 at any time). Being undumpable closes the
 * first way only to those without CAP_SYS_PTRACE, and not the second one.
 *
 * So where the ids of the container may write the file, brig's executable becomes one that nobody
 * can write before it joins or makes it: the same file through a detached read-only mount of its own (no
 * copy; no mount table that anybody could change has it), by mapping it again, or where that is not
 * possible, by an exec. Without the privilege for such a mount it is a sealed copy in memory.
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
/* The same for another program; a container with these ids cannot write it by /proc/PID/exe. */
bool self_is_program_safe(int fd, const struct oci_id_mapping_list *uids);
/* Another descriptor of the program by which nobody can write it. */
int self_protect_program(int fd, struct err *e);
/*
 * self-remap.c: makes fd (readable, the same inode) this process's executable without an exec. argv
 * as of main. No other thread may use memory but its stack. -errno, with everything working as before, when it cannot be.
 */
int self_become(int fd, char *const *argv);
/* False: not in this build, self_protect has to exec. */
bool self_can_become(void);
/*
 * Returns 0 when nobody can write the file we run from, which it may have to be executed again for,
 * with argv: so before anything is read that cannot be read again. -errno on failure.
 *
 * *ret_mount (may be NULL): -1, or the detached mount that the file is on now. The last close of it waits
 * for a grace period of the kernel's, 0.1 to 0.4 ms, and must come before a container can reach the file:
 * until then the mount can be made writable.
 */
int self_protect(char **argv, int *ret_mount, struct err *e);

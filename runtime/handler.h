/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.oci.handler: a program of the host (a WebAssembly engine, an emulator) runs what the container
 * has as its program: argv is the handler's name and then process.args.
 *
 * The name is looked up in one directory, which the caller of brig names and config.json does not. It
 * is opened before the container exists and executed by that descriptor as the last step, so the
 * handler has no more rights than the program would have. Its loader and libraries are those of the
 * container, as the kernel looks for them there: a static program needs none.
 *
 * The container sees the handler as /proc/PID/exe (CVE-2019-5736). Where its ids could write the file
 * it gets a read-only mount of it, or a sealed copy (self.h).
 */
#pragma once

#include "base/err.h"
#include "spec/oci.h"

#define HANDLER_ANNOTATION "run.oci.handler"
#define HANDLER_DEFAULT_DIR BRIG_LIBEXECDIR "/handlers"

/* The descriptor. uids: the mappings of the new user namespace; n == 0: there is none of its own. */
int handler_open(const char *dir, const char *name, const struct oci_id_mapping_list *uids, struct err *e);
/* Only returns on failure. */
int handler_exec(int fd, char **argv, char **envp, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths inside a directory that somebody hostile filled (a rootfs): resolved once, in-root, to an
 * fd, and only the fd is used afterwards (CVE-2021-30465, CVE-2024-45310, CVE-2026-41579 class).
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/*
 * Opens path below root with openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS): links stay inside
 * of root, as if it were '/'. flags as for open(2), O_CLOEXEC is added. The fd or -errno.
 */
int path_open_in_root(int root, const char *path, int flags, struct err *e);

/* What path_make_in_root makes when the last component does not exist. */
enum path_kind { PATH_DIR, PATH_FILE };

/*
 * The same for a mount target: missing components are made one by one (mkdirat/mknodat on
 * O_PATH fds, mode 0755 for directories, an empty 0644 file for the last one with PATH_FILE).
 * Returns an O_PATH fd of the target; -EROFS, -EACCES... name the component. A ".." in the part
 * that does not exist is refused. A dangling link as a component is refused.
 */
int path_make_in_root(int root, const char *path, enum path_kind kind, struct err *e);

/* Lexically clean absolute copy of path into buf ("/a//b/../c/" -> "/a/c"); -ENAMETOOLONG. */
int path_clean(const char *path, char *buf, size_t size);

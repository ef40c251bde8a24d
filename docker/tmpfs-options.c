/* SPDX-License-Identifier: Apache-2.0 */
/* Which options --tmpfs takes: mount flags, propagation, and those of the file system. */
#include "docker/tmpfs-options.h"

#include <string.h>

#include "base/str.h"
#include "docker/lists.h"

static const char *const flags[] = {
	"defaults", "ro", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async",
	"dirsync", "remount", "mand", "nomand", "atime", "noatime", "diratime", "nodiratime", "bind",
	"rbind", "unbindable", "runbindable", "private", "rprivate", "shared", "rshared", "slave",
	"rslave", "relatime", "norelatime", "strictatime", "nostrictatime", NULL,
};
static const char *const values[] = {"mode", "uid", "gid", "size", "nr_blocks", "nr_inodes", "mpol", NULL};

char *dk_bad_tmpfs_option(struct arena *a, const char *options)
{
	for (const char *s = options; *options; s++) {
		size_t n = strcspn(s, ","), k;
		char *option = arena_strndup(a, s, n), *name;

		k = strcspn(option, "=");
		name = arena_strndup(a, option, k);
		if (str_index(option[k] ? values : flags, name) < 0)
			return option[k] ? arena_printf(a, "invalid tmpfs option [%s %s]", dk_quoted(a, name),
							dk_quoted(a, option + k + 1))
					 : arena_printf(a, "invalid tmpfs option [%s]", dk_quoted(a, name));
		s += n;
		if (!*s)
			break;
	}
	return NULL;
}

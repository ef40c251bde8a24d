/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/annotations.h"

#include <errno.h>

#include "base/str.h"
#include "runtime/listener.h"
#include "security/security.h"

static const struct { const char *key, *why; } refused[] = {
	{"run.oci.seccomp.plugins", "code is not loaded into brig; use linux.seccomp.listenerPath"},
	{"run.oci.systemd.force_cgroup_v1", "there is no such mount"},
};

int annotations_check(const struct oci_spec *s, struct err *e)
{
	const char *strict;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (str_map_get(&s->annotations, refused[i].key))
			return err_set(e, ENOTSUP, "annotations.%s is not supported: %s", refused[i].key,
				       refused[i].why);
	strict = str_map_get(&s->annotations, "run.oci.seccomp_fail_unknown_syscall");
	if (strict && !str_eq(strict, "0") && s->linux_ && s->linux_->seccomp &&
	    sec_filter_check_names(s->linux_->seccomp, e) < 0)
		return -e->code;
	if (str_map_get(&s->annotations, SEC_RAW_ANNOTATION) && s->linux_ && listener_wanted(s->linux_->seccomp))
		return err_set(e, EINVAL, "annotations." SEC_RAW_ANNOTATION ": it stands in for linux.seccomp, which has a "
					  "listener");
	return 0;
}

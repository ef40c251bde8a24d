/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/annotations.h"

#include <errno.h>

#include "base/str.h"
#include "runtime/listener.h"
#include "security/security.h"

static const struct { const char *key, *why; } refused[] = {
	{"run.oci.handler", "there is no virtual machine and no WebAssembly engine here"},
	{"run.oci.seccomp.plugins", "code is not loaded into brig; use linux.seccomp.listenerPath"},
	{"run.oci.seccomp.receiver", "use linux.seccomp.listenerPath"},
	{"run.oci.systemd.force_cgroup_v1", "there is no such mount"},
	{"run.oci.systemd.subgroup", "the cgroup below the scope is named container"},
	{"run.oci.delegate-cgroup", "mount the cgroup writable in a cgroup namespace instead"},
};

int annotations_check(const struct oci_spec *s, struct err *e)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (str_map_get(&s->annotations, refused[i].key))
			return err_set(e, ENOTSUP, "annotations.%s is not supported: %s", refused[i].key,
				       refused[i].why);
	if (str_map_get(&s->annotations, SEC_RAW_ANNOTATION) && s->linux_ && listener_wanted(s->linux_->seccomp))
		return err_set(e, EINVAL, "annotations." SEC_RAW_ANNOTATION ": it stands in for linux.seccomp, which has a "
					  "listener");
	return 0;
}

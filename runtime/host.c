/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/idmap.h"

/* True when all the capabilities are effective in our own user namespace. */
static bool have_capabilities(uint64_t wanted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	if (syscall(SYS_capget, &h, d) < 0)
		return false;
	return ((d[0].effective | (uint64_t)d[1].effective << 32) & wanted) == wanted;
}

/* An unprivileged caller's subordinate ids: the first range of each, and the helpers. */
static void find_subids(struct rt_host *h)
{
	char name[256];
	struct ns_user user = {.uid = h->euid};
	struct ns_subid u, g;
	struct err e = {0};

	if (access("/usr/bin/newuidmap", X_OK) < 0 || access("/usr/bin/newgidmap", X_OK) < 0)
		return;
	if (ns_user_name(h->euid, name, sizeof(name), &e) > 0)
		user.name = name;
	if (ns_subids("/etc/subuid", &user, &u, 1, &e) < 1 ||
	    ns_subids("/etc/subgid", &user, &g, 1, &e) < 1)
		return;
	h->subuid = (struct oci_id_mapping){0, u.start, u.count};
	h->subgid = (struct oci_id_mapping){0, g.start, g.count};
	h->have_subids = true;
}

/* `unshare -U` alone leaves us root in a mount namespace that is the host's. */
static bool may_copy_mounts(const struct rt_host *h)
{
	auto_close int fd = -1;

	if (!h->privileged || h->initial_userns)
		return h->privileged;
	fd = open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return fd >= 0 || errno != EPERM;
}

static bool is_setgroups_denied(int procfs)
{
	char word[16];
	struct err ignored = {0};

	return procfs_read(procfs, "self/setgroups", word, sizeof(word), &ignored) > 0 && str_eq(word, "deny");
}

int rt_host_probe(struct arena *a, struct rt_host *ret, struct err *e)
{
	auto_close int procfs = procfs_open(e);
	struct rt_host h = {.euid = geteuid(), .egid = getegid()};
	int r;

	if (procfs < 0)
		return procfs;
	h.privileged = have_capabilities(1ull << CAP_SYS_ADMIN | 1ull << CAP_SETUID | 1ull << CAP_SETGID);
	h.initial_userns = procfs_initial_userns();
	h.may_copy_mounts = may_copy_mounts(&h);
	h.setgroups_denied = !h.initial_userns && is_setgroups_denied(procfs);
	if (!h.privileged)
		find_subids(&h);
	r = sec_host_probe(&h.security, e);
	if (r == 0)
		r = cg_probe(a, &h.cgroups, e);
	if (r < 0)
		return err_wrap(e, "probe the host");
	h.procfs = take_fd(&procfs);
	*ret = h;
	return 0;
}

void rt_host_close(struct rt_host *h)
{
	cleanup_close(&h->procfs);
	cg_host_close(&h->cgroups);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone3 has one errno for many causes. On the error path there is time to find out which: a table
 * of causes, each with the errnos that it shows as, a test and a sentence with the fix. The first
 * one that applies is told.
 */
#include "nsenter/spawn_error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sys.h"
#include "nsenter/ns.h"

static bool file_is(const char *path, const char *value)
{
	char buf[32];

	return io_read_small(AT_FDCWD, path, buf, sizeof(buf)) > 0 && strcmp(buf, value) == 0;
}

static bool no_user_namespaces(void)
{
	return access("/proc/self/ns/user", F_OK) < 0 && access("/proc/self/ns/mnt", F_OK) == 0;
}

static bool max_is_zero(void)
{
	return file_is("/proc/sys/user/max_user_namespaces", "0");
}

static bool debian_switch_is_off(void)
{
	return geteuid() != 0 && file_is("/proc/sys/kernel/unprivileged_userns_clone", "0");
}

/* Only programs without a profile are restricted. */
static bool apparmor_restricts(void)
{
	return geteuid() != 0 &&
	       file_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") &&
	       file_is("/proc/self/attr/apparmor/current", "unconfined");
}

/* The kernel refuses user namespaces to a process whose root is not that of its mount namespace.
 * The root of a mount namespace is a mount point, so a root that is no mount point tells. */
static bool in_chroot(void)
{
	struct statx sx;

	if (statx(AT_FDCWD, "/", 0, STATX_TYPE, &sx) < 0)
		return false;
	return (sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       !(sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool pids_limited(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_NPROC, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

static bool always(void)
{
	return true;
}

static const struct cause {
	int codes[4];
	bool (*applies)(void);
	const char *text;
} causes[] = {
	{{EINVAL}, no_user_namespaces,
	 "this kernel has no user namespaces (CONFIG_USER_NS): another kernel is needed"},
	{{ENOSPC, EPERM, EUSERS}, max_is_zero,
	 "user namespaces are switched off: sysctl -w user.max_user_namespaces=15000"},
	{{EPERM, EACCES}, debian_switch_is_off,
	 "unprivileged user namespaces are switched off: "
	 "sysctl -w kernel.unprivileged_userns_clone=1"},
	{{EPERM, EACCES}, apparmor_restricts,
	 "AppArmor takes the capabilities in unprivileged user namespaces away: install a profile "
	 "with 'userns,' for this program (contrib/apparmor/brig), or sysctl -w "
	 "kernel.apparmor_restrict_unprivileged_userns=0"},
	{{EPERM}, in_chroot,
	 "user namespaces are refused to a process in a chroot: start outside of it or pivot_root"},
	{{ENOSPC, EUSERS}, always,
	 "too many user namespaces, or more than 32 nested: see user.max_user_namespaces"},
	{{EAGAIN}, pids_limited,
	 "no process left in the pids limit of the cgroup or in RLIMIT_NPROC (ulimit -u)"},
	{{EAGAIN}, always,
	 "no process left in the pids limit of the cgroup or kernel.pid_max"},
};

static bool has_code(const struct cause *c, int code)
{
	for (size_t i = 0; i < sizeof(c->codes) / sizeof(c->codes[0]); i++) {
		if (c->codes[i] == code)
			return true;
	}
	return false;
}

bool ns_userns_hint(int errnum, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]) && errnum > 0; i++) {
		if (has_code(&causes[i], errnum) && causes[i].applies()) {
			snprintf(buf, size, "%s", causes[i].text);
			return true;
		}
	}
	return false;
}

const char *ns_filter_hint(int errnum)
{
	enum { FILTER = 2 }; /* SECCOMP_MODE_FILTER */

	if ((errnum != EPERM && errnum != ENOSYS) || prctl(PR_GET_SECCOMP) != FILTER)
		return NULL;
	return "a seccomp filter around us may refuse it: in a container of docker or podman, start that one with "
	       "--security-opt seccomp=unconfined, or with a profile that allows the call";
}

/* The errnos of CLONE_INTO_CGROUP that nothing else in our clone gives. */
static const char *cgroup_cause(int code)
{
	switch (code) {
	case EBUSY:
		return "the cgroup has controllers enabled for its children, so it takes no process";
	case EBADF:
		return "the cgroup is not one of cgroup v2";
	case ENODEV:
		return "the cgroup has been removed";
	case EACCES:
		return "no right to move a process there: the cgroup must be delegated to this user";
	default:
		return NULL;
	}
}

/* The first namespace type of `types` that the kernel does not have. */
static const char *missing_type(uint64_t types)
{
	for (int bit = 0; bit < 64; bit++) {
		const char *name = types >> bit & 1 ? ns_name(UINT64_C(1) << bit) : NULL;
		char path[32];

		if (!name)
			continue;
		snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
		if (access(path, F_OK) < 0)
			return name;
	}
	return NULL;
}

int spawn_error(int code, const struct ns_spawn *s, struct err *e)
{
	const char *cause = s->cgroup_fd >= 0 ? cgroup_cause(code) : NULL;
	char hint[256];

	if (cause)
		return err_set(e, code, "make process in its cgroup: %s: %s", err_name(code), cause);
	if (code == EAGAIN || s->new_ns & CLONE_NEWUSER) {
		if (ns_userns_hint(code, hint, sizeof(hint)))
			return err_set(e, code, "make process: %s: %s", err_name(code), hint);
	}
	if (ns_filter_hint(code))
		return err_set(e, code, "make process: %s: %s", err_name(code), ns_filter_hint(code));
	if (code == EPERM && s->new_ns)
		return err_set(e, code, "make process: %s: new namespaces need root "
					"(CAP_SYS_ADMIN) or a user namespace", err_name(code));
	if (code == EINVAL && missing_type(s->new_ns))
		return err_set(e, code, "make process: this kernel has no %s namespaces",
			       missing_type(s->new_ns));
	if (code == ENOSPC)
		return err_set(e, code, "make process: too many namespaces: see the limits in "
					"/proc/sys/user");
	return err_set(e, code, "make process: %s", err_name(code));
}

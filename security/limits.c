/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What surrounds the process: resource limits, OOM score, session keyring, LSM labels for the
 * next exec, personality, umask.
 */
#include "security/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/str.h"

/*
 * An outer filter (Docker's, for one) denies keyctl. If it denies all three ways to a key then
 * the payload, which inherits it, cannot reach the caller's keys either. Without a filter the
 * empty calls fail in other ways than EPERM and ENOSYS.
 */
static bool keys_are_unreachable(int code)
{
	return (code == EPERM || code == ENOSYS) &&
	       syscall(SYS_request_key, NULL, NULL, NULL, 0) < 0 && errno == code &&
	       syscall(SYS_add_key, NULL, NULL, NULL, 0, 0) < 0 && errno == code;
}

int sec_new_keyring(const struct sec_plan *p, int procfs, struct err *e)
{
	int code;

	if (!p->new_keyring)
		return 0;
	if (p->selinux_label) {
		int r = procfs_write(procfs, "self/attr/keycreate", p->selinux_label, e);

		if (r < 0)
			return err_wrap(e, "label the session keyring by `/proc/self/attr/keycreate`");
	}
	/* No name: a named keyring could be one that somebody else made and can read. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		return 0;
	code = errno;
	if (keys_are_unreachable(code))
		return 0;
	errno = code;
	return err_sys(e, "join a new session keyring%s", code == EDQUOT ?
		       " (the limits are kernel.keys.maxkeys and maxbytes)" : "");
}

static int set_rlimit(const struct sec_rlimit *l, pid_t pid, struct err *e)
{
	/* The kernel's own call: its unlimited is all ones on every architecture. */
	struct { uint64_t soft, hard; } new = {l->soft, l->hard};

	if (syscall(SYS_prlimit64, pid, l->resource, &new, NULL) == 0)
		return 0;
	if (errno == EPERM)
		return err_sys(e, "set %s to %" PRIu64 "/%" PRIu64 " (%s)",
			       sec_rlimit_name(l->resource), l->soft, l->hard,
			       l->resource == RLIMIT_NOFILE ?
			       "above the caller's hard limit, which needs CAP_SYS_RESOURCE in the "
			       "initial user namespace, or above fs.nr_open" :
			       "above the caller's hard limit, which needs CAP_SYS_RESOURCE in the "
			       "initial user namespace");
	return err_sys(e, "set %s to %" PRIu64 "/%" PRIu64, sec_rlimit_name(l->resource), l->soft,
		       l->hard);
}

int sec_set_rlimits(const struct sec_plan *p, pid_t pid, struct err *e)
{
	for (size_t i = 0; i < p->rlimits.n; i++) {
		int r = set_rlimit(&p->rlimits.v[i], pid, e);

		if (r < 0)
			return r;
	}
	return 0;
}

int sec_set_oom_score_adj(const struct sec_plan *p, int procfs, struct err *e)
{
	char value[16];
	int r;

	if (!p->oom_score_adj.set)
		return 0;
	snprintf(value, sizeof(value), "%" PRId32, p->oom_score_adj.v);
	r = procfs_write(procfs, "self/oom_score_adj", value, e);
	if (r == -EACCES || r == -EPERM)
		return err_wrap(e, "set process.oomScoreAdj %s (going below the caller's value "
				"needs CAP_SYS_RESOURCE in the initial user namespace)", value);
	return r < 0 ? err_wrap(e, "set process.oomScoreAdj") : 0;
}

/* podman knows errors of labels by a path of that kind in back quotes. */
#define ATTR_EXEC "`/proc/self/attr/exec`"

/* AppArmor: its own file (Linux 5.1, stacked LSMs), else the one that all major LSMs share. */
static int set_apparmor(const char *profile, int procfs, struct err *e)
{
	char value[512];
	int n = snprintf(value, sizeof(value), "exec %s", profile);
	int r;

	if (n < 0 || (size_t)n >= sizeof(value))
		return err_set(e, ENAMETOOLONG, "process.apparmorProfile: longer than %zu bytes",
			       sizeof(value) - sizeof("exec "));
	r = procfs_write(procfs, "self/attr/apparmor/exec", value, e);
	if (r == -ENOENT)
		r = procfs_write(procfs, "self/attr/exec", value, e);
	if (r >= 0)
		return 0;
	/* No LSM at all: being unconfined needs no help. */
	if (r == -EINVAL && str_eq(profile, "unconfined"))
		return 0;
	return err_wrap(e, "set process.apparmorProfile %s by " ATTR_EXEC " (%s)", profile, r == -ENOENT ?
			"no such profile is loaded" :
			"is AppArmor enabled in this kernel?");
}

static int set_selinux(const char *label, int procfs, struct err *e)
{
	int r = procfs_write(procfs, "self/attr/exec", label, e);

	return r < 0 ? err_wrap(e, "set process.selinuxLabel %s by " ATTR_EXEC " (is SELinux enabled in this "
				"kernel, and may brig change to that label?)", label) : 0;
}

int sec_set_labels(const struct sec_plan *p, int procfs, struct err *e)
{
	if (p->apparmor_profile && *p->apparmor_profile) {
		int r = set_apparmor(p->apparmor_profile, procfs, e);

		if (r < 0)
			return r;
	}
	return p->selinux_label && *p->selinux_label ?
		set_selinux(p->selinux_label, procfs, e) : 0;
}

int sec_set_personality(const struct sec_plan *p, struct err *e)
{
	if (p->personality.set && personality(p->personality.v) < 0)
		return err_sys(e, "set linux.personality");
	return 0;
}

int sec_set_umask(const struct sec_plan *p, struct err *e)
{
	(void)e;
	if (p->umask.set)
		umask((mode_t)p->umask.v);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the process is: ids, capabilities, no-new-privileges, parent-death signal.
 *
 * Raw system calls: libc's setresuid() and friends make every thread of the process follow, with
 * signals and locks, which a child that shares its parent's memory must not touch; the kernel's
 * calls change the caller alone.
 *
 * Order within the two steps: the bounding set first (CAP_SETPCAP goes with the uid), then
 * groups, gid, uid with the permitted set kept, then the sets, then ambient, which needs
 * permitted and inheritable to be there. For a uid other than 0, exec gives the ambient set only.
 */
#include "security/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* On 32-bit systems the plain numbers are the calls with 16-bit ids. */
#ifdef SYS_setresuid32
enum { NR_SETRESUID = SYS_setresuid32, NR_SETRESGID = SYS_setresgid32,
       NR_SETGROUPS = SYS_setgroups32 };
#else
enum { NR_SETRESUID = SYS_setresuid, NR_SETRESGID = SYS_setresgid, NR_SETGROUPS = SYS_setgroups };
#endif

int sec_host_probe(struct sec_host *ret_host, struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int last = SEC_CAP_MAX;

	if (syscall(SYS_capget, &head, data) < 0)
		return err_sys(e, "read own capabilities");
	while (last > 0 && prctl(PR_CAPBSET_READ, last, 0, 0, 0) < 0)
		last--;
	/* A newer kernel has capabilities that we have no name for; they must be dropped, too. */
	while (last >= SEC_CAP_MAX && last < 63 && prctl(PR_CAPBSET_READ, last + 1, 0, 0, 0) >= 0)
		last++;
	ret_host->cap_last = last;
	ret_host->cap_permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

static int drop_bounding(const struct sec_plan *p, struct err *e)
{
	for (int c = 0; c <= p->cap_last; c++) {
		if (p->caps.bounding >> c & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) == 0)
			continue;
		/* Without CAP_SETPCAP it is still fine when there is nothing to drop. */
		if (prctl(PR_CAPBSET_READ, c, 0, 0, 0) == 0)
			continue;
		errno = EPERM;
		return err_sys(e, "drop %s from the bounding set (needs CAP_SETPCAP)",
			       sec_cap_name(c) ? sec_cap_name(c) : "an unknown capability");
	}
	return 0;
}

static int set_groups(const struct sec_plan *p, struct err *e)
{
	if (!p->set_groups)
		return 0;
	if (syscall(NR_SETGROUPS, p->groups.n, p->groups.v) == 0)
		return 0;
	if (errno == EINVAL)
		return err_sys(e, "set process.user.additionalGids (every group must be mapped in "
			       "the user namespace)");
	return err_sys(e, "set process.user.additionalGids");
}

static int set_id(long nr, const char *what, uint32_t id, struct err *e)
{
	if (syscall(nr, id, id, id) == 0)
		return 0;
	if (errno == EINVAL)
		return err_sys(e, "set process.user.%s %" PRIu32 " (it is not mapped in the user "
			       "namespace: see linux.%sMappings)", what, id, what);
	return err_sys(e, "set process.user.%s %" PRIu32, what, id);
}

/* Trust, but verify: a filter or LSM around us may have faked the success. */
static int verify_ids(const struct sec_plan *p, struct err *e)
{
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) < 0 || getresgid(&g[0], &g[1], &g[2]) < 0)
		return err_sys(e, "read the ids back");
	for (int i = 0; i < 3; i++)
		if (u[i] != p->uid || g[i] != p->gid)
			return err_set(e, EPERM, "the kernel did not switch to uid %" PRIu32
				       " and gid %" PRIu32, p->uid, p->gid);
	return 0;
}

int sec_set_ids(const struct sec_plan *p, struct err *e)
{
	int r;

	if ((r = drop_bounding(p, e)) < 0 || (r = set_groups(p, e)) < 0 ||
	    (r = set_id(NR_SETRESGID, "gid", p->gid, e)) < 0)
		return r;
	/* KEEP_CAPS ends by itself with the exec. */
	if (p->securebits) {
		if (prctl(PR_SET_SECUREBITS, p->securebits | SECBIT_KEEP_CAPS, 0, 0, 0) < 0)
			return err_sys(e, "set the secure bits 0x%" PRIx32, p->securebits);
	} else if (p->uid != 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0) {
		return err_sys(e, "keep capabilities across the change of uid");
	}
	r = set_id(NR_SETRESUID, "uid", p->uid, e);
	return r < 0 ? r : verify_ids(p, e);
}

static int raise_ambient(const struct sec_plan *p, struct err *e)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_sys(e, "clear the ambient capabilities");
	for (int c = 0; c <= p->cap_last; c++)
		if (p->caps.ambient >> c & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) < 0)
			return err_sys(e, "raise %s in the ambient set", sec_cap_name(c));
	return 0;
}

int sec_set_caps(const struct sec_plan *p, struct err *e)
{
	const struct sec_caps *c = &p->caps;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{(uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable},
		{(uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32),
		 (uint32_t)(c->inheritable >> 32)},
	};

	if (syscall(SYS_capset, &head, data) < 0)
		return err_sys(e, "set the capabilities");
	return raise_ambient(p, e);
}

int sec_set_pdeathsig(const struct sec_plan *p, struct err *e)
{
	if (p->pdeathsig && prctl(PR_SET_PDEATHSIG, p->pdeathsig, 0, 0, 0) < 0)
		return err_sys(e, "set the parent-death signal");
	return 0;
}

int sec_set_no_new_privs(const struct sec_plan *p, struct err *e)
{
	if (p->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "set no-new-privileges");
	return 0;
}

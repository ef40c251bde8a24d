/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers of capabilities and resource limits. The tables are ours, not libcap's:
 * libcap takes lower case, decimal numbers and whatever its own version knows, and allocates.
 * A unit test compares the capabilities with libcap's.
 */
#include "security/internal.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "base/str.h"

#define CAP(name) [name] = #name
static const char *const cap_names[SEC_CAP_MAX + 1] = {
	CAP(CAP_CHOWN), CAP(CAP_DAC_OVERRIDE), CAP(CAP_DAC_READ_SEARCH), CAP(CAP_FOWNER),
	CAP(CAP_FSETID), CAP(CAP_KILL), CAP(CAP_SETGID), CAP(CAP_SETUID), CAP(CAP_SETPCAP),
	CAP(CAP_LINUX_IMMUTABLE), CAP(CAP_NET_BIND_SERVICE), CAP(CAP_NET_BROADCAST),
	CAP(CAP_NET_ADMIN), CAP(CAP_NET_RAW), CAP(CAP_IPC_LOCK), CAP(CAP_IPC_OWNER),
	CAP(CAP_SYS_MODULE), CAP(CAP_SYS_RAWIO), CAP(CAP_SYS_CHROOT), CAP(CAP_SYS_PTRACE),
	CAP(CAP_SYS_PACCT), CAP(CAP_SYS_ADMIN), CAP(CAP_SYS_BOOT), CAP(CAP_SYS_NICE),
	CAP(CAP_SYS_RESOURCE), CAP(CAP_SYS_TIME), CAP(CAP_SYS_TTY_CONFIG), CAP(CAP_MKNOD),
	CAP(CAP_LEASE), CAP(CAP_AUDIT_WRITE), CAP(CAP_AUDIT_CONTROL), CAP(CAP_SETFCAP),
	CAP(CAP_MAC_OVERRIDE), CAP(CAP_MAC_ADMIN), CAP(CAP_SYSLOG), CAP(CAP_WAKE_ALARM),
	CAP(CAP_BLOCK_SUSPEND), CAP(CAP_AUDIT_READ),
	[38] = "CAP_PERFMON",            /* Linux 5.8 */
	[39] = "CAP_BPF",                /* Linux 5.8 */
	[40] = "CAP_CHECKPOINT_RESTORE", /* Linux 5.9 */
};

#define LIMIT(name) [name] = #name
static const char *const rlimit_names[] = {
	LIMIT(RLIMIT_CPU), LIMIT(RLIMIT_FSIZE), LIMIT(RLIMIT_DATA), LIMIT(RLIMIT_STACK),
	LIMIT(RLIMIT_CORE), LIMIT(RLIMIT_RSS), LIMIT(RLIMIT_NPROC), LIMIT(RLIMIT_NOFILE),
	LIMIT(RLIMIT_MEMLOCK), LIMIT(RLIMIT_AS), LIMIT(RLIMIT_LOCKS), LIMIT(RLIMIT_SIGPENDING),
	LIMIT(RLIMIT_MSGQUEUE), LIMIT(RLIMIT_NICE), LIMIT(RLIMIT_RTPRIO), LIMIT(RLIMIT_RTTIME),
};

enum { N_RLIMITS = sizeof(rlimit_names) / sizeof(rlimit_names[0]) };

static int index_of(const char *const *table, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (str_eq(table[i], name))
			return i;
	return -1;
}

const char *sec_cap_name(int cap)
{
	return cap >= 0 && cap <= SEC_CAP_MAX ? cap_names[cap] : NULL;
}

int sec_cap_number(const char *name)
{
	return index_of(cap_names, SEC_CAP_MAX + 1, name);
}

const char *sec_rlimit_name(int resource)
{
	return resource >= 0 && resource < N_RLIMITS ? rlimit_names[resource] : NULL;
}

int sec_rlimit_number(const char *name)
{
	return index_of(rlimit_names, N_RLIMITS, name);
}

const struct sec_name *sec_find_name(const struct sec_name *table, const char *name)
{
	for (; table->name; table++)
		if (str_eq(table->name, name))
			return table;
	return NULL;
}

int sec_flags_of(const struct sec_name *table, const struct strv *names, const char *path,
		 uint64_t *ret_flags, struct err *e)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < names->n; i++) {
		const struct sec_name *f = sec_find_name(table, names->v[i]);

		if (!f)
			return err_set(e, EINVAL, "%s[%zu]: unknown flag %s", path, i,
				       names->v[i]);
		flags |= f->value;
	}
	*ret_flags = flags;
	return 0;
}

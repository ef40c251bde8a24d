/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sysctl.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/str.h"

/* Keys end in '.' when they are a prefix. */
static const struct { const char *key; uint64_t ns; const char *name; } owners[] = {
	{"net.", CLONE_NEWNET, "network"},
	{"kernel.msgmax", CLONE_NEWIPC, "ipc"},
	{"kernel.msgmnb", CLONE_NEWIPC, "ipc"},
	{"kernel.msgmni", CLONE_NEWIPC, "ipc"},
	{"kernel.sem", CLONE_NEWIPC, "ipc"},
	{"kernel.shmall", CLONE_NEWIPC, "ipc"},
	{"kernel.shmmax", CLONE_NEWIPC, "ipc"},
	{"kernel.shmmni", CLONE_NEWIPC, "ipc"},
	{"kernel.shm_rmid_forced", CLONE_NEWIPC, "ipc"},
	{"fs.mqueue.", CLONE_NEWIPC, "ipc"},
	{"kernel.hostname", CLONE_NEWUTS, "uts"},
	{"kernel.domainname", CLONE_NEWUTS, "uts"},
	{"user.", CLONE_NEWUSER, "user"},
};

static int check_one(const char *key, uint64_t own_ns, struct err *e)
{
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		bool prefix = str_ends(owners[i].key, ".");

		if (prefix ? !str_starts(key, owners[i].key) : !str_eq(key, owners[i].key))
			continue;
		if (own_ns & owners[i].ns)
			return 0;
		return err_set(e, EINVAL, "linux.sysctl: %s would change the host: the container has no "
					  "%s namespace of its own", key, owners[i].name);
	}
	return err_set(e, EINVAL, "linux.sysctl: %s is not a parameter of any namespace", key);
}

int sysctl_check(const struct str_map *m, uint64_t own_ns, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->n; i++)
		r = check_one(m->v[i].key, own_ns, e);
	return r;
}

int sysctl_apply(const struct str_map *m, int procfs, struct err *e)
{
	for (size_t i = 0; i < m->n; i++) {
		char path[256] = "sys/";
		size_t n = strlen(path);
		int r;

		if (strlen(m->v[i].key) >= sizeof(path) - n)
			return err_set(e, ENAMETOOLONG, "linux.sysctl: %s is too long", m->v[i].key);
		snprintf(path + n, sizeof(path) - n, "%s", m->v[i].key);
		for (char *c = path + n; *c; c++)
			*c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
		r = procfs_write(procfs, path, m->v[i].value, e);
		if (r < 0)
			return err_wrap(e, "linux.sysctl: %s", m->v[i].key);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What config-linux.md says about `linux.seccomp`. */
#include <stdio.h>

#include "base/str.h"
#include "spec/check.h"

enum { MAX_ARG_INDEX = 5, MAX_ERRNO = 4095, MAX_TRACE_MESSAGE = 65535 };

/* Only two actions have a place for a number, of 12 and 16 bits in the kernel. */
static int check_errno(const char *path, const char *action, const struct opt_u32 *ret,
		       struct err *e)
{
	bool trace = str_eq(action, "SCMP_ACT_TRACE");
	uint32_t max = trace ? MAX_TRACE_MESSAGE : MAX_ERRNO;

	if (!ret->set)
		return 0;
	if (!trace && !str_eq(action, "SCMP_ACT_ERRNO"))
		return check_fail(e, "%s: the action %s takes no errno", path, action);
	if (ret->v > max)
		return check_fail(e, "%s: %u is larger than %u", path, ret->v, max);
	return 0;
}

static int check_syscall(const struct oci_syscall *s, size_t i, struct err *e)
{
	char path[64];

	if (s->names.n == 0)
		return check_fail(e,
				  "linux.seccomp.syscalls[%zu].names: must have at least one entry",
				  i);
	for (size_t k = 0; k < s->names.n; k++)
		if (!*s->names.v[k])
			return check_fail(e, "linux.seccomp.syscalls[%zu].names[%zu]: is empty", i,
					  k);
	for (size_t k = 0; k < s->args.n; k++)
		if (s->args.v[k].index > MAX_ARG_INDEX)
			return check_fail(
				e,
				"linux.seccomp.syscalls[%zu].args[%zu].index: %u is larger "
				"than %d",
				i, k, s->args.v[k].index, MAX_ARG_INDEX);
	snprintf(path, sizeof(path), "linux.seccomp.syscalls[%zu].errnoRet", i);
	return check_errno(path, s->action, &s->errno_ret, e);
}

static bool notifies(const struct oci_seccomp *s)
{
	for (size_t i = 0; i < s->syscalls.n; i++)
		if (str_eq(s->syscalls.v[i].action, "SCMP_ACT_NOTIFY"))
			return true;
	return str_eq(s->default_action, "SCMP_ACT_NOTIFY");
}

static int check_listener(const struct oci_seccomp *s, struct err *e)
{
	bool path = s->listener_path && *s->listener_path;

	if (s->listener_metadata && *s->listener_metadata && !path)
		return check_fail(e, "linux.seccomp.listenerMetadata: needs listenerPath");
	if (!notifies(s))
		return 0; /* listenerPath is to be ignored then */
	if (!path)
		return check_fail(e, "linux.seccomp.listenerPath: is missing, and SCMP_ACT_NOTIFY "
				     "needs it");
	if (!check_is_absolute(s->listener_path))
		return check_fail(e,
				  "linux.seccomp.listenerPath: \"%.64s\" is not an absolute path",
				  s->listener_path);
	return 0;
}

int check_seccomp(const struct oci_seccomp *s, struct err *e)
{
	int r = check_errno("linux.seccomp.defaultErrnoRet", s->default_action,
			    &s->default_errno_ret, e);

	for (size_t i = 0; r == 0 && i < s->syscalls.n; i++)
		r = check_syscall(&s->syscalls.v[i], i, e);
	return r == 0 ? check_listener(s, e) : r;
}

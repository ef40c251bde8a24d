/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile in config.json may name, and the kernel's number for it. */
#include "security/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/str.h"
#include "security/filter-calls.h"

enum { KERNEL_MAX_ERRNO = 4095, DEFAULT_ERRNO = EPERM };

const char *const sec_seccomp_actions[] = {
	"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS",
	"SCMP_ACT_KILL_THREAD", "SCMP_ACT_LOG", "SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE",
	"SCMP_ACT_TRAP", NULL};

const char *const sec_seccomp_operators[] = {
	"SCMP_CMP_EQ", "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_LE", "SCMP_CMP_LT",
	"SCMP_CMP_MASKED_EQ", "SCMP_CMP_NE", NULL};

const char *const sec_seccomp_archs[] = {
	"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM", "SCMP_ARCH_LOONGARCH64", "SCMP_ARCH_M68K",
	"SCMP_ARCH_MIPS", "SCMP_ARCH_MIPS64", "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_MIPSEL",
	"SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PARISC", "SCMP_ARCH_PARISC64",
	"SCMP_ARCH_PPC", "SCMP_ARCH_PPC64", "SCMP_ARCH_PPC64LE", "SCMP_ARCH_RISCV64",
	"SCMP_ARCH_S390", "SCMP_ARCH_S390X", "SCMP_ARCH_SH", "SCMP_ARCH_SHEB", "SCMP_ARCH_X32",
	"SCMP_ARCH_X86", "SCMP_ARCH_X86_64", NULL};

const char *const sec_seccomp_flags[] = {
	"SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_TSYNC",
	"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", NULL};

static const struct sec_name filter_flags[] = {
	{"SECCOMP_FILTER_FLAG_TSYNC", 1 << 0},
	{"SECCOMP_FILTER_FLAG_LOG", 1 << 1},                /* Linux 4.14 */
	{"SECCOMP_FILTER_FLAG_SPEC_ALLOW", 1 << 2},         /* Linux 4.17 */
	{"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", 1 << 5}, /* Linux 5.19 */
	{NULL, 0}};

static const struct sec_name actions[] = {
	{"SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW},
	{"SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO},
	{"SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD},
	{"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS},
	{"SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD},
	{"SCMP_ACT_LOG", SECCOMP_RET_LOG},
	{"SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF},
	{"SCMP_ACT_TRACE", SECCOMP_RET_TRACE},
	{"SCMP_ACT_TRAP", SECCOMP_RET_TRAP},
	{NULL, 0}};

int sec_action(const char *action, const struct opt_u32 *errno_ret, uint32_t *ret_action,
	       struct err *e)
{
	const struct sec_name *a = sec_find_name(actions, action);
	uint32_t code = errno_ret->set ? errno_ret->v : DEFAULT_ERRNO;
	uint32_t max;

	if (!a)
		return err_set(e, EINVAL, "unknown action %s", action ? action : "(none)");
	*ret_action = (uint32_t)a->value;
	if (a->value != SECCOMP_RET_ERRNO && a->value != SECCOMP_RET_TRACE)
		return errno_ret->set ?
			err_set(e, EINVAL, "%s takes no errno", action) : 0;
	max = a->value == SECCOMP_RET_ERRNO ? KERNEL_MAX_ERRNO : SECCOMP_RET_DATA;
	if (code > max)
		return err_set(e, ERANGE, "errno %" PRIu32 " is more than %" PRIu32, code, max);
	*ret_action |= code;
	return 0;
}

/* A listener for everything would also stop what brig itself must do up to the exec. */
static int check_notify(const struct oci_seccomp *s, bool *ret_notify, struct err *e)
{
	if (str_eq(s->default_action, "SCMP_ACT_NOTIFY"))
		return err_set(e, EINVAL, "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY cannot be "
			       "the default");
	for (size_t i = 0; i < s->syscalls.n; i++)
		if (str_eq(s->syscalls.v[i].action, "SCMP_ACT_NOTIFY"))
			*ret_notify = true;
	if (*ret_notify && (!s->listener_path || !*s->listener_path))
		return err_set(e, EINVAL, "linux.seccomp.listenerPath: needed for "
			       "SCMP_ACT_NOTIFY");
	return 0;
}

int sec_filter_options(const struct oci_seccomp *s, struct sec_filter *f, struct err *e)
{
	uint64_t flags;
	int r = sec_flags_of(filter_flags, &s->flags, "linux.seccomp.flags", &flags, e);

	if (r < 0)
		return r;
	f->flags = (uint32_t)flags;
	return check_notify(s, &f->notify, e);
}

bool sec_seccomp_flag_supported(const char *flag)
{
	const struct sec_name *f = sec_find_name(filter_flags, flag);
	uint64_t bits;

	if (!f)
		return false;
	bits = f->value;
	/* The kernel takes this one only together with a listener. */
	if (str_eq(flag, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"))
		bits |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	/* A NULL program: EFAULT once the flags have been accepted, EINVAL otherwise. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, bits, NULL) < 0 && errno == EFAULT;
}

int sec_filter_check_names(const struct oci_seccomp *s, struct err *e)
{
	struct sec_call ways[SEC_CALL_WAYS];
	char name[64];

	for (size_t i = 0; i < s->syscalls.n; i++) {
		const struct strv *names = &s->syscalls.v[i].names;

		for (size_t k = 0; k < names->n; k++)
			if (sec_call_find(sec_abis, names->v[k], ways) < 0)
				return err_set(e, EINVAL, "linux.seccomp.syscalls[%zu].names[%zu]: unknown system call %s", i, k,
					       str_escape(name, sizeof(name), names->v[k]));
	}
	return 0;
}

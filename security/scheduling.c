/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler, I/O priority, NUMA memory policy and CPU affinity: planned from the spec and applied
 * to the calling process, whose children inherit them. None of these calls has a libc wrapper on
 * all supported versions, so the kernel's structs and numbers are written out.
 */
#include "security/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/str.h"

enum {
	BITS_PER_WORD = 8 * (int)sizeof(unsigned long),
	BITS_MAX = 8192, /* the most CPUs (and nodes) any Linux is built for */
	IOPRIO_SHIFT = 13,
	IOPRIO_MAX_LEVEL = 7,
	IOPRIO_WHO_SELF = 1, /* IOPRIO_WHO_PROCESS */
};

static const struct sec_name policies[] = {
	{"SCHED_OTHER", 0}, {"SCHED_FIFO", 1}, {"SCHED_RR", 2}, {"SCHED_BATCH", 3},
	{"SCHED_ISO", 4}, {"SCHED_IDLE", 5}, {"SCHED_DEADLINE", 6}, {NULL, 0}};

static const struct sec_name sched_flags[] = {
	{"SCHED_FLAG_RESET_ON_FORK", 0x01}, {"SCHED_FLAG_RECLAIM", 0x02},
	{"SCHED_FLAG_DL_OVERRUN", 0x04}, {"SCHED_FLAG_KEEP_POLICY", 0x08},
	{"SCHED_FLAG_KEEP_PARAMS", 0x10}, {"SCHED_FLAG_UTIL_CLAMP_MIN", 0x20},
	{"SCHED_FLAG_UTIL_CLAMP_MAX", 0x40}, {NULL, 0}};

static const struct sec_name io_classes[] = {
	{"IOPRIO_CLASS_RT", 1}, {"IOPRIO_CLASS_BE", 2}, {"IOPRIO_CLASS_IDLE", 3}, {NULL, 0}};

static const struct sec_name memory_modes[] = {
	{"MPOL_DEFAULT", 0}, {"MPOL_PREFERRED", 1}, {"MPOL_BIND", 2}, {"MPOL_INTERLEAVE", 3},
	{"MPOL_LOCAL", 4}, {"MPOL_PREFERRED_MANY", 5} /* Linux 5.15 */,
	{"MPOL_WEIGHTED_INTERLEAVE", 6} /* Linux 6.9 */, {NULL, 0}};

static const struct sec_name memory_flags[] = {
	{"MPOL_F_STATIC_NODES", 1 << 15}, {"MPOL_F_RELATIVE_NODES", 1 << 14},
	{"MPOL_F_NUMA_BALANCING", 1 << 13}, {NULL, 0}};

/* What sched_setattr(2) takes, version 0 (48 bytes). */
struct kernel_sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* One number at *s, which is moved behind it. */
static int parse_number(const char **s, unsigned *ret_n)
{
	size_t n = strspn(*s, "0123456789");
	char digits[8];
	uint64_t v;

	if (n == 0 || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, *s, n);
	digits[n] = '\0';
	if (str_u64(digits, BITS_MAX - 1, &v) < 0)
		return -EINVAL;
	*s += n;
	*ret_n = (unsigned)v;
	return 0;
}

/* "N" or "N-M" at *s. */
static int parse_range(const char **s, unsigned *ret_first, unsigned *ret_last)
{
	if (parse_number(s, ret_first) < 0)
		return -EINVAL;
	*ret_last = *ret_first;
	if (**s != '-')
		return 0;
	(*s)++;
	if (parse_number(s, ret_last) < 0 || *ret_last < *ret_first)
		return -EINVAL;
	return 0;
}

int sec_parse_bits(struct arena *a, const char *text, const char *path, struct sec_bits *ret_bits,
		   struct err *e)
{
	unsigned long bits[BITS_MAX / BITS_PER_WORD] = {0};
	unsigned first, last, top = 0;
	const char *s = text;
	size_t words;

	if (!text || !*text)
		return 0;
	for (;; s++) {
		if (parse_range(&s, &first, &last) < 0 || (*s && *s != ','))
			return err_set(e, EINVAL, "%s: \"%s\" is not a list like 0-3,7 of numbers "
				       "below %d", path, text, BITS_MAX);
		for (unsigned i = first; i <= last; i++)
			bits[i / BITS_PER_WORD] |= 1ul << i % BITS_PER_WORD;
		top = last > top ? last : top;
		if (!*s)
			break;
	}
	words = top / BITS_PER_WORD + 1;
	ret_bits->v = arena_array(a, words, sizeof(*bits));
	memcpy(ret_bits->v, bits, words * sizeof(*bits));
	ret_bits->n_bits = words * BITS_PER_WORD;
	return 0;
}

static int plan_scheduler(struct arena *a, struct sec_plan *p, const struct oci_scheduler *o,
			  struct err *e)
{
	struct sec_scheduler *s;
	const struct sec_name *policy;
	int r;

	if (!o)
		return 0;
	policy = sec_find_name(policies, o->policy);
	if (!policy)
		return err_set(e, EINVAL, "process.scheduler.policy: unknown policy %s",
			       o->policy ? o->policy : "(none)");
	if (o->priority.v < 0)
		return err_set(e, EINVAL, "process.scheduler.priority: %" PRId32 " is negative",
			       o->priority.v);
	s = arena_new_of(a, struct sec_scheduler);
	r = sec_flags_of(sched_flags, &o->flags, "process.scheduler.flags", &s->flags, e);
	if (r < 0)
		return r;
	s->policy = (uint32_t)policy->value;
	s->nice = o->nice.v;
	s->priority = (uint32_t)o->priority.v;
	s->runtime = o->runtime.v;
	s->deadline = o->deadline.v;
	s->period = o->period.v;
	p->scheduler = s;
	return 0;
}

static int plan_io_priority(struct sec_plan *p, const struct oci_io_priority *o, struct err *e)
{
	const struct sec_name *class;

	if (!o)
		return 0;
	class = sec_find_name(io_classes, o->class_);
	if (!class)
		return err_set(e, EINVAL, "process.ioPriority.class: unknown class %s",
			       o->class_ ? o->class_ : "(none)");
	if (o->priority.v < 0 || o->priority.v > IOPRIO_MAX_LEVEL)
		return err_set(e, EINVAL, "process.ioPriority.priority: %" PRId32 " is not within "
			       "0 and %d", o->priority.v, IOPRIO_MAX_LEVEL);
	p->io_priority.set = true;
	p->io_priority.v = (int32_t)class->value << IOPRIO_SHIFT | o->priority.v;
	return 0;
}

static int plan_mempolicy(struct arena *a, struct sec_plan *p, const struct oci_memory_policy *o,
			  struct err *e)
{
	const struct sec_name *mode;
	struct sec_mempolicy *m;
	uint64_t flags;
	int r;

	if (!o)
		return 0;
	mode = sec_find_name(memory_modes, o->mode);
	if (!mode)
		return err_set(e, EINVAL, "linux.memoryPolicy.mode: unknown mode %s",
			       o->mode ? o->mode : "(none)");
	m = arena_new_of(a, struct sec_mempolicy);
	r = sec_flags_of(memory_flags, &o->flags, "linux.memoryPolicy.flags", &flags, e);
	if (r < 0)
		return r;
	r = sec_parse_bits(a, o->nodes, "linux.memoryPolicy.nodes", &m->nodes, e);
	if (r < 0)
		return r;
	m->mode = (int)(mode->value | flags);
	p->mempolicy = m;
	return 0;
}

int sec_plan_scheduling(struct arena *a, struct sec_plan *p, const struct oci_spec *spec,
			struct err *e)
{
	const struct oci_process *proc = spec->process;
	const struct oci_cpu_affinity *cpus = proc->exec_cpu_affinity;
	int r;

	if ((r = plan_scheduler(a, p, proc->scheduler, e)) < 0 ||
	    (r = plan_io_priority(p, proc->io_priority, e)) < 0 ||
	    (r = plan_mempolicy(a, p, spec->linux_ ? spec->linux_->memory_policy : NULL, e)) < 0)
		return r;
	if (!cpus)
		return 0;
	r = sec_parse_bits(a, cpus->initial, "process.execCPUAffinity.initial",
			   &p->affinity_initial, e);
	if (r < 0)
		return r;
	return sec_parse_bits(a, cpus->final, "process.execCPUAffinity.final", &p->affinity_final,
			      e);
}

static int set_scheduler(const struct sec_scheduler *s, struct err *e)
{
	struct kernel_sched_attr attr = {
		.size = sizeof(attr), .policy = s->policy, .flags = s->flags, .nice = s->nice,
		.priority = s->priority, .runtime = s->runtime, .deadline = s->deadline,
		.period = s->period};

	if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
		return 0;
	if (errno == EPERM)
		return err_sys(e, "set process.scheduler %s (real-time policies and negative nice "
			       "values need CAP_SYS_NICE in the initial user namespace)",
			       policies[s->policy].name);
	return err_sys(e, "set process.scheduler %s", policies[s->policy].name);
}

int sec_set_scheduling(const struct sec_plan *p, struct err *e)
{
	const struct sec_mempolicy *m = p->mempolicy;

	/* The process only, and not its group as the spec has it: everything in the container
	 * descends from it, while a group could still be the caller's. */
	if (p->io_priority.set &&
	    syscall(SYS_ioprio_set, IOPRIO_WHO_SELF, 0, p->io_priority.v) < 0)
		return err_sys(e, "set process.ioPriority%s", errno == EPERM ?
			       " (IOPRIO_CLASS_RT needs CAP_SYS_ADMIN or CAP_SYS_NICE)" : "");
	/* The kernel reads one bit less than it is told. */
	if (m && syscall(SYS_set_mempolicy, m->mode, m->nodes.v,
			 m->nodes.v ? m->nodes.n_bits + 1 : 0) < 0)
		return err_sys(e, "set linux.memoryPolicy (nodes must be allowed by the cpuset%s)",
			       errno == ENOSYS ? "; this kernel has no NUMA support" : "");
	/* Last, so that our own set-up does not run at the container's priority for long. */
	return p->scheduler ? set_scheduler(p->scheduler, e) : 0;
}

int sec_set_affinity(const struct sec_bits *bits, struct err *e)
{
	if (bits->v && syscall(SYS_sched_setaffinity, 0, bits->n_bits / 8, bits->v) < 0)
		return err_sys(e, "set the CPU affinity (at least one CPU must be online and in "
			       "the cpuset)");
	return 0;
}

#ifndef PR_SCHED_CORE /* Linux 5.14 */
#define PR_SCHED_CORE 62
#define PR_SCHED_CORE_GET 0
#define PR_SCHED_CORE_CREATE 1
#endif

enum { ONE_THREAD = 0 }; /* of whom: the calling thread */

int sec_core_scheduling(struct err *e)
{
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, ONE_THREAD, 0) < 0)
		return err_sys(e, "PR_SCHED_CORE");
	return 0;
}

int sec_core_scheduling_probe(struct err *e)
{
	unsigned long cookie = 0;

	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, ONE_THREAD, &cookie) == 0)
		return 1;
	if (errno == ENODEV)
		return 0;
	if (errno == EINVAL)
		return err_set(e, ENOTSUP, "this kernel has no core scheduling (Linux 5.14 with CONFIG_SCHED_CORE); without it, "
					   "switch SMT off where programs must not learn from each other's timing");
	return err_sys(e, "ask for core scheduling");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What config.md says about `process`. */
#include <stdio.h>

#include "base/str.h"
#include "spec/check.h"
#include "spec/spec.h"

static int check_user(const struct oci_user *u, struct err *e)
{
	int r = check_id("process.user.uid", u->uid, e);

	if (r == 0)
		r = check_id("process.user.gid", u->gid, e);
	if (r == 0 && u->umask.set && u->umask.v > 0777)
		r = check_fail(e, "process.user.umask: %u is larger than 511 (0777)", u->umask.v);
	for (size_t i = 0; r == 0 && i < u->additional_gids.n; i++) {
		char path[64];

		snprintf(path, sizeof(path), "process.user.additionalGids[%zu]", i);
		r = check_id(path, u->additional_gids.v[i], e);
	}
	return r;
}

static int check_rlimits(const struct oci_rlimit_list *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_rlimit *l = &list->v[i];

		if (l->soft > l->hard)
			return check_fail(e,
					  "process.rlimits[%zu]: the soft limit of %s is larger "
					  "than the hard limit",
					  i, l->type);
		for (size_t k = 0; k < i; k++)
			if (str_eq(l->type, list->v[k].type))
				return check_fail(e, "process.rlimits[%zu].type: %s is there twice",
						  i, l->type);
	}
	return 0;
}

static int check_io_priority(const struct oci_io_priority *p, struct err *e)
{
	if (p->priority.set && (p->priority.v < 0 || p->priority.v > 7))
		return check_fail(e, "process.ioPriority.priority: %d is not between 0 and 7",
				  p->priority.v);
	return 0;
}

/* sched(7): each policy has parameters of its own, and those of another one would be ignored. */
static int check_scheduler(const struct oci_scheduler *s, struct err *e)
{
	bool realtime = str_eq(s->policy, "SCHED_FIFO") || str_eq(s->policy, "SCHED_RR");
	bool deadline = str_eq(s->policy, "SCHED_DEADLINE");
	bool fair = str_eq(s->policy, "SCHED_OTHER") || str_eq(s->policy, "SCHED_BATCH");

	if (s->nice.v < -20 || s->nice.v > 19)
		return check_fail(e, "process.scheduler.nice: %d is not between -20 and 19",
				  s->nice.v);
	if (s->nice.v != 0 && !fair)
		return check_fail(e, "process.scheduler.nice: has no meaning with %s", s->policy);
	if (realtime && (s->priority.v < 1 || s->priority.v > 99))
		return check_fail(e, "process.scheduler.priority: %d is not between 1 and 99",
				  s->priority.v);
	if (!realtime && s->priority.v != 0)
		return check_fail(e, "process.scheduler.priority: has no meaning with %s",
				  s->policy);
	if (!deadline && (s->runtime.v || s->deadline.v || s->period.v))
		return check_fail(e,
				  "process.scheduler: runtime, deadline and period have no meaning "
				  "with %s",
				  s->policy);
	if (deadline && (s->runtime.v == 0 || s->runtime.v > s->deadline.v ||
			 (s->period.v && s->deadline.v > s->period.v)))
		return check_fail(e,
				  "process.scheduler: SCHED_DEADLINE needs 0 < runtime <= deadline "
				  "<= period");
	return 0;
}

static int check_affinity(const struct oci_cpu_affinity *a, struct err *e)
{
	if (a->initial && !check_is_list(a->initial))
		return check_fail(
			e, "process.execCPUAffinity.initial: \"%.64s\" is not a list of CPUs",
			a->initial);
	if (a->final && !check_is_list(a->final))
		return check_fail(e,
				  "process.execCPUAffinity.final: \"%.64s\" is not a list of CPUs",
				  a->final);
	return 0;
}

/* The size ends in the 16-bit members of struct winsize; without a terminal it is ignored. */
static int check_console(const struct oci_process *p, struct err *e)
{
	if (!p->console_size || !p->terminal.v)
		return 0;
	if (p->console_size->height > UINT16_MAX || p->console_size->width > UINT16_MAX)
		return check_fail(e, "process.consoleSize: height and width must be below 65536");
	return 0;
}

static int check_labels(const struct oci_process *p, struct err *e)
{
	if (p->apparmor_profile && check_has_control(p->apparmor_profile))
		return check_fail(e, "process.apparmorProfile: contains a control character");
	if (p->selinux_label && check_has_control(p->selinux_label))
		return check_fail(e, "process.selinuxLabel: contains a control character");
	return 0;
}

static int check_command(const struct oci_process *p, struct err *e)
{
	if (p->args.n == 0)
		return check_fail(e, "process.args: must have at least one entry");
	if (!*p->args.v[0])
		return check_fail(e, "process.args[0]: is empty");
	if (!check_is_absolute(p->cwd))
		return check_fail(e, "process.cwd: \"%.64s\" is not an absolute path",
				  p->cwd ? p->cwd : "");
	if (p->oom_score_adj.v < -1000 || p->oom_score_adj.v > 1000)
		return check_fail(e, "process.oomScoreAdj: %d is not between -1000 and 1000",
				  p->oom_score_adj.v);
	return 0;
}

int spec_validate_process(const struct oci_process *p, struct err *e)
{
	int r = check_command(p, e);

	if (r == 0)
		r = check_console(p, e);
	if (r == 0)
		r = check_user(&p->user, e);
	if (r == 0)
		r = check_rlimits(&p->rlimits, e);
	if (r == 0)
		r = check_labels(p, e);
	if (r == 0 && p->io_priority)
		r = check_io_priority(p->io_priority, e);
	if (r == 0 && p->scheduler)
		r = check_scheduler(p->scheduler, e);
	if (r == 0 && p->exec_cpu_affinity)
		r = check_affinity(p->exec_cpu_affinity, e);
	return r;
}

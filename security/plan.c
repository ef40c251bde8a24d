/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the spec to the plan. Nothing here asks the kernel: what must be known of it comes in as a
 * struct sec_host. What cannot be done is an error that names the field, except for capabilities,
 * where the spec wants a warning.
 */
#include "security/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/personality.h>

#include "base/log.h"
#include "base/str.h"

enum { OOM_SCORE_MIN = -1000, OOM_SCORE_MAX = 1000, GROUPS_MAX = 65536, UMASK_MAX = 0777 };

static uint64_t all_caps(int last)
{
	return last >= 63 ? UINT64_MAX : (UINT64_C(1) << (last + 1)) - 1;
}

/* One of the five lists as bits; names that mean nothing here are logged and left out. */
static uint64_t caps_of(const struct strv *names, const char *set, uint64_t available)
{
	uint64_t caps = 0;

	for (size_t i = 0; i < names->n; i++) {
		int cap = sec_cap_number(names->v[i]);

		if (cap < 0)
			log_warning("process.capabilities.%s: unknown capability %s is left out",
				    set, names->v[i]);
		else if (!(available >> cap & 1))
			log_warning("process.capabilities.%s: %s cannot be granted: the kernel "
				    "does not know it or brig does not have it", set, names->v[i]);
		else
			caps |= UINT64_C(1) << cap;
	}
	return caps;
}

/* The kernel refuses sets that are not within each other; what cannot be granted is left out, without
 * a warning: callers send ambient sets without inheritable ones, and none of them can turn that off. */
static void limit_to(uint64_t *caps, uint64_t limit, const char *set, const char *why)
{
	for (int c = 0; c <= SEC_CAP_MAX; c++)
		if ((*caps & ~limit) >> c & 1)
			log_debug("process.capabilities.%s: %s cannot be granted: it is not %s",
				  set, sec_cap_name(c), why);
	*caps &= limit;
}

static void plan_caps(struct sec_plan *p, const struct oci_process *proc, uint64_t available)
{
	const struct oci_capabilities *c = proc->capabilities;
	struct sec_caps *caps = &p->caps;

	if (!c)
		return;
	caps->bounding = caps_of(&c->bounding, "bounding", available);
	caps->permitted = caps_of(&c->permitted, "permitted", available);
	caps->effective = caps_of(&c->effective, "effective", available);
	caps->inheritable = caps_of(&c->inheritable, "inheritable", available);
	caps->ambient = caps_of(&c->ambient, "ambient", available);
	limit_to(&caps->effective, caps->permitted, "effective", "permitted");
	limit_to(&caps->inheritable, caps->bounding, "inheritable", "in the bounding set");
	limit_to(&caps->ambient, caps->permitted & caps->inheritable, "ambient",
		 "permitted and inheritable");
}

int sec_deny_groups(struct sec_plan *p, struct err *e)
{
	p->set_groups = false;
	if (!p->groups.n)
		return 0;
	return err_set(e, EPERM, "process.user.additionalGids: setgroups is denied in this user namespace, because "
		       "its group map was written without privilege; newgidmap and a range in /etc/subgid allow it");
}

static int plan_user(struct sec_plan *p, const struct oci_user *u, const struct sec_options *opt,
		     struct err *e)
{
	/* podman: those of the caller, in place of additionalGids, whatever that says. */
	const bool keep = str_map_get(&opt->spec->annotations, SEC_GROUPS_ANNOTATION) != NULL;

	/* -1 means "leave alone" to the kernel: it must never be an id (CVE-2024-40635 class). */
	if (u->uid == UINT32_MAX || u->gid == UINT32_MAX)
		return err_set(e, EINVAL, "process.user: %" PRIu32 " is not an id", UINT32_MAX);
	if (u->additional_gids.n > GROUPS_MAX)
		return err_set(e, EINVAL, "process.user.additionalGids: more than %d groups",
			       GROUPS_MAX);
	for (size_t i = 0; i < u->additional_gids.n; i++)
		if (u->additional_gids.v[i] == UINT32_MAX)
			return err_set(e, EINVAL, "process.user.additionalGids[%zu]: %" PRIu32
				       " is not an id", i, UINT32_MAX);
	if (u->umask.set && u->umask.v > UMASK_MAX)
		return err_set(e, EINVAL, "process.user.umask: %" PRIu32 " is more than 0777",
			       u->umask.v);
	p->uid = u->uid;
	p->gid = u->gid;
	p->set_groups = !keep;
	if (!keep)
		p->groups = u->additional_gids;
	p->keep_groups = keep;
	p->umask = u->umask;
	return opt->setgroups_denied ? sec_deny_groups(p, e) : 0;
}

static int plan_rlimits(struct arena *a, struct sec_plan *p, const struct oci_rlimit_list *list,
			struct err *e)
{
	uint64_t seen = 0;

	p->rlimits.v = arena_array(a, list->n, sizeof(*p->rlimits.v));
	for (size_t i = 0; i < list->n; i++) {
		const struct oci_rlimit *l = &list->v[i];
		int r = sec_rlimit_number(l->type);

		if (r < 0)
			return err_set(e, EINVAL, "process.rlimits[%zu].type: %s is not a resource "
				       "limit of Linux", i, l->type);
		if (seen >> r & 1)
			return err_set(e, EINVAL, "process.rlimits[%zu].type: %s is there twice", i,
				       l->type);
		if (l->soft > l->hard)
			return err_set(e, EINVAL, "process.rlimits[%zu]: %s has a soft limit above "
				       "the hard one", i, l->type);
		seen |= UINT64_C(1) << r;
		p->rlimits.v[p->rlimits.n++] = (struct sec_rlimit){r, l->soft, l->hard};
	}
	return 0;
}

static int plan_oom_score(struct sec_plan *p, const struct oci_process *proc, struct err *e)
{
	const struct opt_i32 *o = &proc->oom_score_adj;

	if (o->set && (o->v < OOM_SCORE_MIN || o->v > OOM_SCORE_MAX))
		return err_set(e, EINVAL, "process.oomScoreAdj: %" PRId32 " is not within %d and %d",
			       o->v, OOM_SCORE_MIN, OOM_SCORE_MAX);
	p->oom_score_adj = *o;
	return 0;
}

static int plan_personality(struct sec_plan *p, const struct oci_personality *o, struct err *e)
{
	static const struct sec_name domains[] = {
		{"LINUX", PER_LINUX}, {"LINUX32", PER_LINUX32}, {NULL, 0}};
	const struct sec_name *d;

	if (!o)
		return 0;
	d = sec_find_name(domains, o->domain);
	if (!d)
		return err_set(e, EINVAL, "linux.personality.domain: %s is neither LINUX nor "
			       "LINUX32", o->domain ? o->domain : "nothing");
	if (o->flags.n)
		return err_set(e, EINVAL, "linux.personality.flags[0]: unknown flag %s",
			       o->flags.v[0]);
	p->personality = (struct opt_u32){true, (uint32_t)d->value};
	return 0;
}

int sec_plan_build(struct arena *a, const struct sec_options *opt, struct sec_plan **ret_plan,
		   struct err *e)
{
	struct sec_plan *p = arena_new_of(a, struct sec_plan);
	const struct oci_spec *spec = opt->spec;
	const struct oci_process *proc = spec->process;
	uint64_t available = all_caps(opt->host->cap_last);
	const char *raw;
	int r;

	if (!proc)
		return err_set(e, EINVAL, "process: missing");
	if (!opt->new_userns)
		available &= opt->host->cap_permitted;
	p->cap_last = opt->host->cap_last;
	p->securebits = opt->securebits;
	p->no_new_privs = proc->no_new_privileges.set && proc->no_new_privileges.v;
	p->apparmor_profile = proc->apparmor_profile;
	p->selinux_label = proc->selinux_label;
	p->new_keyring = opt->new_keyring;
	p->pdeathsig = opt->pdeathsig;
	p->seccomp = spec->linux_ ? spec->linux_->seccomp : NULL;
	if ((r = plan_user(p, &proc->user, opt, e)) < 0 ||
	    (r = plan_rlimits(a, p, &proc->rlimits, e)) < 0 ||
	    (r = plan_oom_score(p, proc, e)) < 0 ||
	    (r = plan_personality(p, spec->linux_ ? spec->linux_->personality : NULL, e)) < 0 ||
	    (r = sec_plan_scheduling(a, p, spec, e)) < 0)
		return r;
	raw = str_map_get(&spec->annotations, SEC_RAW_ANNOTATION);
	if (raw) {
		p->seccomp = NULL;
		r = sec_filter_raw(a, raw, &p->filter, e);
		if (r < 0)
			return r;
	}
	plan_caps(p, proc, available);
	*ret_plan = p;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices a container may use: deny everything, then the rules of the spec in their order,
 * then what every container needs. Pure.
 *
 * Each access (read, write, mknod) to a device is decided by the last rule that matches it. A
 * container without a single rule gets deny-all and the default list too; only a spec that ends
 * with "allow all" (a privileged container) has no filter.
 */
#include <string.h>

#include "cgroups/internal.h"

#define ALL (CG_DEV_MKNOD | CG_DEV_READ | CG_DEV_WRITE)

static const struct cg_device_rule defaults[] = {
	/* A node that cannot be opened may exist: unpacking an archive works. */
	{true, 'a', CG_DEV_MKNOD, -1, -1},
	{true, 'c', ALL, 1, 3},    /* null */
	{true, 'c', ALL, 1, 5},    /* zero */
	{true, 'c', ALL, 1, 7},    /* full */
	{true, 'c', ALL, 1, 8},    /* random */
	{true, 'c', ALL, 1, 9},    /* urandom */
	{true, 'c', ALL, 5, 0},    /* tty */
	{true, 'c', ALL, 5, 1},    /* console */
	{true, 'c', ALL, 5, 2},    /* ptmx */
	{true, 'c', ALL, 136, -1}, /* pts */
};

static bool is_everything(const struct cg_device_rule *r)
{
	return r->type == 'a' && r->access == ALL && r->major < 0 && r->minor < 0;
}

static void add_rule(struct cg_builder *b, const struct cg_device_rule *rule)
{
	struct cg_device_list *l = &b->p->devices;

	/* Nothing before a rule for everything matters. */
	if (is_everything(rule))
		l->n = 0;
	if (l->n == b->devices_cap) {
		struct cg_device_rule *v;

		b->devices_cap = b->devices_cap ? b->devices_cap * 2 : 32;
		v = arena_array(b->a, b->devices_cap, sizeof(*v));
		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
	}
	l->v[l->n++] = *rule;
}

static int parse_access(struct cg_builder *b, const char *text)
{
	int access = 0;

	if (!text || !*text)
		return ALL;
	for (; *text; text++) {
		static const char letters[] = "mrw";
		const char *p = strchr(letters, *text);

		if (!p)
			return err_set(b->e, EINVAL,
				       "linux.resources.devices: access is not made "
				       "of r, w and m");
		access |= 1 << (p - letters);
	}
	return access;
}

static int add_spec_rule(struct cg_builder *b, const struct oci_device_rule *d)
{
	struct cg_device_rule rule = {.allow = d->allow, .type = 'a', .major = -1, .minor = -1};
	int access = parse_access(b, d->access);

	if (access < 0)
		return access;
	rule.access = (unsigned)access;
	if (d->type && *d->type)
		rule.type = d->type[0];
	if (!strchr("abc", rule.type) || (d->type && *d->type && d->type[1]))
		return err_set(b->e, EINVAL, "linux.resources.devices: type is not a, b or c");
	if (d->major.set)
		rule.major = d->major.v;
	if (d->minor.set)
		rule.minor = d->minor.v;
	if (rule.major < -1 || rule.major > UINT32_MAX || rule.minor < -1 ||
	    rule.minor > UINT32_MAX)
		return err_set(b->e, ERANGE,
			       "linux.resources.devices: a device number is "
			       "out of range");
	add_rule(b, &rule);
	return 0;
}

int cg_plan_devices(struct cg_builder *b, const struct oci_resources *r)
{
	static const struct cg_device_rule nothing = {false, 'a', ALL, -1, -1};
	size_t n = r ? r->devices.n : 0;

	add_rule(b, &nothing);
	for (size_t i = 0; i < n; i++) {
		int x = add_spec_rule(b, &r->devices.v[i]);

		if (x < 0)
			return x;
	}
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		add_rule(b, &defaults[i]);
	b->p->filter_devices = !cg_devices_allow_all(&b->p->devices);
	return 0;
}

bool cg_devices_allow_all(const struct cg_device_list *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (!rules->v[i].allow)
			return false;
	}
	return rules->n > 0 && is_everything(&rules->v[0]);
}

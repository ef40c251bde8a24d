/* SPDX-License-Identifier: Apache-2.0 */
/* The container's cgroup as other parts of the plan see it. */
#include "base/str.h"
#include "runtime/plan.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"

/* The v1 hierarchies in which cg_create makes a directory. */
static bool uses(const struct cg_plan *c, const struct cg_hierarchy *h)
{
	return h->controllers & (c->controllers | c->wanted);
}

struct strv plan_cgroup_paths(struct arena *a, const struct plan *p, const struct rt_host *h)
{
	const struct cg_plan *c = p->cgroup;
	struct strv s = {arena_array(a, h->cgroups.v1_n + 2, sizeof(char *)), 0};

	if (c->driver != CG_DRIVER_FS)
		return s;
	if (c->kind == CG_V2)
		s.v[s.n++] = c->path;
	for (size_t i = 0; c->kind == CG_V1 && i < h->cgroups.v1_n; i++)
		if (uses(c, &h->cgroups.v1[i]))
			s.v[s.n++] = arena_printf(a, "v1:%s:%s", h->cgroups.v1[i].dir, c->path);
	return s;
}

void plan_cgroup_dirs(struct arena *a, const struct plan *p, const struct rt_host *h,
		      struct rootfs_options *ro)
{
	const struct cg_plan *c = p->cgroup;
	struct rootfs_cgroup_v1 *v1;
	size_t n = 0;

	if (c->driver != CG_DRIVER_FS)
		return;
	if (c->kind == CG_V2) {
		ro->cgroup_dir = arena_printf(a, CGROUP_MOUNT "%s", c->path);
		return;
	}
	v1 = arena_array(a, h->cgroups.v1_n + 1, sizeof(*v1));
	for (size_t i = 0; i < h->cgroups.v1_n; i++) {
		const char *dir = h->cgroups.v1[i].dir;

		if (uses(c, &h->cgroups.v1[i]))
			v1[n++] = (struct rootfs_cgroup_v1){
				dir, arena_printf(a, CGROUP_MOUNT "/%s%s", dir, c->path)};
	}
	ro->cgroup_v1 = v1;
	ro->n_cgroup_v1 = n;
}

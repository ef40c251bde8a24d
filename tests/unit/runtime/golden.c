/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans are pure, so they are compared with files: each configuration of tests/golden on each kind
 * of host. `tests/unit/runtime/golden --write` writes the files anew; look at the difference before
 * it is committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "nsenter/clone.h"
#include "runtime/plan.h"
#include "spec/default.h"
#include "spec/sandbox.h"
#include "spec/spec.h"
#include "tests/unit/test.h"

#define ALL_CAPS 0x1ffffffffffull

static const uint32_t v2_controllers = CG_BIT(CG_CPU) | CG_BIT(CG_CPUSET) | CG_BIT(CG_MEMORY) |
				       CG_BIT(CG_PIDS) | CG_BIT(CG_IO) | CG_BIT(CG_HUGETLB);

static struct rt_host root_v2(void)
{
	return (struct rt_host){
		.privileged = true, .may_copy_mounts = true, .initial_userns = true, .procfs = -1,
		.cgroups = {.kind = CG_V2, .mount = "/sys/fs/cgroup", .root = -1, .writable = true,
			    .controllers = v2_controllers, .own = "/", .base = "/"},
		.security = {.cap_last = 40, .cap_permitted = ALL_CAPS},
	};
}

static struct rt_host root_v1(void)
{
	struct rt_host h = root_v2();

	h.cgroups.kind = CG_V1;
	h.cgroups.controllers = 0;
	h.cgroups.v1[0] = (struct cg_hierarchy){CG_BIT(CG_CPU) | CG_BIT(CG_CPUACCT), "cpu,cpuacct", "/"};
	h.cgroups.v1[1] = (struct cg_hierarchy){CG_BIT(CG_MEMORY), "memory", "/"};
	h.cgroups.v1[2] = (struct cg_hierarchy){CG_BIT(CG_PIDS), "pids", "/"};
	h.cgroups.v1[3] = (struct cg_hierarchy){CG_BIT(CG_DEVICES), "devices", "/"};
	h.cgroups.v1[4] = (struct cg_hierarchy){CG_BIT(CG_FREEZER), "freezer", "/"};
	h.cgroups.v1_n = 5;
	for (int i = 0; i < 5; i++)
		h.cgroups.controllers |= h.cgroups.v1[i].controllers;
	return h;
}

static struct rt_host user_v2(bool subids)
{
	struct rt_host h = root_v2();

	h.privileged = h.may_copy_mounts = false;
	h.euid = h.egid = 1001;
	h.cgroups.euid = 1001;
	h.cgroups.own = h.cgroups.base = "/user.slice/user-1001.slice/user@1001.service";
	h.security.cap_permitted = 0;
	h.have_subids = subids;
	h.subuid = h.subgid = (struct oci_id_mapping){0, 100000, 65536};
	return h;
}

static struct rt_host user_single(void)
{
	return user_v2(false);
}

static struct rt_host user_range(void)
{
	return user_v2(true);
}

static struct plan *build(struct arena *a, const struct oci_spec *s, struct plan_options *o,
			  const struct rt_host *h)
{
	struct plan_input in = {s, o, h};
	struct plan *p;
	struct err e = {0};

	o->id = "golden";
	o->bundle = "/bundle";
	if (plan_build(a, &in, &p, &e) < 0) {
		printf("# %s\n", e.msg);
		return NULL;
	}
	return p;
}

static struct plan *plan_default(struct arena *a, const struct rt_host *h)
{
	struct plan_options o = {0};

	return build(a, spec_default(a, &(struct spec_default_options){0}), &o, h);
}

static struct plan *plan_rootless(struct arena *a, const struct rt_host *h)
{
	struct spec_default_options d = {.rootless = true, .uid = 1001, .gid = 1001};
	struct plan_options o = {.create = true};

	return build(a, spec_default(a, &d), &o, h);
}

static struct plan *plan_sandbox(struct arena *a, const struct rt_host *h)
{
	static const char text[] = "{\"process\": {\"args\": [\"python3\", \"-c\", \"print(1)\"]}}";
	struct plan_options o = {.sandbox = true, .host_rootfs = true, .default_seccomp = true,
				 .tiny_init = true, .die_with_parent = true,
				 .userns = PLAN_USERNS_AUTO};
	struct sandbox_host sh = {.cgroup_v2 = h->cgroups.kind == CG_V2,
				  .environ = (const char *const[]){NULL}};
	struct sandbox sb;
	struct err e = {0};

	if (sandbox_parse(text, sizeof(text) - 1, a, &sb, &e) < 0 ||
	    sandbox_defaults(a, &sb, &sh, &e) < 0) {
		printf("# %s\n", e.msg);
		return NULL;
	}
	return build(a, sb.spec, &o, h);
}

static struct plan *plan_layers(struct arena *a, const struct rt_host *h)
{
	static char *layers[] = {"/layers/top", "/layers/base"};
	static const struct rootfs_overlay overlay = {
		.lower = {layers, 2},
		.upper = "/rw/diff", .work = "/rw/work", .unsynced = true,
	};
	static struct oci_namespace user = {.type = "user"};
	struct oci_spec *s = spec_default(a, &(struct spec_default_options){0});
	struct plan_options o = {.overlay = &overlay, .nodev = true, .userns = PLAN_USERNS_AUTO};
	struct oci_namespace *v = arena_array(a, s->linux_->namespaces.n + 1, sizeof(*v));

	memcpy(v, s->linux_->namespaces.v, s->linux_->namespaces.n * sizeof(*v));
	v[s->linux_->namespaces.n++] = user;
	s->linux_->namespaces.v = v;
	s->root->readonly.v = false;
	return build(a, s, &o, h);
}

static const struct {
	const char *name;
	struct plan *(*plan)(struct arena *a, const struct rt_host *h);
	struct rt_host (*host)(void);
} cases[] = {
	{"default-root-v2", plan_default, root_v2},
	{"default-root-v1", plan_default, root_v1},
	{"rootless-create", plan_rootless, user_single},
	{"sandbox-root-v2", plan_sandbox, root_v2},
	{"sandbox-root-v1", plan_sandbox, root_v1},
	{"sandbox-user-single", plan_sandbox, user_single},
	{"sandbox-user-range", plan_sandbox, user_range},
	{"layers-root-v2", plan_layers, root_v2},
	{"layers-user-single", plan_layers, user_single},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static bool writing;

static void golden_path(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s/%s.json", GOLDEN_DIR, name);
}

static void print_first_difference(const char *name, const char *have, const char *want)
{
	size_t line = 1, i = 0;

	for (; have[i] && have[i] == want[i]; i++)
		line += have[i] == '\n';
	while (i > 0 && have[i - 1] != '\n')
		i--;
	printf("# %s.json:%zu: %.*s\n#   not: %.*s\n", name, line, (int)strcspn(have + i, "\n"), have + i,
	       (int)strcspn(want + i, "\n"), want + i);
}

static void drop_step(struct strbuf *text, const char *name)
{
	char *at = text->p ? strstr(text->p, name) : NULL, *end = at ? strchr(at, '{') : NULL;

	if (!end)
		return;
	while (*at != '{')
		at--;
	memmove(at, end, strlen(end) + 1);
	text->len = strlen(text->p);
}

/* The files are of a build in which INIT shares our memory. With sanitizers it does not, and then the
 * filter is loaded when the cgroup is made. */
static void adapt_to_build(struct strbuf *want)
{
	if (clone_can_share_vm())
		return;
	drop_step(want, "\"load the device filter\"");
	drop_step(want, "\"wait for the parent\"");
}

static void check_case(int i)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf have = {0}, want = {0};
	struct rt_host h = cases[i].host();
	struct plan *p = cases[i].plan(a, &h);
	struct json_writer w;
	struct err e = {0};
	char path[512];

	CHECK(p != NULL);
	if (!p)
		return;
	json_writer_init(&w, &have, true);
	plan_write(&w, p);
	strbuf_addc(&have, '\n');
	golden_path(path, sizeof(path), cases[i].name);
	if (writing) {
		CHECK_INT(io_replace_file(AT_FDCWD, path, &have, 0644, &e), 0);
		return;
	}
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, &want, &e), 0);
	adapt_to_build(&want);
	CHECK(str_eq(have.p, strbuf_str(&want)));
	if (!str_eq(have.p, strbuf_str(&want)))
		print_first_difference(cases[i].name, have.p, strbuf_str(&want));
}

int main(int argc, char **argv)
{
	int bad = 0;

	writing = argc > 1 && str_eq(argv[1], "--write");
	printf("1..%d\n", CASES);
	for (int i = 0; i < CASES; i++) {
		test_failed = 0;
		check_case(i);
		printf("%sok %d - %s\n", test_failed ? "not " : "", i + 1, cases[i].name);
		bad |= test_failed;
	}
	return bad;
}

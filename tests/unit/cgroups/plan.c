/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: values, files and order for v2 and v1, paths, drivers, errors. No system calls. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "cgroups/internal.h"
#include "tests/unit/test.h"

#define S(text) ((char *)(text))

static struct arena *arena;
static struct err e;

/* A spec with everything the tests touch, on a host with everything. */
struct fixture {
	struct oci_memory memory;
	struct oci_cpu cpu;
	struct oci_pids pids;
	struct oci_block_io io;
	struct oci_network network;
	struct oci_resources res;
	struct oci_linux lin;
	struct oci_spec spec;
	struct cg_host host;
	struct cg_request rq;
};

static void init(struct fixture *f, enum cg_kind kind)
{
	memset(f, 0, sizeof(*f));
	f->host = (struct cg_host){.kind = kind,
				   .root = -1,
				   .writable = true,
				   .base = S("/"),
				   .own = S("/"),
				   .mount = "/sys/fs/cgroup",
				   .controllers = (1u << CG_CORE) - 1};
	f->lin.resources = &f->res;
	f->spec.linux_ = &f->lin;
	f->rq = (struct cg_request){.spec = &f->spec,
				    .id = "c1",
				    .host = &f->host,
				    .rootless = true};
}

static struct cg_plan *build(struct fixture *f)
{
	struct cg_plan *p = NULL;

	e = (struct err){0};
	(void)cg_plan_build(arena, &f->rq, &p, &e);
	return p;
}

/* "file=value file=value ..." */
static const char *list(const struct cg_plan *p)
{
	static char text[4096];
	size_t n = 0;

	if (!p)
		return e.msg;
	text[0] = '\0';
	for (size_t i = 0; i < p->settings.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s", n ? ", " : "",
				      p->settings.v[i].file, p->settings.v[i].value);
	return text;
}

static bool says(const char *part)
{
	if (strstr(e.msg, part))
		return true;
	printf("# \"%s\" does not say \"%s\"\n", e.msg, part);
	return false;
}

static void weight_formula(void)
{
	static const struct {
		unsigned shares, weight;
	} known[] = {
		{0, 1}, {1, 1}, {2, 1}, {1024, 100}, {262144, 10000}, {1000000, 10000},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK_INT(cg_weight_of_shares(known[i].shares), known[i].weight);
	for (unsigned s = 2; s <= 262144; s++) {
		double l = log2(s);
		double w = ceil(pow(10, (l * l + 125 * l) / 612 - 7.0 / 34) - 1e-7);

		w = w < 1 ? 1 : w;
		if (cg_weight_of_shares(s) != (unsigned)w) {
			printf("# shares %u: %u, not %g\n", s, cg_weight_of_shares(s), w);
			CHECK(false);
			return;
		}
	}
}

static void memory_v2(void)
{
	struct fixture f;

	init(&f, CG_V2);
	f.res.memory = &f.memory;
	f.memory.limit = (struct opt_i64){true, 1000};
	f.memory.swap = (struct opt_i64){true, 1000};
	f.memory.reservation = (struct opt_i64){true, 500};
	CHECK_STR(list(build(&f)), "memory.max=1000, memory.low=500, memory.swap.max=0");
	f.memory.swap.v = 1500;
	CHECK_STR(list(build(&f)), "memory.max=1000, memory.low=500, memory.swap.max=500");
	f.memory.swap.v = -1;
	CHECK_STR(list(build(&f)), "memory.max=1000, memory.low=500, memory.swap.max=max");
	f.memory = (struct oci_memory){.limit = {true, -1}};
	CHECK_STR(list(build(&f)), "memory.max=max, memory.swap.max=max");
	f.memory = (struct oci_memory){.swap = {true, 1000}};
	CHECK(!build(&f) && says("linux.resources.memory.swap: a swap limit needs"));
	f.memory = (struct oci_memory){.limit = {true, 1000}, .swap = {true, 999}};
	CHECK(!build(&f) && says("is below"));
	f.memory = (struct oci_memory){.limit = {true, -2}};
	CHECK(!build(&f) && e.code == ERANGE);
	f.memory = (struct oci_memory){.swappiness = {true, 10}};
	CHECK(!build(&f) && says("memory.swappiness: not possible with cgroup v2"));
	f.memory = (struct oci_memory){.disable_oom_killer = {true, true}};
	CHECK(!build(&f) && says("disableOOMKiller"));
	/* Zero is "not set". */
	f.memory = (struct oci_memory){.limit = {true, 0}, .swap = {true, 0}};
	CHECK_STR(list(build(&f)), "");
}

static void memory_v1(void)
{
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V1);
	f.res.memory = &f.memory;
	f.memory.limit = (struct opt_i64){true, 1000};
	f.memory.swap = (struct opt_i64){true, 1000};
	p = build(&f);
	CHECK_STR(list(p), "memory.limit_in_bytes=1000, memory.memsw.limit_in_bytes=1000");
	CHECK(p && p->settings.v[0].pair && p->settings.v[1].missing == CG_MISSING_OK_WITHOUT_SWAP);
	f.memory = (struct oci_memory){.swappiness = {true, 10}, .kernel = {true, 5}};
	p = build(&f);
	CHECK_STR(list(p), "memory.swappiness=10");
	CHECK_INT(p ? p->warnings.n : 0, 1);
	f.memory = (struct oci_memory){.swap = {true, 1000}};
	CHECK(!build(&f) && says("needs linux.resources.memory.limit"));
}

static void cpu_both(void)
{
	struct fixture f;

	init(&f, CG_V2);
	f.res.cpu = &f.cpu;
	f.cpu = (struct oci_cpu){.shares = {true, 1024},
				 .quota = {true, 50000},
				 .cpus = S("0-1"),
				 .mems = S("0")};
	CHECK_STR(list(build(&f)),
		  "cpu.weight=100, cpu.max=50000 100000, cpuset.cpus=0-1, cpuset.mems=0");
	f.cpu = (struct oci_cpu){.quota = {true, 20000},
				 .period = {true, 10000},
				 .burst = {true, 1000}};
	CHECK_STR(list(build(&f)), "cpu.max=20000 10000, cpu.max.burst=1000");
	f.cpu = (struct oci_cpu){.quota = {true, -1}};
	CHECK_STR(list(build(&f)), "cpu.max=max 100000");
	f.cpu = (struct oci_cpu){.period = {true, 50000}};
	CHECK_STR(list(build(&f)), "cpu.max=max 50000");
	f.cpu = (struct oci_cpu){.shares = {true, 2}, .idle = {true, 1}};
	CHECK_STR(list(build(&f)), "cpu.idle=1");
	f.cpu.idle.v = 0;
	CHECK_STR(list(build(&f)), "cpu.idle=0, cpu.weight=1");
	f.cpu = (struct oci_cpu){.realtime_runtime = {true, 100}};
	CHECK(!build(&f) && says("realtimeRuntime"));
	f.cpu = (struct oci_cpu){.quota = {true, 500}};
	CHECK(!build(&f) && says("cpu.quota: 500 is not at least 1000"));
	f.cpu = (struct oci_cpu){.period = {true, 5}};
	CHECK(!build(&f) && says("cpu.period"));
	f.cpu = (struct oci_cpu){.quota = {true, 2000}, .burst = {true, 3000}};
	CHECK(!build(&f) && says("cpu.burst"));
	f.cpu = (struct oci_cpu){.cpus = S("0\n1")};
	CHECK(!build(&f) && says("cpu.cpus"));
	init(&f, CG_V1);
	f.res.cpu = &f.cpu;
	f.cpu = (struct oci_cpu){.shares = {true, 512},
				 .quota = {true, 50000},
				 .period = {true, 100000},
				 .realtime_runtime = {true, 950}};
	CHECK_STR(list(build(&f)), "cpu.shares=512, cpu.cfs_period_us=100000, "
				   "cpu.cfs_quota_us=50000, cpu.rt_runtime_us=950");
}

static void pids_both(void)
{
	struct fixture f;

	init(&f, CG_V2);
	f.res.pids = &f.pids;
	f.pids.limit = (struct opt_i64){true, 0};
	CHECK_STR(list(build(&f)), "pids.max=0");
	f.pids.limit.v = -1;
	CHECK_STR(list(build(&f)), "pids.max=max");
	f.pids.limit.v = -5;
	CHECK(!build(&f) && says("pids.limit: -5"));
	f.host.kind = CG_V1;
	f.pids.limit.v = 64;
	CHECK_STR(list(build(&f)), "pids.max=64");
}

static void io_both(void)
{
	struct oci_throttle_device rate = {8, 0, 1048576};
	struct oci_weight_device weight = {8, 16, {true, 1000}, {0}};
	struct fixture f;

	init(&f, CG_V2);
	f.res.block_io = &f.io;
	f.io.weight = (struct opt_u16){true, 10};
	f.io.weight_device = (struct oci_weight_device_list){&weight, 1};
	f.io.throttle_read_bps_device = (struct oci_throttle_device_list){&rate, 1};
	f.io.throttle_write_iops_device = (struct oci_throttle_device_list){&rate, 1};
	CHECK_STR(list(build(&f)),
		  "io.bfq.weight=10, io.weight=1, io.bfq.weight=8:16 1000, io.weight=8:16 10000, "
		  "io.max=8:0 rbps=1048576, io.max=8:0 wiops=1048576");
	f.host.kind = CG_V1;
	CHECK_STR(list(build(&f)),
		  "blkio.bfq.weight=10, blkio.weight=10, blkio.bfq.weight_device=8:16 1000, "
		  "blkio.weight_device=8:16 1000, blkio.throttle.read_bps_device=8:0 1048576, "
		  "blkio.throttle.write_iops_device=8:0 1048576");
	f.io.weight.v = 5;
	CHECK(!build(&f) && says("blockIO.weight: 5"));
}

static void the_rest(void)
{
	struct oci_hugepage_limit huge = {S("2MB"), 4096}, bad = {S("../x"), 1};
	struct oci_rdma rdma = {S("mlx5_1"), {true, 3}, {true, 10000}};
	struct oci_interface_priority prio = {S("eth0"), 5};
	struct fixture f;

	init(&f, CG_V2);
	f.res.hugepage_limits = (struct oci_hugepage_limit_list){&huge, 1};
	f.res.rdma = (struct oci_rdma_list){&rdma, 1};
	CHECK_STR(list(build(&f)), "hugetlb.2MB.max=4096, hugetlb.2MB.rsvd.max=4096, "
				   "rdma.max=mlx5_1 hca_handle=3 hca_object=10000");
	f.host.kind = CG_V1;
	f.res.rdma.n = 0;
	f.res.network = &f.network;
	f.network.class_id = (struct opt_u32){true, 1048577};
	f.network.priorities = (struct oci_interface_priority_list){&prio, 1};
	CHECK_STR(list(build(&f)), "net_cls.classid=1048577, net_prio.ifpriomap=eth0 5, "
				   "hugetlb.2MB.limit_in_bytes=4096, "
				   "hugetlb.2MB.rsvd.limit_in_bytes=4096");
	f.host.kind = CG_V2;
	CHECK(!build(&f) && says("linux.resources.network"));
	f.res.network = NULL;
	f.res.hugepage_limits.v = &bad;
	CHECK(!build(&f) && says("pageSize"));
}

static void unified(void)
{
	struct str_pair pairs[] = {{S("memory.high"), S("100")},
				   {S("io.max"), S("8:0 rbps=1\n8:16 rbps=2")},
				   {S("cgroup.max.descendants"), S("0")},
				   {S("foo.bar"), S("x")}};
	static const char *const refused[] = {
		"a/b", "../memory.max", "cgroup.procs", "cgroup.kill", ".x", "plain", ""};
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	f.res.unified = (struct str_map){pairs, 4};
	p = build(&f);
	CHECK_STR(list(p), "memory.high=100, io.max=8:0 rbps=1, io.max=8:16 rbps=2, "
			   "cgroup.max.descendants=0, foo.bar=x");
	CHECK_INT(p ? p->controllers : 0, CG_BIT(CG_MEMORY) | CG_BIT(CG_IO));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct str_pair one = {S(refused[i]), S("1")};

		f.res.unified = (struct str_map){&one, 1};
		CHECK(!build(&f) && says("unified"));
	}
	f.host.kind = CG_V1;
	f.res.unified = (struct str_map){pairs, 1};
	CHECK(!build(&f) && says("unified needs v2"));
	f.rq.best_effort = true;
	p = build(&f);
	CHECK(p && p->warnings.n == 1 && p->settings.n == 0);
}

static void zswap_goes_without_saying(void)
{
	struct str_pair zswap = {S("memory.zswap.max"), S("0")};
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	f.res.unified = (struct str_map){&zswap, 1};
	p = build(&f);
	CHECK(p && p->settings.v[0].missing == CG_MISSING_ERROR);
	f.res.memory = &f.memory;
	f.memory.limit = f.memory.swap = (struct opt_i64){true, 1 << 20};
	p = build(&f);
	CHECK(p && p->settings.v[2].missing == CG_MISSING_OK);
}

static void missing_controllers(void)
{
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	f.res.memory = &f.memory;
	f.memory.limit = f.memory.swap = (struct opt_i64){true, 1000};
	f.res.pids = &f.pids;
	f.pids.limit = (struct opt_i64){true, 5};
	f.host.controllers = CG_BIT(CG_PIDS);
	CHECK(!build(&f) && says("linux.resources.memory.limit") && says("controller memory") &&
	      says("Delegate=yes"));
	f.rq.best_effort = true;
	p = build(&f);
	CHECK_STR(list(p), "pids.max=5");
	CHECK_INT(p ? p->warnings.n : 0, 2);
	CHECK_INT(p ? p->controllers : 0, CG_BIT(CG_PIDS));
}

static void paths(void)
{
	static const struct {
		const char *base, *wish, *path;
	} good[] = {
		{"/", NULL, "/brig-c1"},  {"/user.slice/u", NULL, "/user.slice/u/brig-c1"},
		{"/", "/a/b", "/a/b"},    {"/", "//a///b/", "/a/b"},
		{"/d", "/a/b", "/a/b"},   {"/d", "a", "/d/a"},
		{"/d", "", "/d/brig-c1"},
	};
	static const char *const bad[] = {"/", "..", "/a/../b", "a/..", "/a/./b", "//", "/a\nb"};
	struct fixture f;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct cg_plan *p;

		init(&f, CG_V2);
		f.host.base = S(good[i].base);
		f.lin.cgroups_path = S(good[i].wish);
		p = build(&f);
		CHECK_STR(p ? p->path : e.msg, good[i].path);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		init(&f, CG_V2);
		f.lin.cgroups_path = S(bad[i]);
		CHECK(!build(&f) && says("linux.cgroupsPath"));
	}
}

static void drivers(void)
{
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	f.host.writable = false;
	f.host.euid = 1000;
	f.host.why_none = "our cgroup is not delegated";
	p = build(&f);
	CHECK(p && p->driver == CG_DRIVER_NONE);
	f.res.pids = &f.pids;
	f.pids.limit = (struct opt_i64){true, 5};
	CHECK(!build(&f) && says("linux.resources.pids.limit") && says("not delegated") &&
	      says("systemd-run"));
	f.host.bus = "/run/user/1000/systemd/private";
	p = build(&f);
	CHECK(p && p->driver == CG_DRIVER_SYSTEMD);
	CHECK_STR(p ? p->unit : "", "brig-c1.scope");
	f.rq.systemd = true;
	f.lin.cgroups_path = S("system.slice:cri:abc");
	p = build(&f);
	CHECK_STR(p ? p->unit : e.msg, "cri-abc.scope");
	CHECK_STR(p ? p->slice : e.msg, "system.slice");
	f.lin.cgroups_path = S(":cri:abc");
	p = build(&f);
	CHECK_STR(p ? p->slice : e.msg, "user.slice");
	f.lin.cgroups_path = S("/a/b");
	CHECK(!build(&f) && says("slice:prefix:name"));
	f.host.kind = CG_V1;
	CHECK(!build(&f) && says("needs cgroup v2"));
	init(&f, CG_V2);
	f.rq.disabled = true;
	p = build(&f);
	CHECK(p && p->driver == CG_DRIVER_NONE);
	f.res.pids = &f.pids;
	f.pids.limit = (struct opt_i64){true, 5};
	CHECK(!build(&f) && says("disabled"));
}

static void ownership(void)
{
	struct oci_namespace ns[] = {{S("cgroup"), NULL}, {S("user"), NULL}};
	struct oci_id_mapping map = {0, 100000, 1000};
	char *rw[] = {S("rw"), NULL}, *ro[] = {S("ro"), NULL};
	struct oci_mount m = {.destination = S("/sys/fs/cgroup"),
			      .type = S("cgroup"),
			      .options = {rw, 1}};
	struct oci_process process = {.user = {.uid = 5}};
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	f.spec.process = &process;
	f.spec.mounts = (struct oci_mount_list){&m, 1};
	f.lin.namespaces = (struct oci_namespace_list){ns, 2};
	f.lin.uid_mappings = (struct oci_id_mapping_list){&map, 1};
	p = build(&f);
	CHECK(p && p->delegate && p->owner_uid == 100005);
	m.options.v = ro;
	p = build(&f);
	CHECK(p && !p->delegate);
	m.options.v = rw;
	f.lin.namespaces.v[0].path = S("/proc/1/ns/cgroup");
	p = build(&f);
	CHECK(p && !p->delegate);
}

static void devices_v1(void)
{
	struct oci_device_rule rules[] = {
		{.allow = true,
		 .type = S("c"),
		 .major = {true, 10},
		 .minor = {true, 200},
		 .access = S("rw")},
		{.allow = false,
		 .type = S("c"),
		 .major = {true, 1},
		 .minor = {true, 3},
		 .access = S("w")},
	};
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V1);
	f.rq.rootless = false;
	f.res.devices = (struct oci_device_rule_list){rules, 1};
	p = build(&f);
	CHECK(p && str_starts(list(p), "devices.deny=a, devices.allow=c 10:200 rw, "
				       "devices.allow=b *:* m, devices.allow=c *:* m, "
				       "devices.allow=c 1:3 rwm"));
	/* A hole in a wider permission. */
	rules[0].minor.set = false;
	rules[1] = (struct oci_device_rule){.allow = false,
					    .type = S("c"),
					    .major = {true, 10},
					    .minor = {true, 1},
					    .access = S("w")};
	f.res.devices.n = 2;
	CHECK(!build(&f) && says("exception c 10:1"));
	rules[0].access = S("rx");
	CHECK(!build(&f) && says("access"));
}

static void self_cgroup(void)
{
	struct cg_host h = {0};

	CHECK_INT(cg_parse_self(arena,
				"12:cpu,cpuacct:/a\n5:name=systemd:/x\n4:memory:/b/c\n0::/u\n", &h,
				&e),
		  0);
	CHECK_INT(h.v1_n, 2);
	CHECK_STR(h.v1[0].dir, "cpu");
	CHECK_INT(h.v1[0].controllers, CG_BIT(CG_CPU) | CG_BIT(CG_CPUACCT));
	CHECK_STR(h.v1[1].own, "/b/c");
	CHECK_STR(h.own, "/u");
	h = (struct cg_host){0};
	CHECK_INT(cg_parse_self(arena, "0::/../../x\n", &h, &e), 0);
	CHECK_STR(h.own, "/");
	h = (struct cg_host){0};
	CHECK_INT(cg_parse_self(arena, "", &h, &e), -ENOTSUP);
	CHECK_INT(cg_parse_controllers("cpuset cpu io memory hugetlb pids rdma misc\n"),
		  (1u << CG_CPUACCT) - 1);
}

/* annotate(f, KEY, VALUE): as the only annotation. */
static void annotate(struct fixture *f, const char *key, const char *value)
{
	static struct str_pair pair;

	pair = (struct str_pair){S(key), S(value)};
	f->spec.annotations = (struct str_map){&pair, 1};
}

static void names_by_annotation(void)
{
	static struct oci_namespace user = {.type = S("user")};
	static struct oci_id_mapping map = {0, 5000, 10};
	struct fixture f;
	struct cg_plan *p;

	init(&f, CG_V2);
	CHECK_STR(build(&f)->leaf, "container");
	CHECK(!build(&f)->child);
	annotate(&f, "run.oci.systemd.subgroup", "");
	CHECK_STR(build(&f)->leaf, "");
	annotate(&f, "run.oci.systemd.subgroup", "../x");
	CHECK(!build(&f) && says("run.oci.systemd.subgroup"));
	annotate(&f, "run.oci.delegate-cgroup", "inner");
	CHECK_STR(build(&f)->child, "inner");
	f.lin.namespaces = (struct oci_namespace_list){&user, 1};
	f.lin.uid_mappings = (struct oci_id_mapping_list){&map, 1};
	p = build(&f);
	CHECK_INT(p->child_uid, 5000);
	annotate(&f, "run.oci.delegate-cgroup", "..");
	CHECK(!build(&f) && says("run.oci.delegate-cgroup"));
	init(&f, CG_V1);
	annotate(&f, "run.oci.delegate-cgroup", "inner");
	CHECK(!build(&f) && says("needs cgroup v2"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(weight_formula),
		TEST(memory_v2),
		TEST(memory_v1),
		TEST(cpu_both),
		TEST(pids_both),
		TEST(io_both),
		TEST(the_rest),
		TEST(unified),
		TEST(zswap_goes_without_saying),
		TEST(missing_controllers),
		TEST(paths),
		TEST(drivers),
		TEST(ownership),
		TEST(devices_v1),
		TEST(self_cgroup),
		TEST(names_by_annotation),
	};
	int r;

	arena = arena_new();
	r = test_run(tests, (int)(sizeof(tests) / sizeof(tests[0])));
	arena_free(arena);
	return r;
}

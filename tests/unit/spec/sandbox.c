/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox spec: what is given stays, what is left out is hardened, what is wrong is refused. */
#include "spec/sandbox.h"

#include <errno.h>

#include "base/str.h"
#include "spec/spec.h"
#include "tests/unit/test.h"

static struct arena *a;
static struct sandbox sb;
#define s (sb.spec)
#define o (sb.options)
static struct err e;

static const char *const no_environ[] = {NULL};
static const struct sandbox_host host_v1 = {.environ = no_environ};

#define ARGS "\"process\": {\"args\": [\"true\"]}"

static int parse(const char *text)
{
	arena_free(a);
	a = arena_new();
	e = (struct err){0};
	return sandbox_parse(text, strlen(text), a, &sb, &e);
}

/* Parses and completes. */
static int complete(const char *text, const struct sandbox_host *h)
{
	int r = parse(text);

	if (r == 0)
		r = sandbox_defaults(a, &sb, h, &e);
	if (r < 0)
		printf("# %s\n", e.msg);
	return r;
}

static void refused(const char *text, const char *message)
{
	int r = parse(text);

	if (r == 0)
		r = sandbox_defaults(a, &sb, &host_v1, &e);
	CHECK(r < 0);
	CHECK_STR(e.msg, message);
}

static const struct oci_mount *mount_at(const char *destination)
{
	for (size_t i = 0; i < s->mounts.n; i++)
		if (str_eq(s->mounts.v[i].destination, destination))
			return &s->mounts.v[i];
	return NULL;
}

static bool has_option(const struct oci_mount *m, const char *option)
{
	for (size_t i = 0; m && i < m->options.n; i++)
		if (str_eq(m->options.v[i], option))
			return true;
	return false;
}

static const char *env_of(const char *name)
{
	for (size_t i = 0; i < s->process->env.n; i++)
		if (str_starts(s->process->env.v[i], name) &&
		    s->process->env.v[i][strlen(name)] == '=')
			return s->process->env.v[i] + strlen(name) + 1;
	return NULL;
}

static size_t count_namespaces(const char *type)
{
	size_t n = 0;

	for (size_t i = 0; i < s->linux_->namespaces.n; i++)
		n += str_eq(s->linux_->namespaces.v[i].type, type);
	return n;
}

static void only_args(void)
{
	static const char *const types[] = {"user", "pid", "mount", "network", "ipc", "uts", "cgroup"};
	const struct oci_resources *r;

	CHECK_INT(complete("{" ARGS "}", &host_v1), 0);
	CHECK_INT(s->process->user.uid, 1000);
	CHECK_INT(s->process->user.gid, 1000);
	CHECK_STR(s->process->cwd, "/workspace");
	CHECK(s->process->no_new_privileges.v);
	CHECK(!s->process->capabilities);
	CHECK_INT(s->process->oom_score_adj.v, 500);
	CHECK_INT(s->process->env.n, 3);
	CHECK_STR(env_of("LANG"), "C.UTF-8");
	for (size_t i = 0; i < 7; i++)
		CHECK_INT(count_namespaces(types[i]), 1);
	CHECK_INT(s->linux_->namespaces.n, 7);
	CHECK(s->root->readonly.v && !s->root->path);
	CHECK(o.host_rootfs && o.default_seccomp && o.init.v && !o.best_effort.v);
	r = s->linux_->resources;
	CHECK_INT(r->memory->limit.v, 512 << 20);
	CHECK_INT(r->memory->swap.v, 512 << 20);
	CHECK_INT(r->cpu->quota.v, 100000);
	CHECK_INT(r->cpu->period.v, 100000);
	CHECK_INT(r->pids->limit.v, 65);
	CHECK_INT(r->unified.n, 0);
	CHECK_INT(o.timeout_ns.v, 300000000000);
	CHECK_INT(o.output_limit.v, 1 << 20);
	CHECK(o.cpu_time_ns.set && o.cpu_time_ns.v == 0);
	CHECK(s->linux_->masked_paths.n > 5 && s->linux_->readonly_paths.n > 2);
	CHECK_STR(s->linux_->sysctl.v[0].key, "user.max_user_namespaces");
	CHECK_STR(s->linux_->sysctl.v[0].value, "0");
	CHECK(has_option(mount_at("/tmp"), "size=67108864"));
	CHECK(has_option(mount_at("/tmp"), "nr_inodes=16384"));
	CHECK(has_option(mount_at("/tmp"), "nosuid") && has_option(mount_at("/tmp"), "nodev"));
	CHECK(mount_at("/workspace") && mount_at("/proc") && mount_at("/dev/shm"));
	CHECK(!mount_at("/sys") && !mount_at("/sys/fs/cgroup") && !mount_at("/run/secrets"));
}

static void on_v2(void)
{
	struct sandbox_host h = {.cgroup_v2 = true, .environ = no_environ};

	CHECK_INT(complete("{" ARGS "}", &h), 0);
	CHECK_INT(s->linux_->resources->unified.n, 2);
	CHECK_INT(complete("{" ARGS ",\"linux\":{\"resources\":{\"unified\":"
			   "{\"memory.oom.group\":\"0\"}}}}", &h), 0);
	CHECK_INT(s->linux_->resources->unified.n, 2);
	CHECK_STR(s->linux_->resources->unified.v[0].value, "0");
}

/* A root file system of the caller without the work directory is not changed. */
static void root_given(void)
{
	struct sandbox_host h = {.environ = no_environ};

	CHECK_INT(complete("{" ARGS ",\"root\":{\"path\":\"r\"}}", &h), 0);
	CHECK(!o.host_rootfs);
	CHECK(s->root->readonly.v);
	CHECK_STR(s->process->cwd, "/tmp");
	CHECK(!mount_at("/workspace"));
	h.root_has_workspace = true;
	CHECK_INT(complete("{" ARGS ",\"root\":{\"path\":\"r\",\"readonly\":false}}", &h), 0);
	CHECK(s->root->readonly.set && !s->root->readonly.v);
	CHECK_STR(s->process->cwd, "/workspace");
	CHECK(mount_at("/workspace"));
}

static void given_parts_alone_change(void)
{
	CHECK_INT(complete("{\"process\":{\"args\":[\"a\"],\"user\":{\"uid\":5},\"cwd\":\"/x\","
			   "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":5,\"hard\":6}]},"
			   "\"linux\":{\"resources\":{\"memory\":{\"limit\":33554432}},"
			   "\"maskedPaths\":[],\"namespaces\":[{\"type\":\"network\",\"path\":\"/n\"}]}}",
			   &host_v1), 0);
	CHECK_INT(s->process->user.uid, 5);
	CHECK_INT(s->process->user.gid, 1000);
	CHECK_STR(s->process->cwd, "/x");
	CHECK_INT(s->process->rlimits.v[0].soft, 5);
	CHECK_INT(s->process->rlimits.n, 9);
	CHECK_INT(s->linux_->resources->memory->limit.v, 32 << 20);
	CHECK_INT(s->linux_->resources->memory->swap.v, 32 << 20);
	CHECK_INT(s->linux_->resources->pids->limit.v, 65);
	CHECK_INT(s->linux_->masked_paths.n, 0);
	CHECK(s->linux_->readonly_paths.n > 0);
	CHECK_INT(count_namespaces("network"), 1);
	CHECK_INT(count_namespaces("user"), 1);
	CHECK_INT(s->linux_->namespaces.n, 7);
}

static void limits_in_the_spec_are_exact(void)
{
	CHECK_INT(complete("{" ARGS ",\"linux\":{\"resources\":{\"pids\":{\"limit\":10},"
			   "\"cpu\":{\"quota\":5000,\"period\":10000},"
			   "\"memory\":{\"limit\":-1}}}}", &host_v1), 0);
	CHECK_INT(s->linux_->resources->pids->limit.v, 10);
	CHECK_INT(s->linux_->resources->cpu->quota.v, 5000);
	CHECK_INT(s->linux_->resources->cpu->period.v, 10000);
	CHECK_INT(s->linux_->resources->memory->limit.v, -1);
	CHECK(!s->linux_->resources->memory->swap.set);
}

static void mounts(void)
{
	CHECK_INT(complete("{" ARGS ",\"mounts\":["
			   "{\"destination\":\"/data\",\"type\":\"bind\",\"source\":\"/d\"},"
			   "{\"destination\":\"/w\",\"source\":\"/d\",\"options\":[\"rbind\",\"rw\",\"dev\"]},"
			   "{\"destination\":\"/tmp\",\"type\":\"tmpfs\",\"source\":\"t\",\"options\":[\"size=1m\"]}]}",
			   &host_v1), 0);
	CHECK(has_option(mount_at("/data"), "ro") && has_option(mount_at("/data"), "nosuid"));
	CHECK(has_option(mount_at("/data"), "nodev"));
	CHECK(!has_option(mount_at("/w"), "ro") && !has_option(mount_at("/w"), "nodev"));
	CHECK(has_option(mount_at("/w"), "nosuid"));
	CHECK(has_option(mount_at("/tmp"), "size=1m") && !has_option(mount_at("/tmp"), "ro"));
	CHECK(!has_option(mount_at("/tmp"), "size=67108864"));
	CHECK_STR(s->mounts.v[0].destination, "/proc");
}

static void environment(void)
{
	static const char *const caller[] = {"A=1", "AB=2", "SECRET=x", "LANG=de_DE", "PATH=/evil", NULL};
	struct sandbox_host h = {.environ = caller};

	CHECK_INT(complete("{\"process\":{\"args\":[\"a\"],\"env\":[\"A=9\",\"NEW=\",\"HOME=/h\"]},"
			   "\"annotations\":{\"org.brig.env-allow\":\"A,LANG,NOT_THERE\"}}", &h), 0);
	CHECK_STR(env_of("A"), "9");
	CHECK_STR(env_of("LANG"), "de_DE");
	CHECK_STR(env_of("NEW"), "");
	CHECK_STR(env_of("HOME"), "/h");
	CHECK_STR(env_of("PATH"), "/usr/local/bin:/usr/bin:/bin");
	CHECK(!env_of("SECRET") && !env_of("AB") && !env_of("NOT_THERE"));
	CHECK_INT(s->process->env.n, 5);
	CHECK(!s->process->env.v[5]);
}

static void rlimits_never_above_the_callers(void)
{
	struct oci_rlimit own[] = {{(char *)"RLIMIT_NOFILE", 10, 256}, {(char *)"RLIMIT_CORE", 9, 9}};
	struct sandbox_host h = {.environ = no_environ, .rlimits = {own, 2}};

	CHECK_INT(complete("{" ARGS "}", &h), 0);
	for (size_t i = 0; i < s->process->rlimits.n; i++) {
		const struct oci_rlimit *r = &s->process->rlimits.v[i];

		if (str_eq(r->type, "RLIMIT_NOFILE"))
			CHECK(r->hard == 256 && r->soft == 256);
		if (str_eq(r->type, "RLIMIT_CORE"))
			CHECK(r->hard == 0 && r->soft == 0);
	}
}

static void settings(void)
{
	CHECK_INT(complete("{" ARGS ",\"annotations\":{\"org.brig.memory\":\"64m\","
			   "\"org.brig.cpus\":\"0.5\",\"org.brig.pids\":\"10\","
			   "\"org.brig.timeout\":\"500ms\",\"org.brig.cpu-time\":\"2\","
			   "\"org.brig.output-limit\":\"1k\",\"org.brig.output-action\":\"kill\","
			   "\"org.brig.tmp-size\":\"8MiB\",\"org.brig.network\":\"host\","
			   "\"org.brig.init\":\"false\",\"org.brig.stdin\":\"hello\","
			   "\"org.brig.userns\":\"single\",\"com.example\":\"ignored\"}}", &host_v1), 0);
	CHECK_INT(s->linux_->resources->memory->limit.v, 64 << 20);
	CHECK_INT(s->linux_->resources->memory->swap.v, 64 << 20);
	CHECK_INT(s->linux_->resources->cpu->quota.v, 50000);
	CHECK_INT(s->linux_->resources->pids->limit.v, 10);
	CHECK_INT(o.timeout_ns.v, 500000000);
	CHECK_INT(o.cpu_time_ns.v, 2000000000);
	CHECK_INT(o.output_limit.v, 1024);
	CHECK_INT(o.output_action.v, SANDBOX_OUTPUT_KILL);
	CHECK_INT(o.userns.v, SANDBOX_USERNS_SINGLE);
	CHECK(has_option(mount_at("/tmp"), "size=8388608"));
	CHECK_INT(count_namespaces("network"), 0);
	CHECK(!o.init.v);
	CHECK_STR(o.stdin_text, "hello");
}

static uint64_t set_and_get(const char *name, const char *value, const struct opt_u64 *member)
{
	e = (struct err){0};
	return sandbox_set(&o, a, name, value, &e) < 0 ? (uint64_t)e.code : member->v;
}

static void number_forms(void)
{
	parse("{}");
	CHECK_INT(set_and_get("memory", "1048576", &o.memory), 1 << 20);
	CHECK_INT(set_and_get("memory", "1.5g", &o.memory), 3ll << 29);
	CHECK_INT(set_and_get("memory", "2GiB", &o.memory), 2ll << 30);
	CHECK_INT(set_and_get("memory", "10MB", &o.memory), 10 << 20);
	CHECK_INT(set_and_get("memory", "1000k", &o.memory), ERANGE);
	CHECK_INT(set_and_get("memory", "0", &o.memory), ERANGE);
	CHECK_INT(set_and_get("memory", "-1", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "+5m", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", " 5m", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "5 m", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "m", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", ".5g", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "5.g", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "1.2.3g", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "0x100000", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "1e9", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "none", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "1048576.5", &o.memory), EINVAL);
	CHECK_INT(set_and_get("memory", "99999999999999999999", &o.memory), ERANGE);
	CHECK_INT(set_and_get("memory", "16777216t", &o.memory), ERANGE);
	CHECK_INT(set_and_get("timeout", "1.5s", &o.timeout_ns), 1500000000);
	CHECK_INT(set_and_get("timeout", "2m", &o.timeout_ns), 120000000000);
	CHECK_INT(set_and_get("timeout", "1h", &o.timeout_ns), 3600000000000);
	CHECK_INT(set_and_get("timeout", "0.25", &o.timeout_ns), 250000000);
	CHECK_INT(set_and_get("timeout", "none", &o.timeout_ns), 0);
	CHECK_INT(set_and_get("timeout", "0", &o.timeout_ns), ERANGE);
	CHECK_INT(set_and_get("timeout", "5d", &o.timeout_ns), EINVAL);
	CHECK_INT(set_and_get("timeout", "9000h", &o.timeout_ns), ERANGE);
	CHECK_INT(set_and_get("cpus", "2", &o.cpu_quota), 200000);
	CHECK_INT(set_and_get("cpus", "0.01", &o.cpu_quota), 1000);
	CHECK_INT(set_and_get("cpus", "0.001", &o.cpu_quota), ERANGE);
	CHECK_INT(set_and_get("cpus", "0.5m", &o.cpu_quota), EINVAL);
	CHECK_INT(set_and_get("pids", "1", &o.pids), 1);
	CHECK_INT(set_and_get("pids", "1.5", &o.pids), EINVAL);
	CHECK_INT(set_and_get("pids", "0", &o.pids), ERANGE);
	CHECK_INT(set_and_get("output-limit", "0", &o.output_limit), 0);
}

static void command_line_overrides(void)
{
	CHECK_INT(parse("{" ARGS ",\"annotations\":{\"org.brig.memory\":\"64m\"},"
			"\"linux\":{\"resources\":{\"pids\":{\"limit\":7}}}}"), 0);
	CHECK_INT(sandbox_set(&o, a, "memory", "32m", &e), 0);
	CHECK_INT(sandbox_set(&o, a, "pids", "9", &e), 0);
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), 0);
	CHECK_INT(s->linux_->resources->memory->limit.v, 32 << 20);
	CHECK_INT(s->linux_->resources->pids->limit.v, 10);
	CHECK_INT(sandbox_set(&o, a, "memory", "x\x1b", &e), -EINVAL);
	CHECK_STR(e.msg, "--memory: \"x\\x1b\" is not a size like 64m");
	CHECK_INT(sandbox_set(&o, a, "userns", "both", &e), -EINVAL);
	CHECK_STR(e.msg, "--userns: \"both\" is not auto or single or range");
}

static void without_a_document(void)
{
	arena_free(a);
	a = arena_new();
	sandbox_empty(a, &sb);
	sandbox_set(&o, a, "env-allow", "A", &e);
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), -EINVAL);
	s->process->args.v = (char *[]){(char *)"true", NULL};
	s->process->args.n = 1;
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), 0);
}

static void secrets_and_outputs(void)
{
	CHECK_INT(parse("{" ARGS ",\"annotations\":{\"org.brig.outputs\":\"/srv/out\"}}"), 0);
	o.secrets = (struct strv){(char *[]){(char *)"API_KEY", NULL}, 1};
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), 0);
	CHECK_STR(env_of("API_KEY_FILE"), "/run/secrets/API_KEY");
	CHECK(mount_at("/run/secrets"));
	CHECK_STR(mount_at("/outputs")->source, "/srv/out");
	CHECK(has_option(mount_at("/outputs"), "rw") && has_option(mount_at("/outputs"), "nosuid"));
	o.secrets.v[0] = (char *)"../x";
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), -EINVAL);
	CHECK_INT(parse("{" ARGS ",\"annotations\":{\"org.brig.outputs\":\"/srv/out\",\"org.brig.outputs-at\":\"/o\"}}"), 0);
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), 0);
	CHECK_STR(mount_at("/o")->source, "/srv/out");
	CHECK_INT(parse("{" ARGS ",\"annotations\":{\"org.brig.outputs-at\":\"/o\"}}"), 0);
	CHECK_INT(sandbox_defaults(a, &sb, &host_v1, &e), -EINVAL);
	CHECK_STR(e.msg, "outputs-at: there is no directory for outputs to be seen there");
}

static void refusals(void)
{
	refused("{}", "process.args: is missing, there is nothing to run");
	refused("[]", "the document is an array, not an object");
	refused("{" ARGS ",\"hooks\":{}}", "hooks: a sandbox has none, they would run on the host");
	refused("{" ARGS ",\"proces\":1}", "proces: a sandbox spec has no such member");
	refused("{\"process\":{\"args\":[\"a\"],\"noNewPriviliges\":true}}",
		"process.noNewPriviliges: a sandbox spec has no such member");
	refused("{" ARGS ",\"linux\":{\"resources\":{\"memory\":{\"limt\":5}}}}",
		"linux.resources.memory.limt: a sandbox spec has no such member");
	refused("{" ARGS ",\"mounts\":[{\"destination\":\"/x\",\"opts\":[]}]}",
		"mounts.opts: a sandbox spec has no such member");
	refused("{" ARGS ",\"annotations\":{\"org.brig.memroy\":\"5m\"}}",
		"annotations.org.brig.memroy: there is no such setting");
	refused("{" ARGS ",\"annotations\":{\"org.brig.memory\":\"5x\"}}",
		"annotations.org.brig.memory: \"5x\" is not a size like 64m");
	refused("{" ARGS ",\"annotations\":{\"org.brig.init\":\"yes\"}}",
		"annotations.org.brig.init: \"yes\" is not true or false");
	refused("{" ARGS ",\"annotations\":{\"org.brig.env-allow\":\"A,,B\"}}",
		"annotations.org.brig.env-allow: \"A,,B\" is not a name of an environment variable");
	refused("{" ARGS ",\"annotations\":{\"org.brig.outputs\":\"out\"}}",
		"annotations.org.brig.outputs: \"out\" is not an absolute path");
	refused("{" ARGS ",\"annotations\":{\"org.brig.pids\":\"5\"},"
		"\"linux\":{\"resources\":{\"pids\":{\"limit\":5}}}}",
		"annotations.org.brig.pids: linux.resources.pids has the limit, too; give one of them");
	refused("{\"process\":{\"args\":[\"a\"],\"terminal\":true}}",
		"process.terminal: a sandbox has no terminal");
	refused("{\"process\":{\"args\":[\"a\"],\"env\":[\"A\"]}}",
		"process.env[0]: is not of the form NAME=value");
	refused("{\"process\":{\"args\":[5]}}", "process.args[0]: is a number, not a string");
	refused("{\"process\":5}", "process: is a number, not an object");
}

/* 1 when both documents have one key. */
static int same_key(const char *one, const char *other)
{
	char first[100];

	CHECK_INT(complete(one, &host_v1), 0);
	snprintf(first, sizeof(first), "%s", sandbox_cache_key(a, &sb));
	CHECK(str_starts(first, "sandbox-env:") && strlen(first) == 12 + 64);
	CHECK_INT(complete(other, &host_v1), 0);
	return str_eq(first, sandbox_cache_key(a, &sb));
}

static void cache_key(void)
{
	static const char base[] = "{" ARGS "}";

	CHECK_INT(same_key(base, base), 1);
	CHECK_INT(same_key(base, "{\"process\":{\"args\":[\"other\"]}}"), 1);
	CHECK_INT(same_key(base, "{" ARGS ",\"annotations\":{\"org.brig.stdin\":\"x\",\"a\":\"y\"}}"), 1);
	CHECK_INT(same_key(base, "{" ARGS ",\"annotations\":{\"org.brig.memory\":\"512m\","
				 "\"org.brig.timeout\":\"300\"}}"), 1);
	CHECK_INT(same_key(base, "{" ARGS ",\"annotations\":{\"org.brig.memory\":\"64m\"}}"), 0);
	CHECK_INT(same_key(base, "{" ARGS ",\"annotations\":{\"org.brig.timeout\":\"1s\"}}"), 0);
	CHECK_INT(same_key(base, "{" ARGS ",\"annotations\":{\"org.brig.tmp-size\":\"1m\"}}"), 0);
	CHECK_INT(same_key(base, "{\"process\":{\"args\":[\"true\"],\"env\":[\"A=1\"]}}"), 0);
}

TEST_MAIN(TEST(only_args), TEST(on_v2), TEST(root_given), TEST(given_parts_alone_change),
	  TEST(limits_in_the_spec_are_exact), TEST(mounts), TEST(environment),
	  TEST(rlimits_never_above_the_callers), TEST(settings), TEST(number_forms),
	  TEST(command_line_overrides), TEST(without_a_document), TEST(secrets_and_outputs),
	  TEST(refusals), TEST(cache_key))

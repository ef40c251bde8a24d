/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine of Docker refuses of a new container, in its words; and which mounts it makes. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "tests/unit/test.h"

#define DAEMON "Error response from daemon: "

/* The words in one text, separated by blanks; the image is put behind them. */
static struct dk_run_options *parse(struct dk_context *c, const char *text, struct err *e)
{
	static const struct dk_command create = {.flags = &dk_create_flags};
	struct dk_args args = {.command = &create, .path = "docker create"};
	struct dk_parser p = {.c = c, .table = &dk_create_flags, .given = args.given, .stop_at_argument = true};
	struct strv words = {0};
	char *copy = arena_strdup(c->arena, text), *rest;

	for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		dk_strv_add(c->arena, &words, w);
	dk_strv_add(c->arena, &words, (char *)"img");
	args.options = p.options = arena_alloc(c->arena, dk_create_flags.options_size);
	if (dk_parse_defaults(&p, e) < 0 || dk_parse_flags(&p, (int)words.n, words.v, e) < 0)
		return NULL;
	args.argc = p.argc;
	args.argv = p.argv;
	return dk_run_check(c, &args, e) < 0 ? NULL : args.options;
}

static const char *refused(struct arena *a, const char *text)
{
	struct dk_context c = {.arena = a};
	struct err e = {0};
	struct dk_run_options *o = parse(&c, text, &e);

	if (!o)
		return arena_printf(a, "client: %s", dk_error_text(&c, &e));
	return dk_run_resolve(&c, o, 2, &e) < 0 ? arena_strdup(a, dk_error_text(&c, &e)) : "";
}

static void refusals(void)
{
	static const char *const cases[][2] = {
		{"-m 512m --memory-swap 512m --cpus 2 --pids-limit 64 --restart on-failure:3", ""},
		{"-m 4m", DAEMON "Minimum memory limit allowed is 6MB"},
		{"-m 512m --memory-swap 256m", DAEMON "Minimum memoryswap limit should be larger than memory limit, see usage"},
		{"--memory-swap 256m", DAEMON "You should always set the Memory limit when using Memoryswap limit, see usage"},
		{"--memory-swap -1", ""},
		{"-m 64m --memory-reservation 128m", DAEMON "Minimum memory limit can not be less than memory reservation limit, see usage"},
		{"--cpus -1", DAEMON "Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available"},
		{"--cpus 3", DAEMON "Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available"},
		{"--cpus 1 --cpu-quota 50000", DAEMON "Conflicting options: Nano CPUs and CPU Quota cannot both be set"},
		{"--oom-score-adj 5000", DAEMON "Invalid value 5000, range for oom score adj is [-1000, 1000]"},
		{"--stop-signal FOO", DAEMON "Invalid signal: FOO"},
		{"--stop-signal SIGRTMIN+3", ""}, {"--stop-signal term", ""}, {"--stop-signal 15", ""},
		{"--stop-signal 65", DAEMON "Invalid signal: 65"},
		{"--log-driver syslog", DAEMON "logger: no log driver named 'syslog' is registered"},
		{"--log-opt max-sice=1m", DAEMON "unknown log opt 'max-sice' for json-file log driver"},
		{"--log-opt max-size=1x", DAEMON "failed to initialize logging driver: invalid value for max-size: 1x"},
		{"--log-opt max-size=1m --log-opt max-file=0", DAEMON "failed to initialize logging driver: max-file cannot be less than 1"},
		{"--log-driver local --log-opt max-size=-1 --log-opt max-file=3 --log-opt tag=x", ""},
		{"--restart foo", DAEMON "invalid restart policy 'foo'"},
		{"--restart always:3", DAEMON "maximum retry count cannot be used with restart policy 'always'"},
		{"--ipc foo", DAEMON "Invalid IPC mode: foo"}, {"--ipc shareable", ""}, {"--ipc container:x", ""},
		{"--uts host --hostname h", DAEMON "conflicting options: hostname and the UTS mode"}, {"--uts host", ""},
		{"--runtime runsc", DAEMON "Unknown runtime specified runsc"}, {"--runtime runc", ""},
		{"--cap-add FOO", DAEMON "invalid CapAdd: unknown capability: \"CAP_FOO\""},
		{"--cap-drop foo", DAEMON "invalid CapDrop: unknown capability: \"CAP_FOO\""},
		{"--cap-drop all --cap-add NET_ADMIN --cap-add cap_chown", ""},
		{"--security-opt foo=bar", DAEMON "invalid --security-opt 2: \"foo=bar\""},
		{"--security-opt no-new-privileges=maybe", DAEMON "invalid --security-opt 2: \"no-new-privileges=maybe\""},
		{"--security-opt no-new-privileges:true --security-opt label=disable --security-opt apparmor=unconfined", ""},
		{"--network none --network host", DAEMON "Container cannot be connected to network endpoints: host, none"},
		{"--network none --ip 10.0.0.2", DAEMON "user specified IP address is supported on user defined networks only"},
		{"--health-cmd x --health-interval 100us", DAEMON "Interval in Healthcheck cannot be less than 1ms"},
		{"-v /a:/m:bogus", DAEMON "invalid mode: bogus"}, {"-v /a:/m:ro,rw", DAEMON "invalid mode: ro,rw"},
		{"-v /a:/m:ro,Z,rslave,cached", ""}, {"-v v1:/m:nocopy", ""},
		{"-v a:b:c:d", DAEMON "invalid volume specification: 'a:b:c:d'"}, {"-v /a:ro", DAEMON "invalid volume specification: '/a:ro'"},
		{"-v vol/sub:/m", DAEMON "create vol/sub: \"vol/sub\" includes invalid characters for a local volume name, only "
		 "\"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you intended to pass a host directory, use absolute path"},
		{"-v /a:m", DAEMON "invalid volume specification: '/a:m': invalid mount config for type \"bind\": invalid mount path: 'm' mount path must be absolute"},
		{"-v /a:/", DAEMON "invalid volume specification: '/a:/': invalid mount config for type \"bind\": invalid specification: destination can't be '/'"},
		{"-v /a:/m -v /b:/m", DAEMON "Duplicate mount point: /m"}, {"-v /a:/m -v /a:/m", ""},
		{"--tmpfs /m -v /a:/m/", DAEMON "Duplicate mount point: /m"},
		{"--mount type=bind,source=vol,target=/m", DAEMON "invalid mount config for type \"bind\": invalid mount path: 'vol' mount path must be absolute"},
		{"--mount type=foo,source=/a,target=/m", DAEMON "invalid mount config for type \"foo\": mount type unknown"},
		{"--mount type=tmpfs,source=x,destination=/t", DAEMON "invalid mount config for type \"tmpfs\": field Source must not be specified"},
		{"--tmpfs /t:bogus=1", DAEMON "invalid tmpfs option [\"bogus\" \"1\"]"}, {"--tmpfs /t:foo", DAEMON "invalid tmpfs option [\"foo\"]"},
		{"--tmpfs t", DAEMON "invalid mount path: 't' mount path must be absolute"},
		{"--tmpfs /t:rw,noexec,nosuid,size=65536k,uid=1000,mode=1777", ""},
		/* Never taken over silently: what nobody here can do. */
		{"--cpu-count 2", "client: --cpu-count: only for containers of Windows"},
		{"--use-api-socket", "client: --use-api-socket: there is no API socket, containers are run without a daemon"},
		{"--kernel-memory 50m", "client: --kernel-memory: kernels have no such limit any more, use --memory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		auto_arena struct arena *a = arena_new();

		CHECK_STR(refused(a, cases[i][0]), cases[i][1]);
	}
}

static void mounts(void)
{
	auto_arena struct arena *a = arena_new();
	struct dk_context c = {.arena = a};
	struct err e = {0};
	struct dk_run_options *o = parse(&c, "--tmpfs /tmp -v /src/../dir:/tmp/x/:ro,Z -v name:/n -v /anon "
					     "--mount type=volume,dst=/q --mount type=bind,src=/b,dst=/c,ro,bind-propagation=rslave", &e);

	CHECK(o && dk_run_resolve(&c, o, 1, &e) == 0);
	if (!o)
		return;
	CHECK_INT(o->mounts.n, 6);
	CHECK(o->mounts.v[0].type == DK_MOUNT_TMPFS && str_eq(o->mounts.v[0].target, "/tmp"));
	CHECK(o->mounts.v[1].type == DK_MOUNT_BIND && o->mounts.v[1].readonly && o->mounts.v[1].create_source);
	CHECK_STR(o->mounts.v[1].source, "/dir");
	CHECK_STR(o->mounts.v[1].target, "/tmp/x");
	CHECK_STR(o->mounts.v[1].mode, "ro,Z");
	CHECK(o->mounts.v[2].type == DK_MOUNT_VOLUME && str_eq(o->mounts.v[2].source, "name"));
	CHECK(o->mounts.v[3].type == DK_MOUNT_VOLUME && !o->mounts.v[3].source);
	CHECK(o->mounts.v[4].readonly && !o->mounts.v[4].create_source && str_eq(o->mounts.v[4].propagation, "rslave"));
	CHECK(!o->mounts.v[5].source && str_eq(o->mounts.v[5].target, "/anon"));
}

/* --env-file: the rules are in docker/env-flags.c. */
static void env_files(void)
{
	static const char content[] = "\xef\xbb\xbf# comment\nA=1\n \t B=lead\nC=with space # not a comment\nD=\"quoted\"\nSET\nNOTSET\n\nE=\nA=2\r\n";
	static char *env[] = {(char *)"SET=from client", NULL};
	auto_arena struct arena *a = arena_new();
	struct dk_context c = {.arena = a, .env = env};
	char name[] = "/tmp/env.XXXXXX";
	struct strv files = {0}, flags = {0}, ret = {0};
	auto_strbuf struct strbuf all = {0};
	struct err e = {0};
	int fd = mkstemp(name);

	CHECK(write(fd, content, sizeof(content) - 1) == (ssize_t)sizeof(content) - 1);
	dk_strv_add(a, &files, name);
	dk_strv_add(a, &flags, (char *)"E=3");
	dk_strv_add(a, &flags, (char *)"GONE");
	CHECK(dk_collect_env(&c, &files, &flags, &ret, &e) == 0);
	for (size_t i = 0; i < ret.n; i++)
		strbuf_printf(&all, "%s|", ret.v[i]);
	CHECK_STR(strbuf_str(&all), "A=2|B=lead|C=with space # not a comment|D=\"quoted\"|SET=from client|E=3|GONE|");
	CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, "bad name=1\n", 11, 0) == 11);
	CHECK(dk_collect_env(&c, &files, &flags, &ret, &e) < 0);
	CHECK(strstr(e.msg, "): variable 'bad name' contains whitespaces") && str_starts(e.msg, "invalid env file ("));
	CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, "=1\n", 3, 0) == 3);
	CHECK(dk_collect_env(&c, &files, &flags, &ret, &e) < 0 && strstr(e.msg, "): no variable name on line '=1'"));
	CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, "A=\xff\n", 4, 0) == 4);
	CHECK(dk_collect_env(&c, &files, &flags, &ret, &e) < 0 && strstr(e.msg, "invalid utf8 bytes at line 1: [65 61 255]"));
	close(fd);
	unlink(name);
}

TEST_MAIN(TEST(refusals), TEST(mounts), TEST(env_files))

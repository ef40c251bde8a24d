/* SPDX-License-Identifier: Apache-2.0 */
/* A container's record and the OCI state, the features structure, the default config. */
#include <errno.h>

#include "spec/default.h"
#include "spec/features.h"
#include "spec/spec.h"
#include "spec/state.h"
#include "tests/unit/test.h"

static const char full[] =
	"{\"version\":1,\"ociVersion\":\"1.0.2\",\"id\":\"c1\",\"bundle\":\"/b\",\"rootfs\":\"/b/r\","
	"\"created\":\"2026-01-02T03:04:05.000000006Z\",\"phase\":\"running\",\"initPid\":42,"
	"\"initStartTime\":123456789,\"bootId\":\"x\",\"ownerPid\":41,\"ownerStartTime\":7,"
	"\"ephemeral\":true,\"systemd\":false,\"rootless\":true,"
	"\"cgroup\":{\"manager\":\"fs\",\"paths\":[\"memory:/a\"],\"made\":[\"/a\"],\"user\":false},"
	"\"namespaces\":[{\"type\":\"pid\",\"path\":\"/proc/42/ns/pid\"}],"
	"\"annotations\":{\"k\":\"v\"}}";

static struct spec_state *parse(struct arena *a, const char *text, struct err *e)
{
	struct spec_state *s = NULL;

	*e = (struct err){0};
	CHECK((spec_state_parse(text, strlen(text), a, &s, e) == 0) == (s != NULL));
	return s;
}

static void test_round_trip(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;
	struct err e;
	struct spec_state *s = parse(a, full, &e);

	CHECK_STR(e.msg, "");
	if (!s)
		return;
	json_writer_init(&w, &b, false);
	spec_state_write(&w, s);
	CHECK_STR(b.p, full);
}

static void test_refusals(void)
{
	static const struct { const char *text, *msg; } bad[] = {
		{"{}", "record: version: is missing"},
		{"{\"version\":2,\"id\":\"a\"}", "record: version: 2 was written by another brig, this one knows 1"},
		{"{\"version\":1,\"id\":\"../x\"}", "record: id: \"../x\" is not a container id"},
		{"{\"version\":1,\"id\":\"a\",\"initPid\":-1}", "record: initPid: -1 is not a process id"},
		{"{\"version\":1,\"id\":\"a\",\"ownerPid\":2147483648}",
		 "record: ownerPid: 2147483648 is not a process id"},
		{"{\"version\":1,\"id\":\"a\",\"cgroup\":{\"made\":[\"/a/../b\"]}}",
		 "record: cgroup: \"/a/../b\" is not a clean path"},
		{"{\"version\":1,\"id\":\"a\",\"phase\":\"x\"}",
		 "record: phase: \"x\" is not one of creating, created, running"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		auto_arena struct arena *a = arena_new();
		struct err e;

		CHECK(!parse(a, bad[i].text, &e));
		CHECK_STR(e.msg, bad[i].msg);
	}
}

static void test_oci_state(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct json_writer w;
	struct err e;
	struct spec_state *s = parse(a, full, &e), small = {.id = "x"};

	json_writer_init(&w, &b, false);
	spec_state_write_oci(&w, s, "running", 42);
	CHECK_STR(b.p, "{\"ociVersion\":\"1.0.2\",\"id\":\"c1\",\"status\":\"running\",\"pid\":42,"
		       "\"bundle\":\"/b\",\"rootfs\":\"/b/r\",\"created\":\"2026-01-02T03:04:05.000000006Z\","
		       "\"annotations\":{\"k\":\"v\"}}");
	b.len = 0;
	spec_state_write_oci(&w, &small, "stopped", 0);
	CHECK_STR(b.p, "{\"ociVersion\":\"1.3.0\",\"id\":\"x\",\"status\":\"stopped\",\"pid\":0,\"bundle\":\"\"}");
	b.len = 0;
	spec_state_write_seccomp(&w, &small, "creating", 5, "MKNOD=1");
	CHECK_STR(b.p, "{\"ociVersion\":\"1.3.0\",\"fds\":[\"seccompFd\"],\"pid\":5,\"metadata\":\"MKNOD=1\","
		       "\"state\":{\"ociVersion\":\"1.3.0\",\"id\":\"x\",\"status\":\"creating\",\"pid\":5,\"bundle\":\"\"}}");
}

static void test_time(void)
{
	char buf[SPEC_TIME_SIZE];

	CHECK_STR(spec_time_format(buf, 0, 0), "1970-01-01T00:00:00.000000000Z");
	CHECK_STR(spec_time_format(buf, 951782399, 999999999), "2000-02-28T23:59:59.999999999Z");
	CHECK_STR(spec_time_format(buf, 951782400, 1), "2000-02-29T00:00:00.000000001Z");
	CHECK_STR(spec_time_format(buf, 1709251199, 0), "2024-02-29T23:59:59.000000000Z");
	CHECK_STR(spec_time_format(buf, 1735689599, 0), "2024-12-31T23:59:59.000000000Z");
	CHECK_STR(spec_time_format(buf, 4107542400, 0), "2100-03-01T00:00:00.000000000Z");
	CHECK_INT(strlen(spec_time_now(buf)), 30);
}

/* What we print must be readable by the same tables. */
static void test_features(void)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct oci_features back = {0};
	const struct json *v = NULL;
	struct json_writer w;
	struct err e = {0};

	json_writer_init(&w, &b, true);
	spec_features_write(&w, spec_features_new(a));
	CHECK_INT(json_parse(b.p, b.len, a, &v, &e), 0);
	CHECK_INT(json_read_struct(&(struct json_reader){a, "", &e}, v, &oci_features_table, &back), 0);
	CHECK_STR(e.msg, "");
	CHECK_STR(back.oci_version_min, "1.0.0");
	CHECK_STR(back.oci_version_max, "1.3.0");
	CHECK_INT(back.hooks.n, 6);
	CHECK_INT(back.linux_->namespaces.n, 8);
	CHECK_STR(back.annotations.v[0].key, "org.brig.version");
	CHECK_STR(back.annotations.v[1].key, "org.opencontainers.runc.checkpoint.enabled");
	CHECK_STR(back.annotations.v[1].value, "true");
	CHECK(!json_get(json_get(json_get(v, "linux"), "apparmor"), "enabled"));
}

static void check_default(const struct spec_default_options *o)
{
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct oci_spec *s = spec_default(a, o), *back = NULL;
	struct json_writer w;
	struct err e = {0};

	json_writer_init(&w, &b, true);
	spec_write(&w, s);
	CHECK_INT(spec_parse(b.p, b.len, a, &back, &e), 0);
	CHECK_STR(e.msg, "");
	CHECK_INT(back->process->capabilities->inheritable.n, 0);
	CHECK_INT(back->linux_->namespaces.n, o->rootless ? 7 : 6);
	CHECK((back->linux_->resources == NULL) == o->rootless);
	CHECK((strstr(b.p, "gid=5") == NULL) == o->rootless);
	CHECK(strstr(b.p, "\"network\"") != NULL);
	CHECK((strstr(b.p, "cpu1/thermal_throttle") != NULL) == (o->cpus == 2));
}

static void test_default(void)
{
	check_default(&(struct spec_default_options){0});
	check_default(&(struct spec_default_options){.cpus = 2});
	check_default(&(struct spec_default_options){.rootless = true, .uid = 1000, .gid = 100});
}

TEST_MAIN(TEST(test_round_trip), TEST(test_refusals), TEST(test_oci_state), TEST(test_time),
	  TEST(test_features), TEST(test_default))

/* SPDX-License-Identifier: Apache-2.0 */
/* Whole documents: full.json has every property once and must come back byte for byte. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "spec/spec.h"
#include "tests/unit/test.h"

static void read_full(struct strbuf *b)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/tests/unit/spec/full.json", srcdir ? srcdir : ".");
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, b, &e), 0);
	CHECK_STR(e.msg, "");
}

static struct oci_spec *parse(struct arena *a, const char *text)
{
	struct oci_spec *s = NULL;
	struct err e = {0};

	CHECK_INT(spec_parse(text, strlen(text), a, &s, &e), 0);
	CHECK_STR(e.msg, "");
	return s;
}

static void test_round_trip(void)
{
	auto_strbuf struct strbuf text = {0}, out = {0};
	auto_arena struct arena *a = arena_new();
	struct json_writer w;
	struct oci_spec *s;

	read_full(&text);
	s = parse(a, text.p);
	if (!s)
		return;
	json_writer_init(&w, &out, true);
	spec_write(&w, s);
	strbuf_addc(&out, '\n');
	CHECK_STR(out.p, text.p);
}

/* The value at a path of json_for_each_field, the first element of every list. */
static const struct json *lookup(const struct json *v, const char *path)
{
	char part[64];

	while (v && *path) {
		size_t n = strcspn(path, ".[");

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		v = strcmp(part, "*") == 0 ? (v->n ? &v->items[0] : NULL) : json_get(v, part);
		path += n;
		if (*path == '[' && path[2]) {
			v = v && v->n ? &v->items[0] : NULL;
			path += 2;
		}
		path += *path == '.';
	}
	return v;
}

static void expect_in_document(const char *path, const struct json_field *f, void *arg)
{
	static const char *const second[] = {
		"linux.resources.devices[].type", "linux.resources.devices[].major",
		"linux.resources.devices[].minor", "linux.namespaces[].path", NULL,
	};

	(void)f;
	if (str_index(second, path) >= 0 || strcmp(path, "linux.personality.flags") == 0)
		return; /* in the second element; no value is valid */
	if (!lookup(arg, path)) {
		printf("# full.json has no %s\n", path);
		test_failed = 1;
	}
}

static void test_full_is_full(void)
{
	auto_strbuf struct strbuf text = {0};
	auto_arena struct arena *a = arena_new();
	const struct json *v = NULL;
	struct err e;

	read_full(&text);
	CHECK_INT(json_parse(text.p, text.len, a, &v, &e), 0);
	json_for_each_field(&oci_spec_table, expect_in_document, (void *)v);
}

static void test_values(void)
{
	auto_strbuf struct strbuf text = {0};
	auto_arena struct arena *a = arena_new();
	struct oci_spec *s;

	read_full(&text);
	s = parse(a, text.p);
	if (!s)
		return;
	CHECK_STR(s->process->args.v[2], "echo \"\xc3\xbc\"\n");
	CHECK(s->process->args.v[3] == NULL);
	CHECK(s->process->rlimits.v[1].hard == UINT64_MAX);
	CHECK(s->process->no_new_privileges.set && !s->process->no_new_privileges.v);
	CHECK_INT(s->process->user.additional_gids.v[1], 6);
	CHECK_STR(s->linux_->net_devices.v[0].host_name, "eth0");
	CHECK_STR(s->linux_->net_devices.v[0].name, "container_eth0");
	CHECK(s->linux_->net_devices.v[1].name == NULL);
	CHECK_STR(s->linux_->resources->rdma.v[1].device, "rxe3");
	CHECK(s->linux_->seccomp->syscalls.v[0].args.v[0].value == UINT64_MAX);
	CHECK_INT(s->linux_->time_offsets->monotonic->secs.v, -172800);
	CHECK(s->linux_->namespaces.v[0].path == NULL);
	CHECK_STR(spec_annotation(s, "com.example.a"), "1");
	CHECK_STR(spec_annotation(s, "empty"), "");
	CHECK(spec_annotation(s, "none") == NULL);
}

static void test_empty_path_is_a_new_namespace(void)
{
	auto_arena struct arena *a = arena_new();
	struct oci_spec *s = parse(a, "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},"
				      "\"linux\":{\"namespaces\":[{\"type\":\"pid\",\"path\":\"\"}]}}");

	CHECK(s && s->linux_->namespaces.v[0].path == NULL);
}

static void test_parts(void)
{
	static const char process[] = "{\"cwd\":\"/\",\"args\":[\"true\"],\"terminal\":true}";
	static const char resources[] = "{\"memory\":{\"limit\":5},\"pids\":{\"limit\":-1}}";
	auto_arena struct arena *a = arena_new();
	auto_strbuf struct strbuf b = {0};
	struct oci_resources *res = NULL;
	struct oci_process *p = NULL;
	struct json_writer w;
	struct err e = {0};

	CHECK_INT(spec_parse_process(process, strlen(process), a, &p, &e), 0);
	CHECK(p && p->terminal.v);
	CHECK_INT(spec_parse_resources(resources, strlen(resources), a, &res, &e), 0);
	json_writer_init(&w, &b, false);
	spec_write_resources(&w, res);
	CHECK_STR(b.p, resources);
	b.len = 0;
	spec_write_process(&w, p);
	CHECK_STR(b.p, "{\"terminal\":true,\"user\":{\"uid\":0,\"gid\":0},\"args\":[\"true\"],\"cwd\":\"/\"}");
	CHECK_INT(spec_parse_process("{}", 2, a, &p, &e), -EINVAL);
	CHECK_STR(e.msg, "process.cwd: is missing");
	CHECK_INT(spec_parse_process("[]", 2, a, &p, &e), -EINVAL);
	CHECK_STR(e.msg, "process: is an array, not an object");
	CHECK_INT(spec_parse_resources("{\"cpu\":{\"shares\":-1}}", 21, a, &res, &e), -ERANGE);
	CHECK_STR(e.msg, "linux.resources.cpu.shares: -1 is not a 64-bit unsigned integer");
	CHECK_INT(spec_parse_resources("{", 1, a, &res, &e), -EINVAL);
}

#define WITH(annotation, value, rest) \
	"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"annotations\":{\"" annotation "\":\"" value "\"}," rest "}"
#define TIME "\"linux\":{\"namespaces\":[{\"type\":\"time\"}]}"
#define NOTIFY "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":" \
	       "[{\"names\":[\"mkdir\"],\"action\":\"SCMP_ACT_NOTIFY\"}]}}"

static void refuses(const char *text)
{
	auto_arena struct arena *a = arena_new();
	struct oci_spec *s = NULL;
	struct err e = {0};

	CHECK_INT(spec_parse(text, strlen(text), a, &s, &e), -EINVAL);
}

static void test_annotations(void)
{
	auto_arena struct arena *a = arena_new();
	struct oci_time_offsets *t;

	t = parse(a, WITH("run.oci.timens_offset", "monotonic -3 4\\n7 5 0", TIME))->linux_->time_offsets;
	CHECK_INT(t->monotonic->secs.v, -3);
	CHECK_INT(t->monotonic->nanosecs.v, 4);
	CHECK_INT(t->boottime->secs.v, 5);
	CHECK(!parse(a, WITH("run.oci.timens_offset", "nonsense", "\"linux\":{}"))->linux_->time_offsets);
	refuses(WITH("run.oci.timens_offset", "realtime 1 0", TIME));
	refuses(WITH("run.oci.timens_offset", "monotonic 1", TIME));
	refuses(WITH("run.oci.timens_offset", "monotonic 1 0 0", TIME));
	refuses(WITH("run.oci.timens_offset", "monotonic 1 1000000000", TIME));
	CHECK_STR(parse(a, WITH("run.oci.seccomp.receiver", "/run/a", NOTIFY))->linux_->seccomp->listener_path, "/run/a");
	refuses(WITH("run.oci.seccomp.receiver", "run/a", NOTIFY));
	refuses(WITH("a", "b", NOTIFY));
	CHECK_INT(setenv("RUN_OCI_SECCOMP_RECEIVER", "/run/b", 1), 0);
	CHECK_STR(parse(a, WITH("a", "b", NOTIFY))->linux_->seccomp->listener_path, "/run/b");
	CHECK_INT(unsetenv("RUN_OCI_SECCOMP_RECEIVER"), 0);
}

TEST_MAIN(TEST(test_annotations), TEST(test_round_trip), TEST(test_full_is_full), TEST(test_values),
	  TEST(test_empty_path_is_a_new_namespace), TEST(test_parts))

/* SPDX-License-Identifier: Apache-2.0 */
/* CDI files of a vendor that does not exist, and what they do to a spec. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "docker/cdi.h"
#include "tests/unit/test.h"

static char dirs[2][64];
static struct arena *arena;

static void put(int dir, const char *name, const char *text)
{
	FILE *f = fopen(arena_printf(arena, "%s/%s", dirs[dir], name), "w");

	fputs(text, f);
	fclose(f);
}

static const char first_file[] =
	"{\"cdiVersion\": \"0.6.0\", \"kind\": \"vendor.com/thing\","
	" \"containerEdits\": {\"env\": [\"COMMON=1\"], \"additionalGids\": [44, 0]},"
	" \"devices\": ["
	"  {\"name\": \"zero\", \"containerEdits\": {"
	"    \"env\": [\"THING=zero\", \"HAVE=new\"],"
	"    \"deviceNodes\": [{\"path\": \"/dev/thing0\", \"hostPath\": \"/dev/zero\", \"permissions\": \"rw\"}],"
	"    \"mounts\": [{\"hostPath\": \"/usr/lib\", \"containerPath\": \"/thing/lib\", \"options\": [\"ro\", \"nosuid\"]}],"
	"    \"hooks\": [{\"hookName\": \"createContainer\", \"path\": \"/bin/true\", \"args\": [\"true\", \"x\"]}]}},"
	"  {\"name\": \"null\", \"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/null\"}]}},"
	"  {\"name\": \"gone\", \"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/nosuch\"}]}}]}";

static struct oci_spec *new_spec(void)
{
	struct oci_spec *s = arena_new_of(arena, struct oci_spec);
	static char *env[] = {"HAVE=old", "KEEP=1", NULL};

	s->process = arena_new_of(arena, struct oci_process);
	s->process->env = (struct strv){env, 2};
	s->linux_ = arena_new_of(arena, struct oci_linux);
	s->linux_->resources = arena_new_of(arena, struct oci_resources);
	return s;
}

static int apply(struct oci_spec *s, struct strv *sources, const char *name, struct err *e)
{
	static char *paths[] = {dirs[0], dirs[1], NULL};
	struct strv where = {paths, 2};
	char *names[] = {(char *)name, NULL};
	struct dk_cdi_want want = {.dirs = &where, .devices = {names, 1}};

	return dk_cdi_apply(arena, &want, s, sources, e);
}

static bool has_env(const struct oci_spec *s, const char *entry)
{
	for (size_t i = 0; i < s->process->env.n; i++)
		if (str_eq(s->process->env.v[i], entry))
			return true;
	return false;
}

static void edits(void)
{
	struct oci_spec *s = new_spec();
	struct strv sources = {0};
	struct err e = {0};

	CHECK_INT(apply(s, &sources, "vendor.com/thing=zero", &e), 0);
	CHECK_STR(e.msg, "");
	CHECK(has_env(s, "COMMON=1") && has_env(s, "THING=zero") && has_env(s, "HAVE=new"));
	CHECK(has_env(s, "KEEP=1") && !has_env(s, "HAVE=old"));
	CHECK_INT(s->linux_->devices.n, 1);
	CHECK_INT(sources.n, 1);
	CHECK_STR(s->linux_->devices.v[0].path, "/dev/thing0");
	CHECK_STR(sources.v[0], "/dev/zero");
	CHECK(s->linux_->devices.v[0].major.v == 1 && s->linux_->devices.v[0].minor.v == 5);
	CHECK_INT(s->linux_->resources->devices.n, 2);
	CHECK(!s->linux_->resources->devices.v[0].allow && s->linux_->resources->devices.v[1].allow);
	CHECK_STR(s->linux_->resources->devices.v[1].access, "rw");
	CHECK_INT(s->mounts.n, 1);
	CHECK_STR(s->mounts.v[0].destination, "/thing/lib");
	CHECK_INT(s->mounts.v[0].options.n, 3);
	CHECK_INT(s->hooks->create_container.n, 1);
	CHECK_STR(s->hooks->create_container.v[0].args.v[1], "x");
	CHECK_INT(s->process->user.additional_gids.n, 2);
}

/* Of two files with the same device the one in the later directory counts. */
static void later_wins(void)
{
	struct oci_spec *s = new_spec();
	struct strv sources = {0};
	struct err e = {0};

	put(1, "over.json", "{\"cdiVersion\": \"0.5.0\", \"kind\": \"vendor.com/thing\", \"devices\": "
			    "[{\"name\": \"null\", \"containerEdits\": {\"env\": [\"OVER=1\"]}}]}");
	CHECK_INT(apply(s, &sources, "vendor.com/thing=null", &e), 0);
	CHECK(has_env(s, "OVER=1") && !has_env(s, "COMMON=1"));
	CHECK_INT(s->linux_->devices.n, 0);
	unlink(arena_printf(arena, "%s/over.json", dirs[1]));
}

static void refused(void)
{
	struct strv sources = {0};
	struct err e = {0};

	CHECK_INT(apply(new_spec(), &sources, "vendor.com/thing=other", &e), -ENODEV);
	CHECK_STR(e.msg, "Error response from daemon: CDI device injection failed: unresolvable CDI devices "
			 "vendor.com/thing=other");
	CHECK_INT(apply(new_spec(), &sources, "vendor.com/thing=gone", &e), -ENOENT);
	CHECK(strstr(e.msg, "device /dev/nosuch: No such file or directory") != NULL);
	put(1, "x.yaml", "kind: vendor.com/yaml\n");
	CHECK_INT(apply(new_spec(), &sources, "vendor.com/yaml=a", &e), -ENODEV);
	CHECK(strstr(e.msg, "x.yaml is YAML, which is not read") != NULL);
	unlink(arena_printf(arena, "%s/x.yaml", dirs[1]));
	put(1, "bad.json", "{\"cdiVersion\": \"0.5.0\", \"kind\": 7}");
	CHECK_INT(apply(new_spec(), &sources, "vendor.com/thing=zero", &e), -EINVAL);
	CHECK(strstr(e.msg, "bad.json") != NULL);
	unlink(arena_printf(arena, "%s/bad.json", dirs[1]));
}

static void gpus(void)
{
	static char *caps[] = {"gpu", NULL};
	static char *paths[] = {dirs[0], NULL};
	struct strv where = {paths, 1}, sources = {0};
	struct dk_gpu_request all = {.driver = "", .count = -1, .capabilities = {caps, 1}};
	struct dk_gpu_request two = {.driver = "", .count = 2, .capabilities = {caps, 1}};
	struct dk_cdi_want want = {.dirs = &where, .gpus = &all, .n_gpus = 1};
	struct oci_spec *s = new_spec();
	struct err e = {0};

	CHECK_INT(dk_cdi_apply(arena, &want, s, &sources, &e), -ENODEV);
	CHECK_STR(e.msg, "Error response from daemon: could not select device driver \"\" with capabilities: "
			 "[[gpu]]");
	put(0, "nvidia.json", "{\"cdiVersion\": \"0.5.0\", \"kind\": \"nvidia.com/gpu\", \"devices\": ["
			      "{\"name\": \"all\", \"containerEdits\": {\"env\": [\"ALL=1\"]}},"
			      "{\"name\": \"0\", \"containerEdits\": {\"env\": [\"G0=1\"]}},"
			      "{\"name\": \"1\", \"containerEdits\": {\"env\": [\"G1=1\"]}}]}");
	CHECK_INT(dk_cdi_apply(arena, &want, s, &sources, &e), 0);
	CHECK(has_env(s, "ALL=1") && !has_env(s, "G0=1"));
	want.gpus = &two;
	CHECK_INT(dk_cdi_apply(arena, &want, s, &sources, &e), 0);
	CHECK(has_env(s, "G0=1") && has_env(s, "G1=1"));
	unlink(arena_printf(arena, "%s/nvidia.json", dirs[0]));
}

int main(void)
{
	static const struct test tests[] = {TEST(edits), TEST(later_wins), TEST(refused), TEST(gpus)};
	int bad;

	arena = arena_new();
	for (int i = 0; i < 2; i++) {
		snprintf(dirs[i], sizeof(dirs[i]), "/tmp/brig-cdi-XXXXXX");
		if (!mkdtemp(dirs[i]))
			return 1;
	}
	put(0, "thing.json", first_file);
	bad = test_run(tests, sizeof(tests) / sizeof(tests[0]));
	unlink(arena_printf(arena, "%s/thing.json", dirs[0]));
	for (int i = 0; i < 2; i++)
		rmdir(dirs[i]);
	arena_free(arena);
	return bad;
}

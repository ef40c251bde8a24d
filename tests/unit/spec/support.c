/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc/config-support.md is made from the field tables: `support --write` prints it, and as a test
 * the program checks that the file in the tree is what it would print.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "spec/annotations.h"
#include "spec/spec.h"
#include "tests/unit/spec/describe.h"
#include "tests/unit/test.h"

static const char head[] =
	"# config.json: the properties that brig reads\n\n"
	"Made from the field tables in spec/ by `tests/unit/spec/support --write`; the test of that\n"
	"name fails when this file is out of date. Every Linux property of the OCI runtime-spec "
	OCI_VERSION "\nis here. Other properties are ignored, as the spec demands; so are the sections "
	"of other\nplatforms (`windows`, `solaris`, `vm`, `zos`, `freebsd`). A value of another type, "
	"out of range\nor not in its list is an error.\n\n"
	"`[x]` is an array of x, `{x}` an object with values x under any key, `.*` one of its values.\n"
	"All are supported, and those with a remark where it says so.\n\n"
	"| property | type | required | values | remarks |\n| --- | --- | --- | --- | --- |\n";

/* What does not hold on every host, or has no effect, and why. */
static const struct { const char *path, *remark; } remarks[] = {
	{"process.user.username", "no effect: Windows only"},
	{"process.commandLine", "no effect: Windows only"},
	{"process.apparmorProfile", "an error without AppArmor in the kernel"},
	{"process.selinuxLabel", "an error without SELinux in the kernel"},
	{"process.scheduler.policy", "`SCHED_ISO` is in no released kernel: an error"},
	{"process.execCPUAffinity", "of `brig exec` only"},
	{"mounts[].uidMappings", "an id-mapped mount: Linux 5.12 and a file system that allows it, else an error"},
	{"mounts[].gidMappings", "as `uidMappings`"},
	{"hooks.prestart", "deprecated by the spec; runs before `createRuntime`"},
	{"linux.devices", "in a user namespace the host's nodes are bound, so they must be there"},
	{"linux.netDevices", "as root only"},
	{"linux.resources.devices", "not without root, nor in a user namespace: no filter can be loaded there, the devices are what is bound"},
	{"linux.resources.memory.kernel", "no effect, and a warning: the limit counts kernel memory (the own limit went away in Linux 5.16)"},
	{"linux.resources.memory.kernelTCP", "cgroup v1; no effect on v2, and a warning"},
	{"linux.resources.memory.swappiness", "cgroup v1; an error on v2"},
	{"linux.resources.memory.disableOOMKiller", "cgroup v1; an error on v2"},
	{"linux.resources.memory.useHierarchy", "no effect: limits always count what is below"},
	{"linux.resources.memory.checkBeforeUpdate", "cgroup v2; the kernel checks by itself on v1"},
	{"linux.resources.cpu.realtimeRuntime", "cgroup v1 and a kernel with CONFIG_RT_GROUP_SCHED; an error on v2"},
	{"linux.resources.cpu.realtimePeriod", "as `realtimeRuntime`"},
	{"linux.resources.cpu.idle", "Linux 5.15; `shares` count again when it is 0"},
	{"linux.resources.cpu.burst", "Linux 5.14"},
	{"linux.resources.blockIO.leafWeight", "cgroup v1 and a kernel before 5.0; an error on v2"},
	{"linux.resources.blockIO.weightDevice[].leafWeight", "as `leafWeight`"},
	{"linux.resources.hugepageLimits", "an error without the controller; reservations (rsvd) where the kernel has them"},
	{"linux.resources.network", "cgroup v1; an error on v2"},
	{"linux.resources.rdma", "an error without the controller"},
	{"linux.resources.unified", "cgroup v2; an error on v1"},
	{"linux.seccomp.listenerPath", "not for `write`, which tells our caller that all is done"},
	{"linux.mountLabel", "an error without SELinux in the kernel"},
	{"linux.intelRdt", "an error where resctrl is not mounted"},
	{"linux.memoryPolicy", "an error without NUMA in the kernel"},
	{"linux.personality.flags", "must be empty: the spec has defined none"},
	{"linux.timeOffsets", "Linux 5.6, and a time namespace of the container's own"},
};

static const char *remark_of(const char *path)
{
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
		if (strcmp(remarks[i].path, path) == 0)
			return remarks[i].remark;
	return "";
}

static void add_row(const char *path, const struct json_field *f, void *arg)
{
	struct strbuf *b = arg;

	strbuf_printf(b, "| `%s` | %s | %s |", path, describe_kind(f), f->required ? "yes" : "");
	for (size_t i = 0; f->names && f->names[i]; i++)
		strbuf_printf(b, "%s `%s`", i ? "," : "", f->names[i]);
	strbuf_printf(b, " | %s |\n", remark_of(path));
}

static const char annotations_head[] =
	"\n## Annotations\n\n"
	"Those that begin with `run.oci.` or `module.wasm.` are crun's. `run.oci.seccomp.plugins` and `run.oci.systemd.force_cgroup_v1` are\n"
	"errors, and all others have no effect.\n\n"
	"| annotation | meaning |\n| --- | --- |\n";

static void make(struct strbuf *b)
{
	strbuf_adds(b, head);
	json_for_each_field(&oci_spec_table, add_row, b);
	strbuf_adds(b, annotations_head);
	for (const struct spec_annotation_info *i = spec_annotations; i->key; i++)
		strbuf_printf(b, "| `%s` | %s |\n", i->key, i->meaning);
}

static void test_document_is_current(void)
{
	auto_strbuf struct strbuf want = {0}, have = {0};
	const char *srcdir = getenv("srcdir");
	char path[4096];
	struct err e = {0};

	make(&want);
	snprintf(path, sizeof(path), "%s/doc/config-support.md", srcdir ? srcdir : ".");
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, &have, &e), 0);
	CHECK_STR(e.msg, "");
	CHECK(strcmp(strbuf_str(&have), want.p) == 0);
}

/* A remark about a property that has another name now would be lost without a word. */
static void test_remarks_are_about_properties(void)
{
	auto_strbuf struct strbuf text = {0};

	make(&text);
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
		char row[160];

		snprintf(row, sizeof(row), "| `%s` |", remarks[i].path);
		if (!strstr(text.p, row)) {
			printf("# no property %s\n", remarks[i].path);
			CHECK(false);
		}
	}
}

static void test_manual_has_the_annotations(void)
{
	auto_strbuf struct strbuf text = {0};
	const char *srcdir = getenv("srcdir");
	char path[4096], *to;
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/man/brig.1", srcdir ? srcdir : ".");
	CHECK_INT(io_read_file(AT_FDCWD, path, 1 << 20, &text, &e), 0);
	to = text.p;
	for (const char *from = text.p; from && *from; from++)
		if (*from != '\\')
			*to++ = *from;
	if (to)
		*to = '\0';
	for (const struct spec_annotation_info *i = spec_annotations; i->key; i++)
		if (!text.p || !strstr(text.p, i->key)) {
			printf("# man/brig.1 has no %s\n", i->key);
			CHECK(false);
		}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {TEST(test_document_is_current),
					    TEST(test_remarks_are_about_properties),
					    TEST(test_manual_has_the_annotations)};
	auto_strbuf struct strbuf b = {0};

	if (argc != 2 || strcmp(argv[1], "--write") != 0)
		return test_run(tests, sizeof(tests) / sizeof(tests[0]));
	make(&b);
	return io_write_all(STDOUT_FILENO, b.p, b.len) < 0;
}

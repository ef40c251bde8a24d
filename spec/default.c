/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default configuration is kept as the JSON text it will become and read like any other; only
 * what depends on the caller is put in afterwards.
 */
#include "spec/default.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "spec/spec.h"

/* The union of what docker, containerd and podman mask, and further files that tell about the
 * kernel or the host (addresses, other tenants' memory use, loaded modules). */
const char *const spec_masked_paths[] = {
	"/proc/acpi", "/proc/asound", "/proc/buddyinfo", "/proc/bus", "/proc/config.gz", "/proc/fs",
	"/proc/interrupts", "/proc/kallsyms", "/proc/kcore", "/proc/key-users", "/proc/keys",
	"/proc/kmsg", "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags",
	"/proc/latency_stats", "/proc/mdstat", "/proc/modules", "/proc/pagetypeinfo",
	"/proc/sched_debug", "/proc/scsi", "/proc/slabinfo", "/proc/timer_list",
	"/proc/timer_stats", "/proc/vmallocinfo",
	"/sys/devices/virtual/powercap", "/sys/firmware", "/sys/fs/selinux", "/sys/kernel/debug",
	"/sys/kernel/security", "/sys/kernel/tracing", "/sys/kernel/vmcoreinfo", "/sys/module",
	NULL,
};

/* /proc/bus and /proc/fs, which others list here, are masked altogether. */
const char *const spec_readonly_paths[] = {
	"/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};

#define CAPS "[\"CAP_AUDIT_WRITE\", \"CAP_KILL\", \"CAP_NET_BIND_SERVICE\"]"

static const char text[] =
"{"
"  \"ociVersion\": \"" OCI_VERSION "\","
"  \"process\": {"
"    \"terminal\": true,"
"    \"user\": {\"uid\": 0, \"gid\": 0},"
"    \"args\": [\"sh\"],"
"    \"env\": [\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\","
"            \"TERM=xterm\"],"
"    \"cwd\": \"/\","
"    \"capabilities\": {\"bounding\": " CAPS ", \"effective\": " CAPS ", \"permitted\": " CAPS "},"
"    \"rlimits\": [{\"type\": \"RLIMIT_NOFILE\", \"hard\": 1024, \"soft\": 1024}],"
"    \"noNewPrivileges\": true"
"  },"
"  \"root\": {\"path\": \"rootfs\", \"readonly\": true},"
"  \"hostname\": \"brig\","
"  \"mounts\": ["
"    {\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\","
"     \"options\": [\"nosuid\", \"noexec\", \"nodev\"]},"
"    {\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\","
"     \"options\": [\"nosuid\", \"strictatime\", \"mode=755\", \"size=65536k\"]},"
"    {\"destination\": \"/dev/pts\", \"type\": \"devpts\", \"source\": \"devpts\","
"     \"options\": [\"nosuid\", \"noexec\", \"newinstance\", \"ptmxmode=0666\","
"                   \"mode=0620\", \"gid=5\"]},"
"    {\"destination\": \"/dev/shm\", \"type\": \"tmpfs\", \"source\": \"shm\","
"     \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"mode=1777\", \"size=65536k\"]},"
"    {\"destination\": \"/dev/mqueue\", \"type\": \"mqueue\", \"source\": \"mqueue\","
"     \"options\": [\"nosuid\", \"noexec\", \"nodev\"]},"
"    {\"destination\": \"/sys\", \"type\": \"sysfs\", \"source\": \"sysfs\","
"     \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"ro\"]},"
"    {\"destination\": \"/sys/fs/cgroup\", \"type\": \"cgroup\", \"source\": \"cgroup\","
"     \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"relatime\", \"ro\"]}"
"  ],"
"  \"linux\": {"
"    \"resources\": {\"devices\": [{\"allow\": false, \"access\": \"rwm\"}]},"
"    \"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"network\"}, {\"type\": \"ipc\"},"
"      {\"type\": \"uts\"}, {\"type\": \"mount\"}, {\"type\": \"cgroup\"}]"
"  }"
"}";

static struct strv copy_list(struct arena *a, const char *const *list, size_t spare)
{
	struct strv v = {0};

	while (list[v.n])
		v.n++;
	v.v = arena_array(a, v.n + spare + 1, sizeof(*v.v));
	for (size_t i = 0; i < v.n; i++)
		v.v[i] = arena_strdup(a, list[i]);
	return v;
}

static void fill_paths(struct arena *a, struct oci_linux *l, unsigned cpus)
{
	l->masked_paths = copy_list(a, spec_masked_paths, cpus);
	for (unsigned i = 0; i < cpus; i++)
		l->masked_paths.v[l->masked_paths.n++] =
			arena_printf(a, "/sys/devices/system/cpu/cpu%u/thermal_throttle", i);
	l->readonly_paths = copy_list(a, spec_readonly_paths, 0);
}

static struct oci_id_mapping_list map_root(struct arena *a, uint32_t id)
{
	struct oci_id_mapping_list list = {.v = arena_new_of(a, struct oci_id_mapping), .n = 1};

	*list.v = (struct oci_id_mapping){.host_id = id, .size = 1};
	return list;
}

/* With a single id mapped, group 5 (tty) does not exist in the container. */
static void drop_option(struct oci_spec *s, const char *option)
{
	for (size_t i = 0; i < s->mounts.n; i++) {
		struct strv *o = &s->mounts.v[i].options;
		size_t kept = 0;

		for (size_t k = 0; k < o->n; k++)
			if (!str_eq(o->v[k], option))
				o->v[kept++] = o->v[k];
		o->n = kept;
		o->v[kept] = NULL;
	}
}

/* The network namespace stays: unlike others, an isolator does not hand out the host's network. */
static void make_rootless(struct arena *a, struct oci_spec *s, const struct spec_default_options *o)
{
	struct oci_linux *l = s->linux_;
	struct oci_namespace *v = arena_array(a, l->namespaces.n + 1, sizeof(*v));

	memcpy(v, l->namespaces.v, l->namespaces.n * sizeof(*v));
	v[l->namespaces.n++].type = arena_strdup(a, "user");
	l->namespaces.v = v;
	l->uid_mappings = map_root(a, o->uid);
	l->gid_mappings = map_root(a, o->gid);
	l->resources = NULL;
	drop_option(s, "gid=5");
}

struct oci_spec *spec_default(struct arena *a, const struct spec_default_options *o)
{
	struct oci_spec *s = NULL;
	struct err e;

	if (spec_parse(text, sizeof(text) - 1, a, &s, &e) < 0)
		abort(); /* the text above is wrong: a unit test's business */
	fill_paths(a, s->linux_, o->cpus);
	if (o->rootless)
		make_rootless(a, s, o);
	return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `docker info`: the store, the machine, and what containers can be limited with here. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sha256.h"
#include "base/str.h"
#include "cgroups/cgroup.h"
#include "docker/about.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/list.h"
#include "docker/units.h"
#include "image/store.h"

enum { FILE_MAX = 64 << 10, HOST_NAME = 256 };

struct facts {
	struct dk_context *c;
	struct dk_store *store;
	struct arena *a;
	size_t containers, running, paused, images;
	struct cg_host cgroups;
	struct strv warnings;
	struct strv security;
	const char *backing, *os, *name, *id, *machine;
	unsigned cpus;
	uint64_t memory;
	struct timespec now;
};

/* ---- gathering ---- */

static const char *file_system(const char *path)
{
	static const struct { unsigned long magic; const char *name; } known[] = {
		{0xef53, "extfs"}, {0x58465342, "xfs"}, {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"},
		{0x794c7630, "overlayfs"}, {0x2fc12fc1, "zfs"}, {0x6969, "nfs"}, {0xf2f52010, "f2fs"},
	};
	struct statfs fs;

	if (statfs(path, &fs) == 0)
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if ((unsigned long)fs.f_type == known[i].magic)
				return known[i].name;
	return "<unknown>";
}

static const char *os_name(struct arena *a)
{
	auto_strbuf struct strbuf text = {0};
	struct err ignored;
	char *line, *end;

	if (io_read_file(AT_FDCWD, "/etc/os-release", FILE_MAX, &text, &ignored) < 0 || !text.p)
		return "Linux";
	line = strstr(text.p, "PRETTY_NAME=");
	if (!line)
		return "Linux";
	line += strlen("PRETTY_NAME=");
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	if (*line == '"' && strlen(line) > 1)
		return arena_strndup(a, line + 1, strlen(line) - 2);
	return arena_strdup(a, line);
}

/* The same for one store on one machine, in the form of a daemon's. */
static const char *make_id(struct facts *f)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	auto_strbuf struct strbuf seed = {0}, id = {0};
	struct err ignored;
	char hex[SHA256_HEX + 1];

	io_read_file(AT_FDCWD, "/etc/machine-id", FILE_MAX, &seed, &ignored);
	strbuf_adds(&seed, f->store->roots.data);
	sha256_hex(seed.p, seed.len, hex);
	for (size_t i = 0; i < 48; i++) {
		unsigned char digit = (unsigned char)((unsigned char)hex[i] * 7 + (unsigned char)hex[(i + 16) % 64]);

		strbuf_printf(&id, "%s%c", i && i % 4 == 0 ? ":" : "", digits[digit % 32]);
	}
	return arena_strdup(f->a, id.p);
}

static bool limits(const struct facts *f, enum cg_controller c)
{
	const struct cg_host *h = &f->cgroups;

	return h->kind != CG_NONE && h->writable && (h->controllers & CG_BIT(c));
}

static void push(struct facts *f, struct strv *l, const char *text)
{
	char **v = arena_array(f->a, l->n + 2, sizeof(char *));

	if (l->n)
		memcpy(v, l->v, l->n * sizeof(char *));
	v[l->n++] = (char *)text;
	l->v = v;
}

static void find_warnings(struct facts *f)
{
	static const struct { enum cg_controller c; const char *text; } all[] = {
		{CG_MEMORY, "No memory limit support"}, {CG_MEMORY, "No swap limit support"},
		{CG_CPU, "No cpu cfs quota support"}, {CG_CPU, "No cpu cfs period support"},
		{CG_CPU, "No cpu shares support"}, {CG_CPUSET, "No cpuset support"},
		{CG_PIDS, "No pids limit support"}, {CG_IO, "No io.weight support"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!limits(f, all[i].c))
			push(f, &f->warnings, arena_printf(f->a, "WARNING: %s", all[i].text));
}

static int count(struct facts *f, struct err *e)
{
	struct dk_row_filter want = {.all = true, .last = -1};
	struct img_store images;
	struct img_list list;
	struct dk_rows rows;
	int r = dk_rows_load(f->c, &want, &rows, e);

	if (r < 0)
		return r;
	f->containers = rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		f->paused += rows.v[i].look.paused;
		f->running += rows.v[i].look.running && !rows.v[i].look.paused;
	}
	if (img_store_open(&images, f->store->roots.data, e) < 0)
		return -e->code;
	r = img_list(&images, f->a, &list, e);
	img_store_close(&images);
	f->images = r < 0 ? 0 : list.n;
	return r;
}

static int gather(struct facts *f, struct err *e)
{
	char name[HOST_NAME] = "";
	struct utsname u;
	struct sysinfo s;
	cpu_set_t cpus;

	if (dk_store_open(f->c, &f->store, e) < 0 || count(f, e) < 0 || cg_probe(f->a, &f->cgroups, e) < 0)
		return -e->code;
	gethostname(name, sizeof(name) - 1);
	uname(&u);
	f->name = arena_strdup(f->a, name);
	f->machine = arena_strdup(f->a, u.machine);
	f->backing = file_system(f->store->roots.data);
	f->os = os_name(f->a);
	f->id = make_id(f);
	f->cpus = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
	f->memory = sysinfo(&s) == 0 ? (uint64_t)s.totalram * s.mem_unit : 0;
	clock_gettime(CLOCK_REALTIME, &f->now);
	push(f, &f->security, "name=seccomp,profile=default");
	if (geteuid() != 0)
		push(f, &f->security, "name=rootless");
	push(f, &f->security, "name=userns");
	push(f, &f->security, "name=cgroupns");
	find_warnings(f);
	return 0;
}

/* ---- the document ---- */

static void text(struct facts *f, struct dk_value *v, const char *key, const char *s)
{
	dk_put(f->a, v, key, dk_string(s));
}

static void number(struct facts *f, struct dk_value *v, const char *key, uint64_t n)
{
	dk_put(f->a, v, key, dk_int((int64_t)n));
}

static void flag(struct facts *f, struct dk_value *v, const char *key, bool b)
{
	dk_put(f->a, v, key, dk_bool(b));
}

static void add_driver_status(struct facts *f, struct dk_value *v)
{
	const char *const rows[][2] = {{"Backing Filesystem", f->backing}, {"Supports d_type", "true"},
				       {"Native Overlay Diff", "true"},
				       {"userxattr", geteuid() ? "true" : "false"}};
	struct dk_value list = dk_array();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dk_value row = dk_array();

		dk_push(f->a, &row, dk_string(rows[i][0]));
		dk_push(f->a, &row, dk_string(rows[i][1]));
		dk_push(f->a, &list, row);
	}
	dk_put(f->a, v, "DriverStatus", list);
}

static struct dk_value words(struct facts *f, const char *list)
{
	char *all = arena_strdup(f->a, list), *save = NULL;
	struct dk_value v = dk_array();

	for (char *w = strtok_r(all, " ", &save); w; w = strtok_r(NULL, " ", &save))
		dk_push(f->a, &v, dk_string(w));
	return v;
}

static void add_plugins(struct facts *f, struct dk_value *v)
{
	struct dk_value p = dk_struct("system.PluginsInfo");

	dk_put(f->a, &p, "Volume", words(f, "local"));
	dk_put(f->a, &p, "Network", words(f, "bridge host null"));
	dk_put(f->a, &p, "Authorization", dk_null_array());
	dk_put(f->a, &p, "Log", words(f, "json-file none"));
	dk_put(f->a, v, "Plugins", p);
}

static void add_limits(struct facts *f, struct dk_value *v)
{
	char forward[8] = "";

	io_read_small(AT_FDCWD, "/proc/sys/net/ipv4/ip_forward", forward, sizeof(forward));
	flag(f, v, "MemoryLimit", limits(f, CG_MEMORY));
	flag(f, v, "SwapLimit", limits(f, CG_MEMORY));
	dk_put_named(f->a, v, "CpuCfsPeriod", "CPUCfsPeriod", dk_bool(limits(f, CG_CPU)));
	dk_put_named(f->a, v, "CpuCfsQuota", "CPUCfsQuota", dk_bool(limits(f, CG_CPU)));
	flag(f, v, "CPUShares", limits(f, CG_CPU));
	flag(f, v, "CPUSet", limits(f, CG_CPUSET));
	flag(f, v, "PidsLimit", limits(f, CG_PIDS));
	flag(f, v, "IPv4Forwarding", str_eq(forward, "1"));
	flag(f, v, "BridgeNfIptables", false);
	flag(f, v, "BridgeNfIp6tables", false);
	flag(f, v, "Debug", false);
	number(f, v, "NFd", 0);
	flag(f, v, "OomKillDisable", false);
	number(f, v, "NGoroutines", 0);
}

static struct dk_value commit(struct facts *f)
{
	struct dk_value v = dk_struct("system.Commit");

	text(f, &v, "ID", "");
	text(f, &v, "Expected", "");
	return v;
}

static void add_runtimes(struct facts *f, struct dk_value *v)
{
	struct dk_value all = dk_dict(), own = dk_struct("system.RuntimeWithStatus");
	struct dk_value swarm = dk_struct("swarm.Info");

	text(f, &own, "path", "brig");
	dk_put(f->a, &all, "brig", own);
	dk_put(f->a, v, "Runtimes", all);
	text(f, v, "DefaultRuntime", "brig");
	text(f, &swarm, "NodeID", "");
	text(f, &swarm, "NodeAddr", "");
	text(f, &swarm, "LocalNodeState", "inactive");
	flag(f, &swarm, "ControlAvailable", false);
	text(f, &swarm, "Error", "");
	dk_put(f->a, &swarm, "RemoteManagers", dk_null_array());
	dk_put(f->a, v, "Swarm", swarm);
	flag(f, v, "LiveRestoreEnabled", true);
	text(f, v, "Isolation", "");
	text(f, v, "InitBinary", "brig-docker");
	dk_put(f->a, v, "ContainerdCommit", commit(f));
	dk_put(f->a, v, "RuncCommit", commit(f));
	dk_put(f->a, v, "InitCommit", commit(f));
}

static struct dk_value client(struct facts *f)
{
	struct dk_value v = dk_struct("system.clientInfo");

	flag(f, &v, "Debug", f->c->debug);
	text(f, &v, "Version", DK_CLIENT_VERSION);
	text(f, &v, "GitCommit", BRIG_VERSION);
	text(f, &v, "GoVersion", DK_GO_VERSION);
	text(f, &v, "Os", "linux");
	text(f, &v, "Arch", dk_go_arch(f->a));
	text(f, &v, "Context", "default");
	dk_put(f->a, &v, "Plugins", dk_array());
	dk_put(f->a, &v, "Warnings", dk_null_array());
	return v;
}

static void add_machine(struct facts *f, struct dk_value *v)
{
	char now[DK_UNIT_MAX];

	text(f, v, "SystemTime", arena_strdup(f->a, dk_time_rfc3339(now, &f->now)));
	text(f, v, "LoggingDriver", f->store->config.log_driver);
	text(f, v, "CgroupDriver", f->cgroups.kind == CG_NONE ? "none" : f->cgroups.bus ? "systemd" : "cgroupfs");
	text(f, v, "CgroupVersion", f->cgroups.kind == CG_V1 ? "1" : "2");
	number(f, v, "NEventsListener", 0);
	text(f, v, "KernelVersion", dk_kernel_version(f->a));
	text(f, v, "OperatingSystem", f->os);
	text(f, v, "OSVersion", "");
	text(f, v, "OSType", "linux");
	text(f, v, "Architecture", f->machine);
	text(f, v, "IndexServerAddress", "");
	dk_put(f->a, v, "RegistryConfig", dk_null_pointer("registry.ServiceConfig"));
	number(f, v, "NCPU", f->cpus);
	number(f, v, "MemTotal", f->memory);
	dk_put(f->a, v, "GenericResources", dk_null_array());
	text(f, v, "DockerRootDir", f->store->roots.data);
	text(f, v, "HttpProxy", "");
	text(f, v, "HttpsProxy", "");
	text(f, v, "NoProxy", "");
	text(f, v, "Name", f->name);
	dk_put(f->a, v, "Labels", dk_array());
	flag(f, v, "ExperimentalBuild", false);
	text(f, v, "ServerVersion", DK_SERVER_VERSION);
}

static struct dk_value document(struct facts *f, bool engine)
{
	struct dk_value v = dk_struct("system.dockerInfo");

	if (engine) {
		text(f, &v, "ID", f->id);
		number(f, &v, "Containers", f->containers);
		number(f, &v, "ContainersRunning", f->running);
		number(f, &v, "ContainersPaused", f->paused);
		number(f, &v, "ContainersStopped", f->containers - f->running - f->paused);
		number(f, &v, "Images", f->images);
		text(f, &v, "Driver", "overlay2");
		add_driver_status(f, &v);
		add_plugins(f, &v);
		add_limits(f, &v);
		add_machine(f, &v);
		add_runtimes(f, &v);
		dk_put(f->a, &v, "SecurityOptions", dk_strings(f->a, &f->security, false));
		dk_put(f->a, &v, "Warnings", dk_strings(f->a, &f->warnings, true));
	}
	dk_put_omit(f->a, &v, "ServerErrors", dk_null_array());
	dk_put(f->a, &v, "ClientInfo", client(f));
	return v;
}

/* ---- as text ---- */

static void add_security_lines(const struct facts *f, struct strbuf *b)
{
	strbuf_adds(b, " Security Options:\n");
	for (size_t i = 0; i < f->security.n; i++) {
		const char *name = f->security.v[i] + strlen("name=");

		strbuf_printf(b, "  %.*s\n", (int)strcspn(name, ","), name);
		if (str_starts(name, "seccomp,"))
			strbuf_adds(b, "   Profile: default\n");
	}
}

static void add_server(struct facts *f, struct strbuf *b)
{
	char memory[DK_UNIT_MAX];

	strbuf_printf(b, " Containers: %zu\n  Running: %zu\n  Paused: %zu\n  Stopped: %zu\n Images: %zu\n"
			 " Server Version: %s\n Storage Driver: overlay2\n  Backing Filesystem: %s\n"
			 "  Supports d_type: true\n  Native Overlay Diff: true\n  userxattr: %s\n",
		      f->containers, f->running, f->paused, f->containers - f->running - f->paused, f->images,
		      DK_SERVER_VERSION, f->backing, geteuid() ? "true" : "false");
	strbuf_printf(b, " Logging Driver: %s\n Cgroup Driver: %s\n Cgroup Version: %s\n Plugins:\n  Volume: local\n"
			 "  Network: bridge host null\n  Log: json-file none\n Swarm: inactive\n Runtimes: brig\n"
			 " Default Runtime: brig\n Init Binary: brig-docker\n",
		      f->store->config.log_driver,
		      f->cgroups.kind == CG_NONE ? "none" : f->cgroups.bus ? "systemd" : "cgroupfs",
		      f->cgroups.kind == CG_V1 ? "1" : "2");
	add_security_lines(f, b);
	strbuf_printf(b, " Kernel Version: %s\n Operating System: %s\n OSType: linux\n Architecture: %s\n CPUs: %u\n"
			 " Total Memory: %s\n Name: %s\n ID: %s\n Docker Root Dir: %s\n Debug Mode: false\n"
			 " Experimental: false\n Live Restore Enabled: true\n\n",
		      dk_kernel_version(f->a), f->os, f->machine, f->cpus,
		      dk_binary_size(memory, (double)f->memory), f->name, f->id, f->store->roots.data);
}

static int print_text(struct facts *f, bool engine, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r;

	strbuf_printf(&b, "Client:\n Version:    %s\n Context:    default\n Debug Mode: %s\n\nServer:\n",
		      DK_CLIENT_VERSION, f->c->debug ? "true" : "false");
	if (engine)
		add_server(f, &b);
	r = dk_write_stdout(b.p, b.len, e);
	for (size_t i = 0; r == 0 && i < f->warnings.n; i++)
		dprintf(2, "%s\n", f->warnings.v[i]);
	return r;
}

int dk_cmd_info(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_format_options *o = args->options;
	bool engine = !dk_other_engine(c);
	struct facts f = {.c = c, .a = c->arena, .cgroups = {.root = -1}};
	int r = engine ? gather(&f, e) : 0;

	if (r == 0)
		r = o->format && *o->format
			    ? dk_print_formatted(c->arena, o->format, "", document(&f, engine), e)
			    : print_text(&f, engine, e);
	cg_host_close(&f.cgroups);
	return engine ? r : dk_no_engine(c, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the cgroup are read one by one; one that is not there gives no member. The names of the
 * members are those of v1, v2's files are translated: microseconds to nanoseconds, swap alone to
 * memory and swap together.
 */
#include "runtime/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"

enum { FILE_MAX = 1 << 20 };

/* Whole file; false when it is not there or not readable. */
static bool read_text(const struct cg *cg, enum cg_controller c, const char *file, struct strbuf *b)
{
	auto_close int fd = cg_open_file(cg, c, file, O_RDONLY);
	struct err e = {0};

	return fd >= 0 && io_read_fd(fd, FILE_MAX, b, file, &e) == 0 && b->p;
}

/* One number; "max" is UINT64_MAX. */
static bool read_number(const struct cg *cg, enum cg_controller c, const char *file, uint64_t *ret)
{
	auto_strbuf struct strbuf b = {0};

	if (!read_text(cg, c, file, &b))
		return false;
	*ret = str_starts(b.p, "max") ? UINT64_MAX : strtoull(b.p, NULL, 10);
	return true;
}

/* Members with a zero are left out by Go's omitempty. */
static void member_if(struct json_writer *w, const char *key, uint64_t v)
{
	if (v)
		json_member_u64(w, key, v);
}

/* "key value" lines: the next one of *text; false at the end. Cuts the text. */
static bool next_pair(char **text, const char **ret_key, uint64_t *ret_value)
{
	while (*text && **text) {
		char *line = *text, *end = strchr(line, '\n'), *space = strchr(line, ' ');

		*text = end ? end + 1 : NULL;
		if (!space || (end && space > end))
			continue;
		*space = '\0';
		*ret_key = line;
		*ret_value = strtoull(space + 1, NULL, 10);
		return true;
	}
	return false;
}

static uint64_t find_pair(const struct cg *cg, enum cg_controller c, const char *file,
			  const char *key)
{
	auto_strbuf struct strbuf b = {0};
	const char *have;
	uint64_t v;

	if (read_text(cg, c, file, &b))
		for (char *p = b.p; next_pair(&p, &have, &v);)
			if (str_eq(have, key))
				return v;
	return 0;
}

/* ---- pressure (v2): "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" ---- */

static void write_pressure_line(struct json_writer *w, char *line)
{
	char *save, *word = strtok_r(line, " ", &save);

	if (!word)
		return;
	json_key(w, word);
	json_begin_object(w);
	while ((word = strtok_r(NULL, " ", &save))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (str_eq(word, "total"))
			json_member_u64(w, word, strtoull(value, NULL, 10));
		else
			json_member_f64(w, word, strtod(value, NULL));
	}
	json_end_object(w);
}

static void write_psi(struct json_writer *w, const struct cg *cg, const char *file)
{
	auto_strbuf struct strbuf b = {0};
	char *save;

	if (!read_text(cg, CG_CORE, file, &b))
		return;
	json_key(w, "psi");
	json_begin_object(w);
	for (char *l = strtok_r(b.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		write_pressure_line(w, l);
	json_end_object(w);
}

/* ---- cpu ---- */

static void write_numbers(struct json_writer *w, const char *key, const char *text)
{
	char *end;

	json_key(w, key);
	json_begin_array(w);
	for (;; text = end) {
		uint64_t v = strtoull(text, &end, 10);

		if (end == text)
			break;
		json_u64(w, v);
	}
	json_end_array(w);
}

/* cpuacct.usage_all: "cpu user system" and a line of numbers for each CPU. */
static void write_column(struct json_writer *w, const char *key, const char *text, int column)
{
	json_key(w, key);
	json_begin_array(w);
	for (text = strchr(text, '\n'); text && text[1]; text = strchr(text + 1, '\n')) {
		char *p = (char *)text + 1;
		uint64_t v = 0;

		for (int i = 0; i <= column; i++)
			v = strtoull(p, &p, 10);
		json_u64(w, v);
	}
	json_end_array(w);
}

static void write_cpu_usage_v1(struct json_writer *w, const struct cg *cg)
{
	uint64_t total = 0, tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	auto_strbuf struct strbuf percpu = {0}, all = {0};

	if (read_number(cg, CG_CPUACCT, "cpuacct.usage", &total))
		member_if(w, "total", total);
	if (read_text(cg, CG_CPUACCT, "cpuacct.usage_percpu", &percpu))
		write_numbers(w, "percpu", percpu.p);
	if (read_text(cg, CG_CPUACCT, "cpuacct.usage_all", &all)) {
		write_column(w, "percpu_kernel", all.p, 2);
		write_column(w, "percpu_user", all.p, 1);
	}
	json_member_u64(w, "kernel", find_pair(cg, CG_CPUACCT, "cpuacct.stat", "system") * tick);
	json_member_u64(w, "user", find_pair(cg, CG_CPUACCT, "cpuacct.stat", "user") * tick);
}

static void write_cpu_usage_v2(struct json_writer *w, const struct cg *cg)
{
	member_if(w, "total", 1000 * find_pair(cg, CG_CORE, "cpu.stat", "usage_usec"));
	json_member_u64(w, "kernel", 1000 * find_pair(cg, CG_CORE, "cpu.stat", "system_usec"));
	json_member_u64(w, "user", 1000 * find_pair(cg, CG_CORE, "cpu.stat", "user_usec"));
}

static void write_cpu(struct json_writer *w, const struct cg *cg)
{
	bool v1 = cg_kind_of(cg) == CG_V1;

	json_key(w, "cpu");
	json_begin_object(w);
	json_key(w, "usage");
	json_begin_object(w);
	(v1 ? write_cpu_usage_v1 : write_cpu_usage_v2)(w, cg);
	json_end_object(w);
	json_key(w, "throttling");
	json_begin_object(w);
	member_if(w, "periods", find_pair(cg, CG_CPU, "cpu.stat", "nr_periods"));
	member_if(w, "throttledPeriods", find_pair(cg, CG_CPU, "cpu.stat", "nr_throttled"));
	member_if(w, "throttledTime", v1 ? find_pair(cg, CG_CPU, "cpu.stat", "throttled_time")
					 : 1000 * find_pair(cg, CG_CPU, "cpu.stat", "throttled_usec"));
	json_end_object(w);
	if (!v1)
		write_psi(w, cg, "cpu.pressure");
	json_end_object(w);
}

/* "0-1,4" as numbers. */
static void write_set(struct json_writer *w, const struct cg *cg, const char *key, const char *file)
{
	auto_strbuf struct strbuf b = {0};
	char *p;

	if (!read_text(cg, CG_CPUSET, file, &b) || b.p[0] < '0' || b.p[0] > '9')
		return;
	json_key(w, key);
	json_begin_array(w);
	for (p = b.p; *p >= '0' && *p <= '9'; p += *p == ',') {
		uint64_t first = strtoull(p, &p, 10), last = first;

		if (*p == '-')
			last = strtoull(p + 1, &p, 10);
		for (; first <= last && last < 65536; first++)
			json_u64(w, first);
	}
	json_end_array(w);
}

static void write_cpuset(struct json_writer *w, const struct cg *cg)
{
	static const char *const flags[] = {
		"cpu_exclusive", "mems", "mem_hardwall", "mem_exclusive", "memory_migrate",
		"memory_spread_page", "memory_spread_slab", "memory_pressure", "sched_load_balance",
		"sched_relax_domain_level",
	};
	bool v1 = cg_kind_of(cg) == CG_V1;

	json_key(w, "cpuset");
	json_begin_object(w);
	write_set(w, cg, "cpus", v1 ? "cpuset.cpus" : "cpuset.cpus.effective");
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		char file[64] = "cpuset.";
		uint64_t v = 0;

		if (str_eq(flags[i], "mems")) {
			write_set(w, cg, "mems", v1 ? "cpuset.mems" : "cpuset.mems.effective");
			continue;
		}
		strncat(file, flags[i], sizeof(file) - strlen(file) - 1);
		if (v1)
			read_number(cg, CG_CPUSET, file, &v);
		json_member_i64(w, flags[i], (int64_t)v);
	}
	json_end_object(w);
}

/* ---- memory ---- */

struct entry { uint64_t limit, usage, max, failcnt; };

static void write_entry(struct json_writer *w, const char *key, const struct entry *m)
{
	json_key(w, key);
	json_begin_object(w);
	json_member_u64(w, "limit", m->limit);
	member_if(w, "usage", m->usage);
	member_if(w, "max", m->max);
	json_member_u64(w, "failcnt", m->failcnt);
	json_end_object(w);
}

/* prefix: "memory.", "memory.memsw.", ... */
static struct entry entry_v1(const struct cg *cg, const char *prefix)
{
	static const char *const files[] = {"limit_in_bytes", "usage_in_bytes", "max_usage_in_bytes",
					    "failcnt"};
	uint64_t v[4] = {0};

	for (size_t i = 0; i < 4; i++) {
		char file[64];

		snprintf(file, sizeof(file), "%s%s", prefix, files[i]);
		read_number(cg, CG_MEMORY, file, &v[i]);
	}
	return (struct entry){v[0], v[1], v[2], v[3]};
}

static void write_memory_v1(struct json_writer *w, const struct cg *cg)
{
	static const struct { const char *key, *prefix; } parts[] = {
		{"usage", "memory."}, {"swap", "memory.memsw."}, {"kernel", "memory.kmem."},
		{"kernelTCP", "memory.kmem.tcp."},
	};

	member_if(w, "cache", find_pair(cg, CG_MEMORY, "memory.stat", "cache"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct entry m = entry_v1(cg, parts[i].prefix);

		write_entry(w, parts[i].key, &m);
	}
}

static uint64_t add_limits(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

static void write_memory_v2(struct json_writer *w, const struct cg *cg)
{
	struct entry m = {0}, swap = {0}, none = {0};

	read_number(cg, CG_MEMORY, "memory.current", &m.usage);
	read_number(cg, CG_MEMORY, "memory.max", &m.limit);
	read_number(cg, CG_MEMORY, "memory.peak", &m.max);
	m.failcnt = find_pair(cg, CG_MEMORY, "memory.events", "max");
	if (read_number(cg, CG_MEMORY, "memory.swap.current", &swap.usage)) {
		read_number(cg, CG_MEMORY, "memory.swap.max", &swap.limit);
		swap.failcnt = find_pair(cg, CG_MEMORY, "memory.swap.events", "max");
		swap.usage += m.usage;
		swap.limit = add_limits(swap.limit, m.limit);
	}
	member_if(w, "cache", find_pair(cg, CG_MEMORY, "memory.stat", "file"));
	write_entry(w, "usage", &m);
	write_entry(w, "swap", &swap);
	write_entry(w, "kernel", &none);
	write_entry(w, "kernelTCP", &none);
}

static void write_memory(struct json_writer *w, const struct cg *cg)
{
	auto_strbuf struct strbuf b = {0};
	bool v1 = cg_kind_of(cg) == CG_V1;
	const char *key;
	uint64_t v;

	json_key(w, "memory");
	json_begin_object(w);
	(v1 ? write_memory_v1 : write_memory_v2)(w, cg);
	if (read_text(cg, CG_MEMORY, "memory.stat", &b)) {
		json_key(w, "raw");
		json_begin_object(w);
		for (char *p = b.p; next_pair(&p, &key, &v);)
			json_member_u64(w, key, v);
		json_end_object(w);
	}
	if (!v1)
		write_psi(w, cg, "memory.pressure");
	json_end_object(w);
}

/* ---- pids, block devices, huge pages ---- */

static void write_pids(struct json_writer *w, struct cg *cg)
{
	struct cg_stats s = {0};
	struct err ignored = {0};

	(void)cg_stats(cg, CG_STATS_PIDS, &s, &ignored);
	json_key(w, "pids");
	json_begin_object(w);
	member_if(w, "current", s.pids_current.v);
	member_if(w, "limit", s.pids_limit.v == UINT64_MAX ? 0 : s.pids_limit.v);
	json_end_object(w);
}

struct io_count { uint64_t major, minor; const char *op; uint64_t value; };

static void write_io_count(struct json_writer *w, const struct io_count *c)
{
	json_begin_object(w);
	member_if(w, "major", c->major);
	member_if(w, "minor", c->minor);
	json_member_str(w, "op", c->op);
	member_if(w, "value", c->value);
	json_end_object(w);
}

/* v1, lines of "8:0 Read 4096", and a total without a device at the end. */
static void write_io_file_v1(struct json_writer *w, const struct cg *cg, const char *key,
			     const char *file)
{
	auto_strbuf struct strbuf b = {0};
	bool any = false;
	char *save;

	if (!read_text(cg, CG_IO, file, &b))
		return;
	for (char *l = strtok_r(b.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *p = l, *op;
		struct io_count c = {.major = strtoull(p, &p, 10)};

		if (*p != ':')
			continue;
		c.minor = strtoull(p + 1, &p, 10);
		op = p + strspn(p, " ");
		p = strchr(op, ' ');
		if (!p)
			continue;
		*p = '\0';
		c.op = op;
		c.value = strtoull(p + 1, NULL, 10);
		if (!any) {
			json_key(w, key);
			json_begin_array(w);
		}
		any = true;
		write_io_count(w, &c);
	}
	if (any)
		json_end_array(w);
}

/* v2, lines of "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 ..."; those whose names end in suffix. */
static void write_io_suffix_v2(struct json_writer *w, const char *text, const char *suffix)
{
	json_begin_array(w);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		struct io_count c = {0};
		char *p;

		line += *line == '\n';
		c.major = strtoull(line, &p, 10);
		if (*p != ':')
			continue;
		c.minor = strtoull(p + 1, &p, 10);
		for (; *p == ' '; p += strcspn(p, " \n")) {
			size_t name = strcspn(++p, "=");

			if (name != strlen(suffix) + 1 || memcmp(p + 1, suffix, name - 1) != 0 ||
			    !strchr("rw", *p))
				continue;
			c.op = *p == 'r' ? "Read" : "Write";
			c.value = strtoull(p + name + 1, NULL, 10);
			write_io_count(w, &c);
		}
	}
	json_end_array(w);
}

static void write_blkio(struct json_writer *w, const struct cg *cg)
{
	auto_strbuf struct strbuf b = {0};
	bool v1 = cg_kind_of(cg) == CG_V1;

	json_key(w, "blkio");
	json_begin_object(w);
	if (v1) {
		write_io_file_v1(w, cg, "ioServiceBytesRecursive",
				 "blkio.throttle.io_service_bytes_recursive");
		write_io_file_v1(w, cg, "ioServicedRecursive", "blkio.throttle.io_serviced_recursive");
	} else if (read_text(cg, CG_IO, "io.stat", &b) && b.len) {
		json_key(w, "ioServiceBytesRecursive");
		write_io_suffix_v2(w, b.p, "bytes");
		json_key(w, "ioServicedRecursive");
		write_io_suffix_v2(w, b.p, "ios");
	}
	if (!v1)
		write_psi(w, cg, "io.pressure");
	json_end_object(w);
}

/* "2MB" as the cgroup's files have it, from "hugepages-2048kB". */
static bool page_size_name(const char *dir, char *buf, size_t size)
{
	static const char *const units[] = {"KB", "MB", "GB"};
	uint64_t kb;
	int u = 0;

	if (!str_starts(dir, "hugepages-"))
		return false;
	kb = strtoull(dir + strlen("hugepages-"), NULL, 10);
	for (; kb >= 1024 && u < 2; u++)
		kb /= 1024;
	snprintf(buf, size, "%llu%s", (unsigned long long)kb, units[u]);
	return kb > 0;
}

static void write_page_size(struct json_writer *w, const struct cg *cg, const char *name)
{
	bool v1 = cg_kind_of(cg) == CG_V1;
	uint64_t usage = 0, max = 0, failcnt = 0;
	char file[96];

	snprintf(file, sizeof(file), "hugetlb.%s.%s", name, v1 ? "usage_in_bytes" : "current");
	if (!read_number(cg, CG_HUGETLB, file, &usage))
		return;
	snprintf(file, sizeof(file), "hugetlb.%s.%s", name, v1 ? "max_usage_in_bytes" : "events");
	if (v1)
		read_number(cg, CG_HUGETLB, file, &max);
	else
		failcnt = find_pair(cg, CG_HUGETLB, file, "max");
	snprintf(file, sizeof(file), "hugetlb.%s.failcnt", name);
	if (v1)
		read_number(cg, CG_HUGETLB, file, &failcnt);
	json_key(w, name);
	json_begin_object(w);
	member_if(w, "usage", usage);
	member_if(w, "max", max);
	json_member_u64(w, "failcnt", failcnt);
	json_end_object(w);
}

static void write_hugetlb(struct json_writer *w, const struct cg *cg)
{
	DIR *d = opendir("/sys/kernel/mm/hugepages");
	char name[32];

	json_key(w, "hugetlb");
	json_begin_object(w);
	for (struct dirent *de; d && (de = readdir(d));)
		if (page_size_name(de->d_name, name, sizeof(name)))
			write_page_size(w, cg, name);
	if (d)
		closedir(d);
	json_end_object(w);
}

void stats_write(struct json_writer *w, struct cg *cg)
{
	json_begin_object(w);
	write_cpu(w, cg);
	write_cpuset(w, cg);
	write_memory(w, cg);
	write_pids(w, cg);
	write_blkio(w, cg);
	write_hugetlb(w, cg);
	json_key(w, "intel_rdt");
	json_begin_object(w);
	json_end_object(w);
	json_key(w, "network_interfaces");
	json_null(w);
	json_end_object(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of a v2 cgroup. A file that is missing leaves its members unset: no controller, or a
 * kernel before memory.peak (5.19) or pids.peak (younger still).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "cgroups/internal.h"

/* io.stat has a line for each device the cgroup ever used. */
#define IO_STAT_MAX (64 * 1024)

struct key {
	const char *name;
	struct opt_u64 *to;
};

static void read_keys(int dir, const char *file, const struct key *keys, size_t n)
{
	char text[4096];

	if (io_read_small(dir, file, text, sizeof(text)) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		keys[i].to->set = cg_find_value(text, keys[i].name, &keys[i].to->v);
}

static void stats_memory(int dir, struct cg_stats *s)
{
	const struct key events[] = {{"oom", &s->oom}, {"oom_kill", &s->oom_kill}};

	s->memory_current = cg_read_u64(dir, "memory.current");
	s->memory_peak = cg_read_u64(dir, "memory.peak");
	s->memory_limit = cg_read_u64(dir, "memory.max");
	s->memory_swap = cg_read_u64(dir, "memory.swap.current");
	read_keys(dir, "memory.events", events, 2);
}

static void stats_cpu(int dir, struct cg_stats *s)
{
	const struct key keys[] = {
		{"usage_usec", &s->cpu_usage_usec},   {"user_usec", &s->cpu_user_usec},
		{"system_usec", &s->cpu_system_usec}, {"nr_periods", &s->cpu_periods},
		{"nr_throttled", &s->cpu_throttled},  {"throttled_usec", &s->cpu_throttled_usec},
	};

	read_keys(dir, "cpu.stat", keys, sizeof(keys) / sizeof(keys[0]));
}

static int add_procs(int dir, void *arg)
{
	return cg_read_procs(dir, arg);
}

/* Without the controller there is at least the number of processes; so has runc it. */
static struct opt_u64 count_procs(int dir)
{
	struct cg_pids found = {0};
	struct opt_u64 n = {0};
	struct err ignored = {0};

	if (cg_walk(dir, add_procs, &found, &ignored) >= 0)
		n = (struct opt_u64){true, found.n};
	free(found.v);
	return n;
}

static void stats_pids(int dir, struct cg_stats *s)
{
	const struct key events[] = {{"max", &s->pids_max_events}};

	s->pids_current = cg_read_u64(dir, "pids.current");
	if (!s->pids_current.set)
		s->pids_current = count_procs(dir);
	s->pids_peak = cg_read_u64(dir, "pids.peak");
	s->pids_limit = cg_read_u64(dir, "pids.max");
	read_keys(dir, "pids.events", events, 1);
}

/* "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0", summed over the devices. */
static void sum_io(const char *text, const char *key, struct opt_u64 *to)
{
	for (const char *p = strstr(text, key); p; p = strstr(p + 1, key)) {
		if (p != text && p[-1] == ' ')
			to->v += strtoull(p + strlen(key), NULL, 10);
	}
	to->set = true;
}

static void stats_io(int dir, struct cg_stats *s)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored;

	if (io_read_file(dir, "io.stat", IO_STAT_MAX, &b, &ignored) < 0)
		return;
	sum_io(strbuf_str(&b), "rbytes=", &s->io_read_bytes);
	sum_io(strbuf_str(&b), "wbytes=", &s->io_write_bytes);
	sum_io(strbuf_str(&b), "rios=", &s->io_reads);
	sum_io(strbuf_str(&b), "wios=", &s->io_writes);
}

static uint64_t psi_total(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	p = p ? strstr(p, "total=") : NULL;
	return p ? strtoull(p + strlen("total="), NULL, 10) : 0;
}

static void read_psi(int dir, const char *file, struct cg_psi *psi)
{
	char text[256];

	if (io_read_small(dir, file, text, sizeof(text)) <= 0)
		return;
	psi->set = true;
	psi->some_usec = psi_total(text, "some ");
	psi->full_usec = psi_total(text, "full ");
}

int cg_stats_v2(struct cg *cg, unsigned what, struct cg_stats *s, struct err *e)
{
	int dir = cg->dirs[0].fd;

	if (faccessat(dir, "cgroup.procs", F_OK, 0) < 0)
		return err_sys(e, "read statistics of cgroup %s", cg->dirs[0].path);
	if (what & CG_STATS_MEMORY)
		stats_memory(dir, s);
	if (what & CG_STATS_CPU)
		stats_cpu(dir, s);
	if (what & CG_STATS_PIDS)
		stats_pids(dir, s);
	if (what & CG_STATS_IO)
		stats_io(dir, s);
	if (what & CG_STATS_PSI) {
		read_psi(dir, "cpu.pressure", &s->cpu_psi);
		read_psi(dir, "memory.pressure", &s->memory_psi);
		read_psi(dir, "io.pressure", &s->io_psi);
	}
	return 0;
}

int64_t cg_cpu_usec_v2(struct cg *cg)
{
	char text[1024];
	uint64_t v;
	ssize_t n;

	if (cg->cpu_stat < 0)
		cg->cpu_stat = openat(cg->dirs[0].fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	if (cg->cpu_stat < 0)
		return -errno;
	n = pread(cg->cpu_stat, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return cg_find_value(text, "usage_usec", &v) ? (int64_t)v : -ENODATA;
}

int64_t cg_oom_kills_v2(struct cg *cg)
{
	char text[512];
	ssize_t n = io_read_small(cg->dirs[0].fd, "memory.events", text, sizeof(text));
	uint64_t v;

	if (n < 0)
		return n;
	return cg_find_value(text, "oom_kill", &v) ? (int64_t)v : -ENODATA;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `docker stats`: two looks at the cgroups, and the CPU time between them. Memory is without the file
 * pages that the kernel would drop first, as Docker counts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/format.h"
#include "docker/list.h"
#include "docker/lists.h"
#include "docker/station.h"
#include "docker/units.h"
#include "runtime/container.h"
#include "runtime/pidns.h"

enum { SHORT_ID = 12, STAT_MAX = 16 << 10, FIRST_MS = 300, ROUND_MS = 1000 };

struct sample {
	const char *container; /* as it was given */
	const struct dk_record *record;
	bool no_trunc;
	uint64_t at, cpu;      /* nanoseconds; microseconds */
	double cpu_percent;
	uint64_t memory, limit, received, sent, read, written, pids;
};
struct samples { struct sample *v; size_t n; };

/* ---- looking ---- */

/* "key 123" of a flat file; 0: not there. */
static uint64_t number_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n] == ' ')
			return strtoull(p + n + 1, NULL, 10);
	return 0;
}

static uint64_t inactive_file(struct cg *cg)
{
	auto_close int fd = cg_open_file(cg, CG_MEMORY, "memory.stat", O_RDONLY | O_CLOEXEC);
	auto_free char *text = calloc(1, STAT_MAX);
	ssize_t n = fd < 0 || !text ? -1 : io_read_upto(fd, text, STAT_MAX - 1);

	if (n < 0)
		return 0;
	return number_of(text, cg_kind_of(cg) == CG_V1 ? "total_inactive_file" : "inactive_file");
}

static uint64_t host_memory(int procfs)
{
	char text[4096];

	if (io_read_small(procfs, "meminfo", text, sizeof(text)) < 0 && errno)
		return 0;
	return number_of(text, "MemTotal:") ? strtoull(text + strcspn(text, "0123456789"), NULL, 10) * 1024 : 0;
}

static void look_at_cgroup(struct sample *s, struct rt_container *k)
{
	struct cg_stats st = {0};
	struct err ignored = {0};
	uint64_t all;

	if (cg_stats(k->cgroup, CG_STATS_MEMORY | CG_STATS_CPU | CG_STATS_PIDS | CG_STATS_IO, &st, &ignored) < 0)
		return;
	s->cpu = st.cpu_usage_usec.v;
	s->pids = st.pids_current.v;
	s->read = st.io_read_bytes.v;
	s->written = st.io_write_bytes.v;
	if (!st.memory_current.set)
		return;
	all = inactive_file(k->cgroup);
	s->memory = st.memory_current.v > all ? st.memory_current.v - all : 0;
	all = host_memory(k->procfs);
	s->limit = st.memory_limit.set && st.memory_limit.v < all ? st.memory_limit.v : all;
}

/* The lines of net/dev but that of lo; nothing of a network that is not its own. */
static void look_at_network(struct sample *s, const struct rt_container *k)
{
	auto_free char *text = calloc(1, STAT_MAX);
	char path[48], *save, *line;

	if (!text || dk_network_kind(&s->record->network) == DK_NETWORK_HOST)
		return;
	snprintf(path, sizeof(path), "%d/net/dev", (int)k->doc->init_pid);
	if (io_read_small(k->procfs, path, text, STAT_MAX) < 0)
		return;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':');
		unsigned long long in, out;

		line += strspn(line, " ");
		if (!colon || strncmp(line, "lo:", 3) == 0 ||
		    sscanf(colon + 1, "%llu %*u %*u %*u %*u %*u %*u %*u %llu", &in, &out) != 2)
			continue;
		s->received += in;
		s->sent += out;
	}
}

static void look(struct dk_context *c, struct sample *s)
{
	auto_container struct rt_container k = RT_CONTAINER_NONE;
	struct err ignored = {0};
	struct sample was = *s;

	*s = (struct sample){.container = was.container, .record = was.record, .no_trunc = was.no_trunc, .at = dk_now()};
	if (rt_container_open(c->arena, &c->store->runtime, s->record->id, &k, &ignored) < 0 || k.pidfd < 0)
		return;
	if (k.cgroup)
		look_at_cgroup(s, &k);
	look_at_network(s, &k);
	if (was.at && s->at > was.at && s->cpu > was.cpu)
		s->cpu_percent = (double)(s->cpu - was.cpu) * 1000 / (double)(s->at - was.at) * 100;
}

/* ---- columns ---- */

static const struct sample *sample_of(const void *row)
{
	return row;
}

static struct dk_value get_container(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(sample_of(row)->container);
}

static struct dk_value get_id(struct arena *a, const void *row)
{
	const struct sample *s = sample_of(row);

	return dk_string(s->no_trunc ? s->record->id : arena_strndup(a, s->record->id, SHORT_ID));
}

static struct dk_value get_name(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(sample_of(row)->record->name);
}

static struct dk_value get_cpu(struct arena *a, const void *row)
{
	return dk_stringf(a, "%.2f%%", sample_of(row)->cpu_percent);
}

static struct dk_value get_memory(struct arena *a, const void *row)
{
	char used[DK_UNIT_MAX], limit[DK_UNIT_MAX];

	return dk_stringf(a, "%s / %s", dk_binary_size(used, (double)sample_of(row)->memory),
			  dk_binary_size(limit, (double)sample_of(row)->limit));
}

static struct dk_value get_memory_percent(struct arena *a, const void *row)
{
	const struct sample *s = sample_of(row);

	return dk_stringf(a, "%.2f%%", s->limit ? (double)s->memory / (double)s->limit * 100 : 0.0);
}

static struct dk_value pair(struct arena *a, uint64_t x, uint64_t y)
{
	char first[DK_UNIT_MAX], second[DK_UNIT_MAX];

	return dk_stringf(a, "%s / %s", dk_human_size(first, (double)x), dk_human_size(second, (double)y));
}

static struct dk_value get_network(struct arena *a, const void *row)
{
	return pair(a, sample_of(row)->received, sample_of(row)->sent);
}

static struct dk_value get_block(struct arena *a, const void *row)
{
	return pair(a, sample_of(row)->read, sample_of(row)->written);
}

static struct dk_value get_pids(struct arena *a, const void *row)
{
	return dk_stringf(a, "%llu", (unsigned long long)sample_of(row)->pids);
}

static const struct dk_column columns[] = {
	{"Container", "CONTAINER", get_container, NULL}, {"ID", "CONTAINER ID", get_id, NULL},
	{"Name", "NAME", get_name, NULL}, {"CPUPerc", "CPU %", get_cpu, NULL},
	{"MemUsage", "MEM USAGE / LIMIT", get_memory, NULL}, {"MemPerc", "MEM %", get_memory_percent, NULL},
	{"NetIO", "NET I/O", get_network, NULL}, {"BlockIO", "BLOCK I/O", get_block, NULL},
	{"PIDs", "PIDS", get_pids, NULL},
};
static const struct dk_columns stats_columns = DK_COLUMNS("*container.statsContext", columns);

static int print(struct dk_context *c, const struct dk_stats_options *o, const struct samples *l, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct dk_format_spec spec = {
		.columns = &stats_columns,
		.format = o->format,
		.table = "table {{.ID}}\t{{.Name}}\t{{.CPUPerc}}\t{{.MemUsage}}\t{{.MemPerc}}\t{{.NetIO}}\t{{.BlockIO}}\t"
			 "{{.PIDs}}",
	};
	struct dk_format *f;
	int r = dk_format_open(a, &spec, &f, e);
	(void)c;

	if (r == 0 && !o->no_stream)
		r = dk_write_stdout("\033[2J\033[H", 7, e);
	for (size_t i = 0; r == 0 && i < l->n; i++)
		r = dk_format_row(f, &l->v[i], e);
	return r == 0 ? dk_format_close(f, e) : r;
}

/* ---- which ---- */

static struct sample *add(struct dk_context *c, struct samples *l, const struct dk_record *r, const char *given,
			  const struct samples *old)
{
	struct sample *s = dk_list_add(c->arena, l);

	*s = (struct sample){.container = given, .record = r};
	for (size_t i = 0; i < old->n; i++)
		if (str_eq(old->v[i].record->id, r->id)) {
			s->at = old->v[i].at;
			s->cpu = old->v[i].cpu;
		}
	return s;
}

/* Those that were named: one that is gone is an error the first time, and left out later. */
static int find_named(struct dk_context *c, const struct dk_args *args, const struct samples *old, struct samples *ret,
		      struct err *e)
{
	for (int i = 0; i < args->argc; i++) {
		struct dk_record *r;
		int code = dk_container_find(c, args->argv[i], &r, e);

		if (code == -ENOENT && old->n)
			*e = (struct err){0};
		else if (code < 0)
			return code;
		else
			add(c, ret, r, args->argv[i], old);
	}
	return 0;
}

static int find(struct dk_context *c, const struct dk_args *args, const struct samples *old, struct samples *ret,
		struct err *e)
{
	const struct dk_stats_options *o = args->options;
	struct dk_row_filter want = {.all = o->all, .last = -1};
	struct dk_rows rows = {0};
	int r;

	*ret = (struct samples){0};
	if (args->argc)
		r = find_named(c, args, old, ret, e);
	else
		r = dk_rows_load(c, &want, &rows, e);
	for (size_t i = 0; r == 0 && i < rows.n; i++)
		add(c, ret, rows.v[i].record, arena_strndup(c->arena, rows.v[i].record->id, SHORT_ID), old);
	for (size_t i = 0; r == 0 && i < ret->n; i++)
		ret->v[i].no_trunc = o->no_trunc;
	return r;
}

static void pass_time(int ms)
{
	poll(NULL, 0, ms);
}

/* Each round in an arena of its own: this may run for days. */
static int round_of(struct dk_context *c, const struct dk_args *args, struct samples *l, bool show, struct err *e)
{
	struct samples now;
	int r = find(c, args, l, &now, e);

	for (size_t i = 0; r == 0 && i < now.n; i++)
		look(c, &now.v[i]);
	if (r == 0 && show)
		r = print(c, args->options, &now, e);
	*l = now;
	return r;
}

int dk_cmd_stats(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_stats_options *o = args->options;
	struct arena *mine = c->arena, *before = NULL;
	struct samples l = {0};
	struct dk_store *s;
	int r = dk_store_open(c, &s, e);

	if (r == 0)
		r = round_of(c, args, &l, false, e);
	for (int ms = FIRST_MS; r == 0; ms = ROUND_MS) {
		struct arena *a;

		if (args->argc && !l.n)
			break;
		pass_time(ms);
		a = arena_new();
		c->arena = s->arena = a;
		r = round_of(c, args, &l, true, e);
		if (before)
			arena_free(before); /* l is of this round now */
		before = a;
		if (o->no_stream)
			break;
	}
	c->arena = s->arena = mine;
	if (r < 0)
		return dk_error(c, e, e->code, "%s", arena_strdup(mine, e->msg));
	if (before)
		arena_free(before);
	return 0;
}

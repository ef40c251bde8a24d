/* SPDX-License-Identifier: Apache-2.0 */
/* `docker ps`. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "docker/commands.h"
#include "docker/format.h"
#include "docker/list.h"
#include "docker/units.h"
#include "docker/usage.h"
#include "image/store.h"

enum { SHORT_ID = 12, COMMAND_WIDTH = 20 };

struct view {
	struct dk_context *c;
	const struct dk_ps_options *o;
	struct dk_rows rows;
};

static const struct dk_row *row_of(const void *row)
{
	return row;
}

/* ---- columns ---- */

static struct dk_value get_id(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);

	return dk_string(x->no_trunc ? x->record->id : arena_strndup(a, x->record->id, SHORT_ID));
}

static struct dk_value get_names(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(row_of(row)->record->name);
}

static struct dk_value get_image(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(row_of(row)->record->config.image);
}

/* Characters, not bytes. */
static const char *cut(struct arena *a, const char *s, size_t width)
{
	size_t n = 0;
	const char *p = s, *keep = s;

	for (; *p; p++)
		if (((unsigned char)*p & 0xC0) != 0x80 && ++n == width)
			keep = p;
	return n <= width ? s : arena_printf(a, "%.*s…", (int)(keep - s), s);
}

static struct dk_value get_command(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);
	auto_strbuf struct strbuf b = {0};
	char *whole, *quoted;

	strbuf_adds(&b, x->record->path);
	for (size_t i = 0; i < x->record->args.n; i++) {
		const char *arg = x->record->args.v[i];

		strbuf_printf(&b, strchr(arg, ' ') ? " '%s'" : " %s", arg);
	}
	whole = arena_strdup(a, strbuf_str(&b));
	quoted = arena_printf(a, "\"%s\"", x->no_trunc ? whole : cut(a, whole, COMMAND_WIDTH));
	return dk_string(quoted);
}

static int64_t seconds_since(const char *when)
{
	struct timespec t, now;

	if (!when || dk_time_parse(when, &t) < 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - t.tv_sec - (now.tv_nsec < t.tv_nsec);
}

static struct dk_value get_created_at(struct arena *a, const void *row)
{
	struct timespec t = {0};
	char buf[DK_UNIT_MAX];

	dk_time_parse(row_of(row)->record->created, &t);
	return dk_string(arena_strdup(a, dk_time_local(buf, &t)));
}

static struct dk_value get_running_for(struct arena *a, const void *row)
{
	char buf[DK_UNIT_MAX];

	return dk_stringf(a, "%s ago", dk_human_duration(buf, seconds_since(row_of(row)->record->created)));
}

static struct dk_value get_state(struct arena *a, const void *row)
{
	(void)a;
	return dk_string(row_of(row)->look.status);
}

static const char *up_since(const struct dk_row *x)
{
	return x->look.started ? x->look.started : x->record->state.started;
}

static struct dk_value get_status(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);
	const struct dk_state *st = &x->record->state;
	char buf[DK_UNIT_MAX];
	const char *health = x->health && !str_eq(x->health, "none")
				     ? arena_printf(a, str_eq(x->health, "starting") ? " (health: %s)" : " (%s)", x->health) : "";

	if (str_eq(x->look.status, DK_CREATED))
		return dk_string("Created");
	if (str_eq(x->look.status, DK_DEAD))
		return dk_string("Dead");
	if (str_eq(x->look.status, DK_RESTARTING))
		return dk_stringf(a, "Restarting (%lld) %s ago", (long long)st->exit_code,
				  dk_human_duration(buf, seconds_since(st->finished)));
	if (x->look.running)
		return dk_stringf(a, "Up %s%s", dk_human_duration(buf, seconds_since(up_since(x))),
				  x->look.paused ? " (Paused)" : health);
	return dk_stringf(a, "Exited (%lld) %s ago", (long long)st->exit_code,
			  dk_human_duration(buf, seconds_since(st->finished)));
}

static void add_port(struct strbuf *b, const char *text)
{
	strbuf_printf(b, "%s%s", b->len ? ", " : "", text);
}

static struct dk_value get_ports(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);
	const struct dk_network_settings *n = &x->record->network;
	auto_strbuf struct strbuf b = {0};

	if (!x->look.running)
		return dk_string("");
	for (size_t i = 0; i < n->bound.n; i++) {
		const struct dk_port_bound *p = &n->bound.v[i];

		add_port(&b, arena_printf(a, strchr(p->host_ip, ':') ? "[%s]:%u->%u/%s" : "%s:%u->%u/%s", p->host_ip,
					  p->host_port, p->container_port, p->proto));
	}
	for (size_t i = 0; dk_network_is_bridged(n) && i < n->ports.n; i++)
		if (!n->ports.v[i].published)
			add_port(&b, arena_printf(a, "%u/%s", n->ports.v[i].container_port, n->ports.v[i].proto));
	return dk_string(arena_strdup(a, strbuf_str(&b)));
}

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct str_pair *)x)->key, ((const struct str_pair *)y)->key);
}

static struct dk_value get_labels(struct arena *a, const void *row)
{
	const struct str_map *m = &row_of(row)->record->config.labels;
	struct str_pair *v = arena_array(a, m->n + 1, sizeof(*v));
	auto_strbuf struct strbuf b = {0};

	if (m->n)
		memcpy(v, m->v, m->n * sizeof(*v));
	qsort(v, m->n, sizeof(*v), by_key);
	for (size_t i = 0; i < m->n; i++)
		strbuf_printf(&b, "%s%s=%s", i ? "," : "", v[i].key, v[i].value);
	return dk_string(arena_strdup(a, strbuf_str(&b)));
}

static struct dk_value get_label(struct arena *a, const void *row, const char *key)
{
	const struct str_map *m = &row_of(row)->record->config.labels;
	(void)a;

	for (size_t i = 0; i < m->n; i++)
		if (str_eq(m->v[i].key, key))
			return dk_string(m->v[i].value);
	return dk_string("");
}

static struct dk_value get_mounts(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);
	auto_strbuf struct strbuf b = {0};

	for (size_t i = 0; i < x->record->options.mounts.n; i++) {
		const struct dk_mount *m = &x->record->options.mounts.v[i];
		const char *name = m->source ? m->source : "";

		if (m->type != DK_MOUNT_TMPFS)
			strbuf_printf(&b, "%s%s", b.len ? "," : "", x->no_trunc ? name : cut(a, name, 15));
	}
	return dk_string(arena_strdup(a, strbuf_str(&b)));
}

static struct dk_value get_volumes(struct arena *a, const void *row)
{
	const struct dk_record *r = row_of(row)->record;
	int n = 0;

	for (size_t i = 0; i < r->options.mounts.n; i++)
		n += r->options.mounts.v[i].type == DK_MOUNT_VOLUME;
	return dk_stringf(a, "%d", n);
}

static struct dk_value get_networks(struct arena *a, const void *row)
{
	const struct dk_network_settings *n = &row_of(row)->record->network;
	auto_strbuf struct strbuf b = {0};

	for (size_t i = 0; i < n->endpoints.n; i++)
		strbuf_printf(&b, "%s%s", i ? "," : "", n->endpoints.v[i].network);
	if (dk_network_kind(n) == DK_NETWORK_NONE || dk_network_kind(n) == DK_NETWORK_HOST)
		strbuf_adds(&b, n->mode);
	return dk_string(arena_strdup(a, strbuf_str(&b)));
}

static struct dk_value get_size(struct arena *a, const void *row)
{
	const struct dk_row *x = row_of(row);
	char own[DK_UNIT_MAX], all[DK_UNIT_MAX];

	dk_human_size_precision(own, (double)x->size, 3);
	if (!x->image_size)
		return dk_string(arena_strdup(a, own));
	return dk_stringf(a, "%s (virtual %s)", own,
			  dk_human_size_precision(all, (double)(x->size + x->image_size), 3));
}

static struct dk_value get_platform(struct arena *a, const void *row)
{
	(void)a;
	(void)row;
	return dk_null_pointer("v1.Platform");
}

static const struct dk_column columns[] = {
	{"ID", "CONTAINER ID", get_id, NULL}, {"Names", "NAMES", get_names, NULL},
	{"Image", "IMAGE", get_image, NULL}, {"Command", "COMMAND", get_command, NULL},
	{"CreatedAt", "CREATED AT", get_created_at, NULL},
	{"RunningFor", "CREATED", get_running_for, NULL}, {"Ports", "PORTS", get_ports, NULL},
	{"State", "STATE", get_state, NULL}, {"Status", "STATUS", get_status, NULL},
	{"Size", "SIZE", get_size, NULL}, {"Labels", "LABELS", get_labels, NULL},
	{"Label", NULL, NULL, get_label}, {"Mounts", "MOUNTS", get_mounts, NULL},
	{"LocalVolumes", "LOCAL VOLUMES", get_volumes, NULL}, {"Networks", "NETWORKS", get_networks, NULL},
	{"Platform", "PLATFORM", get_platform, NULL},
};
static const struct dk_columns ps_columns = DK_COLUMNS("*formatter.ContainerContext", columns);

/* ---- the command ---- */

static const char raw[] =
	"container_id: {{.ID}}\nimage: {{.Image}}\ncommand: {{.Command}}\ncreated_at: {{.CreatedAt}}\n"
	"state: {{- pad .State 1 0}}\nstatus: {{- pad .Status 1 0}}\nnames: {{.Names}}\n"
	"labels: {{- pad .Labels 1 0}}\nports: {{- pad .Ports 1 0}}\n";

static int print(struct dk_context *c, const struct dk_ps_options *o, struct dk_rows *rows, struct err *e)
{
	struct dk_format_spec spec = {
		.columns = &ps_columns,
		.ps = true,
		.format = o->format,
		.table = o->size ? "table {{.ID}}\t{{.Image}}\t{{.Command}}\t{{.RunningFor}}\t{{.Status}}\t{{.Ports}}\t"
				   "{{.Names}}\t{{.Size}}"
				 : "table {{.ID}}\t{{.Image}}\t{{.Command}}\t{{.RunningFor}}\t{{.Status}}\t{{.Ports}}\t"
				   "{{.Names}}",
		.quiet = o->quiet ? "{{.ID}}" : NULL,
		.raw = raw,
		.raw_quiet = "container_id: {{.ID}}",
	};
	struct dk_format *f;
	int r = dk_format_open(c->arena, &spec, &f, e);
	/* "{{json .}}" has all that there is. */
	bool sizes = r == 0 && (o->size || dk_format_uses(f, "Size") || (o->format && strstr(o->format, "json .")));

	for (size_t i = 0; r == 0 && i < rows->n; i++) {
		rows->v[i].no_trunc = o->no_trunc;
		if (sizes)
			dk_row_measure(c, &rows->v[i]);
		r = dk_format_row(f, &rows->v[i], e);
	}
	return r == 0 ? dk_format_close(f, e) : r;
}

int dk_cmd_ps(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_ps_options *o = args->options;
	struct dk_row_filter want = {
		.filter = o->filter,
		.all = o->all,
		.last = o->latest ? 1 : o->last,
	};
	struct dk_rows rows;
	int r = dk_rows_load(c, &want, &rows, e);

	if (r == 0)
		r = print(c, o, &rows, e);
	return r < 0 ? r : 0;
}

int dk_print_container_usage(struct dk_context *c, struct err *e)
{
	const struct dk_row_filter want = {.all = true, .last = -1};
	const struct dk_format_spec spec = {.columns = &ps_columns,
		.table = "table {{.ID}}\t{{.Image}}\t{{.Command}}\t{{.LocalVolumes}}\t{{.Size}}\t{{.RunningFor}}\t"
			 "{{.Status}}\t{{.Names}}"};
	struct dk_rows rows;
	struct dk_format *f;
	int r = dk_rows_load(c, &want, &rows, e);

	if (r == 0)
		r = dk_format_open(c->arena, &spec, &f, e);
	for (size_t i = 0; r == 0 && i < rows.n; i++) {
		dk_row_measure(c, &rows.v[i]);
		rows.v[i].image_size = 0; /* the image has a line of its own */
		r = dk_format_row(f, &rows.v[i], e);
	}
	return r < 0 ? r : dk_format_close(f, e);
}

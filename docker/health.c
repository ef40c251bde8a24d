/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/health.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/inspect.h"
#include "docker/list.h"
#include "json/fields.h"

enum { FILE_MAX = 1 << 18 };
static const char file[] = "health.json";

static const struct json_field entry_fields[] = {
	JSON_FIELD(struct dk_health_entry, start, "start", .required = true),
	JSON_FIELD(struct dk_health_entry, end, "end", .required = true),
	JSON_FIELD(struct dk_health_entry, exit_code, "exitCode"),
	JSON_FIELD(struct dk_health_entry, output, "output"),
};
static const struct json_table entry_table = JSON_TABLE(struct dk_health_entry, entry_fields);
static const struct json_field fields[] = {
	JSON_FIELD(struct dk_health, status, "status", .required = true),
	JSON_FIELD(struct dk_health, streak, "streak"),
	JSON_FIELD(struct dk_health, log, "log", .sub = &entry_table),
};
static const struct json_table table = JSON_TABLE(struct dk_health, fields);

bool dk_health_wanted(const struct dk_record *r)
{
	const struct img_healthcheck *h = r->config.healthcheck;

	return h && h->test.n && !str_eq(h->test.v[0], "NONE");
}

static int open_dir(const struct dk_store *s, const char *id)
{
	return openat(s->containers, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void dk_health_load(const struct dk_store *s, const char *id, struct arena *a, struct dk_health *ret)
{
	auto_close int dir = open_dir(s, id);
	auto_strbuf struct strbuf text = {0};
	struct dk_health h = {0};
	const struct json *doc;
	struct err e = {0};

	*ret = (struct dk_health){.status = (char *)"starting"};
	if (dir >= 0 && io_read_file(dir, file, FILE_MAX, &text, &e) == 0 &&
	    json_parse(strbuf_str(&text), text.len, a, &doc, &e) == 0 &&
	    json_read_struct(&(struct json_reader){a, "", &e}, doc, &table, &h) == 0)
		*ret = h;
}

int dk_health_save(const struct dk_store *s, const char *id, const struct dk_health *h, struct err *e)
{
	auto_close int dir = open_dir(s, id);
	auto_strbuf struct strbuf text = {0};
	struct json_writer w;

	if (dir < 0)
		return err_sys(e, "open container %.12s", id);
	json_writer_init(&w, &text, false);
	json_write_struct(&w, &table, h);
	strbuf_addc(&text, '\n');
	return io_replace_file(dir, file, &text, 0600, e);
}

/* ---- for ps and inspect ---- */

const char *dk_health_status(struct arena *a, const struct dk_store *s, const struct dk_record *r)
{
	struct dk_health h;

	if (!dk_health_wanted(r))
		return NULL;
	dk_health_load(s, r->id, a, &h);
	return h.status;
}

/* One that does not run is unhealthy, as in Docker. */
void dk_health_document(struct arena *a, const struct dk_store *s, const struct dk_record *r, struct dk_value *state)
{
	struct dk_value v = dk_struct("types.Health"), log = dk_array();
	const struct dk_value *running = dk_get(state, "Running"), *paused = dk_get(state, "Paused");
	bool checked = running && running->boolean && !(paused && paused->boolean);
	struct dk_health h;

	if (!dk_health_wanted(r) || str_eq(r->state.status, DK_CREATED))
		return;
	dk_health_load(s, r->id, a, &h);
	dk_put(a, &v, "Status", dk_string(checked ? h.status : "unhealthy"));
	dk_put(a, &v, "FailingStreak", dk_int(h.streak));
	for (size_t i = 0; i < h.log.n; i++) {
		struct dk_value x = dk_struct("types.HealthcheckResult");

		dk_put(a, &x, "Start", dk_string(h.log.v[i].start));
		dk_put(a, &x, "End", dk_string(h.log.v[i].end));
		dk_put(a, &x, "ExitCode", dk_int(h.log.v[i].exit_code));
		dk_put(a, &x, "Output", dk_string(h.log.v[i].output));
		dk_push(a, &log, x);
	}
	dk_put(a, &v, "Log", log);
	dk_put(a, state, "Health", v);
}

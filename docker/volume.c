/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/volume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/events.h"
#include "docker/network-def.h"
#include "docker/remove.h"

enum { RECORD_MAX = 256 << 10, ID_BYTES = 32, NAME_LENGTH_MAX = 255 };

#define ENGINE "Error response from daemon: "
#define RECORD "volume.json"
#define DATA "_data"

static const struct json_field volume_fields[] = {
	JSON_FIELD(struct dk_volume, name, "name", .required = true),
	JSON_FIELD(struct dk_volume, created, "created", .required = true),
	JSON_FIELD(struct dk_volume, driver, "driver", .required = true),
	JSON_FIELD(struct dk_volume, labels, "labels"),
	JSON_FIELD(struct dk_volume, options, "options"),
	JSON_FIELD(struct dk_volume, anonymous, "anonymous"),
	JSON_FIELD(struct dk_volume, by_command, "byCommand"),
};
static const struct json_table volume_table = JSON_TABLE(struct dk_volume, volume_fields);

static bool valid_name(const char *name)
{
	return str_valid_id(name) && name[1] && strlen(name) <= NAME_LENGTH_MAX;
}

static char *volumes_dir(struct arena *a, const struct dk_roots *roots)
{
	return arena_printf(a, "%s/volumes", roots->data);
}

/* ---- reading ---- */

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = dir != NULL;

	while (dir && empty && (entry = readdir(dir)))
		empty = str_eq(entry->d_name, ".") || str_eq(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

int dk_volume_find(struct arena *a, const struct dk_roots *roots, const char *name,
		   struct dk_volume *ret, struct err *e)
{
	const char *dir = arena_printf(a, "%s/%s", volumes_dir(a, roots), name);
	auto_strbuf struct strbuf text = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};
	struct dk_volume v = {0};
	const struct json *doc;

	if (!valid_name(name) ||
	    (io_read_file(AT_FDCWD, arena_printf(a, "%s/" RECORD, dir), RECORD_MAX, &text, e) < 0 &&
	     e->code == ENOENT))
		return err_set(e, ENOENT, "get %s: no such volume", name);
	if (!text.p)
		return e->code ? -e->code : err_set(e, EINVAL, "volume %s: its record is empty", name);
	if (json_parse(text.p, text.len, a, &doc, e) < 0 || json_read_struct(&r, doc, &volume_table, &v) < 0)
		return err_wrap(e, "volume %s", name);
	v.mountpoint = arena_printf(a, "%s/" DATA, dir);
	v.fresh = is_empty(v.mountpoint);
	*ret = v;
	return 0;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct dk_volume *)x)->name, ((const struct dk_volume *)y)->name);
}

int dk_volume_all(struct arena *a, const struct dk_roots *roots, struct dk_volumes *ret, struct err *e)
{
	DIR *dir = opendir(volumes_dir(a, roots));
	struct dk_volumes all = {0};
	struct dirent *entry;
	size_t cap = 0;
	int r = 0;

	if (!dir && errno != ENOENT)
		return err_sys(e, "read %s/volumes", roots->data);
	while (dir && r == 0 && (entry = readdir(dir))) {
		struct dk_volume v;

		if (!valid_name(entry->d_name))
			continue; /* what is being made or removed begins with a dot */
		r = dk_volume_find(a, roots, entry->d_name, &v, e);
		if (r == -ENOENT) {
			r = 0;
			continue;
		}
		if (all.n == cap) {
			struct dk_volume *more = arena_array(a, cap ? 2 * cap : 16, sizeof(*more));

			if (cap)
				memcpy(more, all.v, cap * sizeof(*more));
			all.v = more;
			cap = cap ? 2 * cap : 16;
		}
		if (r == 0)
			all.v[all.n++] = v;
	}
	if (dir)
		closedir(dir);
	if (r < 0)
		return r;
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_name);
	*ret = all;
	return 0;
}

/* ---- making ---- */

static int fill(struct arena *a, const char *dir, const struct dk_volume *v, struct err *e)
{
	const char *data = arena_printf(a, "%s/" DATA, dir);
	auto_strbuf struct strbuf text = {0};
	struct json_writer w;

	/* The data is the container's users', the directory above it ours. */
	if (mkdir(dir, 0701) < 0 || chmod(dir, 0701) < 0)
		return err_sys(e, "make %s", dir);
	if (mkdir(data, 0755) < 0 || chmod(data, 0755) < 0)
		return err_sys(e, "make %s", data);
	json_writer_init(&w, &text, false);
	json_write_struct(&w, &volume_table, v);
	strbuf_addc(&text, '\n');
	return io_replace_file(AT_FDCWD, arena_printf(a, "%s/" RECORD, dir), &text, 0600, e);
}

/* The volume appears by rename. -EEXIST: somebody else was faster. */
static int make(struct arena *a, const struct dk_roots *roots, const struct dk_volume *v, struct err *e)
{
	const char *volumes = volumes_dir(a, roots), *temporary, *path;
	char random[2 * ID_BYTES + 1];
	int r;

	dk_random_hex(random, ID_BYTES);
	temporary = arena_printf(a, "%s/.new-%s", volumes, random);
	path = arena_printf(a, "%s/%s", volumes, v->name);
	r = dk_make_dirs(volumes, e);
	if (r == 0)
		r = fill(a, temporary, v, e);
	if (r == 0 && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) < 0)
		r = err_sys(e, "make volume %s", v->name);
	if (r < 0) {
		struct err ignored;

		dk_remove_tree(AT_FDCWD, temporary, &ignored);
	}
	return r;
}

static int check(const struct dk_volume_want *w, struct err *e)
{
	const char *name = w->name ? w->name : "";
	char clean[NAME_LENGTH_MAX];

	if (w->driver && *w->driver && !str_eq(w->driver, "local"))
		return err_set(e, ENOENT, ENGINE "create %s: error looking up volume plugin %s: plugin \"%s\" not "
						 "found", name, w->driver, w->driver);
	if (w->name && !valid_name(w->name))
		return err_set(e, EINVAL, ENGINE "create %s: \"%s\" includes invalid characters for a local volume "
						 "name, only \"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you "
						 "intended to pass a host directory, use absolute path",
			       str_escape(clean, sizeof(clean), w->name), clean);
	if (w->options.n)
		return err_set(e, EINVAL, ENGINE "create %s: option \"%s\" is not supported: volumes of brig are "
						 "directories; bind the device's mount point instead",
			       name, w->options.v[0].key);
	return 0;
}

static void tell(const struct dk_roots *roots, const char *action, const char *name)
{
	dk_object_event(roots, "volume", action, name, (struct dk_event_fact){"driver", "local"});
}

int dk_volume_use(struct arena *a, const struct dk_roots *roots, const struct dk_volume_want *w,
		  struct dk_volume *ret, struct err *e)
{
	char name[2 * ID_BYTES + 1], now[40];
	struct dk_volume v = {.driver = "local", .labels = w->labels, .anonymous = !w->name,
			      .by_command = w->by_command};
	time_t t = time(NULL);
	struct tm tm;
	int r = check(w, e);

	if (r < 0)
		return r;
	if (w->name) {
		r = dk_volume_find(a, roots, w->name, ret, e);
		if (r != -ENOENT)
			return r < 0 ? err_wrap(e, "Error response from daemon") : 0;
		v.name = arena_strdup(a, w->name);
	} else {
		dk_random_hex(name, ID_BYTES);
		v.name = arena_strdup(a, name);
	}
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	v.created = arena_strdup(a, now);
	r = make(a, roots, &v, e);
	if (r == 0)
		tell(roots, "create", v.name);
	if (r == 0 || r == -EEXIST)
		r = dk_volume_find(a, roots, v.name, ret, e);
	return r < 0 ? err_wrap(e, "Error response from daemon") : 0;
}

int dk_volume_remove(const struct dk_roots *roots, const char *name, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	const char *volumes = volumes_dir(a, roots);
	char random[2 * ID_BYTES + 1];
	auto_close int dir = open(volumes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *gone;

	if (!valid_name(name))
		return err_set(e, ENOENT, "get %s: no such volume", name);
	if (dir < 0 && errno != ENOENT)
		return err_sys(e, "open %s", volumes);
	dk_random_hex(random, ID_BYTES);
	gone = arena_printf(a, ".old-%s", random);
	/* Nobody finds a volume that is half gone. */
	if (dir < 0 || renameat(dir, name, dir, gone) < 0)
		return dir < 0 || errno == ENOENT ? err_set(e, ENOENT, "get %s: no such volume", name)
						  : err_sys(e, "remove volume %s", name);
	tell(roots, "destroy", name);
	return dk_remove_tree(dir, gone, e);
}

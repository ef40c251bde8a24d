/* SPDX-License-Identifier: Apache-2.0 */
/* The directories of the store, its configuration file, and what is done once for each command. */
#include "docker/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "json/fields.h"
#include "runtime/state.h"

/* ---- the configuration ---- */

static const char *const stdin_words[] = {"empty", "pipe", NULL};
static const char *const userns_words[] = {"keep", "private", NULL};

static const struct json_field config_fields[] = {
	JSON_FIELD(struct dk_config, default_network, "default-network"),
	JSON_FIELD(struct dk_config, allow_privileged, "allow-privileged"),
	JSON_FIELD(struct dk_config, stdin_, "stdin", .names = stdin_words),
	JSON_FIELD(struct dk_config, data_root, "data-root"),
	JSON_FIELD(struct dk_config, run_root, "run-root"),
	JSON_FIELD(struct dk_config, userns, "userns", .names = userns_words),
	JSON_FIELD(struct dk_config, log_driver, "log-driver"),
	JSON_FIELD(struct dk_config, log_opts, "log-opts"),
};
static const struct json_table config_table = JSON_TABLE(struct dk_config, config_fields);

static int read_config(struct arena *a, const char *path, struct dk_config *c, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	const struct json *doc;
	struct json_reader r = {a, path, e};
	int code = io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &text, e);

	if (code == 0 && json_parse(strbuf_str(&text), text.len, a, &doc, e) < 0)
		code = err_wrap(e, "%s", path);
	if (code == 0)
		code = json_read_struct(&r, doc, &config_table, c);
	return code;
}

/* The one that is named must be there, of the others the first that is. */
static int find_config(struct arena *a, struct dk_config *c, struct err *e)
{
	const char *named = getenv("BRIG_DOCKER_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *own = NULL;

	if (named && *named)
		return read_config(a, named, c, e);
	if (xdg && *xdg == '/')
		own = arena_printf(a, "%s/brig/docker.json", xdg);
	else if (home && *home == '/')
		own = arena_printf(a, "%s/.config/brig/docker.json", home);
	if (own && access(own, F_OK) == 0)
		return read_config(a, own, c, e);
	if (access("/etc/brig/docker.json", F_OK) == 0)
		return read_config(a, "/etc/brig/docker.json", c, e);
	return 0;
}

int dk_config_load(struct dk_context *c, struct dk_config *ret, struct err *e)
{
	struct dk_config config = {.default_network = (char *)"none", .stdin_ = (char *)"empty",
				   .userns = (char *)"keep", .log_driver = (char *)"json-file"};
	const char *in = getenv("BRIG_DOCKER_STDIN");
	int r = find_config(c->arena, &config, e);

	if (r < 0)
		return r;
	if (in && *in && str_index(stdin_words, in) < 0)
		return err_set(e, EINVAL, "BRIG_DOCKER_STDIN: \"%.32s\" is neither empty nor pipe", in);
	if (in && *in)
		config.stdin_ = arena_strdup(c->arena, in);
	*ret = config;
	return 0;
}

/* ---- the directories ---- */

static char *absolute_env(struct arena *a, const char *name)
{
	const char *v = getenv(name);

	return v && *v == '/' ? arena_strdup(a, v) : NULL;
}

static int choose_roots(struct arena *a, struct dk_store *s, struct err *e)
{
	const char *state;

	s->roots.data = absolute_env(a, "BRIG_DOCKER_DATA");
	s->roots.run = absolute_env(a, "BRIG_DOCKER_RUN");
	if (!s->roots.data)
		s->roots.data = s->config.data_root;
	if (!s->roots.run)
		s->roots.run = s->config.run_root;
	if (!s->roots.data)
		s->roots.data = rt_default_data_root(a);
	if (!s->roots.data)
		return err_set(e, ENOENT, "where to keep containers is not known: set HOME or BRIG_DOCKER_DATA");
	if (!s->roots.run) {
		if (rt_state_default_root(a, &state, e) < 0)
			return -e->code;
		s->roots.run = arena_printf(a, "%s/.docker", state);
	}
	if (s->roots.data[0] != '/' || s->roots.run[0] != '/')
		return err_set(e, EINVAL, "data-root and run-root have to be absolute paths");
	return 0;
}

/* With all missing parents. */
static int make_dirs(const char *path, struct err *e)
{
	char buf[PATH_MAX];

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || (size_t)snprintf(buf, sizeof(buf), "%s", path) >= sizeof(buf))
		return err_sys(e, "make %s", path);
	for (char *p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "make %s", buf);
		*p = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? err_sys(e, "make %s", path) : 0;
}

/* A directory in which somebody else could exchange things is refused (CVE-2024-25621 class). */
static int open_own(const char *path, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : err_sys(e, "open %s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(e, EPERM, "%s belongs to somebody else or can be written by others", path);
	return take_fd(&fd);
}

static int open_below(struct arena *a, const char *root, const char *name, struct err *e)
{
	char *path = arena_printf(a, "%s/%s", root, name);
	int fd = open_own(path, e);

	if (fd != -ENOENT)
		return fd;
	if (make_dirs(path, e) < 0)
		return -e->code;
	fd = open_own(path, e);
	return fd == -ENOENT ? err_set(e, ENOENT, "open %s: it went away", path) : fd;
}

static int open_dirs(struct dk_store *s, struct err *e)
{
	/* Nobody else may look in: files of other ids and with their set-user-ID bits lie below. */
	if (make_dirs(s->roots.data, e) < 0 || make_dirs(s->roots.run, e) < 0)
		return -e->code;
	s->containers = open_below(s->arena, s->roots.data, "containers", e);
	if (s->containers >= 0)
		s->names = open_below(s->arena, s->roots.data, "names", e);
	if (s->containers >= 0 && s->names >= 0)
		s->owners = open_below(s->arena, s->roots.run, "docker-run", e);
	return s->owners < 0 ? -e->code : 0;
}

int dk_store_open(struct dk_context *c, struct dk_store **ret, struct err *e)
{
	struct dk_store *s;
	int r;

	if (c->store) {
		*ret = c->store;
		return 0;
	}
	s = arena_new_of(c->arena, struct dk_store);
	s->arena = c->arena;
	s->containers = s->names = s->owners = -1;
	r = dk_config_load(c, &s->config, e);
	if (r == 0)
		r = choose_roots(c->arena, s, e);
	if (r == 0)
		r = open_dirs(s, e);
	if (r < 0)
		return r;
	s->runtime = (struct rt_globals){
		.argv = c->argv,
		.root = arena_printf(c->arena, "%s/docker", s->roots.run),
	};
	dk_sweep(s);
	*ret = c->store = s;
	return 0;
}

int dk_new_id(char ret[DK_ID_SIZE], struct err *e)
{
	unsigned char random[(DK_ID_SIZE - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_sys(e, "make an id: getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static char *path_below(const struct dk_store *s, const char *dir, const char *id, const char *name)
{
	return arena_printf(s->arena, "%s/%s%s%s", dir, id, name ? "/" : "", name ? name : "");
}

char *dk_container_path(const struct dk_store *s, const char *id, const char *name)
{
	return path_below(s, arena_printf(s->arena, "%s/containers", s->roots.data), id, name);
}

char *dk_run_path(const struct dk_store *s, const char *id, const char *name)
{
	return path_below(s, arena_printf(s->arena, "%s/docker-run", s->roots.run), id, name);
}

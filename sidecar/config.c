/* SPDX-License-Identifier: Apache-2.0 */
#include "sidecar/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "json/json.h"

struct config config;

enum kind { STRING, NUMBER, FLAG, LIST };

struct option {
	const char *name;     /* --name; in the file with _ for - */
	enum kind kind;
	size_t offset;
	const char *variable; /* of the environment; NULL */
	uint64_t min, max, value; /* of numbers */
	const char *arg, *help;
};

#define AT(member) offsetof(struct config, member)
#define TEXT(name, member, variable, arg, help) {name, STRING, AT(member), variable, 0, 0, 0, arg, help}
#define COUNT(name, member, variable, min, max, value, help) \
	{name, NUMBER, AT(member), variable, min, max, value, "N", help " (default " #value ")"}

static const struct option options[] = {
	{"listen", LIST, AT(listen), NULL, 0, 0, 0, "ADDRESS",
	 "127.0.0.1:8001 and 127.0.0.1:9100 unless given; also [::1]:PORT, unix:PATH (repeatable)"},
	{"host", LIST, AT(hosts), NULL, 0, 0, 0, "NAME",
	 "accept this name in Host, beside those of loopback (repeatable)"},
	{"origin", LIST, AT(origins), NULL, 0, 0, 0, "ORIGIN",
	 "let pages of this origin open a WebSocket (repeatable)"},
	TEXT("brig", brig, NULL, "FILE", "the program brig (default: beside brigd, then in PATH's usual places)"),
	TEXT("state-root", state_root, NULL, "DIR", "brig's state directory"),
	TEXT("sidecar-secret-file", sidecar_secret_file, NULL, "FILE",
	     "secret of the HTTP interface, else ZEROTH_SANDBOX_SIDECAR_SECRET"),
	TEXT("token-secret", token_secret_file, NULL, "FILE",
	     "secret that signs the tokens of WebSockets, else SANDBOX_AUTH_SECRET"),
	TEXT("tmp-root", tmp_root, "SANDBOX_TMP_ROOT", "DIR", "parent of the directories of runs (default /tmp)"),
	TEXT("outputs", outputs, NULL, "DIR", "a directory that every snippet sees as ./outputs, and that survives"),
	TEXT("open-ports", open_ports, "SANDBOX_OPEN_PORTS", "PORTS",
	     "TCP ports outside that snippets may reach, with commas (default none)"),
	TEXT("access-log", access_log, NULL, "FILE", "one JSON object for each request (default stderr)"),
	{"best-effort", FLAG, AT(best_effort), NULL, 0, 0, 0, NULL,
	 "run without the limits that this machine cannot enforce"},
	COUNT("max-body", max_body, NULL, 1024, 4 << 20, 1048576, "bytes of a request's body or message"),
	COUNT("max-connections", max_connections, NULL, 1, 10000, 256, "connections at a time"),
	COUNT("max-peer-connections", max_peer_connections, NULL, 1, 10000, 128, "connections of one address at a time"),
	COUNT("head-seconds", head_s, NULL, 1, 3600, 10, "seconds for the head of a request"),
	COUNT("body-seconds", body_s, NULL, 1, 3600, 60, "seconds for its body"),
	COUNT("max-running", max_running, NULL, 1, 1000, 16, "executions at a time"),
	COUNT("max-queue", max_queue, NULL, 0, 100000, 64, "executions that wait; beyond that 429"),
	COUNT("max-ids", max_ids, NULL, 1000, 100000000, 262144, "execution ids that are remembered"),
	COUNT("max-exec-ms", max_exec_ms, "SANDBOX_MAX_EXEC_MS", 1, 86400000, 15000,
	      "milliseconds of a snippet"),
	COUNT("max-timeout", max_timeout_s, NULL, 1, 864000, 3600, "seconds that timeout_seconds may ask for"),
	COUNT("output-limit", output_limit, NULL, 1, 64 << 20, 1048576, "bytes kept of stdout and of stderr"),
	COUNT("files-keep", files_keep_s, NULL, 1, 86400, 600, "seconds that files of a snippet stay"),
	COUNT("drain", drain_s, NULL, 0, 3600, 10, "seconds for running executions at SIGTERM"),
	COUNT("session-idle", session_idle_s, NULL, 1, 86400, 300, "idle seconds after which a session ends"),
	COUNT("max-sessions", max_sessions, NULL, 0, 1000, 16, "sessions and terminals at a time"),
	COUNT("pool", pool, NULL, 0, 100, 0, "sandboxes prepared for the HTTP interface"),
	COUNT("pool-python", pool_python, NULL, 0, 100, 0, "Python interpreters prepared for snippets"),
	COUNT("memory-mb", memory_mb, NULL, 0, 1 << 20, 0, "MiB unless asked for; 0 is brig's default"),
	COUNT("max-processes", max_processes, NULL, 0, 100000, 0, "processes unless asked for"),
};
enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };

static int set_number(const struct option *o, const char *text, struct err *e)
{
	uint64_t v;

	if (str_u64(text, o->max, &v) < 0 || v < o->min)
		return err_set(e, EINVAL, "%s: \"%.40s\" is not a number from %llu to %llu", o->name, text,
			       (unsigned long long)o->min, (unsigned long long)o->max);
	*(uint64_t *)((char *)&config + o->offset) = v;
	return 0;
}

/* Lists of one source grow: `fresh` is the index of the first word of this source. */
static void add_word(struct arena *a, struct strv *l, const char *text)
{
	char **v = arena_array(a, l->n + 2, sizeof(*v));

	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n++] = arena_strdup(a, text);
	l->v = v;
}

static int set(struct arena *a, const struct option *o, const char *text, struct err *e)
{
	void *member = (char *)&config + o->offset;

	if (o->kind == NUMBER)
		return set_number(o, text, e);
	if (o->kind == LIST)
		add_word(a, member, text);
	else if (o->kind == STRING)
		*(char **)member = arena_strdup(a, text);
	else
		*(bool *)member = str_eq(text, "true");
	return 0;
}

/* ---- the file ---- */

static int read_list(struct arena *a, const struct option *o, const struct json *v, struct err *e)
{
	*(struct strv *)((char *)&config + o->offset) = (struct strv){0};
	for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++)
		if (v->items[i].type != JSON_STRING || set(a, o, v->items[i].text, e) < 0)
			return err_set(e, EINVAL, "%s: is not an array of strings", v->key);
	return v->type == JSON_ARRAY ? 0 : err_set(e, EINVAL, "%s: is not an array", v->key);
}

static int read_images(struct arena *a, const struct json *v, struct err *e)
{
	if (v->type != JSON_OBJECT)
		return err_set(e, EINVAL, "images: is not an object of directories");
	config.images.v = arena_array(a, v->n + 1, sizeof(*config.images.v));
	for (size_t i = 0; i < v->n; i++) {
		if (v->items[i].type != JSON_STRING || v->items[i].text[0] != '/')
			return err_set(e, EINVAL, "images.%s: is not an absolute path", v->items[i].key);
		config.images.v[config.images.n++] = (struct config_image){
			arena_strdup(a, v->items[i].key), arena_strdup(a, v->items[i].text)};
	}
	return 0;
}

static bool is_key_of(const struct option *o, const char *key)
{
	const char *name = o->name;

	for (; *name && (*name == *key || (*name == '-' && *key == '_')); name++)
		key++;
	return !*name && !*key;
}

static int read_member(struct arena *a, const struct json *v, struct err *e)
{
	static const enum json_type types[] = {
		[STRING] = JSON_STRING, [NUMBER] = JSON_NUMBER, [FLAG] = JSON_BOOL, [LIST] = JSON_ARRAY};

	if (str_eq(v->key, "images"))
		return read_images(a, v, e);
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &options[i];

		if (!is_key_of(o, v->key))
			continue;
		if (v->type != types[o->kind])
			return err_set(e, EINVAL, "%s: is %s", v->key, json_type_name(v));
		if (o->kind == LIST)
			return read_list(a, o, v, e);
		return set(a, o, o->kind == FLAG ? (v->boolean ? "true" : "false") : v->text, e);
	}
	return err_set(e, EINVAL, "%.80s: there is no such setting", v->key);
}

static int read_config_file(struct arena *a, const char *path, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	const struct json *v = NULL;
	int r = io_read_file(AT_FDCWD, path, JSON_MAX_BYTES, &b, e);

	if (r == 0)
		r = json_parse(strbuf_str(&b), b.len, a, &v, e);
	if (r == 0 && v->type != JSON_OBJECT)
		r = err_set(e, EINVAL, "it is %s, not an object", json_type_name(v));
	for (size_t i = 0; r == 0 && i < v->n; i++)
		r = read_member(a, &v->items[i], e);
	return r < 0 ? err_wrap(e, "--config %.200s", path) : 0;
}

/* ---- environment and secrets ---- */

static int read_environment(struct arena *a, struct err *e)
{
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const char *text = options[i].variable ? getenv(options[i].variable) : NULL;

		if (text && *text && set(a, &options[i], text, e) < 0)
			return err_wrap(e, "environment variable %s", options[i].variable);
	}
	return 0;
}

/* Takes it out of what a look at /proc/PID/environ or a child would show. */
static char *take_variable(struct arena *a, const char *name)
{
	char *text = getenv(name), *copy;

	if (!text)
		return NULL;
	copy = arena_strdup(a, text);
	explicit_bzero(text, strlen(text));
	unsetenv(name);
	return *copy ? copy : NULL;
}

static int read_secret(struct arena *a, const char *path, const char *variable, char **ret,
		       struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	char *given = take_variable(a, variable);
	struct stat st;
	size_t n;

	*ret = given;
	if (!path)
		return 0;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077))
		return err_set(e, EPERM, "%.200s: a secret that others can read: chmod 600", path);
	if (io_read_file(AT_FDCWD, path, 4096, &b, e) < 0)
		return -e->code;
	n = strcspn(strbuf_str(&b), "\r\n");
	if (n == 0)
		return err_set(e, EINVAL, "%.200s: there is no secret in it", path);
	*ret = arena_strndup(a, b.p, n);
	return 0;
}

/* ---- the command line ---- */

static void print_help(void)
{
	puts("usage: brigd [OPTION...]\n\n"
	     "Runs code in sandboxes for HTTP and WebSocket clients.\n\nOptions:\n"
	     "  --config FILE             settings from a JSON file, by the names below with _ for -");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", options[i].name, options[i].arg ? " " : "",
			 options[i].arg ? options[i].arg : "");
		printf("  %-25s %s%s%s\n", left, options[i].help, options[i].variable ? ", " : "",
		       options[i].variable ? options[i].variable : "");
	}
	puts("  --help, --version");
}

static const struct option *find_option(const char *name, size_t len)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0)
			return &options[i];
	return NULL;
}

/* One option at argv[*i]: --name VALUE, --name=VALUE, --flag. */
static int parse_option(struct arena *a, char **argv, int *i, bool *seen, struct err *e)
{
	const char *word = argv[*i], *name = word + 2, *value = strchr(word, '=');
	const struct option *o;

	if (!str_starts(word, "--"))
		return err_set(e, EINVAL, "\"%.40s\" is not an option (see brigd --help)", word);
	o = find_option(name, value ? (size_t)(value - name) : strlen(name));
	if (!o)
		return err_set(e, EINVAL, "unknown option %.40s (see brigd --help)", word);
	if (o->kind == FLAG)
		return set(a, o, value ? value + 1 : "true", e);
	if (!value && !argv[*i + 1])
		return err_set(e, EINVAL, "%.40s: needs a value", word);
	value = value ? value + 1 : argv[++*i];
	if (o->kind == LIST && !seen[o - options])
		*(struct strv *)((char *)&config + o->offset) = (struct strv){0};
	seen[o - options] = true;
	return set(a, o, value, e);
}

static int parse_command_line(struct arena *a, int argc, char **argv, struct err *e)
{
	bool seen[N_OPTIONS] = {false};

	for (int i = 1; i < argc; i++) {
		if (str_eq(argv[i], "--config"))
			i++;
		else if (!str_starts(argv[i], "--config=") && parse_option(a, argv, &i, seen, e) < 0)
			return -e->code;
	}
	return 0;
}

/* The file comes before the rest of the command line. */
static const char *config_path(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (str_starts(argv[i], "--config="))
			return argv[i] + 9;
		if (str_eq(argv[i], "--config"))
			return argv[i + 1] ? argv[i + 1] : "";
	}
	return NULL;
}

static char *find_brig(struct arena *a)
{
	static const char *const places[] = {"/usr/local/bin/brig", "/usr/bin/brig", NULL};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		memcpy(slash + 1, "brig", n - (slash + 1 - self) < 4 ? 0 : 5);
		if (access(self, X_OK) == 0)
			return arena_strdup(a, self);
	}
	for (size_t i = 0; places[i]; i++)
		if (access(places[i], X_OK) == 0)
			return arena_strdup(a, places[i]);
	return NULL;
}

static bool are_ports(const char *s)
{
	for (;; s++) {
		size_t n = strspn(s, "0123456789");
		char digits[8] = "";
		uint64_t port = 0;

		if (n < sizeof(digits))
			memcpy(digits, s, n);
		if (str_u64(digits, 65535, &port) < 0 || port == 0)
			return false;
		s += n;
		if (*s != ',')
			return !*s;
	}
}

static int check(struct arena *a, struct err *e)
{
	if (!config.brig)
		config.brig = find_brig(a);
	if (!config.brig || access(config.brig, X_OK) < 0)
		return err_set(e, ENOENT, "there is no program brig beside brigd (see --brig)");
	if (config.outputs && config.outputs[0] != '/')
		return err_set(e, EINVAL, "--outputs: %.200s is not an absolute path", config.outputs);
	if (config.open_ports && !are_ports(config.open_ports))
		return err_set(e, EINVAL, "--open-ports: \"%.80s\" is not a list of ports with commas",
			       config.open_ports);
	if (config.tmp_root[0] != '/')
		return err_set(e, EINVAL, "--tmp-root: %.200s is not an absolute path", config.tmp_root);
	return 0;
}

int config_read(struct arena *a, int argc, char **argv, struct err *e)
{
	const char *path = config_path(argc, argv);
	int r = 0;

	for (int i = 1; i < argc; i++) {
		if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
			print_help();
			return CONFIG_HELP;
		}
		if (str_eq(argv[i], "--version")) {
			puts("brigd version " BRIG_VERSION);
			return CONFIG_HELP;
		}
	}
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (options[i].kind == NUMBER)
			*(uint64_t *)((char *)&config + options[i].offset) = options[i].value;
	config.tmp_root = arena_strdup(a, "/tmp");
	if (path)
		r = read_config_file(a, path, e);
	if (r == 0)
		r = read_environment(a, e);
	if (r == 0)
		r = parse_command_line(a, argc, argv, e);
	if (r == 0)
		r = read_secret(a, config.sidecar_secret_file, "ZEROTH_SANDBOX_SIDECAR_SECRET",
				&config.sidecar_secret, e);
	if (r == 0)
		r = read_secret(a, config.token_secret_file, "SANDBOX_AUTH_SECRET", &config.token_secret, e);
	if (r == 0)
		r = check(a, e);
	return r;
}

const char *config_rootfs(const char *image)
{
	for (size_t i = 0; i < config.images.n; i++)
		if (str_eq(config.images.v[i].name, image))
			return config.images.v[i].rootfs;
	return NULL;
}

const char *config_workdir(const char *rootfs)
{
	char path[4096];
	struct stat st;

	if (!rootfs)
		return "/workspace";
	snprintf(path, sizeof(path), "%s/workspace", rootfs);
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? "/workspace" : "/tmp";
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMD, ENTRYPOINT, ENV, EXPOSE, HEALTHCHECK, LABEL, ONBUILD, SHELL, STOPSIGNAL, USER, VOLUME and
 * WORKDIR. Words may be quoted as in a Dockerfile; a value that begins with "[" and is an array of
 * strings in JSON is taken word by word, everything else by a shell.
 */
#include "docker/image-change.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/units.h"
#include "json/json.h"

struct change {
	struct arena *arena;
	struct img_config *config;
	const char *rest; /* behind the instruction */
	bool *cmd_set;
	struct err *e;
};

static void append(struct arena *a, struct strv *list, const char *s)
{
	char **more = arena_array(a, list->n + 2, sizeof(char *));

	if (list->n)
		memcpy(more, list->v, list->n * sizeof(char *));
	more[list->n++] = (char *)s;
	list->v = more;
}

/* The words of a line: blanks separate, quotes and backslashes protect. */
static struct strv split(struct arena *a, const char *s)
{
	struct strv words = {0};

	while (*s) {
		auto_strbuf struct strbuf b = {0};
		char quote = 0;

		while (isspace((unsigned char)*s))
			s++;
		if (!*s)
			break;
		for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
			if (quote && *s == quote)
				quote = 0;
			else if (!quote && (*s == '"' || *s == '\''))
				quote = *s;
			else if (*s == '\\' && s[1] && quote != '\'')
				strbuf_addc(&b, *++s);
			else
				strbuf_addc(&b, *s);
		}
		append(a, &words, arena_strdup(a, strbuf_str(&b)));
	}
	return words;
}

/* An array of strings in JSON; false: it is none. */
static bool read_array(struct arena *a, const char *text, struct strv *ret)
{
	const struct json *v;
	struct err ignored = {0};

	*ret = (struct strv){0};
	if (*text != '[' || json_parse(text, strlen(text), a, &v, &ignored) < 0 || v->type != JSON_ARRAY)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		if (v->items[i].type != JSON_STRING)
			return false;
		append(a, ret, v->items[i].text);
	}
	return true;
}

static struct strv command(struct change *k, const char *text)
{
	struct strv words;
	const struct strv *shell = &k->config->shell;

	if (read_array(k->arena, text, &words))
		return words;
	words = (struct strv){0};
	if (shell->n == 0) {
		append(k->arena, &words, "/bin/sh");
		append(k->arena, &words, "-c");
	}
	for (size_t i = 0; i < shell->n; i++)
		append(k->arena, &words, shell->v[i]);
	append(k->arena, &words, text);
	return words;
}

static int change_cmd(struct change *k)
{
	k->config->cmd = command(k, k->rest);
	*k->cmd_set = true;
	return 0;
}

static int change_entrypoint(struct change *k)
{
	k->config->entrypoint = command(k, k->rest);
	/* the old arguments belonged to the old program */
	if (!*k->cmd_set)
		k->config->cmd = (struct strv){0};
	return 0;
}

static void set_env(struct change *k, const char *pair, size_t name_len)
{
	struct strv *env = &k->config->env;

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], pair, name_len + 1) == 0) {
			env->v[i] = (char *)pair;
			return;
		}
	append(k->arena, env, pair);
}

static void set_label(struct change *k, const char *pair, size_t name_len)
{
	struct str_map *labels = &k->config->labels;
	char *key = arena_strndup(k->arena, pair, name_len), *value = arena_strdup(k->arena, pair + name_len + 1);
	struct str_pair *more;

	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->v[i].key, key) == 0) {
			labels->v[i].value = value;
			return;
		}
	more = arena_array(k->arena, labels->n + 1, sizeof(*more));
	if (labels->n)
		memcpy(more, labels->v, labels->n * sizeof(*more));
	more[labels->n++] = (struct str_pair){key, value};
	labels->v = more;
}

/* NAME=VALUE ..., or the old form NAME VALUE. */
static int change_pairs(struct change *k, const char *what, void (*set)(struct change *, const char *, size_t))
{
	struct strv words = split(k->arena, k->rest);
	const char *blank = k->rest + strcspn(k->rest, " \t");

	if (words.n == 0)
		return err_set(k->e, EINVAL, "%s requires at least one argument", what);
	if (!strchr(words.v[0], '=')) {
		if (words.n < 2)
			return err_set(k->e, EINVAL, "%s must have two arguments", what);
		blank += strspn(blank, " \t");
		set(k, arena_printf(k->arena, "%s=%s", words.v[0], blank), strlen(words.v[0]));
		return 0;
	}
	for (size_t i = 0; i < words.n; i++) {
		const char *equals = strchr(words.v[i], '=');

		if (!equals || equals == words.v[i])
			return err_set(k->e, EINVAL, "Syntax error - can't find = in \"%s\". Must be of the form: "
				       "name=value", words.v[i]);
		set(k, words.v[i], (size_t)(equals - words.v[i]));
	}
	return 0;
}

static int change_env(struct change *k)
{
	return change_pairs(k, "ENV", set_env);
}

static int change_label(struct change *k)
{
	return change_pairs(k, "LABEL", set_label);
}

static void add_name(struct arena *a, struct img_name **v, size_t *n, const char *name)
{
	struct img_name *more;

	for (size_t i = 0; i < *n; i++)
		if (strcmp((*v)[i].name, name) == 0)
			return;
	more = arena_array(a, *n + 1, sizeof(*more));
	if (*n)
		memcpy(more, *v, *n * sizeof(*more));
	more[(*n)++].name = (char *)name;
	*v = more;
}

static int change_expose(struct change *k)
{
	struct strv words = split(k->arena, k->rest);

	for (size_t i = 0; i < words.n; i++) {
		char *slash = strchr(words.v[i], '/'), *port = words.v[i], *dash;
		const char *protocol = slash ? slash + 1 : "tcp";
		uint64_t from, to;

		if (slash)
			*slash = '\0';
		dash = strchr(port, '-');
		if (dash)
			*dash = '\0';
		if (str_u64(port, 65535, &from) < 0 || (dash && str_u64(dash + 1, 65535, &to) < 0) ||
		    (!str_eq(protocol, "tcp") && !str_eq(protocol, "udp") && !str_eq(protocol, "sctp")))
			return err_set(k->e, EINVAL, "Invalid containerPort: %s", port);
		if (!dash)
			to = from;
		for (uint64_t at = from; at <= to; at++)
			add_name(k->arena, &k->config->exposed_ports.v, &k->config->exposed_ports.n,
				 arena_printf(k->arena, "%u/%s", (unsigned)at, protocol));
	}
	return 0;
}

static int change_volume(struct change *k)
{
	struct strv words;

	if (!read_array(k->arena, k->rest, &words))
		words = split(k->arena, k->rest);
	for (size_t i = 0; i < words.n; i++) {
		if (!*words.v[i])
			return err_set(k->e, EINVAL, "VOLUME specified can not be an empty string");
		add_name(k->arena, &k->config->volumes.v, &k->config->volumes.n, words.v[i]);
	}
	return 0;
}

static int change_workdir(struct change *k)
{
	const char *old = k->config->working_dir;
	struct strv words = split(k->arena, k->rest);
	const char *dir = words.n ? words.v[0] : "";

	if (dir[0] != '/')
		dir = arena_printf(k->arena, "%s/%s", old && str_ends(old, "/") ? "" : old ? old : "", dir);
	k->config->working_dir = (char *)dir;
	return 0;
}

static int change_user(struct change *k)
{
	k->config->user = arena_strdup(k->arena, k->rest);
	return 0;
}

static int change_stopsignal(struct change *k)
{
	k->config->stop_signal = arena_strdup(k->arena, k->rest);
	return 0;
}

static int change_onbuild(struct change *k)
{
	append(k->arena, &k->config->on_build, arena_strdup(k->arena, k->rest));
	return 0;
}

static int change_shell(struct change *k)
{
	struct strv words;

	if (!read_array(k->arena, k->rest, &words) || words.n == 0)
		return err_set(k->e, EINVAL, "SHELL requires the arguments to be in JSON form");
	k->config->shell = words;
	return 0;
}

/* One --name=value of HEALTHCHECK; false: it is none. */
static bool health_option(struct img_healthcheck *h, const char *word, struct err *e)
{
	static const struct { const char *name; size_t offset; } durations[] = {
		{"--interval=", offsetof(struct img_healthcheck, interval)},
		{"--timeout=", offsetof(struct img_healthcheck, timeout)},
		{"--start-period=", offsetof(struct img_healthcheck, start_period)},
		{"--start-interval=", offsetof(struct img_healthcheck, start_interval)},
	};
	uint64_t n;

	for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++)
		if (str_starts(word, durations[i].name)) {
			dk_parse_duration(word + strlen(durations[i].name),
					  (int64_t *)((char *)h + durations[i].offset), e);
			return true;
		}
	if (!str_starts(word, "--retries="))
		return false;
	if (str_u64(word + strlen("--retries="), INT32_MAX, &n) < 0)
		err_set(e, EINVAL, "--retries is not a number");
	else
		h->retries = (int64_t)n;
	return true;
}

static int change_healthcheck(struct change *k)
{
	struct img_healthcheck *h = arena_new_of(k->arena, struct img_healthcheck);
	const char *at = k->rest;

	for (;;) {
		char *word = arena_strndup(k->arena, at, strcspn(at, " \t"));

		if (!health_option(h, word, k->e))
			break;
		if (k->e->code)
			return -k->e->code;
		at += strlen(word);
		at += strspn(at, " \t");
	}
	k->config->healthcheck = h;
	if (strcasecmp(at, "NONE") == 0) {
		append(k->arena, &h->test, "NONE");
		return 0;
	}
	if (strncasecmp(at, "CMD", 3) != 0 || !isspace((unsigned char)at[3]))
		return err_set(k->e, EINVAL, "Unknown type \"%s\" in HEALTHCHECK (try CMD)", at);
	at += 3 + strspn(at + 3, " \t");
	if (read_array(k->arena, at, &h->test)) {
		struct strv words = {0};

		append(k->arena, &words, "CMD");
		for (size_t i = 0; i < h->test.n; i++)
			append(k->arena, &words, h->test.v[i]);
		h->test = words;
		return 0;
	}
	h->test = (struct strv){0};
	append(k->arena, &h->test, "CMD-SHELL");
	append(k->arena, &h->test, at);
	return 0;
}

static const struct { const char *name; int (*change)(struct change *k); } instructions[] = {
	{"CMD", change_cmd}, {"ENTRYPOINT", change_entrypoint}, {"ENV", change_env},
	{"EXPOSE", change_expose}, {"HEALTHCHECK", change_healthcheck}, {"LABEL", change_label},
	{"ONBUILD", change_onbuild}, {"SHELL", change_shell}, {"STOPSIGNAL", change_stopsignal},
	{"USER", change_user}, {"VOLUME", change_volume}, {"WORKDIR", change_workdir},
};

int dk_image_change(struct arena *a, const struct strv *changes, struct img_config *config, struct err *e)
{
	bool cmd_set = false;

	for (size_t i = 0; i < changes->n; i++) {
		const char *text = changes->v[i] + strspn(changes->v[i], " \t");
		size_t n = strcspn(text, " \t"), which = 0;
		struct change k = {.arena = a, .config = config, .cmd_set = &cmd_set, .e = e};
		const size_t count = sizeof(instructions) / sizeof(*instructions);

		k.rest = text + n + strspn(text + n, " \t");
		while (which < count && (strncasecmp(text, instructions[which].name, n) != 0 ||
					 instructions[which].name[n] != '\0'))
			which++;
		if (which == count || n == 0)
			return err_set(e, EINVAL, "%.*s is not a valid change command", (int)n, text);
		if (instructions[which].change(&k) < 0)
			return -e->code;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads just as much of a Dockerfile as names images: lines that go on behind a backslash, ARG in front
 * of the first FROM with $NAME, ${NAME}, ${NAME:-WORD} and ${NAME:+WORD} in FROM, names of stages.
 */
#include "docker/build-file.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "docker/lists.h"

struct reader {
	struct arena *a;
	const struct strv *given;
	char **env;
	struct strv args;   /* "K=V", of ARG; the last wins */
	struct strv stages, images;
	size_t n_stages;    /* those without a name, too */
};

/* V of the last "K=V" with this key of n bytes. */
static const char *value_in(char **v, size_t count, const char *key, size_t n)
{
	for (size_t i = count; i-- > 0;)
		if (strncmp(v[i], key, n) == 0 && v[i][n] == '=')
			return v[i] + n + 1;
	return NULL;
}

/* What --build-arg says; "" for one whose variable is not set. */
static const char *given_value(const struct reader *r, const char *key, size_t n)
{
	size_t count = 0;

	for (size_t i = r->given->n; i-- > 0;) {
		const char *arg = r->given->v[i];

		if (strncmp(arg, key, n) != 0 || (arg[n] && arg[n] != '='))
			continue;
		if (arg[n])
			return arg + n + 1;
		while (r->env[count])
			count++;
		return value_in(r->env, count, key, n);
	}
	return NULL;
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* ${NAME...} behind the brace; returns what stands behind the closing one, NULL if it is no such form. */
static const char *expand_braces(const struct reader *r, const char *s, struct strbuf *out)
{
	size_t n = name_length(s);
	const char *end = strchr(s, '}'), *value = value_in(r->args.v, r->args.n, s, n);
	bool has = value && *value;

	if (!n || !end)
		return NULL;
	if (s[n] == ':' && s[n + 1] == '-' && !has)
		strbuf_add(out, s + n + 2, (size_t)(end - s) - n - 2);
	else if (s[n] == ':' && s[n + 1] == '+' && has)
		strbuf_add(out, s + n + 2, (size_t)(end - s) - n - 2);
	else if (has && s[n] != ':')
		strbuf_adds(out, value);
	else if (has && s[n + 1] == '-')
		strbuf_adds(out, value);
	return end + 1;
}

static const char *expand(const struct reader *r, const char *s)
{
	auto_strbuf struct strbuf out = {0};

	while (*s) {
		const char *behind = NULL;
		size_t n = *s == '$' ? name_length(s + 1) : 0;

		if (s[0] == '$' && s[1] == '{' && (behind = expand_braces(r, s + 2, &out))) {
			s = behind;
		} else if (n) {
			const char *value = value_in(r->args.v, r->args.n, s + 1, n);

			strbuf_adds(&out, value ? value : "");
			s += n + 1;
		} else if (*s == '"' || *s == '\'') {
			s++;
		} else {
			strbuf_addc(&out, *s++);
		}
	}
	return arena_strdup(r->a, strbuf_str(&out));
}

static bool is_in(const struct strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcasecmp(l->v[i], s) == 0)
			return true;
	return false;
}

static void note_image(struct reader *r, const char *name)
{
	bool number = *name && strspn(name, "0123456789") == strlen(name);

	if (!*name || strcmp(name, "scratch") == 0 || is_in(&r->stages, name) || is_in(&r->images, name) ||
	    (number && strlen(name) < 4 && r->n_stages))
		return;
	dk_strv_add(r->a, &r->images, (char *)name);
}

static void read_arg(struct reader *r, char *rest)
{
	char *save = NULL;

	for (char *word = strtok_r(rest, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		size_t n = name_length(word);
		const char *value = given_value(r, word, n);

		if (!n || (word[n] && word[n] != '='))
			continue;
		if (!value)
			value = word[n] ? expand(r, word + n + 1) : "";
		dk_strv_add(r->a, &r->args, arena_printf(r->a, "%.*s=%s", (int)n, word, value));
	}
}

static void read_from(struct reader *r, char *rest)
{
	char *save = NULL, *word = strtok_r(rest, " \t", &save), *as, *stage;

	while (word && str_starts(word, "--"))
		word = strtok_r(NULL, " \t", &save);
	if (!word)
		return;
	note_image(r, expand(r, word));
	as = strtok_r(NULL, " \t", &save);
	stage = as && strcasecmp(as, "as") == 0 ? strtok_r(NULL, " \t", &save) : NULL;
	if (stage)
		dk_strv_add(r->a, &r->stages, stage);
	r->n_stages++;
}

/* --from=NAME, --mount=type=bind,from=NAME,... */
static void read_flags(struct reader *r, char *rest)
{
	char *save = NULL;

	for (char *word = strtok_r(rest, " \t", &save); word && str_starts(word, "--");
	     word = strtok_r(NULL, " \t", &save)) {
		char *from = str_starts(word, "--from=") ? word + 2 : NULL;

		if (!from && str_starts(word, "--mount=")) {
			from = strstr(word, ",from=");
			from = from ? from + 1 : str_starts(word, "--mount=from=") ? word + strlen("--mount=") : NULL;
		}
		if (!from)
			continue;
		from += strlen("from=");
		from[strcspn(from, ",")] = '\0';
		note_image(r, from);
	}
}

static void read_instruction(struct reader *r, char *line)
{
	size_t n = strcspn(line, " \t");
	char *rest = line + n;

	rest += strspn(rest, " \t");
	if (n == 3 && strncasecmp(line, "ARG", n) == 0 && r->n_stages == 0)
		read_arg(r, rest);
	else if (n == 4 && strncasecmp(line, "FROM", n) == 0)
		read_from(r, rest);
	else if ((n == 4 && strncasecmp(line, "COPY", n) == 0) || (n == 3 && strncasecmp(line, "RUN", n) == 0))
		read_flags(r, rest);
}

/* One line of n bytes; whether the instruction goes on in the next one. */
static bool add_line(struct strbuf *instruction, const char *line, size_t n)
{
	size_t skip = 0;
	bool more;

	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	while (skip < n && strchr(" \t", line[skip]))
		skip++;
	if (skip < n && line[skip] == '#')
		return instruction->len > 0; /* a comment within an instruction does not end it */
	more = n && line[n - 1] == '\\';
	strbuf_add(instruction, line + skip, n > skip ? n - skip - more : 0);
	if (more)
		strbuf_addc(instruction, ' ');
	return more;
}

struct strv dk_build_images(struct arena *a, const char *text, const struct strv *given, char **env)
{
	struct reader r = {.a = a, .given = given, .env = env};
	auto_strbuf struct strbuf instruction = {0};

	while (*text) {
		size_t n = strcspn(text, "\n");
		bool more = add_line(&instruction, text, n);

		text += n + (text[n] == '\n');
		if ((more && *text) || !instruction.len)
			continue;
		read_instruction(&r, arena_strdup(a, strbuf_str(&instruction)));
		instruction.len = 0;
	}
	return r.images;
}

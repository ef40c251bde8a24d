/* SPDX-License-Identifier: Apache-2.0 */
/* Members that are not known are passed over: clients of the service that this replaces send some. */
#include <errno.h>
#include <string.h>

#include "json/json.h"
#include "sidecar/base64.h"
#include "sidecar/config.h"
#include "sidecar/snippet.h"

static const char *const languages[] = {"python", "bash", "node", NULL};
static const struct { const char *name; enum snippet_language language; } aliases[] = {
	{"python3", SNIPPET_PYTHON}, {"sh", SNIPPET_BASH}, {"shell", SNIPPET_BASH},
	{"javascript", SNIPPET_NODE}, {"js", SNIPPET_NODE},
};

static int find_language(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (str_eq(aliases[i].name, name))
			return (int)aliases[i].language;
	return str_index(languages, name);
}

/* A string member; NULL when absent. */
static int get_text(const struct json *v, const char *key, const struct json **ret, struct err *e)
{
	const struct json *m = json_get(v, key);

	*ret = m && m->type != JSON_NULL ? m : NULL;
	if (*ret && m->type != JSON_STRING)
		return err_set(e, EINVAL, "%s: is %s, not a string", key, json_type_name(m));
	return 0;
}

static int get_env(struct arena *a, const struct json *v, struct snippet *s, struct err *e)
{
	const struct json *m = json_get(v, "env");

	if (!m || m->type == JSON_NULL)
		return 0;
	if (m->type != JSON_OBJECT || m->n > 256)
		return err_set(e, EINVAL, "env: is not an object of at most 256 strings");
	s->env.v = arena_array(a, m->n + 1, sizeof(*s->env.v));
	for (size_t i = 0; i < m->n; i++) {
		const struct json *item = &m->items[i];

		if (item->type != JSON_STRING || !*item->key || strchr(item->key, '='))
			return err_set(e, EINVAL, "env: is not an object of strings");
		s->env.v[s->env.n++] = (struct str_pair){(char *)item->key, (char *)item->text};
	}
	return 0;
}

/* One component, and nothing that --copy-in or a listing would trip over. */
static bool is_file_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (name[i] == '/' || name[i] == ':' || (unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return false;
	return n > 0 && n < 200 && !str_eq(name, ".") && !str_eq(name, "..");
}

static int get_files(const struct json *v, struct snippet *s, struct err *e)
{
	const struct json *m = json_get(v, "files");

	if (!m || m->type == JSON_NULL)
		return 0;
	if (m->type != JSON_OBJECT || m->n > SNIPPET_FILES_MAX)
		return err_set(e, EINVAL, "files: is not an object of at most %d names", SNIPPET_FILES_MAX);
	for (size_t i = 0; i < m->n; i++) {
		const struct json *item = &m->items[i];

		if (!is_file_name(item->key) || str_starts(item->key, ".brigd-"))
			return err_set(e, EINVAL, "files: a name has a slash, a colon or a control character");
		s->files[s->n_files].name = item->key;
		if (item->type != JSON_STRING ||
		    !base64_decode(&s->files[s->n_files++].data, item->text, item->n, BASE64_STANDARD))
			return err_set(e, EINVAL, "files: %.80s is not base64", item->key);
	}
	return 0;
}

static int get_timeout(const struct json *v, struct snippet *s, struct err *e)
{
	const struct json *m = json_get(v, "timeout_ms");
	uint64_t n;

	s->timeout_ms = config.max_exec_ms;
	if (!m || m->type == JSON_NULL)
		return 0;
	if (json_to_u64(m, UINT64_MAX, &n) < 0 || n == 0)
		return err_set(e, EINVAL, "timeout_ms: is not a whole number above 0");
	if (n < s->timeout_ms)
		s->timeout_ms = n;
	return 0;
}

static int get_choices(const struct json *v, struct snippet *s, struct err *e)
{
	static const char *const formats[] = {"text", "json", NULL};
	const struct json *language, *format;
	int found = 0;

	if (get_text(v, "language", &language, e) < 0 || get_text(v, "format", &format, e) < 0)
		return -e->code;
	if (language)
		found = find_language(language->text);
	if (found < 0)
		return err_set(e, EINVAL, "language: is none of python, bash, node");
	s->language = (enum snippet_language)found;
	found = format ? str_index(formats, format->text) : 0;
	if (found < 0)
		return err_set(e, EINVAL, "format: is neither text nor json");
	s->as_json = found == 1;
	return 0;
}

int snippet_parse(struct arena *a, const char *text, size_t len, struct snippet *ret, struct err *e)
{
	const struct json *v = NULL, *code = NULL, *input = NULL;
	struct err why;
	int r;

	*ret = (struct snippet){0};
	if (json_parse(text, len, a, &v, &why) < 0)
		return err_set(e, EINVAL, "Invalid JSON input: %.200s", why.msg);
	if (v->type != JSON_OBJECT)
		return err_set(e, EINVAL, "Invalid JSON input: it is %s", json_type_name(v));
	r = get_text(v, "code", &code, e);
	if (r == 0 && !code)
		r = err_set(e, EINVAL, "Missing required field: code");
	if (r == 0)
		r = get_text(v, "stdin", &input, e);
	if (r == 0)
		r = get_choices(v, ret, e);
	if (r == 0)
		r = get_timeout(v, ret, e);
	if (r == 0)
		r = get_env(a, v, ret, e);
	if (r == 0)
		r = get_files(v, ret, e);
	if (r < 0)
		return r;
	ret->code = code->text;
	ret->code_len = code->n;
	ret->input = input ? input->text : "";
	ret->input_len = input ? input->n : 0;
	return 0;
}

void snippet_free(struct snippet *s)
{
	for (size_t i = 0; i < s->n_files; i++)
		strbuf_free(&s->files[i].data);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as Python's parser has it is a little wider than ours: NaN and Infinity are numbers there.
 * Here they are a syntax error, which is a 422 as well.
 */
#include "sidecar/request.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "json/json.h"
#include "json/writer.h"

enum { ID_MAX = 128, PATH_LENGTH_MAX = 4096, WORDS_MAX = 4096, VARIABLES_MAX = 1024 };

struct check {
	struct arena *a;
	const struct json *body;
	struct json_writer w;
	size_t n_errors;
};

static void open_entry(struct check *c, const char *field)
{
	json_begin_object(&c->w);
	json_key(&c->w, "loc");
	json_begin_array(&c->w);
	json_str(&c->w, "body");
	if (field)
		json_str(&c->w, field);
	json_end_array(&c->w);
}

static void problem(struct check *c, const char *field, const char *msg, const char *type)
{
	c->n_errors++;
	open_entry(c, field);
	json_member_str(&c->w, "msg", msg);
	json_member_str(&c->w, "type", type);
	json_end_object(&c->w);
}

/* The member when it is there and not null; a missing one that is needed is a problem. */
static const struct json *member(struct check *c, const char *key, bool required)
{
	const struct json *v = json_get(c->body, key);

	if (!v && required)
		problem(c, key, "Field required", "missing");
	else if (required && v && v->type == JSON_NULL)
		return v;
	return v && v->type == JSON_NULL && !required ? NULL : v;
}

static char *text(struct check *c, const char *key, bool required)
{
	const struct json *v = member(c, key, required);

	if (v && v->type != JSON_STRING) {
		problem(c, key, "Input should be a valid string", "string_type");
		return NULL;
	}
	return v ? arena_strndup(c->a, v->text, v->n) : NULL;
}

static struct strv words(struct check *c, const char *key)
{
	const struct json *v = member(c, key, true);
	struct strv l = {0};

	if (v && v->type != JSON_ARRAY) {
		problem(c, key, "Input should be a valid list", "list_type");
		return l;
	}
	if (v && (v->n == 0 || v->n > WORDS_MAX)) {
		problem(c, key, v->n ? "List should have at most 4096 items" : "List should have at least 1 item",
			v->n ? "too_long" : "too_short");
		return l;
	}
	if (v)
		l.v = arena_array(c->a, v->n + 1, sizeof(char *));
	for (size_t i = 0; v && i < v->n; i++) {
		if (v->items[i].type != JSON_STRING) {
			problem(c, key, "Input should be a valid string", "string_type");
			return l;
		}
		l.v[l.n++] = arena_strdup(c->a, v->items[i].text);
	}
	return l;
}

static struct str_map variables(struct check *c, const char *key)
{
	const struct json *v = json_get(c->body, key);
	struct str_map m = {0};

	if (v && (v->type != JSON_OBJECT || v->n > VARIABLES_MAX)) {
		problem(c, key, "Input should be a valid dictionary", "dict_type");
		return m;
	}
	if (v)
		m.v = arena_array(c->a, v->n + 1, sizeof(*m.v));
	for (size_t i = 0; v && i < v->n; i++) {
		const struct json *item = &v->items[i];

		if (item->type != JSON_STRING) {
			problem(c, key, "Input should be a valid string", "string_type");
			return m;
		}
		if (!*item->key || strchr(item->key, '=')) {
			problem(c, key, "A variable's name is empty or has a =", "value_error");
			return m;
		}
		m.v[m.n++] = (struct str_pair){arena_strdup(c->a, item->key),
					       arena_strdup(c->a, item->text)};
	}
	return m;
}

/* > 0 and at most `max`; 0 when it is not there. */
static double positive(struct check *c, const char *key, double max)
{
	const struct json *v = member(c, key, false);
	double d = 0;

	if (!v)
		return 0;
	if (v->type != JSON_NUMBER) {
		problem(c, key, "Input should be a valid number", "float_type");
	} else if (json_to_f64(v, &d) < 0 || !isfinite(d)) {
		problem(c, key, "Input should be a finite number", "finite_number");
	} else if (d <= 0) {
		problem(c, key, "Input should be greater than 0", "greater_than");
	} else if (d > max) {
		problem(c, key, "Input should not be that large", "less_than_equal");
	} else {
		return d;
	}
	return 0;
}

static uint64_t whole(struct check *c, const char *key, uint64_t max)
{
	const struct json *v = member(c, key, false);
	int64_t n = 0;

	if (!v)
		return 0;
	if (json_to_i64(v, INT64_MIN, INT64_MAX, &n) < 0) {
		problem(c, key, "Input should be a valid integer", "int_type");
	} else if (n <= 0) {
		problem(c, key, "Input should be greater than 0", "greater_than");
	} else if ((uint64_t)n > max) {
		problem(c, key, "Input should not be that large", "less_than_equal");
	} else {
		return (uint64_t)n;
	}
	return 0;
}

static bool flag(struct check *c, const char *key)
{
	const struct json *v = json_get(c->body, key);

	if (v && v->type != JSON_BOOL)
		problem(c, key, "Input should be a valid boolean", "bool_type");
	return v && v->type == JSON_BOOL && v->boolean;
}

/* ---- image references ---- */

/* [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*; the length, 0 when there is none. */
static size_t path_component(const char *s)
{
	size_t n = 0, last = 0;

	for (;;) {
		size_t k = strspn(s + n, "abcdefghijklmnopqrstuvwxyz0123456789");

		if (k == 0)
			return last;
		last = n += k;
		if (s[n] == '.' || (s[n] == '_' && s[n + 1] != '_'))
			n++;
		else if (s[n] == '_')
			n += 2;
		else if (s[n] == '-')
			n += strspn(s + n, "-");
		else
			return last;
	}
}

/* A host name with an optional port, in front of the first slash: it has a dot, a colon, or is
 * localhost. */
static size_t domain(const char *s)
{
	size_t n = strcspn(s, "/"), host;

	if (s[n] != '/' || (!memchr(s, '.', n) && !memchr(s, ':', n) && strncmp(s, "localhost/", 10) != 0))
		return 0;
	host = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
	if (host == 0 || s[0] == '.' || s[0] == '-')
		return 0;
	if (host < n && (s[host] != ':' || host + 1 + strspn(s + host + 1, "0123456789") != n || host + 1 == n))
		return 0;
	return n + 1;
}

static bool tag_and_digest(const char *s)
{
	if (*s == ':') {
		size_t n = strspn(++s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

		if (n == 0 || n > 128 || *s == '.' || *s == '-')
			return false;
		s += n;
	}
	if (*s == '@') {
		if (strncmp(s, "@sha256:", 8) != 0 || strspn(s + 8, "0123456789abcdef") != 64)
			return false;
		s += 8 + 64;
	}
	return !*s;
}

bool image_reference_valid(const char *s)
{
	if (strlen(s) > 255)
		return false;
	s += domain(s);
	for (;;) {
		size_t n = path_component(s);

		if (n == 0)
			return false;
		s += n;
		if (*s != '/')
			return tag_and_digest(s);
		s++;
	}
}

/* ---- the whole ---- */

static bool valid_execution_id(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= 0x20 || s[i] == 0x7f || s[i] == '/')
			return false;
	return n > 0 && n <= ID_MAX;
}

static void check_values(struct check *c, struct execute_request *q)
{
	if (q->execution_id && !valid_execution_id(q->execution_id))
		problem(c, "execution_id", "String should have 1 to 128 characters without blanks, controls "
					   "and slashes", "value_error");
	if (q->image && !image_reference_valid(q->image))
		problem(c, "image", "String should be an image reference", "value_error");
	if (q->command.n && !*q->command.v[0])
		problem(c, "command", "The program's name is empty", "value_error");
	if (!q->working_directory)
		q->working_directory = arena_strdup(c->a, "/workspace");
	else if (q->working_directory[0] != '/' || strlen(q->working_directory) > PATH_LENGTH_MAX)
		problem(c, "working_directory", "String should be an absolute path", "value_error");
}

static void read_fields(struct check *c, struct execute_request *q)
{
	const struct json *dir = json_get(c->body, "working_directory");

	q->execution_id = text(c, "execution_id", true);
	q->image = text(c, "image", true);
	q->command = words(c, "command");
	q->input_text = text(c, "input_text", false);
	q->timeout_seconds = positive(c, "timeout_seconds", 864000);
	q->environment = variables(c, "environment");
	q->working_directory = text(c, "working_directory", dir != NULL);
	q->cpu_cores = positive(c, "cpu_cores", 8192);
	q->memory_mb = whole(c, "memory_mb", 1 << 24);
	q->max_processes = whole(c, "max_processes", 4194304);
	q->network_access = flag(c, "network_access");
	if (q->timeout_seconds == 0)
		q->timeout_seconds = 300;
	check_values(c, q);
}

int execute_request_parse(struct arena *a, const char *body, size_t len, struct execute_request *ret,
			  struct strbuf *detail)
{
	struct check c = {.a = a};
	struct err e = {0};

	*ret = (struct execute_request){0};
	json_writer_init(&c.w, detail, false);
	json_begin_object(&c.w);
	json_key(&c.w, "detail");
	json_begin_array(&c.w);
	if (json_parse(body, len, a, &c.body, &e) < 0)
		problem(&c, NULL, e.msg, "json_invalid");
	else if (c.body->type != JSON_OBJECT)
		problem(&c, NULL, "Input should be a valid dictionary or object to extract fields from",
			"model_attributes_type");
	else
		read_fields(&c, ret);
	json_end_array(&c.w);
	json_end_object(&c.w);
	return c.n_errors ? -EINVAL : 0;
}

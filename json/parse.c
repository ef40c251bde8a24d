/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yajl's event parser feeds one stack of nodes. When a container ends, its elements are the top of
 * that stack: they are copied into the arena as one array and popped. yajl's own tree is not used:
 * it keeps duplicate keys and converts numbers through double.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"

/* Up to here pairs of keys are compared, above the keys are sorted. */
enum { FEW_KEYS = 12 };

struct builder {
	struct arena *a;
	struct json *stack;
	size_t n, cap;
	size_t open[JSON_MAX_DEPTH]; /* index in stack of each container that has not ended */
	unsigned depth;
	size_t values;
	const char *key;       /* has been read, its value is next */
	const char *duplicate; /* a reason to stop */
	bool too_many;         /* another one */
};

/* The new node, valid until the next one is added; NULL when there are too many. */
static struct json *add(struct builder *b, enum json_type type)
{
	struct json *v;

	if (b->values == JSON_MAX_VALUES) {
		b->too_many = true;
		return NULL;
	}
	b->values++;
	if (b->n == b->cap) {
		b->cap = b->cap ? b->cap * 2 : 128;
		b->stack = xrealloc(b->stack, b->cap * sizeof(*b->stack));
	}
	v = &b->stack[b->n++];
	*v = (struct json){.type = type, .key = b->key};
	b->key = NULL;
	return v;
}

static int add_text(struct builder *b, enum json_type type, const char *s, size_t n)
{
	struct json *v = add(b, type);

	if (!v)
		return 0;
	v->text = arena_strndup(b->a, s, n);
	v->n = (uint32_t)n;
	return 1;
}

static int on_null(void *ctx)
{
	return add(ctx, JSON_NULL) != NULL;
}

static int on_boolean(void *ctx, int boolean)
{
	struct json *v = add(ctx, JSON_BOOL);

	if (!v)
		return 0;
	v->boolean = boolean;
	return 1;
}

static int on_number(void *ctx, const char *s, size_t n)
{
	return add_text(ctx, JSON_NUMBER, s, n);
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	return add_text(ctx, JSON_STRING, (const char *)s, n);
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
	struct builder *b = ctx;

	b->key = arena_strndup(b->a, (const char *)s, n);
	return 1;
}

/* json_scan has checked the depth of the text; the test here keeps the array safe by itself. */
static int begin(struct builder *b, enum json_type type)
{
	if (b->depth == JSON_MAX_DEPTH || !add(b, type))
		return 0;
	b->open[b->depth++] = b->n - 1;
	return 1;
}

static int on_start_map(void *ctx)
{
	return begin(ctx, JSON_OBJECT);
}

static int on_start_array(void *ctx)
{
	return begin(ctx, JSON_ARRAY);
}

static int end(struct builder *b)
{
	size_t at = b->open[--b->depth];
	size_t n = b->n - at - 1;
	struct json *items = NULL;

	if (n) {
		items = arena_array(b->a, n, sizeof(*items));
		memcpy(items, b->stack + at + 1, n * sizeof(*items));
	}
	b->stack[at].items = items;
	b->stack[at].n = (uint32_t)n;
	b->n = at + 1;
	return 1;
}

static int compare_keys(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *duplicate_of_many(const struct json *members, size_t n)
{
	auto_free const char **keys = xrealloc(NULL, n * sizeof(*keys));

	for (size_t i = 0; i < n; i++)
		keys[i] = members[i].key;
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return keys[i];
	return NULL;
}

static const char *find_duplicate(const struct json *members, size_t n)
{
	if (n > FEW_KEYS)
		return duplicate_of_many(members, n);
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(members[i].key, members[k].key) == 0)
				return members[i].key;
	return NULL;
}

static int on_end_map(void *ctx)
{
	struct builder *b = ctx;
	size_t first = b->open[b->depth - 1] + 1;

	b->duplicate = find_duplicate(b->stack + first, b->n - first);
	return b->duplicate ? 0 : end(b);
}

static int on_end_array(void *ctx)
{
	return end(ctx);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_map,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

/* yajl does not check what its allocator returns. */
static void *yajl_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return xrealloc(NULL, size);
}

static void *yajl_realloc(void *ctx, void *p, size_t size)
{
	(void)ctx;
	return xrealloc(p, size);
}

static void yajl_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void cleanup_yajl(yajl_handle *h)
{
	if (*h)
		yajl_free(*h);
}

/* yajl's own reason ("lexical error: invalid char in json text.\n") without its line end. */
static int fail_syntax(yajl_handle h, const struct json_source *s, size_t at)
{
	unsigned char *reason = yajl_get_error(h, 0, (const unsigned char *)s->text, s->len);
	int n = (int)strcspn((const char *)reason, "\n");
	int r;

	if (n > 0 && reason[n - 1] == '.')
		n--;
	r = json_error_at(s, at, "%.*s", n, (const char *)reason);
	yajl_free_error(h, reason);
	return r;
}

static int fail(const struct builder *b, yajl_handle h, const struct json_source *s)
{
	size_t at = yajl_get_bytes_consumed(h);
	char key[128];

	if (at > s->len)
		at = s->len;
	if (b->too_many)
		return json_error_at(s, at, "more than %u values", JSON_MAX_VALUES);
	if (b->duplicate)
		return json_error_at(s, at, "the object that ends here has the key \"%s\" twice",
				     str_escape(key, sizeof(key), b->duplicate));
	return fail_syntax(h, s, at);
}

static int parse(struct builder *b, const struct json_source *s)
{
	yajl_alloc_funcs alloc = {.malloc = yajl_malloc,
				  .realloc = yajl_realloc,
				  .free = yajl_release};
	__attribute__((cleanup(cleanup_yajl))) yajl_handle h = yajl_alloc(&callbacks, &alloc, b);
	yajl_status status = yajl_parse(h, (const unsigned char *)s->text, s->len);

	/* All options of yajl are off by default: no comments, nothing behind the value. */
	if (status == yajl_status_ok)
		status = yajl_complete_parse(h);
	return status == yajl_status_ok ? 0 : fail(b, h, s);
}

int json_parse(const char *text, size_t len, struct arena *a, const struct json **ret,
	       struct err *e)
{
	const struct json_source source = {text, len, e};
	auto_free struct json *stack = NULL;
	struct builder b = {.a = a};
	struct json *root;
	int r;

	if (len > JSON_MAX_BYTES)
		return err_set(e, EFBIG, "%zu bytes of JSON are more than the limit of %u", len,
			       JSON_MAX_BYTES);
	r = json_scan(&source);
	if (r < 0)
		return r;
	r = parse(&b, &source);
	stack = b.stack;
	if (r < 0)
		return r;
	if (b.n != 1 || b.depth != 0)
		return json_error_at(&source, len, "the text holds no complete value");
	root = arena_new_of(a, struct json);
	*root = stack[0];
	*ret = root;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a parsed tree: members, and numbers from their digits, never through a double. */
#include "json/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct json *json_get(const struct json *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (uint32_t i = 0; i < object->n; i++)
		if (strcmp(object->items[i].key, key) == 0)
			return &object->items[i];
	return NULL;
}

const char *json_get_str(const struct json *object, const char *key)
{
	const struct json *v = json_get(object, key);

	return v && v->type == JSON_STRING ? v->text : NULL;
}

/* "-0" is zero for unsigned members too. */
static bool is_minus_zero(const struct json *v)
{
	return strcmp(v->text, "-0") == 0;
}

int json_to_u64(const struct json *v, uint64_t max, uint64_t *ret)
{
	int64_t negative;

	if (v->type != JSON_NUMBER)
		return -EINVAL;
	if (is_minus_zero(v)) {
		*ret = 0;
		return 0;
	}
	if (v->text[0] == '-') /* a whole number below zero is out of range, not malformed */
		return str_i64(v->text, &negative) == -EINVAL ? -EINVAL : -ERANGE;
	return str_u64(v->text, max, ret);
}

int json_to_i64(const struct json *v, int64_t min, int64_t max, int64_t *ret)
{
	int64_t n;
	int r;

	if (v->type != JSON_NUMBER)
		return -EINVAL;
	r = str_i64(v->text, &n);
	if (r < 0)
		return r;
	if (n < min || n > max)
		return -ERANGE;
	*ret = n;
	return 0;
}

/* strtod follows LC_NUMERIC, which stays "C": no program of ours calls setlocale. */
int json_to_f64(const struct json *v, double *ret)
{
	double d;

	if (v->type != JSON_NUMBER)
		return -EINVAL;
	d = strtod(v->text, NULL);
	if (!isfinite(d))
		return -ERANGE;
	*ret = d;
	return 0;
}

const char *json_type_name(const struct json *v)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};

	return names[v->type];
}

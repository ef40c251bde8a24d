/* SPDX-License-Identifier: Apache-2.0 */
/* --device and what is about devices: rates, weights, cgroup rules, GPUs. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "docker/cli-parse.h"
#include "docker/flag-tables.h"
#include "docker/lists.h"
#include "docker/parts.h"
#include "docker/units.h"

typedef struct { struct dk_device_rate *v; size_t n; } rates;

/* "/dev/sda:VALUE": *value is VALUE. */
static int split_device(const char *text, const char **value, struct err *e)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text)
		return err_set(e, EINVAL, "bad format: %s", text);
	if (!str_starts(text, "/dev/"))
		return err_set(e, EINVAL, "bad format for device path: %s", text);
	*value = colon + 1;
	return 0;
}

static int add_rate(const struct dk_value_slot *slot, const char *text, const char *value, uint64_t rate)
{
	struct arena *a = slot->c->arena;

	*dk_list_add(a, (rates *)slot->out) = (struct dk_device_rate){
		.path = arena_strndup(a, text, (size_t)(value - text) - 1), .rate = rate};
	return 0;
}

int dk_flag_bps(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct err ignored = {0};
	const char *value;
	int64_t rate;

	if (split_device(text, &value, e) < 0)
		return -e->code;
	if (dk_parse_bytes(value, &rate, &ignored) < 0)
		return err_set(e, EINVAL, "invalid rate for device: %s. The correct format is <device-path>:<number>[<unit>]. "
			       "Number must be a positive integer. Unit is optional and can be kb, mb, or gb", text);
	return add_rate(slot, text, value, (uint64_t)rate);
}

int dk_flag_iops(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	const char *value;
	uint64_t rate;

	if (split_device(text, &value, e) < 0)
		return -e->code;
	if (str_u64(value, UINT64_MAX, &rate) < 0)
		return err_set(e, EINVAL, "invalid rate for device: %s. The correct format is <device-path>:<number>. "
			       "Number must be a positive integer", text);
	return add_rate(slot, text, value, rate);
}

int dk_flag_weight_device(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	const char *value;
	uint64_t weight;

	if (split_device(text, &value, e) < 0)
		return -e->code;
	if (str_u64(value, 1000, &weight) < 0 || (weight && weight < 10))
		return err_set(e, EINVAL, "invalid weight for device: %s", text);
	return add_rate(slot, text, value, weight);
}

/* "*" or digits; what is behind. */
static const char *device_number(const char *s)
{
	if (*s == '*')
		return s + 1;
	return isdigit((unsigned char)*s) ? s + strspn(s, "0123456789") : NULL;
}

int dk_flag_cgroup_rule(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	const char *s = text;
	bool ok = *s && strchr("acb", *s) && s[1] == ' ';

	s = ok ? device_number(s + 2) : NULL;
	s = s && *s == ':' ? device_number(s + 1) : NULL;
	if (!s || *s != ' ' || !s[1] || strlen(s + 1) > 3 || s[1 + strspn(s + 1, "rwm")])
		return err_set(e, EINVAL, "invalid device cgroup format '%s'", text);
	dk_strv_add(slot->c->arena, slot->out, arena_strdup(slot->c->arena, text));
	return 0;
}

/* ---- --gpus ---- */

static void split_list(struct arena *a, const char *text, struct strv *ret)
{
	for (const char *s = text;; s++) {
		size_t n = strcspn(s, ",");

		dk_strv_add(a, ret, arena_strndup(a, s, n));
		s += n;
		if (!*s)
			return;
	}
}

static int gpu_count(const char *text, int64_t *ret, struct err *e)
{
	if (str_eq(text, "all")) {
		*ret = -1;
		return 0;
	}
	if (str_i64(text, ret) < 0)
		return err_set(e, EINVAL, "invalid count (%s): value must be either \"all\" or an integer: invalid syntax", text);
	return 0;
}

static int gpu_options(struct arena *a, const char *text, struct dk_gpu_request *g, struct err *e)
{
	struct strv fields = {0};

	if (*text && dk_split_csv(a, text, &fields, e) < 0)
		return -e->code;
	for (size_t i = 0; i < fields.n; i++) {
		size_t n = strcspn(fields.v[i], "=");
		char *value = fields.v[i][n] ? fields.v[i] + n + 1 : fields.v[i] + n;

		dk_map_add(a, &g->options, arena_strndup(a, fields.v[i], n), value, true);
	}
	return 0;
}

static int gpu_field(struct arena *a, struct dk_gpu_request *g, const char *key, const char *value, struct err *e)
{
	if (str_eq(key, "driver"))
		g->driver = arena_strdup(a, value);
	else if (str_eq(key, "count"))
		return gpu_count(value, &g->count, e);
	else if (str_eq(key, "device"))
		split_list(a, value, &g->ids);
	else if (str_eq(key, "capabilities"))
		split_list(a, value, &g->capabilities);
	else if (str_eq(key, "options"))
		return gpu_options(a, value, g, e);
	else
		return err_set(e, EINVAL, "unexpected key '%s' in '%s=%s'", key, key, value);
	return 0;
}

int dk_flag_gpus(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct { struct dk_gpu_request *v; size_t n; } *list = slot->out;
	struct dk_gpu_request g = {.driver = (char *)""};
	struct strv fields = {0}, seen = {0};
	struct arena *a = slot->c->arena;

	if (!*text)
		return err_set(e, EINVAL, "EOF");
	if (dk_split_csv(a, text, &fields, e) < 0)
		return -e->code;
	for (size_t i = 0; i < fields.n; i++) {
		size_t n = strcspn(fields.v[i], "=");
		bool bare = !fields.v[i][n];
		char *key = bare ? arena_strdup(a, "count") : arena_strndup(a, fields.v[i], n);

		if (dk_strv_has(&seen, key))
			return err_set(e, EINVAL, "gpu request key '%s' can be specified only once", key);
		dk_strv_add(a, &seen, key);
		if (gpu_field(a, &g, key, bare ? fields.v[i] : fields.v[i] + n + 1, e) < 0)
			return -e->code;
	}
	if (!dk_strv_has(&seen, "count") && !g.ids.n)
		g.count = 1;
	if (!dk_strv_has(&g.capabilities, "gpu"))
		dk_strv_add(a, &g.capabilities, (char *)"gpu");
	*dk_list_add(a, list) = g;
	return 0;
}

/* ---- --device ---- */

static bool is_mode(const char *s)
{
	size_t n = strlen(s);

	if (!n || n > 3 || strspn(s, "rwm") != n)
		return false;
	return n < 2 || (s[0] != s[1] && s[n - 1] != s[0] && s[n - 1] != s[n > 2 ? 1 : 0]);
}

/* A part of a CDI name: begins and ends with a letter or digit (the first with a letter, if so
 * asked), in between also some of ". - _ :". */
static bool is_cdi_part(const char *s, size_t n, bool letter_first, const char *inner)
{
	if (!n || (letter_first ? !isalpha((unsigned char)s[0]) : !isalnum((unsigned char)s[0])) ||
	    !isalnum((unsigned char)s[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr(inner, s[i]))
			return false;
	return true;
}

/* vendor.com/class=name */
static bool is_cdi_name(const char *s)
{
	const char *slash = strchr(s, '/'), *eq = slash ? strchr(slash, '=') : NULL;

	return eq && is_cdi_part(s, (size_t)(slash - s), true, "._-") &&
	       is_cdi_part(slash + 1, (size_t)(eq - slash) - 1, true, "_-") &&
	       is_cdi_part(eq + 1, strlen(eq + 1), false, "._-:");
}

static int add_device(struct dk_context *c, struct dk_run_options *o, const char *text, struct err *e)
{
	struct arena *a = c->arena;
	char *parts[3] = {NULL};
	struct dk_device d = {.permissions = (char *)"rwm"};
	size_t n = 0;

	for (const char *s = text;; s++) {
		size_t len = strcspn(s, ":");

		if (n == 3)
			return dk_error(c, e, EINVAL, "bad format for path: %s", text);
		parts[n++] = arena_strndup(a, s, len);
		s += len;
		if (!*s)
			break;
	}
	if (!*parts[0])
		return dk_error(c, e, EINVAL, "bad format for path: %s", text);
	d.host = d.container = parts[0];
	if (n == 2 && is_mode(parts[1]))
		d.permissions = parts[1];
	else if (n >= 2)
		d.container = parts[1];
	if (n == 3 && !is_mode(parts[2]))
		return dk_error(c, e, EINVAL, "bad mode specified: %s", parts[2]);
	if (n == 3)
		d.permissions = parts[2];
	if (d.container[0] != '/')
		return dk_error(c, e, EINVAL, "%s is not an absolute path", d.container);
	d.container = dk_clean_path(a, d.container);
	if (n == 1)
		d.host = d.container;
	*dk_list_add(a, &o->devices) = d;
	return 0;
}

int dk_check_devices(struct dk_context *c, struct dk_run_options *o, struct err *e)
{
	for (size_t i = 0; i < o->device_flags.n; i++) {
		if (is_cdi_name(o->device_flags.v[i]))
			dk_strv_add(c->arena, &o->cdi_devices, o->device_flags.v[i]);
		else if (add_device(c, o, o->device_flags.v[i], e) < 0)
			return -e->code;
	}
	return 0;
}

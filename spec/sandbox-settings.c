/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a sandbox and their text forms. Every form is strict: no sign, no space, no
 * unknown unit, no wrap-around, and no number that would silently mean "no limit".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "spec/sandbox-internal.h"

#define MS 1000000ull
#define SEC (1000 * MS)
#define MIB (1ull << 20)
#define LONGEST (366 * 86400 * SEC)

static const char *const output_actions[] = {"truncate", "kill", NULL};
static const char *const networks[] = {"none", "host", NULL};
static const char *const procs[] = {"new", "bind", NULL};
static const char *const usernses[] = {"auto", "single", "range", NULL};

#define SETTING(name_, kind_, member, ...) \
	{.name = (name_), .kind = (kind_), .offset = offsetof(struct sandbox_options, member), \
	 ##__VA_ARGS__}

const struct sandbox_setting sandbox_settings[] = {
	SETTING("memory", SANDBOX_SIZE, memory, .min = MIB, .in_spec = true, .arg = "SIZE",
		.help = "memory, without swap (default 512m)"),
	SETTING("cpus", SANDBOX_CPUS, cpu_quota, .min = 1000, .in_spec = true, .arg = "N",
		.help = "CPUs, in fractions (default 1)"),
	SETTING("pids", SANDBOX_COUNT, pids, .min = 1, .in_spec = true, .arg = "N",
		.help = "processes and threads (default 64)"),
	SETTING("timeout", SANDBOX_DURATION, timeout_ns, .min = MS, .arg = "TIME",
		.help = "wall time, or none (default 300s)"),
	SETTING("cpu-time", SANDBOX_DURATION, cpu_time_ns, .min = MS, .arg = "TIME",
		.help = "CPU time of all processes together (default none)"),
	SETTING("output-limit", SANDBOX_SIZE, output_limit, .arg = "SIZE",
		.help = "bytes kept of stdout and of stderr (default 1m)"),
	SETTING("output-action", SANDBOX_CHOICE, output_action, .choices = output_actions,
		.arg = "ACTION", .help = "beyond the limit: truncate (default) or kill"),
	SETTING("tmp-size", SANDBOX_SIZE, tmp_size, .min = 4096, .in_spec = true, .arg = "SIZE",
		.help = "size of /tmp (default 64m)"),
	SETTING("work-size", SANDBOX_SIZE, work_size, .min = 4096, .in_spec = true, .arg = "SIZE",
		.help = "size of " SANDBOX_WORKSPACE " (default 64m)"),
	SETTING("shm-size", SANDBOX_SIZE, shm_size, .min = 4096, .in_spec = true, .arg = "SIZE",
		.help = "size of /dev/shm (default 64m)"),
	SETTING("network", SANDBOX_CHOICE, network, .choices = networks, .in_spec = true,
		.arg = "none|host", .help = "none (default: only loopback) or host"),
	SETTING("userns", SANDBOX_CHOICE, userns, .choices = usernses, .arg = "MODE",
		.help = "ids: a private range, a single one, or auto (default)"),
	SETTING("proc", SANDBOX_CHOICE, proc, .choices = procs, .arg = "new|bind",
		.help = "its own /proc (default), or bind ours, which shows our processes"),
	SETTING("env-allow", SANDBOX_NAMES, env_allow, .in_spec = true, .arg = "NAME",
		.help = "pass this variable of the caller on (repeatable)"),
	SETTING("outputs", SANDBOX_PATH, outputs, .in_spec = true, .arg = "DIR",
		.help = "a directory of the host, writable at " SANDBOX_OUTPUTS),
	SETTING("outputs-at", SANDBOX_PATH, outputs_at, .in_spec = true, .arg = "PATH",
		.help = "where the directory for outputs is seen (default " SANDBOX_OUTPUTS ")"),
	SETTING("ports", SANDBOX_PORTS, ports, .arg = "PORTS",
		.help = "TCP ports outside that can be reached: 80,443, all or none (default)"),
	SETTING("image", SANDBOX_TEXT, image, .arg = "NAME",
		.help = "a loaded image (brig-docker images) as the root file system"),
	SETTING("init", SANDBOX_BOOL, init),
	SETTING("best-effort", SANDBOX_BOOL, best_effort),
	SETTING("core-scheduling", SANDBOX_BOOL, core_scheduling),
	SETTING("stdin", SANDBOX_TEXT, stdin_text),
};
const size_t sandbox_n_settings = sizeof(sandbox_settings) / sizeof(sandbox_settings[0]);

/*
 * The n characters of s as a decimal number with an optional fraction, times scale: "0.25" with
 * scale 1000 is 250. What is finer than 1/scale is an error, not rounded.
 */
static int parse_scaled(const char *s, size_t n, uint64_t scale, uint64_t *ret)
{
	uint64_t v = 0, divisor = 1;
	bool point = false, digit = false;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '.') {
			if (point || !digit)
				return -EINVAL;
			point = true;
			digit = false;
			continue;
		}
		digit = true;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return -ERANGE;
		if (point && __builtin_mul_overflow(divisor, 10, &divisor))
			return -ERANGE;
	}
	if (!digit)
		return -EINVAL;
	if (__builtin_mul_overflow(v, scale, &v))
		return -ERANGE;
	if (v % divisor)
		return -EINVAL;
	*ret = v / divisor;
	return 0;
}

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit size_units[] = {
	{"", 1},         {"b", 1},
	{"k", 1 << 10},  {"kb", 1 << 10},  {"kib", 1 << 10},
	{"m", MIB},      {"mb", MIB},      {"mib", MIB},
	{"g", 1 << 30},  {"gb", 1 << 30},  {"gib", 1 << 30},
	{"t", MIB << 20}, {"tb", MIB << 20}, {"tib", MIB << 20},
	{NULL, 0},
};
static const struct unit time_units[] = {
	{"", SEC}, {"s", SEC}, {"ms", MS}, {"us", 1000}, {"m", 60 * SEC}, {"h", 3600 * SEC}, {NULL, 0},
};
/* Microseconds in a period of 100 ms. */
static const struct unit cpu_units[] = {{"", 100000}, {NULL, 0}};
static const struct unit count_units[] = {{"", 1}, {NULL, 0}};

static int parse_with_unit(const char *s, const struct unit *units, uint64_t *ret)
{
	size_t n = strspn(s, "0123456789.");

	for (; units->name; units++)
		if (strcasecmp(units->name, s + n) == 0)
			return parse_scaled(s, n, units->scale, ret);
	return -EINVAL;
}

static const struct {
	const struct unit *units;
	uint64_t max;
	const char *what;
} numbers[] = {
	[SANDBOX_SIZE] = {size_units, INT64_MAX, "a size like 64m"},
	[SANDBOX_DURATION] = {time_units, LONGEST, "a time like 5s, 500ms or none"},
	[SANDBOX_CPUS] = {cpu_units, 8192ull * 100000, "a number of CPUs like 0.5"},
	[SANDBOX_COUNT] = {count_units, 4194304, "a whole number"},
};

/* One assignment: `where` names the setting in messages. */
struct input {
	struct arena *a;
	const struct sandbox_setting *s;
	const char *where, *value;
};

static int bad_value(const struct input *in, const char *what, struct err *e)
{
	char clean[80];

	str_escape(clean, sizeof(clean), in->value);
	return err_set(e, EINVAL, "%s: \"%s\" is not %s", in->where, clean, what);
}

static int set_number(const struct input *in, struct opt_u64 *member, struct err *e)
{
	enum sandbox_kind kind = in->s->kind;
	uint64_t v = 0;
	int r;

	if (kind == SANDBOX_DURATION && str_eq(in->value, "none")) {
		*member = (struct opt_u64){true, 0};
		return 0;
	}
	r = parse_with_unit(in->value, numbers[kind].units, &v);
	if (r == -ERANGE || (r == 0 && v > numbers[kind].max))
		return err_set(e, ERANGE, "%s: %.40s is too large", in->where, in->value);
	if (r < 0)
		return bad_value(in, numbers[kind].what, e);
	if (v < in->s->min)
		return err_set(e, ERANGE, "%s: %.40s is too small", in->where, in->value);
	*member = (struct opt_u64){true, v};
	return 0;
}

static int set_bool(const struct input *in, struct opt_bool *member, struct err *e)
{
	static const char *const words[] = {"false", "true", NULL};
	int v = str_index(words, in->value);

	if (v < 0)
		return bad_value(in, "true or false", e);
	*member = (struct opt_bool){true, v};
	return 0;
}

static int set_choice(const struct input *in, struct opt_u32 *member, struct err *e)
{
	const char *const *choices = in->s->choices;
	int v = str_index(choices, in->value);
	auto_strbuf struct strbuf words = {0};

	if (v >= 0) {
		*member = (struct opt_u32){true, (uint32_t)v};
		return 0;
	}
	for (size_t i = 0; choices[i]; i++)
		strbuf_printf(&words, "%s%s", i ? " or " : "", choices[i]);
	return bad_value(in, strbuf_str(&words), e);
}

static bool valid_variable(const char *name, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	if (n == 0 || !memchr(letters, name[0], sizeof(letters) - 1))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!memchr(letters, name[i], sizeof(letters) - 1) &&
		    (name[i] < '0' || name[i] > '9'))
			return false;
	return true;
}

bool sandbox_valid_variable(const char *name)
{
	return valid_variable(name, strlen(name));
}

void sandbox_strv_add(struct arena *a, struct strv *list, char *s)
{
	if ((list->n & (list->n + 1)) == 0) { /* full at 0, 1, 3, 7... */
		char **v = arena_array(a, 2 * list->n + 2, sizeof(*v));

		if (list->n)
			memcpy(v, list->v, list->n * sizeof(*v));
		list->v = v;
	}
	list->v[list->n++] = s;
}

static int set_names(const struct input *in, struct strv *member, struct err *e)
{
	const char *name = in->value;

	for (;;) {
		size_t n = strcspn(name, ",");

		if (!valid_variable(name, n))
			return bad_value(in, "a name of an environment variable", e);
		sandbox_strv_add(in->a, member, arena_strndup(in->a, name, n));
		name += n;
		if (!*name++)
			return 0;
	}
}

static int set_path(const struct input *in, char **member, struct err *e)
{
	if (in->value[0] != '/')
		return bad_value(in, "an absolute path", e);
	*member = arena_strdup(in->a, in->value);
	return 0;
}

/* Each is checked: they become text of a rule. */
static int set_ports(const struct input *in, char **member, struct err *e)
{
	const char *p = in->value;

	*member = NULL;
	if (str_eq(p, "none"))
		return 0;
	for (size_t n = 0; !str_eq(in->value, "all"); n++) {
		char number[8] = "";
		size_t len = strcspn(p, ",");
		uint64_t port;

		if (len < sizeof(number))
			memcpy(number, p, len);
		if (n == 64 || str_u64(number, 65535, &port) < 0 || port == 0)
			return bad_value(in, "all, none, or at most 64 ports from 1 to 65535 with commas", e);
		if (!p[len])
			break;
		p += len + 1;
	}
	*member = arena_strdup(in->a, in->value);
	return 0;
}

static const struct sandbox_setting *find_setting(const char *name)
{
	for (size_t i = 0; i < sandbox_n_settings; i++)
		if (str_eq(sandbox_settings[i].name, name))
			return &sandbox_settings[i];
	return NULL;
}

static int set_member(const struct input *in, void *member, struct err *e)
{
	switch (in->s->kind) {
	case SANDBOX_BOOL:
		return set_bool(in, member, e);
	case SANDBOX_CHOICE:
		return set_choice(in, member, e);
	case SANDBOX_NAMES:
		return set_names(in, member, e);
	case SANDBOX_PATH:
		return set_path(in, member, e);
	case SANDBOX_PORTS:
		return set_ports(in, member, e);
	case SANDBOX_TEXT:
		*(char **)member = arena_strdup(in->a, in->value);
		return 0;
	default:
		return set_number(in, member, e);
	}
}

/* name is the end of `where`. */
static int set_at(struct sandbox_options *o, struct input *in, const char *name, struct err *e)
{
	char clean[80];

	in->s = find_setting(name);
	if (in->s)
		return set_member(in, (char *)o + in->s->offset, e);
	return err_set(e, EINVAL, "%s: there is no such setting",
		       str_escape(clean, sizeof(clean), in->where));
}

int sandbox_set(struct sandbox_options *o, struct arena *a, const char *name, const char *value,
		struct err *e)
{
	struct input in = {.a = a, .where = arena_printf(a, "--%s", name), .value = value};

	return set_at(o, &in, name, e);
}

int sandbox_set_annotation(struct sandbox_options *o, struct arena *a, const struct str_pair *pair,
			   struct err *e)
{
	struct input in = {.a = a, .where = arena_printf(a, "annotations.%s", pair->key),
			   .value = pair->value};

	return set_at(o, &in, pair->key + strlen(SANDBOX_ANNOTATION), e);
}

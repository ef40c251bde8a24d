/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of a plan as properties of the scope. systemd writes them into the scope's own
 * cgroup: there a weight counts against the neighbours, a protection holds below its slice, and
 * `systemctl show` tells what the container may use. The files of the leaf below hold the same
 * values (and those that systemd does not know), so what systemd rounds is not lost.
 *
 * One table: file of cgroup v2 -> property and the form of its value.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "cgroups/dbus.h"
#include "cgroups/internal.h"

enum {
	CPUS_MAX = 8192,
	QUOTA_STEP = 10000, /* systemd writes whole hundredths of a CPU */
	PERIOD = 100000,    /* the kernel's default, in microseconds */
};

static void put_bool(struct strbuf *b, const char *name, bool value)
{
	cg_put_property(b, name, "b");
	dbus_put_u32(b, value);
}

static void put_u64(struct strbuf *b, const char *name, uint64_t value)
{
	cg_put_property(b, name, "t");
	dbus_put_u64(b, value);
}

/* A number, one with a unit as the kernel takes it ("64M", in "unified"), or "max". */
static bool number_of(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGTPE";
	size_t n = strspn(s, "0123456789");
	const char *unit = s[n] && !s[n + 1] ? strchr(units, s[n] & ~0x20) : NULL;
	char digits[24];
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (str_eq(s, "max")) {
		*ret = UINT64_MAX;
		return true;
	}
	if (n == 0 || n >= sizeof(digits) || (s[n] && !unit))
		return false;
	memcpy(digits, s, n);
	digits[n] = '\0';
	if (str_u64(digits, (UINT64_MAX - 1) >> shift, ret) < 0)
		return false;
	*ret <<= shift;
	return true;
}

static int put_number(struct strbuf *b, const char *name, const char *value)
{
	uint64_t v;

	if (!number_of(value, &v))
		return -EINVAL;
	put_u64(b, name, v);
	return 0;
}

/* systemd takes no 0; the leaf has it. */
static int put_tasks(struct strbuf *b, const char *name, const char *value)
{
	return put_number(b, name, str_eq(value, "0") ? "1" : value);
}

/* systemd (252) has a weight of 0 for idle, and the highest number for none of ours. A weight that
 * comes with "0" follows us, and counts. */
static int put_idle(struct strbuf *b, const char *name, const char *value)
{
	if (!str_eq(value, "0") && !str_eq(value, "1"))
		return -EINVAL;
	put_u64(b, name, str_eq(value, "1") ? 0 : UINT64_MAX);
	return 0;
}

/* "QUOTA PERIOD", "max", ...: microseconds. */
static int put_bandwidth(struct strbuf *b, const char *name, const char *value)
{
	char text[64], *second;
	uint64_t quota, period = PERIOD, per_second = UINT64_MAX;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, strlen(value) + 1);
	second = strchr(text, ' ');
	if (second)
		*second++ = '\0';
	if (!number_of(text, &quota) ||
	    (second && (str_u64(second, 1000000, &period) < 0 || period == 0)))
		return -EINVAL;
	if (quota != UINT64_MAX) {
		if (__builtin_mul_overflow(quota, 1000000, &per_second))
			return -EINVAL;
		per_second = (per_second + period - 1) / period;
		per_second = (per_second + QUOTA_STEP - 1) / QUOTA_STEP * QUOTA_STEP;
	}
	put_u64(b, name, per_second);
	put_u64(b, "CPUQuotaPeriodUSec", period);
	return 0;
}

/* "0-3,7" as a string of bits, the first CPU in the lowest bit of the first byte. */
static int put_set(struct strbuf *b, const char *name, const char *value)
{
	unsigned char bits[CPUS_MAX / 8] = {0};
	unsigned long from, to;
	size_t n = 0;
	char *end;

	for (const char *s = value; *s; s = *end ? end + 1 : end) {
		from = to = strtoul(s, &end, 10);
		if (end != s && *end == '-')
			to = strtoul(end + 1, &end, 10);
		if (end == s || from > to || to >= CPUS_MAX || (*end && *end != ','))
			return -EINVAL;
		for (; from <= to; from++)
			bits[from / 8] |= (unsigned char)(1u << from % 8);
		n = to / 8 + 1 > n ? to / 8 + 1 : n;
	}
	cg_put_property(b, name, "ay");
	dbus_put_u32(b, (uint32_t)n);
	strbuf_add(b, bits, n);
	return 0;
}

/* An array of one (path of a block device, number): systemd adds it to what it has. */
static void put_device_u64(struct strbuf *b, const char *name, const char *device, uint64_t value)
{
	struct dbus_array list;
	char path[64];

	snprintf(path, sizeof(path), "/dev/block/%.40s", device);
	cg_put_property(b, name, "a(st)");
	list = dbus_array_begin(b);
	dbus_put_string(b, path);
	dbus_put_u64(b, value);
	dbus_array_end(b, list);
}

/* "N", "default N", "8:0 N". */
static int put_io_weight(struct strbuf *b, const char *name, const char *value)
{
	const char *blank = strchr(value, ' ');
	char device[32];
	uint64_t v;

	if (str_u64(blank ? blank + 1 : value, 10000, &v) < 0 || v == 0)
		return -EINVAL;
	if (!blank || str_starts(value, "default ")) {
		put_u64(b, name, v);
		return 0;
	}
	if ((size_t)(blank - value) >= sizeof(device))
		return -EINVAL;
	memcpy(device, value, (size_t)(blank - value));
	device[blank - value] = '\0';
	put_device_u64(b, "IODeviceWeight", device, v);
	return 0;
}

/* "8:0 rbps=N wiops=max ..." */
static int put_io_max(struct strbuf *b, const char *device, const char *value)
{
	static const char *const keys[] = {"rbps=", "wbps=", "riops=", "wiops=", NULL};
	static const char *const names[] = {"IOReadBandwidthMax", "IOWriteBandwidthMax",
					    "IOReadIOPSMax", "IOWriteIOPSMax"};
	char text[256], *save = NULL;
	uint64_t v;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, strlen(value) + 1);
	device = strtok_r(text, " ", &save);
	for (char *s; device && (s = strtok_r(NULL, " ", &save));) {
		int i = 0;

		while (keys[i] && !str_starts(s, keys[i]))
			i++;
		if (!keys[i] || !number_of(s + strlen(keys[i]), &v))
			return -EINVAL;
		put_device_u64(b, names[i], device, v);
	}
	return 0;
}

static const struct limit {
	const char *file, *property;
	int (*put)(struct strbuf *b, const char *name, const char *value);
} limits[] = {
	{"cpu.idle", "CPUWeight", put_idle},
	{"cpu.max", "CPUQuotaPerSecUSec", put_bandwidth},
	{"cpu.weight", "CPUWeight", put_number},
	{"cpuset.cpus", "AllowedCPUs", put_set},
	{"cpuset.mems", "AllowedMemoryNodes", put_set},
	{"io.max", NULL, put_io_max},
	{"io.weight", "IOWeight", put_io_weight},
	{"memory.high", "MemoryHigh", put_number},
	{"memory.low", "MemoryLow", put_number},
	{"memory.max", "MemoryMax", put_number},
	{"memory.min", "MemoryMin", put_number},
	{"memory.swap.max", "MemorySwapMax", put_number},
	{"pids.max", "TasksMax", put_tasks},
};

static int put_setting(struct strbuf *b, const struct cg_setting *s, struct err *e)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		char safe[80];

		if (!str_eq(limits[i].file, s->file))
			continue;
		if (limits[i].put(b, limits[i].property, s->value) == 0)
			return 0;
		return err_set(e, EINVAL, "%s: \"%s\" is no value that systemd takes", s->origin,
			       str_escape(safe, sizeof(safe), s->value));
	}
	return 0;
}

/* ---- devices ---- */

/* The name of a major number, "pts", from the text of /proc/devices. */
static bool driver_name(const char *text, char type, int64_t major, char *name, size_t size)
{
	bool block = false;

	for (const char *line = text; *line; line += *line != '\0') {
		size_t n = strcspn(line, "\n");
		long number = strtol(line, NULL, 10);
		const char *at = memchr(line + strspn(line, " "), ' ', n);

		if (str_starts(line, "Block"))
			block = true;
		if (at && at < line + n && number == major && block == (type == 'b')) {
			size_t len = (size_t)(line + n - at - 1);

			if (len >= size)
				return false;
			memcpy(name, at + 1, len);
			name[len] = '\0';
			return true;
		}
		line += n;
	}
	return false;
}

static bool node_of(const struct cg_device_rule *r, char type, char *path, size_t size)
{
	const char *kind = type == 'b' ? "block" : "char";
	char text[8192], name[64];

	if (r->major < 0) {
		snprintf(path, size, "%s-*", kind);
		return r->minor < 0;
	}
	if (r->minor >= 0) {
		snprintf(path, size, "/dev/%s/%lld:%lld", kind, (long long)r->major,
			 (long long)r->minor);
		return true;
	}
	if (io_read_small(AT_FDCWD, "/proc/devices", text, sizeof(text)) < 0 ||
	    !driver_name(text, type, r->major, name, sizeof(name)))
		return false;
	snprintf(path, size, "%s-%s", kind, name);
	return true;
}

static void put_device(struct strbuf *b, const char *path, unsigned access)
{
	struct dbus_array list;
	char text[4];
	size_t n = 0;

	if (access & CG_DEV_READ)
		text[n++] = 'r';
	if (access & CG_DEV_WRITE)
		text[n++] = 'w';
	if (access & CG_DEV_MKNOD)
		text[n++] = 'm';
	text[n] = '\0';
	cg_put_property(b, "DeviceAllow", "a(ss)");
	list = dbus_array_begin(b);
	dbus_put_string(b, path);
	dbus_put_string(b, text);
	dbus_array_end(b, list);
}

static void put_policy(struct strbuf *b, const char *policy)
{
	cg_put_property(b, "DevicePolicy", "s");
	dbus_put_string(b, policy);
	/* An empty list ends what was allowed before. */
	cg_put_property(b, "DeviceAllow", "a(ss)");
	dbus_array_end(b, dbus_array_begin(b));
}

/* One rule as nodes; false: systemd cannot say it. */
static bool put_rule(struct strbuf *b, const struct cg_device_rule *r)
{
	char path[96];

	if (!r->allow)
		return false;
	for (const char *type = "cb"; *type; type++) {
		if (r->type != 'a' && r->type != *type)
			continue;
		if (!node_of(r, *type, path, sizeof(path)))
			return false;
		put_device(b, path, r->access);
	}
	return true;
}

/*
 * systemd knows a list of what is allowed. A policy that takes back something, or names a driver
 * that is not there yet, is only in our own program in the leaf; then systemd has to let all through.
 */
static void put_devices(struct strbuf *b, const struct cg_device_list *l)
{
	size_t begin = b->len;
	bool good = l->n > 0 && !l->v[0].allow && l->v[0].type == 'a';

	put_policy(b, "strict");
	for (size_t i = 1; i < l->n && good; i++)
		good = put_rule(b, &l->v[i]);
	if (good)
		return;
	b->len = begin;
	put_policy(b, "auto");
}

int cg_put_limits(struct strbuf *b, const struct cg_plan *p, struct err *e)
{
	for (size_t i = 0; i < p->settings.n; i++) {
		int r = put_setting(b, &p->settings.v[i], e);

		if (r < 0)
			return r;
	}
	if (p->filter_devices)
		put_devices(b, &p->devices);
	return 0;
}

void cg_put_accounting(struct strbuf *b)
{
	static const char *const names[] = {"CPUAccounting", "IOAccounting", "MemoryAccounting",
					    "TasksAccounting"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_bool(b, names[i], true);
}

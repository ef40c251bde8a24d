/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network is one small file. Three are not in a file: "bridge", "host" and "none" are there from
 * the start, with identifiers that depend on nothing but the place of the records. Who makes a
 * network holds the lock of the directory, so that names and subnets are given once; readers take
 * none, for files appear by rename.
 */
#include "docker/network-def.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/sys.h"
#include "docker/events.h"
#include "docker/units.h"

enum { RECORD_MAX = 256 << 10, ROUTES_MAX = 256 << 10, ID_DIGITS = 64, PATH_SIZE = 4096 };

static const struct json_field def_fields[] = {
	JSON_FIELD(struct dk_network_def, name, "name", .required = true),
	JSON_FIELD(struct dk_network_def, id, "id", .required = true),
	JSON_FIELD(struct dk_network_def, created, "created", .required = true),
	JSON_FIELD(struct dk_network_def, driver, "driver", .required = true),
	JSON_FIELD(struct dk_network_def, subnet, "subnet"),
	JSON_FIELD(struct dk_network_def, gateway, "gateway"),
	JSON_FIELD(struct dk_network_def, ip_range, "ipRange"),
	JSON_FIELD(struct dk_network_def, internal, "internal"),
	JSON_FIELD(struct dk_network_def, attachable, "attachable"),
	JSON_FIELD(struct dk_network_def, options, "options"),
	JSON_FIELD(struct dk_network_def, labels, "labels"),
	JSON_FIELD(struct dk_network_def, aux, "auxAddresses"),
	JSON_FIELD(struct dk_network_def, ipam_driver, "ipamDriver"),
	JSON_FIELD(struct dk_network_def, ipam_options, "ipamOptions"),
};
static const struct json_table def_table = JSON_TABLE(struct dk_network_def, def_fields);

/* ---- small things ---- */

bool dk_ipv4_parse(const char *text, uint32_t *ret)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	*ret = ntohl(in.s_addr);
	return true;
}

char *dk_ipv4_text(struct arena *a, uint32_t v)
{
	return arena_printf(a, "%u.%u.%u.%u", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255);
}

bool dk_cidr_parse(const char *text, struct dk_cidr *ret)
{
	const char *slash = strchr(text, '/');
	char address[INET_ADDRSTRLEN];
	uint64_t prefix;
	uint32_t base;

	if (!slash || (size_t)(slash - text) >= sizeof(address) || str_u64(slash + 1, 32, &prefix) < 0)
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = 0;
	if (!dk_ipv4_parse(address, &base))
		return false;
	ret->prefix = (unsigned)prefix;
	ret->mask = prefix ? UINT32_MAX << (32 - prefix) : 0;
	ret->base = base & ret->mask;
	return true;
}

bool dk_cidr_overlaps(const struct dk_cidr *a, const struct dk_cidr *b)
{
	uint32_t mask = a->mask & b->mask;

	return (a->base & mask) == (b->base & mask);
}

void dk_random_hex(char *ret, size_t n)
{
	unsigned char bytes[ID_DIGITS];

	if (n > sizeof(bytes) || getrandom(bytes, n, 0) != (ssize_t)n)
		abort();
	for (size_t i = 0; i < n; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

int dk_make_dirs(const char *path, struct err *e)
{
	char part[PATH_SIZE];
	size_t n = strlen(path);

	if (n >= sizeof(part))
		return err_set(e, ENAMETOOLONG, "make the directory %s: %s", path, err_name(ENAMETOOLONG));
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return err_sys(e, "make the directory %s", part);
	}
	return 0;
}

int dk_lock_file(const char *dir, const char *name, struct err *e)
{
	char path[PATH_SIZE];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return err_set(e, ENAMETOOLONG, "open %s/%s: %s", dir, name, err_name(ENAMETOOLONG));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == ENOENT) {
		int r = dk_make_dirs(dir, e);

		if (r < 0)
			return r;
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	return fd < 0 ? err_sys(e, "open %s", path) : fd;
}

/* ---- those that are always there ---- */

static const struct dk_network_def predefined[] = {
	{.name = "bridge", .driver = "bridge", .subnet = "172.17.0.0/16", .gateway = "172.17.0.1"},
	{.name = "host", .driver = "host"},
	{.name = "none", .driver = "null"},
};
enum { PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

bool dk_network_predefined(const char *name)
{
	for (size_t i = 0; i < PREDEFINED; i++)
		if (str_eq(predefined[i].name, name))
			return true;
	return false;
}

static char *birth_time(struct arena *a, const char *path)
{
	char buf[DK_UNIT_MAX];
	struct timespec t = {0};
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME | STATX_CTIME, &st) == 0) {
		const struct statx_timestamp *s = st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime;

		t = (struct timespec){.tv_sec = s->tv_sec, .tv_nsec = s->tv_nsec};
	}
	return arena_strdup(a, dk_time_rfc3339(buf, &t));
}

char *dk_network_predefined_id(struct arena *a, const struct dk_roots *roots, const char *name)
{
	char hex[SHA256_HEX + 1];
	const char *seed = arena_printf(a, "%s network of %s", name, roots->data);

	sha256_hex(seed, strlen(seed), hex);
	return arena_strdup(a, hex);
}

static struct dk_network_def get_predefined(struct arena *a, const struct dk_roots *roots, size_t i)
{
	struct dk_network_def d = predefined[i];

	d.id = dk_network_predefined_id(a, roots, d.name);
	d.created = birth_time(a, roots->data);
	d.ipam_driver = "default";
	return d;
}

/* ---- reading ---- */

static int read_def(struct arena *a, int dir, const char *file, struct dk_network_def *ret, struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};
	struct dk_network_def d = {0};
	const struct json *doc;

	if (io_read_file(dir, file, RECORD_MAX, &text, e) < 0 ||
	    json_parse(text.p, text.len, a, &doc, e) < 0 ||
	    json_read_struct(&r, doc, &def_table, &d) < 0)
		return err_wrap(e, "record of network %s", file);
	*ret = d;
	return 0;
}

static void push(struct arena *a, struct dk_network_defs *l, const struct dk_network_def *d)
{
	if ((l->n & (l->n - 1)) == 0) {
		struct dk_network_def *v = arena_array(a, l->n ? 2 * l->n : 1, sizeof(*v));

		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
	}
	l->v[l->n++] = *d;
}

static bool is_record(const char *name)
{
	return strlen(name) == ID_DIGITS + 5 && str_ends(name, ".json") &&
	       strspn(name, "0123456789abcdef") == ID_DIGITS;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct dk_network_def *)x)->name, ((const struct dk_network_def *)y)->name);
}

static int read_all(struct arena *a, DIR *dir, struct dk_network_defs *ret, struct err *e)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct dk_network_def d;
		int r;

		if (!is_record(entry->d_name))
			continue;
		r = read_def(a, dirfd(dir), entry->d_name, &d, e);
		if (r == -ENOENT)
			continue; /* removed meanwhile */
		if (r < 0)
			return r;
		push(a, ret, &d);
	}
	return 0;
}

int dk_network_all(struct arena *a, const struct dk_roots *roots, struct dk_network_defs *ret,
		   struct err *e)
{
	struct dk_network_defs all = {0};
	DIR *dir = opendir(arena_printf(a, "%s/networks", roots->data));
	int r = 0;

	for (size_t i = 0; i < PREDEFINED; i++) {
		struct dk_network_def d = get_predefined(a, roots, i);

		push(a, &all, &d);
	}
	if (dir) {
		r = read_all(a, dir, &all, e);
		closedir(dir);
	} else if (errno != ENOENT) {
		r = err_sys(e, "read %s/networks", roots->data);
	}
	if (r < 0)
		return r;
	qsort(all.v, all.n, sizeof(*all.v), by_name);
	*ret = all;
	return 0;
}

int dk_network_find(struct arena *a, const struct dk_roots *roots, const char *name,
		    struct dk_network_def *ret, struct err *e)
{
	const struct dk_network_def *found = NULL;
	struct dk_network_defs all;
	size_t matches = 0;
	int r;

	if (str_eq(name, "default"))
		name = "bridge";
	for (size_t i = 0; i < PREDEFINED; i++)
		if (str_eq(predefined[i].name, name)) {
			*ret = get_predefined(a, roots, i);
			return 0;
		}
	r = dk_network_all(a, roots, &all, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++)
		if (str_eq(all.v[i].name, name) || str_eq(all.v[i].id, name)) {
			*ret = all.v[i];
			return 0;
		}
	for (size_t i = 0; i < all.n && *name; i++)
		if (str_starts(all.v[i].id, name)) {
			found = &all.v[i];
			matches++;
		}
	if (matches > 1)
		return err_set(e, EINVAL, "network %s is ambiguous (%zu matches found based on ID prefix)",
			       name, matches);
	if (!found)
		return err_set(e, ENOENT, "network %s not found", name);
	*ret = *found;
	return 0;
}

/* ---- making ---- */

static bool taken_by_network(const struct dk_network_defs *all, const struct dk_cidr *c)
{
	struct dk_cidr other;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].subnet && dk_cidr_parse(all->v[i].subnet, &other) && dk_cidr_overlaps(c, &other))
			return true;
	return false;
}

/* A subnet that the host routes already would be out of the containers' reach. */
static bool taken_by_route(char *routes, const struct dk_cidr *c)
{
	char *line = strchr(routes, '\n');

	while (line) {
		unsigned dst, gateway, flags, mask;
		char name[32];

		if (sscanf(line, " %31s %x %x %x %*d %*u %*d %x", name, &dst, &gateway, &flags, &mask) == 5 &&
		    mask) {
			struct dk_cidr other = {.base = ntohl(dst), .mask = ntohl(mask)};

			if (dk_cidr_overlaps(c, &other))
				return true;
		}
		line = strchr(line + 1, '\n');
	}
	return false;
}

static int choose_subnet(struct arena *a, const struct dk_network_defs *all, struct dk_network_def *d,
			 struct err *e)
{
	static const struct { uint32_t first, last; unsigned prefix; } pools[] = {
		{0xac120000, 0xac1f0000, 16}, /* 172.18.0.0 to 172.31.0.0 */
		{0xc0a80000, 0xc0a8f000, 20}, /* 192.168.0.0 to 192.168.240.0 */
	};
	auto_strbuf struct strbuf routes = {0};
	struct err ignored;

	io_read_file(AT_FDCWD, "/proc/net/route", ROUTES_MAX, &routes, &ignored);
	for (size_t p = 0; p < sizeof(pools) / sizeof(pools[0]); p++) {
		uint32_t step = 1u << (32 - pools[p].prefix);

		for (uint32_t base = pools[p].first; base <= pools[p].last; base += step) {
			struct dk_cidr c = {base, UINT32_MAX << (32 - pools[p].prefix), pools[p].prefix};

			if (taken_by_network(all, &c) || (routes.p && taken_by_route(routes.p, &c)))
				continue;
			d->subnet = arena_printf(a, "%s/%u", dk_ipv4_text(a, base), c.prefix);
			return 0;
		}
	}
	return err_set(e, ENOSPC, "could not find an available, non-overlapping IPv4 address pool among "
				  "the defaults to assign to the network");
}

static int settle_addresses(struct arena *a, const struct dk_network_defs *all, struct dk_network_def *d,
			    struct err *e)
{
	struct dk_cidr c, range;
	uint32_t gateway;

	if (!d->subnet)
		return d->gateway || d->ip_range
			       ? err_set(e, EINVAL, "invalid network config: a gateway or range needs a subnet")
			       : choose_subnet(a, all, d, e);
	if (!dk_cidr_parse(d->subnet, &c) || c.prefix > 30)
		return err_set(e, EINVAL, strchr(d->subnet, ':')
					? "invalid subnet %s: networks of brig have IPv4 only"
					: "invalid subnet %s: invalid CIDR block notation", d->subnet);
	if (taken_by_network(all, &c))
		return err_set(e, EINVAL, "Pool overlaps with other one on this address space");
	if (d->gateway && (!dk_ipv4_parse(d->gateway, &gateway) || (gateway & c.mask) != c.base))
		return err_set(e, EINVAL, "invalid gateway %s: not in subnet %s", d->gateway, d->subnet);
	if (d->ip_range && (!dk_cidr_parse(d->ip_range, &range) || range.prefix < c.prefix ||
			    !dk_cidr_overlaps(&c, &range)))
		return err_set(e, EINVAL, "invalid ip-range %s: not in subnet %s", d->ip_range, d->subnet);
	d->subnet = arena_printf(a, "%s/%u", dk_ipv4_text(a, c.base), c.prefix);
	return 0;
}

static int write_def(struct arena *a, const struct dk_roots *roots, const struct dk_network_def *d,
		     struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_writer w;

	json_writer_init(&w, &text, false);
	json_write_struct(&w, &def_table, d);
	strbuf_addc(&text, '\n');
	return io_replace_file(AT_FDCWD, arena_printf(a, "%s/networks/%s.json", roots->data, d->id), &text,
			       0600, e);
}

static void tell(const struct dk_roots *roots, const char *action, const struct dk_network_def *d)
{
	struct str_pair facts[] = {{(char *)"name", (char *)d->name}, {(char *)"type", (char *)d->driver}};
	struct dk_event ev = {.type = (char *)"network", .action = (char *)action, .id = (char *)d->id,
			      .attributes = {facts, 2}};

	dk_event_write(roots, &ev);
}

int dk_network_create(struct arena *a, const struct dk_roots *roots, struct dk_network_def *d,
		      struct err *e)
{
	auto_close int lock = dk_lock_file(arena_printf(a, "%s/networks", roots->data), "lock", e);
	char id[ID_DIGITS + 1], now[DK_UNIT_MAX];
	struct dk_network_defs all;
	struct timespec t;
	struct dk_cidr c;
	int r;

	if (lock < 0)
		return lock;
	if (flock(lock, LOCK_EX) < 0)
		return err_sys(e, "lock %s/networks", roots->data);
	r = dk_network_all(a, roots, &all, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++)
		if (str_eq(all.v[i].name, d->name))
			return err_set(e, EEXIST, "network with name %s already exists", d->name);
	r = settle_addresses(a, &all, d, e);
	if (r < 0)
		return r;
	if (!d->gateway && dk_cidr_parse(d->subnet, &c))
		d->gateway = dk_ipv4_text(a, c.base + 1);
	dk_random_hex(id, ID_DIGITS / 2);
	d->id = arena_strdup(a, id);
	clock_gettime(CLOCK_REALTIME, &t);
	d->created = arena_strdup(a, dk_time_rfc3339(now, &t));
	r = write_def(a, roots, d, e);
	if (r == 0)
		tell(roots, "create", d);
	return r;
}

int dk_network_remove(const struct dk_roots *roots, const struct dk_network_def *d, struct err *e)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/networks/%s.json", roots->data, d->id);
	if (unlink(path) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "remove %s", path);
	tell(roots, "destroy", d);
	return 0;
}

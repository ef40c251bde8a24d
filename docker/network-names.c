/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/network-names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "docker/netlink.h"

enum { RECORD_MAX = 64 << 10, HOSTS_MAX = 1 << 20, SHORT_ID = 12 };

static const struct json_field connected_fields[] = {
	JSON_FIELD(struct dk_connected, id, "id", .required = true),
	JSON_FIELD(struct dk_connected, name, "name", .required = true),
	JSON_FIELD(struct dk_connected, hosts, "hosts"),
	JSON_FIELD(struct dk_connected, aliases, "aliases"),
	JSON_FIELD(struct dk_connected, address, "address", .required = true),
	JSON_FIELD(struct dk_connected, mac, "mac"),
	JSON_FIELD(struct dk_connected, endpoint_id, "endpointId"),
};
static const struct json_table connected_table = JSON_TABLE(struct dk_connected, connected_fields);

static const char *file_of(struct arena *a, const char *dir, uint32_t address)
{
	return arena_printf(a, "%s/e-%08x", dir, address);
}

int dk_connected_read(struct arena *a, const char *dir, uint32_t address, struct dk_connected *ret,
		      struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_reader r = {.arena = a, .path = "", .e = e};
	const char *path = file_of(a, dir, address);
	struct dk_connected c = {0};
	const struct json *doc;

	if (io_read_file(AT_FDCWD, path, RECORD_MAX, &text, e) < 0)
		return e->code == ENOENT ? 0 : -e->code;
	if (json_parse(text.p, text.len, a, &doc, e) < 0 ||
	    json_read_struct(&r, doc, &connected_table, &c) < 0)
		return err_wrap(e, "%s", path);
	*ret = c;
	return 1;
}

int dk_connected_write(struct arena *a, const char *dir, uint32_t address, const struct dk_connected *c,
		       struct err *e)
{
	auto_strbuf struct strbuf text = {0};
	struct json_writer w;

	json_writer_init(&w, &text, false);
	json_write_struct(&w, &connected_table, c);
	return io_replace_file(AT_FDCWD, file_of(a, dir, address), &text, 0600, e);
}

void dk_connected_remove(const char *dir, uint32_t address)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/e-%08x", dir, address);
	unlink(path);
}

/* ---- hosts files ---- */

static int open_hosts(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, EINVAL, "%s is no regular file", path);
	}
	return fd;
}

/* The mark behind the lines of a network. */
static char *mark_of(struct arena *a, const char *dir)
{
	const char *id = strrchr(dir, '/') + 1;

	return arena_printf(a, "# network %.*s", SHORT_ID, id);
}

static void keep_others(struct strbuf *to, const char *text, size_t n, const char *mark)
{
	size_t len = strlen(mark);

	while (n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t line = end ? (size_t)(end - text) : n;

		if (line < len || memcmp(text + line - len, mark, len) != 0) {
			strbuf_add(to, text, line);
			strbuf_addc(to, '\n');
		}
		line += end != NULL;
		text += line;
		n -= line;
	}
}

/* In place: the file is bound into the container. The new text is there before the old end goes. */
static int rewrite(const char *path, const char *mark, const char *lines, struct err *e)
{
	auto_close int fd = open_hosts(path, e);
	auto_strbuf struct strbuf old = {0}, text = {0};
	struct err too_long;

	if (fd < 0)
		return fd;
	if (io_read_fd(fd, HOSTS_MAX, &old, path, &too_long) == 0)
		keep_others(&text, old.p, old.len, mark);
	strbuf_adds(&text, lines);
	if (pwrite(fd, strbuf_str(&text), text.len, 0) != (ssize_t)text.len || ftruncate(fd, (off_t)text.len) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

int dk_hosts_append(const char *path, const char *line, struct err *e)
{
	auto_close int fd = open_hosts(path, e);

	if (fd < 0)
		return fd;
	if (lseek(fd, 0, SEEK_END) < 0 || io_write_all(fd, line, strlen(line)) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

void dk_names_clear(struct arena *a, const char *dir, const char *hosts)
{
	struct err ignored;

	rewrite(hosts, mark_of(a, dir), "", &ignored);
}

static void add_names(struct strbuf *b, const struct dk_connected *c, const char *mark)
{
	strbuf_printf(b, "%s\t%s", c->address, c->name);
	for (size_t i = 0; i < c->aliases.n; i++)
		strbuf_printf(b, " %s", c->aliases.v[i]);
	strbuf_printf(b, " %.*s\t%s\n", SHORT_ID, c->id, mark);
}

/* ---- all of a network ---- */

struct addresses { uint32_t *v; size_t n, cap; };

static void note_port(void *arg, int index, const char *name)
{
	struct addresses *l = arg;
	uint32_t address;

	(void)index;
	if (!dk_port_name(name, &address))
		return;
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
	}
	l->v[l->n++] = address;
}

static bool is_there(const struct addresses *l, uint32_t address)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == address)
			return true;
	return false;
}

/* Whose interface has gone was killed without a word. */
static void forget_gone(const char *dir, const struct addresses *there)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;
		uint32_t address;

		if (strlen(name) != 10 || !str_starts(name, "e-") ||
		    strspn(name + 2, "0123456789abcdef") != 8)
			continue;
		address = (uint32_t)strtoul(name + 2, NULL, 16);
		if (!is_there(there, address))
			dk_connected_remove(dir, address);
	}
	if (d)
		closedir(d);
}

static int by_address(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static int update(struct arena *a, const char *dir, struct addresses *there, struct err *e)
{
	struct dk_connected *all = arena_array(a, there->n + 1, sizeof(*all));
	auto_strbuf struct strbuf lines = {0};
	char *mark = mark_of(a, dir);
	size_t n = 0;

	if (there->n)
		qsort(there->v, there->n, sizeof(*there->v), by_address);
	for (size_t i = 0; i < there->n; i++) {
		int r = dk_connected_read(a, dir, there->v[i], &all[n], e);

		if (r < 0)
			return r;
		n += r > 0;
	}
	for (size_t i = 0; i < n; i++)
		add_names(&lines, &all[i], mark);
	for (size_t i = 0; i < n; i++) {
		struct err ignored; /* it is about to end, or has done something to its own file */

		if (all[i].hosts)
			rewrite(all[i].hosts, mark, strbuf_str(&lines), &ignored);
	}
	return 0;
}

int dk_names_update(struct arena *a, const char *dir, const struct dk_holder *h, bool names, struct err *e)
{
	struct addresses there = {0};
	int r = dk_nl_each(h->nl, note_port, &there);

	if (r < 0) {
		free(there.v);
		return err_set(e, -r, "list the network's ports: %s", err_name(-r));
	}
	forget_gone(dir, &there);
	if (names)
		r = update(a, dir, &there, e);
	free(there.v);
	return r;
}

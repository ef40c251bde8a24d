/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver of the host is passed on as it is, for pasta passes on what is sent there. One on the
 * host's loopback (systemd-resolved, dnsmasq) is out of reach: then pasta is told to answer for it at
 * an address of its own.
 */
#include "docker/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/network-connect.h"
#include "docker/network-def.h"
#include "docker/network-holder.h"

enum { FILE_MAX = 1 << 20, HOST_GATEWAY_TEST = 0xc0000201 /* 192.0.2.1: nothing is sent there */ };

#define ENGINE "Error response from daemon: "

static const char *resolv_conf(void)
{
	const char *own = getenv("BRIG_RESOLV_CONF"); /* tests */

	return own ? own : "/etc/resolv.conf";
}

/* ---- writing ---- */

static int write_file(struct arena *a, const char *dir, const char *name, const struct strbuf *text,
		      struct err *e)
{
	const char *path = arena_printf(a, "%s/%s", dir, name);
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	/* 0644 whatever the umask is: it is the container's users who read it. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fchmod(fd, 0644) < 0 ||
	    pwrite(fd, strbuf_str(text), text->len, 0) != (ssize_t)text->len ||
	    ftruncate(fd, (off_t)text->len) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

/* ---- hosts ---- */

const char *dk_host_gateway(struct arena *a)
{
	/* The address that the host would send from, were it to send something to the outside. */
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9),
				 .sin_addr.s_addr = htonl(HOST_GATEWAY_TEST)};
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &len) < 0)
		return NULL;
	return dk_ipv4_text(a, ntohl(own.sin_addr.s_addr));
}

static int add_extra(struct arena *a, struct strbuf *b, const char *entry, struct err *e)
{
	const char *colon = strpbrk(entry, ":="), *ip = colon ? colon + 1 : "";
	char name[256] = "";

	if (colon && (size_t)(colon - entry) < sizeof(name))
		memcpy(name, entry, (size_t)(colon - entry));
	if (!*name || name[strcspn(name, " \t\r\n#")] || ip[strcspn(ip, " \t\r\n#")])
		return err_set(e, EINVAL, ENGINE "bad format for add-host: \"%s\"", entry);
	if (str_eq(ip, "host-gateway"))
		ip = dk_host_gateway(a);
	if (!ip)
		return err_set(e, ENETUNREACH, ENGINE "unable to derive the IP value for host-gateway: the host "
						      "has no route to the outside");
	strbuf_printf(b, "%s\t%s\n", ip, name);
	return 0;
}

static int write_hosts(struct arena *a, const struct dk_hosts *h, struct err *e)
{
	auto_strbuf struct strbuf b = {0};
	int r = 0;

	if (h->network->kind == DK_NETWORK_HOST) {
		struct err ignored; /* a host may have none */

		io_read_file(AT_FDCWD, "/etc/hosts", FILE_MAX, &b, &ignored);
	} else {
		strbuf_adds(&b, "127.0.0.1\tlocalhost\n"
				"::1\tlocalhost ip6-localhost ip6-loopback\n"
				"fe00::0\tip6-localnet\n"
				"ff00::0\tip6-mcastprefix\n"
				"ff02::1\tip6-allnodes\n"
				"ff02::2\tip6-allrouters\n");
	}
	for (size_t i = 0; i < h->extra_hosts.n && r == 0; i++)
		r = add_extra(a, &b, h->extra_hosts.v[i], e);
	return r < 0 ? r : write_file(a, h->dir, "hosts", &b, e);
}

/* ---- resolv.conf ---- */

struct resolver {
	struct strbuf servers, rest; /* whole lines */
	bool local;                  /* a server on the host's loopback */
};

static void take_line(struct resolver *r, const char *line, bool keep_local)
{
	const char *at = line + strspn(line, " \t");
	size_t word = strcspn(at, " \t");
	const char *value = at + word + strspn(at + word, " \t");

	if (word == strlen("nameserver") && memcmp(at, "nameserver", word) == 0) {
		bool local = str_starts(value, "127.") || str_eq(value, "::1");

		r->local |= local;
		if (!local || keep_local)
			strbuf_printf(&r->servers, "nameserver %s\n", value);
	} else if (*at && *at != '#' && *at != ';') {
		strbuf_printf(&r->rest, "%s\n", line);
	}
}

static void read_resolver(struct resolver *r, bool keep_local)
{
	auto_strbuf struct strbuf text = {0};
	struct err ignored; /* none: then there is no resolver */
	char *save = NULL;

	if (io_read_file(AT_FDCWD, resolv_conf(), FILE_MAX, &text, &ignored) < 0 || !text.p)
		return;
	for (char *line = strtok_r(text.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take_line(r, line, keep_local);
}

bool dk_resolver_is_local(struct arena *a)
{
	struct resolver r = {0};
	bool local;

	(void)a;
	read_resolver(&r, false);
	local = r.local && !r.servers.len;
	strbuf_free(&r.servers);
	strbuf_free(&r.rest);
	return local;
}

static void add_words(struct strbuf *b, const char *key, const struct strv *v)
{
	if (!v->n || (v->n == 1 && str_eq(v->v[0], ".")))
		return; /* "--dns-search ." means none */
	strbuf_adds(b, key);
	for (size_t i = 0; i < v->n; i++)
		strbuf_printf(b, " %s", v->v[i]);
	strbuf_addc(b, '\n');
}

/* The host's lines without what the flags replace. */
static void keep_rest(struct strbuf *b, char *lines, const struct dk_hosts *h)
{
	char *save = NULL;

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		bool search = str_starts(line, "search") || str_starts(line, "domain");
		bool options = str_starts(line, "options");

		if (!(search && h->dns_search.n) && !(options && h->dns_options.n))
			strbuf_printf(b, "%s\n", line);
	}
}

static int check_words(const struct strv *v, struct err *e)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i][strcspn(v->v[i], " \t\r\n")])
			return err_set(e, EINVAL, ENGINE "invalid resolver setting: \"%s\"", v->v[i]);
	return 0;
}

static int write_resolv_conf(struct arena *a, const struct dk_hosts *h, struct err *e)
{
	bool host = h->network->kind == DK_NETWORK_HOST;
	auto_strbuf struct strbuf b = {0};
	struct resolver r = {0};

	if (check_words(&h->dns, e) < 0 || check_words(&h->dns_search, e) < 0 ||
	    check_words(&h->dns_options, e) < 0)
		return -e->code;
	read_resolver(&r, host);
	for (size_t i = 0; i < h->dns.n; i++)
		strbuf_printf(&b, "nameserver %s\n", h->dns.v[i]);
	if (!h->dns.n && r.servers.len)
		strbuf_add(&b, r.servers.p, r.servers.len);
	else if (!h->dns.n && r.local)
		strbuf_adds(&b, "nameserver " DK_DNS_ADDRESS "\n");
	if (r.rest.p)
		keep_rest(&b, r.rest.p, h);
	add_words(&b, "search", &h->dns_search);
	add_words(&b, "options", &h->dns_options);
	strbuf_free(&r.servers);
	strbuf_free(&r.rest);
	return write_file(a, h->dir, "resolv.conf", &b, e);
}

/* ---- all three ---- */

static int copy_one(struct arena *a, const char *from, const char *to, const char *name, struct err *e)
{
	const char *path = arena_printf(a, "%s/%s", from, name);
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_strbuf struct strbuf b = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "%s is no regular file", path);
	if (io_read_fd(fd, FILE_MAX, &b, path, e) < 0)
		return -e->code;
	return write_file(a, to, name, &b, e);
}

int dk_hosts_write(struct arena *a, const struct dk_hosts *h, struct err *e)
{
	static const char *const names[] = {"hosts", "hostname", "resolv.conf"};
	auto_strbuf struct strbuf name = {0};
	int r = 0;

	for (size_t i = 0; h->other && i < sizeof(names) / sizeof(names[0]); i++)
		if ((r = copy_one(a, h->other, h->dir, names[i], e)) < 0)
			return r;
	if (h->other)
		return 0;
	strbuf_printf(&name, h->domainname && *h->domainname ? "%s.%s\n" : "%s\n", h->hostname, h->domainname);
	r = write_file(a, h->dir, "hostname", &name, e);
	if (r == 0)
		r = write_hosts(a, h, e);
	return r < 0 ? r : write_resolv_conf(a, h, e);
}

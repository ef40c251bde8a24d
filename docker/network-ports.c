/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/network-ports.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/network-def.h"
#include "docker/network-holder.h"

/* Random ports are the first free ones from here on, as Docker has it. */
enum { FIRST_RANDOM = 32768, LAST_RANDOM = 60999, BACKLOG = 1024, FILE_MAX = 64 << 10, NOBODY = 65534,
       END_MS = 5000 };

#define ENGINE "Error response from daemon: "

/* ---- binding ---- */

struct wish {
	const char *proto, *host_ip;
	bool both;            /* all addresses of both families */
	uint16_t first, last; /* 0, 0: a random one */
	/* What could not be had. */
	const char *failed_ip;
	uint16_t failed_port;
};

static int open_one(const struct wish *w, const char *ip, uint16_t port)
{
	bool udp = str_eq(w->proto, "udp");
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool six = strchr(ip, ':') != NULL;
	struct sockaddr *to = six ? (void *)&a6 : (void *)&a4;
	socklen_t len = six ? sizeof(a6) : sizeof(a4);
	int on = 1, r;
	auto_close int fd = socket(six ? AF_INET6 : AF_INET,
				   (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	r = six ? inet_pton(AF_INET6, ip, &a6.sin6_addr) : inet_pton(AF_INET, ip, &a4.sin_addr);
	if (r != 1)
		return -EINVAL;
	if (!udp)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, to, len) < 0 || (!udp && listen(fd, BACKLOG) < 0))
		return -errno;
	return take_fd(&fd);
}

/* No IPv6 on the host is no reason to fail for "all addresses". */
static bool no_such_family(int r)
{
	return r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL;
}

/* One port for both families. */
static int open_pair(struct wish *w, uint16_t port, int ret[2])
{
	const char *ip = w->both ? "0.0.0.0" : w->host_ip;

	w->failed_ip = ip;
	w->failed_port = port;
	ret[0] = open_one(w, ip, port);
	ret[1] = -1;
	if (ret[0] < 0)
		return ret[0];
	if (!w->both)
		return 0;
	ret[1] = open_one(w, "::", port);
	if (ret[1] >= 0 || no_such_family(ret[1]))
		return 0;
	w->failed_ip = "::";
	cleanup_close(&ret[0]);
	return ret[1];
}

static void forms(const char *ip, uint16_t port, char *ret, size_t size)
{
	snprintf(ret, size, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, port);
}

/* A line "tcp ADDRESS PORT" in a file of ports? */
static bool names_port(struct strbuf *text, const char *proto, const char *port)
{
	char *save = NULL;

	for (char *line = strtok_r(text->p, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (str_starts(line, proto) && str_ends(line, port))
			return true;
	return false;
}

/* Does another container's process have it? */
static bool is_ours(struct arena *a, const char *networks, const char *proto, uint16_t port)
{
	const char *wanted = arena_printf(a, "%s ", proto), *number = arena_printf(a, " %u", port);
	const char *path = arena_printf(a, "%s/ports", networks);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		auto_strbuf struct strbuf text = {0};
		struct err ignored;

		if (entry->d_name[0] == '.' ||
		    io_read_file(dirfd(dir), entry->d_name, FILE_MAX, &text, &ignored) < 0)
			continue;
		found = names_port(&text, wanted, number);
	}
	if (dir)
		closedir(dir);
	return found;
}

struct binding {
	struct arena *a;
	const struct dk_publish *publish;
	struct dk_network_settings *s;
	struct dk_listeners *l;
	size_t cap;
};

static int bind_error(const struct binding *b, const struct wish *w, int r, struct err *e)
{
	const struct dk_publish *p = b->publish;
	uint16_t port = w->failed_port;
	const char *ip = w->failed_ip;
	struct arena *a = b->a;
	char at[80];

	forms(ip, port, at, sizeof(at));
	err_set(e, -r, ENGINE "driver failed programming external connectivity on endpoint %s (%s): ",
		p->name, p->endpoint_id);
	if (r == -EADDRINUSE && is_ours(a, p->networks, w->proto, port))
		return err_set(e, EADDRINUSE, "%sBind for %s failed: port is already allocated",
			       arena_strdup(a, e->msg), at);
	if (r == -EACCES)
		return err_set(e, EPERM, "%scannot expose privileged port %u, choose a larger port number or "
					 "lower net.ipv4.ip_unprivileged_port_start",
			       arena_strdup(a, e->msg), port);
	return err_set(e, -r, "%sError starting userland proxy: listen %s%s %s: bind: %s",
		       arena_strdup(a, e->msg), w->proto, strchr(ip, ':') ? "6" : "4", at,
		       r == -EADDRINUSE ? "address already in use"
		       : r == -EADDRNOTAVAIL ? "cannot assign requested address" : err_name(-r));
}

static void keep(struct binding *b, const struct dk_port_rule *rule, const char *ip, uint16_t port, int fd)
{
	if (b->l->n == b->cap) {
		size_t cap = b->cap ? 2 * b->cap : 8;
		struct dk_port_bound *bound = arena_array(b->a, cap, sizeof(*bound));
		int *v = arena_array(b->a, cap, sizeof(*v));

		if (b->cap) {
			memcpy(bound, b->s->bound.v, b->cap * sizeof(*bound));
			memcpy(v, b->l->v, b->cap * sizeof(*v));
		}
		b->s->bound.v = bound;
		b->l->v = v;
		b->cap = cap;
	}
	b->l->v[b->l->n++] = fd;
	b->s->bound.v[b->s->bound.n++] = (struct dk_port_bound){
		.container_port = rule->container_port, .host_port = port, .proto = rule->proto,
		.host_ip = arena_strdup(b->a, ip)};
}

static int parse_wish(const struct dk_port_rule *rule, struct wish *w, struct err *e)
{
	const char *text = rule->host_port ? rule->host_port : "";
	const char *dash = strchr(text, '-');
	char first[8] = "";
	uint64_t from = 0, to = 0;

	*w = (struct wish){.proto = rule->proto, .host_ip = rule->host_ip};
	w->both = !rule->host_ip || !*rule->host_ip;
	if (!*text || str_eq(text, "0"))
		return 0;
	if (dash && (size_t)(dash - text) < sizeof(first))
		memcpy(first, text, (size_t)(dash - text));
	if (str_u64(dash ? first : text, UINT16_MAX, &from) < 0 ||
	    (dash && str_u64(dash + 1, UINT16_MAX, &to) < 0))
		return err_set(e, EINVAL, ENGINE "invalid host port %s", text);
	w->first = (uint16_t)from;
	w->last = (uint16_t)(dash ? to : from);
	if (!w->first || w->last < w->first)
		return err_set(e, EINVAL, ENGINE "invalid host port %s", text);
	return 0;
}

static int bind_rule(struct binding *b, const struct dk_port_rule *rule, struct err *e)
{
	struct wish w;
	int fds[2] = {-1, -1}, r = parse_wish(rule, &w, e);
	bool one = w.first && w.first == w.last;
	uint32_t port;

	if (r < 0)
		return r;
	if (!str_eq(rule->proto, "tcp") && !str_eq(rule->proto, "udp"))
		return err_set(e, EPROTONOSUPPORT, ENGINE "publishing %s ports is not supported", rule->proto);
	if (!w.first)
		w.first = FIRST_RANDOM, w.last = LAST_RANDOM;
	for (port = w.first; port <= w.last; port++) {
		r = open_pair(&w, (uint16_t)port, fds);
		if (r != -EADDRINUSE || one)
			break;
	}
	if (r < 0)
		return bind_error(b, &w, r, e);
	keep(b, rule, w.both ? "0.0.0.0" : w.host_ip, (uint16_t)port, fds[0]);
	if (fds[1] >= 0)
		keep(b, rule, "::", (uint16_t)port, fds[1]);
	return 0;
}

int dk_ports_bind(struct arena *a, const struct dk_publish *p, struct dk_network_settings *s,
		  struct dk_listeners *ret, struct err *e)
{
	struct binding b = {.a = a, .publish = p, .s = s, .l = ret};
	struct dk_port_rule any;
	int r = 0;

	*ret = (struct dk_listeners){0};
	s->bound.v = NULL;
	s->bound.n = 0;
	for (size_t i = 0; i < s->ports.n && r == 0; i++) {
		any = s->ports.v[i];
		if (!any.published) {
			any.host_ip = any.host_port = NULL;
			if (!s->publish_all)
				continue;
		}
		r = bind_rule(&b, &any, e);
	}
	if (r < 0) {
		dk_ports_close(ret);
		s->bound.n = 0;
	}
	return r;
}

void dk_ports_close(struct dk_listeners *l)
{
	for (size_t i = 0; i < l->n; i++)
		cleanup_close(&l->v[i]);
	l->n = 0;
}

/* ---- the process ---- */

/* No id, group or capability is left that could be of use. In a user namespace with one id the ids
 * stay. */
static bool drop_privileges(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	setgroups(0, NULL);
	if (setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0)
		return true;
	return dk_drop_capabilities();
}

static _Noreturn void serve(const struct dk_serve *s, int file, int ready)
{
	const struct dk_network_settings *set = s->settings;
	size_t n = s->listeners->n;
	struct dk_proxy_port ports[n];
	int fds[n + 3];

	for (size_t i = 0; i < n; i++) {
		ports[i] = (struct dk_proxy_port){.listener = fds[i] = s->listeners->v[i],
						  .udp = str_eq(set->bound.v[i].proto, "udp"),
						  .port = (uint16_t)set->bound.v[i].container_port};
	}
	fds[n] = s->container;
	fds[n + 1] = file;
	fds[n + 2] = ready;
	if (setns(s->holder, CLONE_NEWNET) < 0)
		_exit(1);
	dk_close_all_but(fds, n + 3);
	dk_no_stdio();
	setsid();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "brig-ports");
	if (chdir("/") < 0 || !drop_privileges())
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	dk_proxy_run(ports, n, s->address, s->container);
}

static int write_file(int file, pid_t pid, const struct dk_network_settings *s, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	strbuf_printf(&b, "%d\n", pid);
	for (size_t i = 0; i < s->bound.n; i++)
		strbuf_printf(&b, "%s %s %u\n", s->bound.v[i].proto, s->bound.v[i].host_ip,
			      s->bound.v[i].host_port);
	if (ftruncate(file, 0) < 0 || pwrite(file, b.p, b.len, 0) != (ssize_t)b.len)
		return err_sys(e, "record the published ports");
	return 0;
}

int dk_ports_serve(const struct dk_serve *s, struct err *e)
{
	char dir[4096], byte;
	auto_close int file = -1;
	int ready[2], r = 0;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/ports", s->publish->networks);
	file = dk_lock_file(dir, s->publish->id, e);
	if (file < 0)
		return file;
	if (flock(file, LOCK_EX | LOCK_NB) < 0)
		return err_sys(e, "lock %s/%s", dir, s->publish->id);
	if (pipe2(ready, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	pid = fork();
	if (pid == 0)
		serve(s, file, ready[1]);
	close(ready[1]);
	if (pid < 0)
		r = err_sys(e, "fork for the published ports");
	else
		r = write_file(file, pid, s->settings, e);
	if (r == 0 && io_read_upto(ready[0], &byte, 1) != 1)
		r = err_set(e, EIO, "the process for the published ports ended");
	close(ready[0]);
	if (r < 0 && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return r;
}

static bool is_free(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void dk_ports_end(const char *networks, const char *id)
{
	char path[4096], text[24] = "";
	auto_close int fd = -1, pidfd = -1;
	int pid;

	if ((size_t)snprintf(path, sizeof(path), "%s/ports/%s", networks, id) >= sizeof(path))
		return;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!is_free(fd) && pread(fd, text, sizeof(text) - 1, 0) > 0) {
		struct pollfd p;

		pid = atoi(text);
		pidfd = pid > 0 ? sys_pidfd_open(pid, 0) : -1;
		/* Locked still: the pid was its own when the pidfd was made. */
		if (pidfd >= 0 && !is_free(fd)) {
			p = (struct pollfd){.fd = pidfd, .events = POLLIN};
			sys_pidfd_send_signal(pidfd, SIGKILL);
			while (poll(&p, 1, END_MS) < 0 && errno == EINTR)
				;
			waitpid(pid, NULL, WNOHANG); /* it may be a child of ours */
		}
	}
	unlink(path);
}

void dk_ports_sweep(const char *networks)
{
	char path[4096];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/ports", networks);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		auto_close int fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

		if (fd >= 0 && is_free(fd))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

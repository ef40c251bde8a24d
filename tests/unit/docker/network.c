/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks without containers: a "guest" is a process in a user and a network namespace of its own,
 * which is all that a network sees of a container. Needs root; without /dev/net/tun or pasta what
 * needs a way out is left out.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"
#include "docker/hosts.h"
#include "docker/network-connect.h"
#include "docker/network-def.h"
#include "docker/network-holder.h"
#include "docker/network.h"
#include "nsenter/idmap.h"
#include "nsenter/spawn.h"
#include "tests/unit/test.h"

static char dir[64];
static struct dk_roots roots;
static struct arena *arena;

struct guest {
	struct ns_child child;
	struct dk_network_settings settings;
	struct dk_network_start start;
	struct dk_network *network;
	char id[65];
};

static void sleeper(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static bool spawn(struct guest *g, struct err *e)
{
	struct ns_spawn s = {.new_ns = CLONE_NEWUSER | CLONE_NEWNET, .cgroup_fd = -1, .main = sleeper};
	struct ns_idmap all = {0, 0, 65536};
	struct ns_idmaps maps = {&all, 1, &all, 1};
	auto_close int procfs = procfs_open(e);

	return ns_spawn(&s, &g->child, e) == 0 &&
	       ns_write_maps(procfs, g->child.pid, &maps, ns_idmap_mode(&maps), e) == 0;
}

/* A guest with these settings, connected. */
static int begin(struct guest *g, const char *name, const char *network, struct err *e)
{
	char *files;
	int r;

	dk_random_hex(g->id, 32);
	files = arena_printf(arena, "%s/c-%s", dir, name);
	mkdir(files, 0700);
	g->child = (struct ns_child)NS_CHILD_NONE;
	g->settings.mode = arena_strdup(arena, network);
	g->settings.endpoints.v = arena_array(arena, 1, sizeof(*g->settings.endpoints.v));
	g->settings.endpoints.v[0].network = g->settings.mode;
	g->settings.endpoints.n = 1;
	g->start = (struct dk_network_start){.roots = roots, .id = g->id, .name = name, .hostname = name,
					     .files = files, .settings = &g->settings};
	r = dk_network_prepare(arena, &g->start, &g->network, e);
	if (r < 0)
		return r;
	struct dk_hosts hosts = {.dir = files, .hostname = name, .network = g->network};

	r = dk_hosts_write(arena, &hosts, e);
	if (r == 0 && !spawn(g, e))
		r = -e->code;
	if (r == 0)
		r = dk_network_attach(g->network, g->child.pidfd, e);
	dk_network_release(g->network);
	return r;
}

static void kill_guest(struct guest *g)
{
	ns_child_kill(&g->child);
}

static void end(struct guest *g)
{
	kill_guest(g);
	dk_network_end(&roots, g->id, &g->settings);
}

static const char *address_of(const struct guest *g)
{
	return g->settings.endpoints.v[0].address;
}

/* ---- talking ---- */

static int socket_at(const char *ip, int port, bool listening)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct timeval limit = {.tv_usec = 700000};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	inet_pton(AF_INET, ip, &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (listening ? bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0 || listen(fd, 8) < 0
		      : connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A process that says `word` to who connects; in the guest's namespace, or on the host. */
static pid_t serve(const struct guest *g, const char *ip, int port, const char *word)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int fd;

		if (g && setns(g->child.pidfd, CLONE_NEWNET) < 0)
			_exit(1);
		fd = socket_at(ip, port, true);
		if (fd < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		close(ready[1]);
		for (;;) {
			int c = accept(fd, NULL, NULL);

			if (c >= 0) {
				send(c, word, strlen(word), MSG_NOSIGNAL);
				close(c);
			}
		}
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		printf("# could not listen at %s:%d\n", ip, port);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	if (pid <= 0) /* -1 would be every process of the machine */
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Does who connects there hear the word? */
static bool hears(const struct guest *g, const char *ip, int port, const char *word)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char got[32] = "";
		int fd;

		if (g && setns(g->child.pidfd, CLONE_NEWNET) < 0)
			_exit(2);
		fd = socket_at(ip, port, false);
		if (fd < 0)
			_exit(1);
		io_read_upto(fd, got, sizeof(got) - 1);
		_exit(strcmp(got, word) != 0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static char *hosts_of(const char *name)
{
	struct strbuf b = {0};
	struct err e;
	char *text;

	io_read_file(AT_FDCWD, arena_printf(arena, "%s/c-%s/hosts", dir, name), 1 << 20, &b, &e);
	text = arena_strdup(arena, strbuf_str(&b));
	strbuf_free(&b);
	return text;
}

/* ---- what is left ---- */

static bool no_holder(const char *network)
{
	auto_holder struct dk_holder h = DK_HOLDER_NONE;
	struct dk_network_def d;
	struct err e;

	return dk_network_find(arena, &roots, network, &d, &e) == 0 &&
	       dk_holder_find(arena_printf(arena, "%s/networks/%s", roots.run, d.id), &h, &e) == 0;
}

static bool find_holder(const char *network, struct dk_holder *h)
{
	struct dk_network_def d;
	struct err e;

	return dk_network_find(arena, &roots, network, &d, &e) == 0 &&
	       dk_holder_find(arena_printf(arena, "%s/networks/%s", roots.run, d.id), h, &e) == 1;
}

static bool gone_soon(const struct dk_holder *h)
{
	struct pollfd p = {.fd = h->pidfd, .events = POLLIN};

	return poll(&p, 1, 10000) == 1;
}

static void make(const char *name, bool internal)
{
	struct dk_network_def d = {.name = (char *)name, .driver = "bridge", .internal = internal};
	struct err e = {0};

	CHECK_INT(dk_network_create(arena, &roots, &d, &e), 0);
	CHECK_STR(e.msg, "");
}

/* ---- the tests ---- */

static void records(void)
{
	struct dk_network_def d = {.name = "r1", .driver = "bridge"}, found;
	struct dk_network_def again = d, other = {.name = "r2", .driver = "bridge"};
	struct dk_network_defs all;
	struct err e = {0};

	CHECK_INT(dk_network_create(arena, &roots, &d, &e), 0);
	CHECK_INT(dk_network_create(arena, &roots, &again, &e), -EEXIST);
	CHECK_STR(e.msg, "network with name r1 already exists");
	CHECK_INT(dk_network_create(arena, &roots, &other, &e), 0);
	CHECK(strcmp(d.subnet, other.subnet) != 0);
	CHECK_INT(dk_network_all(arena, &roots, &all, &e), 0);
	CHECK_INT(all.n, 5);
	CHECK_INT(dk_network_find(arena, &roots, arena_strndup(arena, d.id, 12), &found, &e), 0);
	CHECK_STR(found.name, "r1");
	CHECK_STR(found.gateway, d.gateway);
	CHECK_INT(dk_network_find(arena, &roots, "nosuch", &found, &e), -ENOENT);
	CHECK_STR(e.msg, "network nosuch not found");
	again = (struct dk_network_def){.name = "r3", .driver = "bridge", .subnet = d.subnet};
	CHECK_INT(dk_network_create(arena, &roots, &again, &e), -EINVAL);
	CHECK_STR(e.msg, "Pool overlaps with other one on this address space");
	CHECK_INT(dk_network_remove(&roots, &d, &e), 0);
	CHECK_INT(dk_network_remove(&roots, &other, &e), 0);
	CHECK_INT(dk_network_find(arena, &roots, "bridge", &found, &e), 0);
	CHECK_STR(found.subnet, "172.17.0.0/16");
}

/* Two of one network reach each other and know each other's name; one of another does not. */
static void internal_network(void)
{
	struct guest a = {0}, b = {0}, c = {0};
	struct err e = {0};
	pid_t server;

	make("in1", true);
	make("in2", true);
	CHECK_INT(begin(&a, "alpha", "in1", &e), 0);
	CHECK_STR(e.msg, "");
	CHECK_INT(begin(&b, "beta", "in1", &e), 0);
	CHECK_INT(begin(&c, "gamma", "in2", &e), 0);
	server = serve(&a, "0.0.0.0", 80, "alpha");
	CHECK(hears(&b, address_of(&a), 80, "alpha"));
	CHECK(!hears(&c, address_of(&a), 80, "alpha"));
	CHECK(!hears(NULL, address_of(&a), 80, "alpha"));
	CHECK(strstr(hosts_of("beta"), "\talpha ") != NULL);
	CHECK(strstr(hosts_of("alpha"), "\tbeta ") != NULL);
	CHECK(strstr(hosts_of("gamma"), "alpha") == NULL);
	end_process(server);
	end(&b);
	CHECK(strstr(hosts_of("alpha"), "\tbeta ") == NULL);
	CHECK(!no_holder("in1"));
	end(&a);
	end(&c);
	CHECK(no_holder("in1"));
	CHECK(no_holder("in2"));
}

/* A container that is killed without a word, as is its client: the network ends by itself. */
static void killed(void)
{
	struct dk_holder h = DK_HOLDER_NONE;
	struct guest a = {0}, b = {0};
	struct err e = {0};

	make("in3", true);
	CHECK_INT(begin(&a, "one", "in3", &e), 0);
	CHECK(find_holder("in3", &h));
	kill_guest(&a);
	CHECK(gone_soon(&h));
	dk_holder_close(&h);
	/* The address is free again, the name forgotten. */
	CHECK_INT(begin(&b, "two", "in3", &e), 0);
	CHECK(strstr(hosts_of("two"), "one") == NULL);
	end(&b);
	CHECK(no_holder("in3"));
}

static bool egress_works(void)
{
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && access("/usr/bin/pasta", X_OK) == 0 && dk_host_gateway(arena);
}

/* Out through pasta: to the host's address, not to its loopback. In through a published port. */
static void bridge(void)
{
	struct dk_port_rule rule = {.container_port = 80, .proto = "tcp", .published = true,
				    .host_ip = "127.0.0.1", .host_port = ""};
	struct guest a = {0}, b = {0};
	struct err e = {0};
	pid_t outside, loopback, server;
	int port;

	if (!egress_works()) {
		printf("# no pasta or no /dev/net/tun: not tried\n");
		return;
	}
	a.settings.ports.v = &rule;
	a.settings.ports.n = 1;
	CHECK_INT(begin(&a, "web", "bridge", &e), 0);
	CHECK_STR(e.msg, "");
	if (e.code)
		return;
	CHECK_STR(address_of(&a), "172.17.0.2");
	CHECK_INT(begin(&b, "other", "bridge", &e), 0);
	CHECK_STR(address_of(&b), "172.17.0.3");
	outside = serve(NULL, dk_host_gateway(arena), 18931, "host");
	loopback = serve(NULL, "127.0.0.1", 18932, "secret");
	CHECK(hears(&a, dk_host_gateway(arena), 18931, "host"));
	CHECK(hears(&b, dk_host_gateway(arena), 18931, "host"));
	CHECK(!hears(&a, dk_host_gateway(arena), 18932, "secret"));
	CHECK(!hears(&a, "127.0.0.1", 18932, "secret"));
	CHECK(!hears(&a, "172.17.0.1", 18932, "secret"));
	CHECK(!hears(&a, DK_EGRESS_GATEWAY, 18932, "secret"));
	server = serve(&a, "0.0.0.0", 80, "web");
	CHECK_INT(a.settings.bound.n, 1);
	port = (int)a.settings.bound.v[0].host_port;
	CHECK(hears(NULL, "127.0.0.1", port, "web"));
	CHECK(hears(NULL, "127.0.0.1", port, "web"));
	CHECK(hears(&b, "172.17.0.2", 80, "web"));
	end_process(outside);
	end_process(loopback);
	end_process(server);
	end(&a);
	CHECK(socket_at("127.0.0.1", port, false) < 0);
	end(&b);
	CHECK(no_holder("bridge"));
}

/* The text depends on who has the port. */
static void ports_taken(void)
{
	struct dk_port_rule rule = {.container_port = 80, .proto = "tcp", .published = true,
				    .host_ip = "127.0.0.1", .host_port = "18933"};
	struct guest a = {0}, b = {0};
	struct err e = {0};
	pid_t server = serve(NULL, "127.0.0.1", 18933, "x");

	make("in4", true);
	a.settings.ports.v = b.settings.ports.v = &rule;
	a.settings.ports.n = b.settings.ports.n = 1;
	CHECK(begin(&a, "p1", "in4", &e) < 0);
	CHECK(strstr(e.msg, "Error starting userland proxy: listen tcp4 127.0.0.1:18933: bind: address already "
			    "in use") != NULL);
	end_process(server);
	e = (struct err){0};
	CHECK_INT(begin(&a, "p1", "in4", &e), 0);
	CHECK_STR(e.msg, "");
	CHECK(begin(&b, "p2", "in4", &e) < 0);
	CHECK(strstr(e.msg, "Bind for 127.0.0.1:18933 failed: port is already allocated") != NULL);
	end(&b);
	end(&a);
	CHECK(no_holder("in4"));
}

/* A second network for a running container, and back. */
static void connect_later(void)
{
	struct guest a = {0}, b = {0};
	struct dk_endpoint second = {.network = "in6"};
	struct err e = {0};
	pid_t server;

	make("in5", true);
	make("in6", true);
	CHECK_INT(begin(&a, "a5", "in5", &e), 0);
	CHECK_INT(begin(&b, "b6", "in6", &e), 0);
	auto_close int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct dk_connecting c = {.id = a.id, .name = "a5", .endpoint = &second, .pidfd = a.child.pidfd,
				  .home = home};

	CHECK_INT(dk_connect(arena, &roots, &c, &e), 0);
	CHECK_STR(e.msg, "");
	server = serve(&b, "0.0.0.0", 80, "b6");
	CHECK(hears(&a, address_of(&b), 80, "b6"));
	struct dk_disconnecting d = {.id = a.id, .endpoint = &second};

	CHECK_INT(dk_disconnect(arena, &roots, &d, &e), 0);
	CHECK(!hears(&a, address_of(&b), 80, "b6"));
	end_process(server);
	end(&b);
	CHECK(no_holder("in6"));
	end(&a);
	CHECK(no_holder("in5"));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

int main(void)
{
	static const struct test tests[] = {TEST(records), TEST(internal_network), TEST(killed), TEST(bridge),
					    TEST(ports_taken), TEST(connect_later)};
	int bad;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 77;
	}
	snprintf(dir, sizeof(dir), "/tmp/brig-network-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	arena = arena_new();
	roots = (struct dk_roots){arena_printf(arena, "%s/data", dir), arena_printf(arena, "%s/run", dir)};
	mkdir(roots.data, 0700);
	bad = test_run(tests, sizeof(tests) / sizeof(tests[0]));
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	arena_free(arena);
	return bad;
}

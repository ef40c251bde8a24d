/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holder's life. It is cloned into a user and a pid namespace, then forks what runs pasta,
 * for that has to stay in the host's network namespace; only then it leaves that itself. pasta gets
 * the new one as an open descriptor: it drops the privilege to open it by a path.
 *
 * The user namespace has one id. On the host that is nobody, or the caller where only the caller may
 * open /dev/net/tun.
 */
#include "docker/network-holder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/procfs.h"
#include "base/str.h"
#include "base/sys.h"
#include "docker/netlink.h"
#include "docker/network-def.h"
#include "nsenter/idmap.h"
#include "nsenter/ns.h"
#include "nsenter/spawn.h"
#include "runtime/runtime.h"

#define BRIDGE "br0"
#define TAP "tap0"
#define TUN "/dev/net/tun"

#define PASTA "pasta, which gives networks a way out,"
enum { PASTA_MS = 10000, NOBODY = 65534, NETNS_FD = 3, GO_FD, PAUSE_MS = 50, PAUSE_MAX_MS = 10000,
       LONG_RUN_S = 10 };

struct making {
	const struct dk_holder_want *want;
	const char *pasta;
	int talk[2];     /* [0] the caller's, [1] the holder's */
	int held, use;   /* files of the directory */
	/* the holder's */
	int watch, nl;
	pid_t pasta_pid;
	int pasta_go, pasta_says;
};

/* ---- small things ---- */

void dk_close_all_but(int *fds, size_t n)
{
	unsigned next = 3;

	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && fds[k] < fds[k - 1]; k--) {
			int t = fds[k];

			fds[k] = fds[k - 1];
			fds[k - 1] = t;
		}
	for (size_t i = 0; i < n; i++) {
		if (fds[i] < (int)next)
			continue;
		if (fds[i] > (int)next)
			sys_close_range(next, (unsigned)fds[i] - 1, 0);
		next = (unsigned)fds[i] + 1;
	}
	sys_close_range(next, ~0u, 0);
}

void dk_no_stdio(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3 && fd >= 0; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

bool dk_port_name(const char *name, uint32_t *ret_address)
{
	if (name[0] != 'v' || strlen(name) != 9 || strspn(name + 1, "0123456789abcdef") != 8)
		return false;
	*ret_address = (uint32_t)strtoul(name + 1, NULL, 16);
	return true;
}

static void count_port(void *arg, int index, const char *name)
{
	uint32_t address;

	(void)index;
	if (dk_port_name(name, &address))
		(*(unsigned *)arg)++;
}

/* When they cannot be counted nobody may conclude that there is none. */
static unsigned count_ports(int nl)
{
	unsigned n = 0;

	return dk_nl_each(nl, count_port, &n) < 0 ? 1 : n;
}

unsigned dk_holder_ports(const struct dk_holder *h)
{
	return count_ports(h->nl);
}

/* ---- pasta ---- */

static const char *find_pasta(void)
{
	static const char *const places[] = {"/usr/bin/pasta", "/usr/local/bin/pasta"};
	const char *own = getenv("BRIG_PASTA");

	if (own && *own == '/')
		return access(own, X_OK) == 0 ? own : NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

/* Nothing of the host's loopback is mapped into the network or back; only IPv4 is there. */
static _Noreturn void exec_pasta(const struct making *m)
{
	char netns[32];
	const char *argv[40] = {
		m->pasta, "--foreground", "--quiet", "--ipv4-only", "--config-net", "--no-netns-quit",
		"--ns-ifname", TAP, "--address", DK_EGRESS_ADDRESS, "--netmask", DK_EGRESS_PREFIX,
		"--gateway", DK_EGRESS_GATEWAY, "--no-map-gw", "--tcp-ports", "none", "--udp-ports", "none",
		"--tcp-ns", "none", "--udp-ns", "none", "--no-dhcp", "--no-dhcpv6", "--no-ndp", "--no-ra",
		"--netns", netns,
	};
	size_t n = 0;

	snprintf(netns, sizeof(netns), "/proc/self/fd/%d", NETNS_FD);
	while (argv[n])
		n++;
	if (m->want->dns) {
		argv[n++] = "--dns-forward";
		argv[n++] = DK_DNS_ADDRESS;
	}
	execve(m->pasta, (char **)argv, (char *[]){"LC_ALL=C", NULL});
	dprintf(2, "exec %s: %s\n", m->pasta, err_name(errno));
	_exit(127);
}

/* The path of the network namespace comes through the pipe; it is opened as NETNS_FD. */
static void take_netns(int go)
{
	char path[64];
	ssize_t n;
	int fd;

	while ((n = read(go, path, sizeof(path) - 1)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		_exit(1); /* the holder gave up */
	path[n] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || dup2(fd, NETNS_FD) < 0) {
		dprintf(2, "open %s: %s\n", path, err_name(errno));
		_exit(1);
	}
	fcntl(NETNS_FD, F_SETFD, 0);
}

/* What the holder says when there is a way out. */
static bool is_ready(void)
{
	struct pollfd p = {.fd = GO_FD, .events = POLLIN};
	char c;

	return poll(&p, 1, 0) == 1 && read(GO_FD, &c, 1) == 1;
}

/*
 * Stays in the host's network namespace and runs pasta, again when that ends alone: a way out that has
 * been there comes back. go and says: ends of pipes.
 */
static _Noreturn void pasta_main(const struct making *m, int go, int says)
{
	unsigned pause_ms = PAUSE_MS;
	bool ready = false;

	dup2(says, 2);
	go = fcntl(go, F_DUPFD_CLOEXEC, GO_FD + 1); /* out of the way of NETNS_FD */
	take_netns(go);
	dup3(go, GO_FD, O_CLOEXEC);
	sys_close_range(GO_FD + 1, ~0u, 0);
	prctl(PR_SET_NAME, "brig-egress");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (;;) {
		time_t begin = time(NULL);
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			exec_pasta(m);
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		ready = ready || is_ready();
		if (pid > 0 && !ready)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
		if (time(NULL) - begin > LONG_RUN_S)
			pause_ms = PAUSE_MS;
		poll(NULL, 0, (int)pause_ms);
		pause_ms = pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms * 2;
	}
}

static int fork_pasta(struct making *m, struct err *e)
{
	int go[2], says[2];

	/* Non-blocking, for nobody reads it any more when the network works. */
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(says, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "make a pipe");
	m->pasta_pid = fork();
	if (m->pasta_pid < 0)
		return err_sys(e, "fork for pasta");
	if (m->pasta_pid == 0) {
		close(go[1]);
		pasta_main(m, go[0], says[1]);
	}
	close(go[0]);
	close(says[1]);
	m->pasta_go = go[1];
	m->pasta_says = says[0];
	return 0;
}

static int wait_for_pasta(struct making *m, struct err *e)
{
	auto_close int pidfd = sys_pidfd_open(m->pasta_pid, 0);
	struct pollfd p[2] = {{.fd = m->watch, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	char buf[8192];

	if (pidfd < 0)
		return err_sys(e, "watch pasta");
	while (!dk_nl_has_default_route(m->nl)) {
		int r = poll(p, 2, PASTA_MS);

		if (r < 0 && errno != EINTR)
			return err_sys(e, "wait for pasta");
		if (r == 0)
			return err_set(e, ETIMEDOUT, "pasta did not set up the network in %d seconds",
				       PASTA_MS / 1000);
		if (p[1].revents)
			return helper_failed(m->pasta_says, PASTA, e);
		if (p[0].revents && recv(m->watch, buf, sizeof(buf), MSG_DONTWAIT) < 0 &&
		    errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			return err_sys(e, "wait for pasta's route");
	}
	return 0;
}

static int start_pasta(struct making *m, struct err *e)
{
	char self[32], path[64];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1); /* the pid as /proc has it */
	int r;

	if (n <= 0)
		return err_sys(e, "read /proc/self");
	self[n] = 0;
	n = snprintf(path, sizeof(path), "/proc/%s/ns/net", self);
	if (io_write_all(m->pasta_go, path, (size_t)n) < 0)
		return helper_failed(m->pasta_says, PASTA, e);
	r = wait_for_pasta(m, e);
	if (r == 0 && write(m->pasta_go, "", 1) < 0)
		r = err_sys(e, "tell pasta's parent that the network has a way out");
	close(m->pasta_go);
	return r;
}

/* ---- the holder ---- */

static int nl_error(struct err *e, int r, const char *what)
{
	return err_set(e, -r, "%s: %s", what, err_name(-r));
}

static int make_bridge(struct making *m, struct err *e)
{
	const uint32_t g = m->want->gateway;
	const unsigned char mac[6] = {0x02, 0x42, (unsigned char)(g >> 24), (unsigned char)(g >> 16),
				      (unsigned char)(g >> 8), (unsigned char)g};
	int index, r;

	m->nl = dk_nl_watch(0);
	m->watch = dk_nl_watch(RTMGRP_LINK | RTMGRP_IPV4_ROUTE);
	if (m->nl < 0 || m->watch < 0)
		return nl_error(e, m->nl < 0 ? m->nl : m->watch, "make a netlink socket");
	r = ns_loopback_up(e);
	if (r < 0)
		return r;
	r = dk_nl_add_bridge(m->nl, BRIDGE, mac);
	if (r < 0)
		return nl_error(e, r, "make a bridge (kernel module bridge)");
	index = dk_nl_index(m->nl, BRIDGE);
	r = index > 0 ? dk_nl_add_address(m->nl, index, m->want->gateway, m->want->prefix) : -ENODEV;
	if (r == 0)
		r = dk_nl_up(m->nl, index);
	return r < 0 ? nl_error(e, r, "set up the bridge") : 0;
}

static int make_network(struct making *m, struct err *e)
{
	int r;

	if (m->want->egress && (r = fork_pasta(m, e)) < 0)
		return r;
	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(e, "make a network namespace");
	r = make_bridge(m, e);
	if (r < 0 || !m->want->egress)
		return r;
	r = io_write_value(AT_FDCWD, "/proc/sys/net/ipv4/ip_forward", "1");
	if (r < 0)
		return nl_error(e, r, "write /proc/sys/net/ipv4/ip_forward");
	r = dk_nl_masquerade(TAP);
	if (r < 0)
		return nl_error(e, r, "set up masquerading (kernel modules nf_tables, nft_masq)");
	return start_pasta(m, e);
}

/* Ends the process, and so the network, when no container is connected any more. */
static _Noreturn void hold(const struct making *m)
{
	struct pollfd p = {.fd = m->watch, .events = POLLIN};
	char buf[8192];

	for (;;) {
		if (count_ports(m->nl) == 0) {
			while (flock(m->use, LOCK_EX) < 0 && errno == EINTR)
				;
			if (count_ports(m->nl) == 0)
				_exit(0);
			flock(m->use, LOCK_UN);
		}
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			_exit(1);
		while (recv(m->watch, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
}

static void holder_main(void *arg)
{
	struct making *m = arg;
	int keep[] = {m->talk[1], m->held, m->use};
	struct err e = {0};
	char go;

	if (recv(m->talk[1], &go, 1, 0) != 1)
		_exit(1);
	dk_close_all_but(keep, sizeof(keep) / sizeof(keep[0]));
	dk_no_stdio();
	setsid();
	prctl(PR_SET_NAME, "brig-net");
	if (chdir("/") == 0 && ns_become_root(true, &e) == 0)
		make_network(m, &e);
	send(m->talk[1], &e, sizeof(e), MSG_NOSIGNAL);
	if (e.code)
		_exit(1);
	close(m->talk[1]);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for what pasta leaves */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	hold(m);
}

/* ---- starting one ---- */

static int write_maps(pid_t pid, bool egress, struct err *e)
{
	auto_close int procfs = procfs_open(e);
	bool tun = access(TUN, F_OK) == 0;
	struct stat st;
	uint32_t id;

	if (procfs < 0)
		return procfs;
	/* The tun driver's file is everybody's as a rule; where it is not, the holder needs an owner. */
	tun = !egress || (stat(TUN, &st) == 0 && (st.st_mode & 06) == 06);
	id = tun && geteuid() == 0 && procfs_initial_userns() ? NOBODY : 0;
	struct ns_idmap uid = {0, id ? id : geteuid(), 1}, gid = {0, id ? id : getegid(), 1};
	struct ns_idmaps maps = {&uid, 1, &gid, 1};

	return ns_write_maps(procfs, pid, &maps, ns_idmap_mode(&maps), e);
}

static int check_egress(struct making *m, struct err *e)
{
	int tun;

	if (!m->want->egress)
		return 0;
	m->pasta = find_pasta();
	if (!m->pasta)
		return err_set(e, ENOENT, "networks with a way out need pasta (package passt), which is not "
					  "installed; use --network none, or an --internal network");
	tun = open(TUN, O_RDWR | O_CLOEXEC);
	if (tun < 0)
		return err_set(e, errno, "networks with a way out need " TUN " (%s): its mode should be 0666, "
					 "as udev sets it; use --network none, or an --internal network",
			       err_name(errno));
	close(tun);
	return 0;
}

static int hear(const struct making *m, struct err *e)
{
	struct err got = {0};
	ssize_t n;

	while ((n = recv(m->talk[0], &got, sizeof(got), 0)) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(got))
		return err_set(e, EIO, "the network's holder ended");
	got.msg[sizeof(got.msg) - 1] = 0;
	return got.code ? err_set(e, got.code, "%s", got.msg) : 0;
}

static int spawn(struct making *m, struct dk_holder *ret, struct err *e)
{
	struct ns_spawn s = {.new_ns = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS,
			     .cgroup_fd = -1, .main = holder_main, .arg = m};
	auto_ns_child struct ns_child child = NS_CHILD_NONE;
	char pid[24];
	int r = ns_spawn(&s, &child, e);

	if (r < 0)
		return r;
	close(m->talk[1]);
	m->talk[1] = -1;
	r = write_maps(child.pid, m->want->egress, e);
	if (r < 0)
		return r;
	snprintf(pid, sizeof(pid), "%d\n", child.pid);
	if (ftruncate(m->held, 0) < 0 || pwrite(m->held, pid, strlen(pid), 0) < 0)
		return err_sys(e, "write %s/holder", m->want->dir);
	if (send(m->talk[0], "", 1, MSG_NOSIGNAL) != 1)
		return err_sys(e, "start the holder");
	r = hear(m, e);
	if (r < 0)
		return r;
	*ret = (struct dk_holder){.pid = child.pid, .pidfd = take_fd(&child.pidfd), .nl = -1};
	child = (struct ns_child)NS_CHILD_NONE;
	return 0;
}

int dk_holder_start(const struct dk_holder_want *want, struct dk_holder *ret, struct err *e)
{
	auto_close int held = dk_lock_file(want->dir, "holder", e);
	auto_close int use = held < 0 ? -1 : dk_lock_file(want->dir, "use", e);
	struct making m = {.want = want, .held = held, .use = use, .talk = {-1, -1}};
	int r;

	if (held < 0 || use < 0)
		return -e->code;
	r = check_egress(&m, e);
	if (r < 0)
		return r;
	if (flock(held, LOCK_EX | LOCK_NB) < 0)
		return err_sys(e, "lock %s/holder", want->dir);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, m.talk) < 0)
		return err_sys(e, "make a socket pair");
	r = spawn(&m, ret, e);
	cleanup_close(&m.talk[0]);
	cleanup_close(&m.talk[1]);
	return r;
}

/* ---- finding and ending one ---- */

static bool is_free(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return false;
	flock(fd, LOCK_UN);
	return true;
}

int dk_holder_find(const char *dir, struct dk_holder *ret, struct err *e)
{
	char path[4096], text[24];
	auto_close int fd = -1, pidfd = -1;
	uint64_t pid;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/holder", dir) >= sizeof(path))
		return err_set(e, ENAMETOOLONG, "open %s/holder: %s", dir, err_name(ENAMETOOLONG));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", path);
	if (is_free(fd))
		return 0;
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 1)
		return 0; /* it is only being started, or its starter died */
	text[n - 1] = 0;
	if (str_u64(text, INT32_MAX, &pid) < 0)
		return err_set(e, EINVAL, "%s does not hold a pid", path);
	pidfd = sys_pidfd_open((pid_t)pid, 0);
	/* Only a living holder has the lock, so the number was its own when the pidfd was made. */
	if (pidfd < 0 || is_free(fd))
		return 0;
	*ret = (struct dk_holder){.pid = (pid_t)pid, .pidfd = take_fd(&pidfd), .nl = -1};
	return 1;
}

int dk_holder_connect(struct dk_holder *h, int home, struct err *e)
{
	int nl = dk_nl_open(h->pidfd, dk_net_nested() ? -1 : home, NULL);

	if (nl < 0)
		return nl_error(e, nl, "enter the network's namespace");
	h->nl = nl;
	h->bridge = dk_nl_index(nl, BRIDGE);
	return h->bridge > 0 ? 0 : err_set(e, ENODEV, "the network has no bridge");
}

void dk_holder_stop(struct dk_holder *h)
{
	struct pollfd p = {.fd = h->pidfd, .events = POLLIN};

	if (sys_pidfd_send_signal(h->pidfd, SIGKILL) < 0)
		return;
	while (poll(&p, 1, PASTA_MS) < 0 && errno == EINTR)
		;
	waitpid(h->pid, NULL, WNOHANG); /* it may be a child of ours */
}

void dk_holder_close(struct dk_holder *h)
{
	cleanup_close(&h->pidfd);
	cleanup_close(&h->nl);
	h->pid = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order in the minder: pasta's process is forked while it is still in our network namespace, where
 * pasta has its sockets; then it joins the sandbox's, sets the rules, and only then lets pasta make the
 * device: there is no moment with a device and without rules.
 */
#include "runtime/sandbox-net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/ns.h"

#define TAP "out0"
#define NETNS_FD 3
enum { PASTA_MS = 10000 };

struct minder {
	const char *ports, *pasta, *nft;
	int netns;     /* the sandbox's */
	int talk;      /* the caller hears from us: a struct err */
};

static const char *find_program(const char *const *places)
{
	for (; *places; places++)
		if (access(*places, X_OK) == 0)
			return *places;
	return NULL;
}

/* ---- the minder's children ---- */

/* Its standard error is a pipe of ours: *ret_says. in: its standard input, or -1. */
static pid_t start(const char *const *argv, int in, int *ret_says, int go)
{
	int says[2];
	pid_t pid;
	char c;

	if (pipe2(says, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (go >= 0 && read(go, &c, 1) != 1)
			_exit(1);
		if (in >= 0)
			dup2(in, 0);
		dup2(says[1], 1);
		dup2(says[1], 2);
		execve(argv[0], (char **)argv, (char *[]){(char *)"LC_ALL=C", NULL});
		dprintf(2, "exec %s: %s\n", argv[0], err_name(errno));
		_exit(127);
	}
	close(says[1]);
	*ret_says = says[0];
	return pid;
}

static int set_rules(const struct minder *m, struct err *e)
{
	const char *const argv[] = {m->nft, "-f", "-", NULL};
	auto_close int says = -1, in = -1, out = -1;
	int p[2], status = 0;
	pid_t pid;

	if (str_eq(m->ports, "all"))
		return 0;
	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, "ports: make a pipe");
	in = p[0];
	out = p[1];
	dprintf(out,
		"table inet brig {\n"
		"chain out {\n"
		"type filter hook output priority 0\n"
		"policy drop\n"
		"oifname \"lo\" accept\n"
		"ip daddr " SANDBOX_DNS_ADDRESS " meta l4proto { tcp, udp } th dport 53 accept\n"
		"tcp dport { %s } accept\n"
		"meta l4proto tcp reject with tcp reset\n"
		"reject\n"
		"}\n}\n", m->ports);
	cleanup_close(&out);
	pid = start(argv, in, &says, -1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err_sys(e, "ports: run nft");
	return status ? helper_failed(says, "ports: nft, which sets the rules,", e) : 0;
}

/* Link-local addresses are the machine's own affair: behind 169.254.169.254 clouds give its credentials to
 * whoever asks. Not a rule of nft, so that it holds with "all" as well. */
static int close_link_local(struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr to;
		unsigned char address[4];
	} q = {
		.head = {sizeof(q), RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 1, 0},
		.route = {.rtm_family = AF_INET, .rtm_dst_len = 16, .rtm_table = RT_TABLE_MAIN,
			  .rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_UNREACHABLE},
		.to = {RTA_LENGTH(4), RTA_DST},
		.address = {169, 254, 0, 0},
	};
	struct { struct nlmsghdr head; struct nlmsgerr error; char rest[256]; } answer = {.error = {.error = -EIO}};
	auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q) ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		return err_sys(e, "ports: close the link-local addresses");
	return answer.error.error == 0 ? 0 : err_set(e, -answer.error.error, "ports: close the link-local addresses: "
						     "%s", err_name(-answer.error.error));
}

/* Nothing of the host's loopback is mapped into the network or back; only IPv4 is there. */
static pid_t fork_pasta(const struct minder *m, int go, int *ret_says)
{
	const char *const argv[] = {
		m->pasta, "--foreground", "--quiet", "--ipv4-only", "--config-net", "--no-netns-quit",
		"--ns-ifname", TAP, "--address", "192.0.0.2", "--netmask", "29", "--gateway", "192.0.0.1",
		"--no-map-gw", "--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns",
		"none", "--no-dhcp", "--no-dhcpv6", "--no-ndp", "--no-ra", "--dns-forward",
		SANDBOX_DNS_ADDRESS, "--netns", "/proc/self/fd/3", NULL,
	};

	return start(argv, -1, ret_says, go);
}

/* ---- the minder ---- */

static bool has_address(int fd)
{
	struct ifreq r = {.ifr_name = TAP};

	return ioctl(fd, SIOCGIFADDR, &r) == 0 && ioctl(fd, SIOCGIFFLAGS, &r) == 0 &&
	       (r.ifr_flags & IFF_UP);
}

/* A route comes last. */
static int wait_for_pasta(pid_t pid, int says, int watch, struct err *e)
{
	auto_close int pidfd = sys_pidfd_open(pid, 0), fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p[2] = {{.fd = watch, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	bool routed = false;
	char buf[8192];

	while (!routed || !has_address(fd)) {
		int r = poll(p, 2, PASTA_MS);

		if (r == 0)
			return err_set(e, ETIMEDOUT, "ports: pasta did not set up the network in %d seconds",
				       PASTA_MS / 1000);
		if (p[1].revents)
			return helper_failed(says, "ports: pasta, which gives a way out,", e);
		while (recv(watch, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			routed |= ((struct nlmsghdr *)(void *)buf)->nlmsg_type == RTM_NEWROUTE;
	}
	return 0;
}

static int watch_routes(struct err *e)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_IFADDR};
	auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return err_sys(e, "ports: make a netlink socket");
	return take_fd(&fd);
}

static int set_up(const struct minder *m, struct err *e)
{
	auto_close int watch = -1;
	int go[2], says = -1, r;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(e, "ports: make a pipe");
	pid = fork_pasta(m, go[0], &says);
	if (pid < 0)
		return err_sys(e, "ports: fork");
	if (setns(m->netns, CLONE_NEWNET) < 0)
		return err_sys(e, "ports: enter the sandbox's network");
	if (close_link_local(e) < 0)
		return -e->code;
	watch = watch_routes(e);
	r = watch < 0 ? watch : set_rules(m, e);
	if (r < 0)
		return r;
	if (write(go[1], "", 1) != 1)
		return err_sys(e, "ports: start pasta");
	return wait_for_pasta(pid, says, watch, e);
}

/* Descriptor 3 stays open over the exec of pasta: it drops what it would need to open it by name. */
static void minder_main(void *arg)
{
	struct minder *m = arg;
	struct err e = {0};
	int talk = fcntl(m->talk, F_DUPFD_CLOEXEC, 10), netns = fcntl(m->netns, F_DUPFD_CLOEXEC, 10);

	dup2(netns, NETNS_FD);
	m->netns = NETNS_FD;
	sys_close_range(4, (unsigned)(talk < netns ? talk : netns) - 1, 0);
	setsid();
	prctl(PR_SET_NAME, "brig-ports");
	if (chdir("/") < 0)
		_exit(1);
	if (ns_become_root(true, &e) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* behind the change of ids, which clears it */
		set_up(m, &e);
	}
	if (send(talk, &e, sizeof(e), MSG_NOSIGNAL) < 0 || e.code)
		_exit(1);
	close(talk);
	while (wait(NULL) > 0 || errno == EINTR)
		; /* until pasta has ended */
	_exit(1);
}

/* ---- the caller ---- */

static int find_programs(struct minder *m, struct err *e)
{
	static const char *const pasta[] = {"/usr/bin/pasta", "/usr/local/bin/pasta", NULL};
	static const char *const nft[] = {"/usr/sbin/nft", "/usr/bin/nft", "/sbin/nft", NULL};

	m->pasta = find_program(pasta);
	m->nft = find_program(nft);
	if (!m->pasta)
		return err_set(e, ENOENT, "ports: a way out needs pasta (package passt), which is not installed");
	if (!m->nft && !str_eq(m->ports, "all"))
		return err_set(e, ENOENT, "ports: the rules need nft (package nftables), which is not installed");
	return 0;
}

static int hear(int fd, struct err *e)
{
	struct err got = {0};
	ssize_t n;

	while ((n = recv(fd, &got, sizeof(got), 0)) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(got))
		return err_set(e, EIO, "ports: the process that minds the network ended");
	got.msg[sizeof(got.msg) - 1] = '\0';
	return got.code ? err_set(e, got.code, "%s", got.msg) : 0;
}

int sandbox_net_connect(struct sandbox_net *n, const struct ns_child *init, struct err *e)
{
	struct minder m = {.ports = n->ports};
	struct ns_join join = {CLONE_NEWUSER, init->pidfd, "the sandbox's user namespace"};
	auto_close int netns = -1, ours = -1, theirs = -1;
	char path[64];
	int pair[2], r = find_programs(&m, e);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", init->pid);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "ports: open %s", path);
	ours = pair[0];
	theirs = pair[1];
	m.netns = netns;
	m.talk = theirs;
	r = ns_spawn(&(struct ns_spawn){
		.new_ns = CLONE_NEWPID, .joins = &join, .n_joins = 1, .cgroup_fd = -1,
		.keep_fds = (int[]){netns, theirs}, .n_keep_fds = 2, .main = minder_main, .arg = &m,
	}, &n->minder, e);
	if (r < 0)
		return r;
	cleanup_close(&theirs);
	r = hear(ours, e);
	if (r < 0)
		sandbox_net_end(n);
	return r;
}

void sandbox_net_end(struct sandbox_net *n)
{
	ns_child_kill(&n->minder);
	n->minder = (struct ns_child)NS_CHILD_NONE;
}

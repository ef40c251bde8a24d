/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of other network namespaces. A socket stays in the namespace in which it was made, whoever
 * has it, so nobody has to be there for long. Inside a user namespace there is no way back into the
 * host's network namespace; then a child goes, and does not come back.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/netlink.h"
#include "nsenter/rtnl.h"

enum { SOCKET, NETNS, OPENED };

/* In the caller's thread; what is open stays so on failure. */
static int open_there(int pidfd, int fds[OPENED])
{
	if (setns(pidfd, CLONE_NEWNET) < 0)
		return -errno;
	fds[SOCKET] = rtnl_open();
	if (fds[SOCKET] < 0)
		return fds[SOCKET];
	fds[NETNS] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return fds[NETNS] < 0 ? -errno : 0;
}

struct message {
	int result;
	struct iovec iov;
	struct msghdr header;
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(OPENED * sizeof(int))];
	} control;
};

static void prepare(struct message *m)
{
	m->iov = (struct iovec){&m->result, sizeof(m->result)};
	m->header = (struct msghdr){.msg_iov = &m->iov, .msg_iovlen = 1, .msg_control = m->control.bytes,
				    .msg_controllen = sizeof(m->control.bytes)};
}

static _Noreturn void child_main(int pidfd, int talk)
{
	struct message m = {.result = 0};
	int fds[OPENED] = {-1, -1};

	m.result = open_there(pidfd, fds);
	prepare(&m);
	if (m.result == 0) {
		m.control.h = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fds)), .cmsg_level = SOL_SOCKET,
					       .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&m.control.h), fds, sizeof(fds));
	} else {
		m.header.msg_controllen = 0;
	}
	sendmsg(talk, &m.header, MSG_NOSIGNAL);
	_exit(0);
}

static int receive(int talk, int fds[OPENED])
{
	struct message m = {.result = 0};
	struct cmsghdr *c;

	prepare(&m);
	if (recvmsg(talk, &m.header, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(m.result))
		return -EIO;
	c = CMSG_FIRSTHDR(&m.header);
	if (m.result < 0)
		return m.result;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(OPENED * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), OPENED * sizeof(int));
	return 0;
}

static int open_by_child(int pidfd, int fds[OPENED])
{
	int talk[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child_main(pidfd, talk[1]);
	close(talk[1]);
	r = pid < 0 ? -errno : receive(talk[0], fds);
	close(talk[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

int dk_nl_open(int pidfd, int home, int *ret_netns)
{
	int fds[OPENED] = {-1, -1};
	int r = home < 0 ? open_by_child(pidfd, fds) : open_there(pidfd, fds);

	if (home >= 0 && setns(home, CLONE_NEWNET) < 0)
		abort(); /* nothing may go on in the wrong namespace */
	if (r == 0 && ret_netns)
		*ret_netns = take_fd(&fds[NETNS]);
	cleanup_close(&fds[NETNS]);
	if (r < 0)
		cleanup_close(&fds[SOCKET]);
	return r < 0 ? r : fds[SOCKET];
}

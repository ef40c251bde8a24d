/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write is both the signal to the thread and the wait for it: the pipe holds one page, the
 * caller writes three. The thread reads the first when the descriptor is there, sends it, and then
 * reads the rest; only that lets the write return.
 *
 * The thread is not waited for otherwise: it belongs to the process and dies with its exec. The
 * kernel binds it to the filter only with SECCOMP_FILTER_FLAG_TSYNC, which is not to be used.
 */
#include "nsenter/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/raw.h"

enum { PAGES = 3 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_SANITIZE __attribute__((no_sanitize("address", "undefined")))
#endif
#endif
#ifndef NO_SANITIZE
#define NO_SANITIZE __attribute__((no_sanitize_address, no_sanitize_undefined))
#endif

/* In the thread: raw calls, no libc, nothing thread-local. */
NO_SANITIZE static int send_fd(const struct ns_handover *h)
{
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {.h = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			   .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {(void *)"f", 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	long r;

	*(int *)(void *)CMSG_DATA(&control.h) = h->fd;
	do
		r = raw_call(SYS_sendmsg, h->socket, (long)&m, MSG_NOSIGNAL);
	while (r == -EINTR);
	return r < 0 ? (int)-r : 0;
}

NO_SANITIZE static void thread_main(void *arg)
{
	struct ns_handover *h = arg;
	char *buf = h->stack.base; /* the lower end of our stack, far from where we are */
	size_t left = (size_t)PAGES * h->page;
	long n = raw_read(h->tell[0], buf, h->page);

	if (n > 0 && h->fd >= 0)
		h->error = send_fd(h);
	while (n > 0 && (left -= (size_t)n) > 0)
		n = raw_read(h->tell[0], buf, left < h->page ? left : h->page);
	if (n < 0) /* without a reader the write fails; with one that is gone it would wait for ever */
		raw_close(h->tell[0]);
}

static int make_pipe(struct ns_handover *h, struct err *e)
{
	int size;

	if (pipe2(h->tell, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	size = fcntl(h->tell[1], F_SETPIPE_SZ, (int)sysconf(_SC_PAGESIZE));
	if (size < 0) {
		err_sys(e, "set the size of a pipe");
		cleanup_close(&h->tell[0]);
		cleanup_close(&h->tell[1]);
		return -e->code;
	}
	h->page = (unsigned)size;
	return 0;
}

int ns_handover_begin(struct ns_handover *h, int socket, struct err *e)
{
	const struct clone_start start = {.main = thread_main, .arg = h};
	int r;
	long tid;

	*h = (struct ns_handover){.socket = socket, .tell = {-1, -1}, .fd = -1};
	r = make_pipe(h, e);
	if (r < 0)
		return r;
	r = clone_buffer_map(&h->stack, (size_t)(PAGES + 1) * h->page);
	tid = r < 0 ? r : clone_thread(&start, &h->stack, NULL);
	if (tid > 0)
		return 0;
	clone_stack_unmap(&h->stack);
	cleanup_close(&h->tell[0]);
	cleanup_close(&h->tell[1]);
	return err_set(e, (int)-tid, "make a thread: %s", err_name((int)-tid));
}

int ns_handover_end(struct ns_handover *h, int fd, struct err *e)
{
	const char *from = h->stack.base;
	size_t left = (size_t)PAGES * h->page;
	long n = 0;

	h->fd = fd;
	while (left > 0) { /* being frozen can make it short */
		n = raw_call(SYS_write, h->tell[1], (long)from, (long)left);
		if (n < 0 && n != -EINTR)
			return err_set(e, (int)-n, "write to the thread that hands it over: %s (does the "
				       "seccomp profile allow `write`?)", err_name((int)-n));
		left -= n > 0 ? (size_t)n : 0;
	}
	return h->error ? err_set(e, h->error, "send it: %s", err_name(h->error)) : 0;
}

void ns_handover_free(struct ns_handover *h)
{
	clone_stack_unmap(&h->stack);
	h->stack.base = NULL;
}

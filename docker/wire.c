/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { BACKLOG = 16, CHUNK = 16 << 10 };

static const char name[] = "control";

void dk_frame_put(struct strbuf *b, enum dk_frame_kind kind, const void *data, size_t n)
{
	do {
		size_t have = n < DK_FRAME_MAX ? n : DK_FRAME_MAX;

		strbuf_addc(b, (char)kind);
		for (int i = 0; i < 4; i++)
			strbuf_addc(b, (char)(have >> 8 * i & 0xff));
		if (have)
			strbuf_add(b, data, have);
		data = (const char *)data + have;
		n -= have;
	} while (n > 0);
}

int dk_frame_peek(const struct strbuf *b, struct dk_frame *ret)
{
	const unsigned char *p = (const unsigned char *)b->p;
	size_t n = 0;

	if (b->len < DK_FRAME_HEADER)
		return 0;
	for (int i = 0; i < 4; i++)
		n |= (size_t)p[1 + i] << 8 * i;
	if (n > DK_FRAME_MAX)
		return -EPROTO;
	if (b->len < DK_FRAME_HEADER + n)
		return 0;
	*ret = (struct dk_frame){(enum dk_frame_kind)p[0], p + DK_FRAME_HEADER, n};
	return 1;
}

void dk_strbuf_drop(struct strbuf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->p, b->p + n, b->len - n);
	b->len -= n;
}

void dk_frame_drop(struct strbuf *b, const struct dk_frame *f)
{
	dk_strbuf_drop(b, DK_FRAME_HEADER + f->n);
}

int dk_wire_read(int fd, struct strbuf *b)
{
	char buf[CHUNK];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	if (n == 0)
		return -EPIPE;
	strbuf_add(b, buf, (size_t)n);
	return 1;
}

int dk_wire_write(int fd, struct strbuf *b)
{
	while (b->len) {
		ssize_t n = send(fd, b->p, b->len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		dk_strbuf_drop(b, (size_t)n);
	}
	return 0;
}

/* By descriptor: the path may be longer than a socket's address. */
static void address(struct sockaddr_un *a, int dir)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/%s", dir, name);
}

int dk_wire_connect(const char *run_dir)
{
	auto_close int dir = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;

	if (dir < 0 || fd < 0)
		return -errno;
	address(&a, dir);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : take_fd(&fd);
}

int dk_wire_listen(int dir, struct err *e)
{
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	mode_t mask;
	int r;

	if (fd < 0)
		return err_sys(e, "make the control socket");
	unlinkat(dir, name, 0);
	address(&a, dir);
	mask = umask(077);
	r = bind(fd, (struct sockaddr *)&a, sizeof(a));
	umask(mask);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, "make the control socket");
	return take_fd(&fd);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/str.h"
#include "docker/wire.h"
#include "nsenter/signals.h"

enum { INPUT, WIRE, SIGNALS, SOURCES };
enum { CHUNK = 16 << 10, PENDING_MAX = 256 << 10 };

/* ---- the loop ---- */

struct session {
	struct dk_attachment *a;
	struct strbuf in, out; /* from the wire, to the wire */
	size_t held;           /* of the keys */
	int sigfd, code;
	bool ended, detached;
};

static void send_size(struct session *s)
{
	struct winsize ws;
	unsigned char data[4];

	if (!s->a->tty || ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) < 0)
		return;
	data[0] = (unsigned char)(ws.ws_row & 0xff);
	data[1] = (unsigned char)(ws.ws_row >> 8);
	data[2] = (unsigned char)(ws.ws_col & 0xff);
	data[3] = (unsigned char)(ws.ws_col >> 8);
	dk_frame_put(&s->out, DK_FRAME_SIZE, data, sizeof(data));
}

static void type(struct session *s, const unsigned char *data, size_t n)
{
	auto_strbuf struct strbuf b = {0};

	s->detached = dk_keys_type(&s->a->keys, &s->held, (struct dk_bytes){data, n}, &b);
	if (b.len)
		dk_frame_put(&s->out, DK_FRAME_INPUT, b.p, b.len);
	if (s->detached)
		dk_frame_put(&s->out, DK_FRAME_DETACH, NULL, 0);
}

static void read_input(struct session *s)
{
	unsigned char buf[CHUNK];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		type(s, buf, (size_t)n);
		return;
	}
	s->a->input = false;
	dk_frame_put(&s->out, DK_FRAME_INPUT_END, NULL, 0);
}

static int print(int fd, const struct dk_frame *f, const char *name, struct err *e)
{
	int r = io_write_all(fd, f->data, f->n);

	return r < 0 ? err_set(e, -r, "write /dev/%s: %s", name, r == -EPIPE ? "broken pipe" : err_name(-r)) : 0;
}

static int obey(struct session *s, const struct dk_frame *f, struct err *e)
{
	switch (f->kind) {
	case DK_FRAME_OUTPUT:
		return s->a->output ? print(STDOUT_FILENO, f, "stdout", e) : 0;
	case DK_FRAME_ERROR:
		return s->a->error ? print(STDERR_FILENO, f, "stderr", e) : 0;
	case DK_FRAME_EXIT:
		s->ended = true;
		for (size_t i = 0; i < 4 && i < f->n; i++)
			s->code |= f->data[i] << 8 * i;
		return 0;
	default:
		return 0;
	}
}

static int read_wire(struct session *s, struct err *e)
{
	struct dk_frame f;
	int r = dk_wire_read(s->a->socket, &s->in), have;

	while ((have = dk_frame_peek(&s->in, &f)) > 0) {
		if (obey(s, &f, e) < 0)
			return -e->code;
		dk_frame_drop(&s->in, &f);
	}
	if (r < 0 && !s->ended)
		return err_set(e, ECONNRESET, "the monitor of the container was killed");
	return 0;
}

static void read_signals(struct session *s)
{
	int sig;

	while ((sig = ns_signals_next(s->sigfd)) > 0) {
		unsigned char n = (unsigned char)sig;

		if (sig == SIGWINCH)
			send_size(s);
		else if (s->a->proxy && sig != SIGURG)
			dk_frame_put(&s->out, DK_FRAME_SIGNAL, &n, 1);
	}
}

static int loop(struct session *s, struct err *e)
{
	while (!s->ended && !(s->detached && !s->out.len)) {
		bool takes = s->a->input && !s->detached && s->out.len < PENDING_MAX;
		struct pollfd p[SOURCES] = {
			[INPUT] = {takes ? STDIN_FILENO : -1, POLLIN, 0},
			[WIRE] = {s->a->socket, (short)(POLLIN | (s->out.len ? POLLOUT : 0)), 0},
			[SIGNALS] = {s->sigfd, POLLIN, 0},
		};

		if (poll(p, SOURCES, -1) < 0 && errno != EINTR)
			return err_sys(e, "wait for the container");
		if (p[INPUT].revents)
			read_input(s);
		if (p[SIGNALS].revents)
			read_signals(s);
		if (p[WIRE].revents & (POLLIN | POLLHUP | POLLERR) && read_wire(s, e) < 0)
			return -e->code;
		if (!s->ended && dk_wire_write(s->a->socket, &s->out) < 0 && s->detached)
			break;
	}
	return 0;
}

static bool make_raw(const struct dk_attachment *a, struct termios *saved)
{
	struct termios raw;

	if (!a->tty || !a->input || tcgetattr(STDIN_FILENO, saved) < 0)
		return false;
	raw = *saved;
	cfmakeraw(&raw);
	return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

int dk_attach(struct dk_attachment *a, struct err *e)
{
	struct session s = {.a = a, .sigfd = -1};
	auto_close int sigfd = -1;
	struct termios saved;
	bool raw;
	int r = 0;

	if (a->proxy || a->tty)
		r = sigfd = s.sigfd = ns_signals_open(NULL, e);
	if (r < 0)
		return r;
	raw = make_raw(a, &saved);
	send_size(&s);
	r = loop(&s, e);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	cleanup_close(&a->socket);
	strbuf_free(&s.in);
	strbuf_free(&s.out);
	if (r < 0)
		return r;
	return s.ended ? s.code : DK_DETACHED;
}

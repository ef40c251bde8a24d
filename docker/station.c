/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that does not read holds the container up, as Docker's does: while more than PENDING_MAX
 * bytes wait for one, no output is read. The same the other way round for input.
 */
#include "docker/station.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sys.h"
#include "docker/streams.h"

enum { PENDING_MAX = 256 << 10, CHUNK = 16 << 10, FAREWELL_SECONDS = 5 };
enum { OUT, ERR, MASTER, INPUT, SIGNALS, EXITED, LISTENER, TASK, CLIENTS, SOURCES = CLIENTS + DK_CLIENTS_MAX };

uint64_t dk_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- clients ---- */

static void drop_client(struct dk_station *s, struct dk_client *c)
{
	if ((c->flags & DK_ATTACH_OWNER) && c->fd >= 0)
		s->owner_left = true;
	if ((c->flags & DK_ATTACH_INPUT) && s->k->record->config.stdin_once)
		s->input_ended = true;
	cleanup_close(&c->fd);
	strbuf_free(&c->in);
	strbuf_free(&c->out);
	*c = (struct dk_client){.fd = -1};
}

static void add_client(struct dk_station *s, int fd, unsigned flags)
{
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++)
		if (s->clients[i].fd < 0) {
			s->clients[i] = (struct dk_client){.fd = fd, .flags = flags};
			return;
		}
	close(fd); /* too many */
}

static void flush_client(struct dk_station *s, struct dk_client *c)
{
	if (c->fd >= 0 && dk_wire_write(c->fd, &c->out) < 0)
		drop_client(s, c);
}

static void give_out(struct dk_station *s, int stream, const char *data, size_t n)
{
	unsigned wanted = stream ? DK_ATTACH_ERROR : DK_ATTACH_OUTPUT;

	dk_log_write(&s->log, stream, data, n);
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++) {
		struct dk_client *c = &s->clients[i];

		if (c->fd < 0 || !(c->flags & wanted))
			continue;
		dk_frame_put(&c->out, stream ? DK_FRAME_ERROR : DK_FRAME_OUTPUT, data, n);
		flush_client(s, c);
	}
}

static bool has_room(const struct dk_station *s)
{
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++)
		if (s->clients[i].out.len > PENDING_MAX)
			return false;
	return true;
}

static void set_size(struct dk_station *s, const struct dk_frame *f)
{
	struct winsize ws = {0};

	if (f->n != 4 || s->master < 0)
		return;
	ws.ws_row = (unsigned short)(f->data[0] | f->data[1] << 8);
	ws.ws_col = (unsigned short)(f->data[2] | f->data[3] << 8);
	ioctl(s->master, TIOCSWINSZ, &ws);
}

static void obey(struct dk_station *s, struct dk_client *c, const struct dk_frame *f)
{
	switch (f->kind) {
	case DK_FRAME_ATTACH:
		c->flags = f->n ? f->data[0] : 0;
		break;
	case DK_FRAME_INPUT:
		if ((c->flags & DK_ATTACH_INPUT) && !s->input_ended)
			strbuf_add(&s->input, f->data, f->n);
		break;
	case DK_FRAME_INPUT_END:
		s->input_ended |= (c->flags & DK_ATTACH_INPUT) && s->k->record->config.stdin_once;
		break;
	case DK_FRAME_SIZE:
		set_size(s, f);
		break;
	case DK_FRAME_SIGNAL:
		if (f->n && s->k->launch.pidfd >= 0)
			sys_pidfd_send_signal(s->k->launch.pidfd, f->data[0]);
		break;
	case DK_FRAME_DETACH:
		c->flags = 0;
		break;
	case DK_FRAME_WAKE:
		s->woken = true;
		break;
	default:
		break;
	}
}

static void serve_client(struct dk_station *s, struct dk_client *c, short revents)
{
	struct dk_frame f;
	int r = 1;

	if (revents & POLLOUT)
		flush_client(s, c);
	if (c->fd < 0 || !(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	r = dk_wire_read(c->fd, &c->in);
	for (int have; r >= 0 && (have = dk_frame_peek(&c->in, &f)) != 0;) {
		if (have < 0) {
			r = have;
			break;
		}
		obey(s, c, &f);
		dk_frame_drop(&c->in, &f);
	}
	if (r < 0)
		drop_client(s, c);
}

/* ---- the container's side ---- */

static bool read_output(struct dk_station *s, int fd, int stream)
{
	char buf[CHUNK];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) /* EIO: nobody has the terminal any more */
		return false;
	give_out(s, stream, buf, (size_t)n);
	return true;
}

static int input_fd(const struct dk_station *s)
{
	return s->master >= 0 ? s->master : s->in[1];
}

static void write_input(struct dk_station *s)
{
	int fd = input_fd(s);
	ssize_t n = s->input.len && fd >= 0 ? write(fd, s->input.p, s->input.len) : 0;

	if (n > 0)
		dk_strbuf_drop(&s->input, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		s->input.len = 0; /* it reads no more */
	if (s->input_ended && !s->input.len)
		cleanup_close(&s->in[1]);
}

static void take_signals(struct dk_station *s)
{
	while (ns_signals_next(s->sigfd) > 0)
		; /* the monitor is nobody's to stop: `docker stop` is */
}

static void accept_client(struct dk_station *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		add_client(s, fd, 0);
}

/* ---- the loop ---- */

static void fill(struct dk_station *s, struct pollfd *p, bool exited)
{
	short output = exited || has_room(s) ? POLLIN : 0;

	p[OUT] = (struct pollfd){output ? s->out[0][0] : -1, output, 0};
	p[ERR] = (struct pollfd){output ? s->out[1][0] : -1, output, 0};
	p[MASTER] = (struct pollfd){s->master, output, 0};
	p[INPUT] = (struct pollfd){s->input.len || s->input_ended ? input_fd(s) : -1, POLLOUT, 0};
	p[SIGNALS] = (struct pollfd){s->sigfd, POLLIN, 0};
	p[LISTENER] = (struct pollfd){s->listener, POLLIN, 0};
	p[TASK] = (struct pollfd){s->task ? s->task->fd : -1, POLLIN, 0};
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++) {
		struct dk_client *c = &s->clients[i];
		short in = s->input.len < PENDING_MAX ? POLLIN : 0;

		p[CLIENTS + i] = (struct pollfd){c->fd, (short)(in | (c->out.len ? POLLOUT : 0)), 0};
	}
}

static void handle(struct dk_station *s, const struct pollfd *p)
{
	if (p[OUT].revents && !read_output(s, s->out[0][0], 0))
		cleanup_close(&s->out[0][0]);
	if (p[ERR].revents && !read_output(s, s->out[1][0], 1))
		cleanup_close(&s->out[1][0]);
	if ((p[MASTER].revents & (POLLIN | POLLHUP | POLLERR)) && !read_output(s, s->master, 0))
		cleanup_close(&s->master);
	if (p[SIGNALS].revents)
		take_signals(s);
	if (p[LISTENER].revents)
		accept_client(s);
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++)
		if (p[CLIENTS + i].revents && p[CLIENTS + i].fd >= 0)
			serve_client(s, &s->clients[i], p[CLIENTS + i].revents);
	if (s->input.len || s->input_ended)
		write_input(s);
}

static int task_timeout(const struct dk_station *s)
{
	uint64_t now = dk_now();

	if (!s->task || !s->task->due)
		return -1;
	return s->task->due <= now ? 0 : (int)((s->task->due - now) / 1000000) + 1;
}

static void run_task(struct dk_station *s, const struct pollfd *p)
{
	if (s->task && (p[TASK].revents || (s->task->due && s->task->due <= dk_now())))
		s->task->run(s->task, s);
}

int dk_station_run(struct dk_station *s, struct ns_exit *ret_exit, struct err *e)
{
	struct pollfd p[SOURCES];
	bool exited = false;

	if (s->k->launch.console_master >= 0)
		s->master = take_fd(&s->k->launch.console_master);
	if (s->master >= 0)
		fcntl(s->master, F_SETFL, O_RDWR | O_NONBLOCK);
	cleanup_close(&s->out[0][1]);
	cleanup_close(&s->out[1][1]);
	cleanup_close(&s->in[0]);
	for (;;) {
		int n;

		fill(s, p, exited);
		p[EXITED] = (struct pollfd){exited ? -1 : s->k->launch.pidfd, POLLIN, 0};
		if (exited) /* what is left of output, without waiting for those who hold it open */
			for (int i = INPUT; i < SOURCES; i++)
				p[i].fd = -1;
		n = poll(p, SOURCES, exited ? 0 : task_timeout(s));
		if (n < 0 && errno != EINTR)
			return err_sys(e, "wait for the container");
		if (exited && n <= 0)
			break;
		handle(s, p);
		if (!exited)
			run_task(s, p);
		if (s->owner_left && !exited)
			sys_pidfd_send_signal(s->k->launch.pidfd, SIGKILL);
		exited |= p[EXITED].revents != 0;
	}
	cleanup_close(&s->master);
	dk_log_flush(&s->log);
	return ns_reap(s->k->launch.pidfd, ret_exit, NULL, e);
}

bool dk_station_pause(struct dk_station *s, uint64_t ns)
{
	uint64_t end = dk_now() + ns;
	struct pollfd p[SOURCES];

	while (!s->woken && !s->owner_left) {
		uint64_t now = dk_now();

		if (now >= end)
			return false;
		fill(s, p, false);
		p[EXITED] = p[OUT] = p[ERR] = p[MASTER] = p[INPUT] = p[TASK] = (struct pollfd){.fd = -1};
		if (poll(p, SOURCES, (int)((end - now) / 1000000) + 1) > 0)
			handle(s, p);
	}
	return true;
}

/* ---- opening and closing ---- */

int dk_station_open(struct dk_station *s, struct dk_container *k, int listener, int first, struct err *e)
{
	const struct dk_container_config *f = &k->record->config;

	*s = (struct dk_station){.k = k, .listener = listener, .sigfd = -1, .master = -1, .null = -1,
				 .out = {{-1, -1}, {-1, -1}}, .in = {-1, -1}, .log = DK_LOG_NONE};
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	if (first >= 0)
		add_client(s, first, (f->attach_stdin ? DK_ATTACH_INPUT : 0u) | (f->attach_stdout ? DK_ATTACH_OUTPUT : 0u) |
					     (f->attach_stderr ? DK_ATTACH_ERROR : 0u) | DK_ATTACH_OWNER);
	s->sigfd = ns_signals_open(NULL, e);
	if (s->sigfd < 0)
		return s->sigfd;
	s->null = dk_null_open(e);
	if (s->null < 0)
		return s->null;
	return dk_log_open(&s->log, k->store, k->record, e);
}

int dk_station_prepare(struct dk_station *s, int ret_stdio[3], struct err *e)
{
	const struct dk_container_config *f = &s->k->record->config;

	for (int i = 0; i < 2; i++) {
		cleanup_close(&s->out[i][0]);
		cleanup_close(&s->out[i][1]);
		cleanup_close(&s->in[i]);
	}
	s->input.len = 0;
	s->input_ended = false;
	ret_stdio[0] = ret_stdio[1] = ret_stdio[2] = s->null;
	if (f->tty)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (pipe2(s->out[i], O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe for the container");
		ret_stdio[1 + i] = s->out[i][1];
	}
	if (!f->open_stdin)
		return 0;
	if (pipe2(s->in, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe for the container");
	fcntl(s->in[1], F_SETFL, O_WRONLY | O_NONBLOCK);
	ret_stdio[0] = s->in[0];
	return 0;
}

static void say_farewell(struct dk_client *c, int code)
{
	const struct timeval patience = {.tv_sec = FAREWELL_SECONDS};
	unsigned char text[4];

	for (int i = 0; i < 4; i++)
		text[i] = (unsigned char)(code >> 8 * i & 0xff);
	dk_frame_put(&c->out, DK_FRAME_EXIT, text, sizeof(text));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (c->out.len) {
		ssize_t n = send(c->fd, c->out.p, c->out.len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		dk_strbuf_drop(&c->out, (size_t)n);
	}
}

void dk_station_close(struct dk_station *s, int code)
{
	for (size_t i = 0; i < DK_CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0) {
			say_farewell(&s->clients[i], code);
			drop_client(s, &s->clients[i]);
		}
	for (int i = 0; i < 2; i++) {
		cleanup_close(&s->out[i][0]);
		cleanup_close(&s->out[i][1]);
		cleanup_close(&s->in[i]);
	}
	strbuf_free(&s->input);
	cleanup_close(&s->master);
	cleanup_close(&s->listener);
	cleanup_close(&s->sigfd);
	cleanup_close(&s->null);
	dk_log_close(&s->log);
}

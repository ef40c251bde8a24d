/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "base/sys.h"
#include "nsenter/signals.h"

enum { INPUT, MASTER, SIGNALS, EXITED, SOURCES };
enum { CHUNK = 16 << 10 };

static void copy_size(int master)
{
	struct winsize ws;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) == 0)
		ioctl(master, TIOCSWINSZ, &ws);
}

static bool copy_output(int master)
{
	char buf[CHUNK];
	ssize_t n = read(master, buf, sizeof(buf));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	return n > 0 && io_write_all(STDOUT_FILENO, buf, (size_t)n) == 0;
}

/* True: detached. */
static bool copy_input(struct dk_relay *r, size_t *held)
{
	auto_strbuf struct strbuf out = {0};
	unsigned char buf[CHUNK];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));
	bool left;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		r->input = false;
		return false;
	}
	left = dk_keys_type(&r->keys, held, (struct dk_bytes){buf, (size_t)n}, &out);
	if (out.len && io_write_all(r->master, out.p, out.len) < 0)
		r->input = false;
	return left;
}

static void pass_signals(const struct dk_relay *r)
{
	int sig;

	while ((sig = ns_signals_next(r->sigfd)) > 0)
		if (sig == SIGWINCH)
			copy_size(r->master);
		else
			sys_pidfd_send_signal(r->pidfd, sig);
}

static int loop(struct dk_relay *r)
{
	bool exited = false, open = true;
	size_t held = 0;

	for (;;) {
		struct pollfd p[SOURCES] = {
			[INPUT] = {r->input && !exited ? STDIN_FILENO : -1, POLLIN, 0},
			[MASTER] = {open ? r->master : -1, POLLIN, 0},
			[SIGNALS] = {exited ? -1 : r->sigfd, POLLIN, 0},
			[EXITED] = {exited ? -1 : r->pidfd, POLLIN, 0},
		};
		int n = poll(p, SOURCES, exited ? 0 : -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (p[MASTER].revents)
			open = copy_output(r->master);
		if (p[INPUT].revents && copy_input(r, &held))
			return DK_DETACHED;
		if (p[SIGNALS].revents)
			pass_signals(r);
		exited |= p[EXITED].revents != 0;
	}
}

int dk_relay(struct dk_relay *r, struct err *e)
{
	struct termios saved, raw;
	bool tty = r->input && tcgetattr(STDIN_FILENO, &saved) == 0;
	int result;

	if (tty) {
		raw = saved;
		cfmakeraw(&raw);
		if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0)
			return err_sys(e, "put the terminal into raw mode");
	}
	copy_size(r->master);
	result = loop(r);
	if (tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	return result;
}

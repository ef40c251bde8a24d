/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a command comes as an escape sequence in the output (an operating system command, which
 * terminals pass over), at the end of the shell's prompt, with the command's exit code and the prompt's
 * number: a prompt may be drawn several times. It is taken out here.
 */
#include "sidecar/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "json/utf8.h"
#include "sidecar/lines.h"

enum { INPUT_MAX = 1 << 20, DIGITS_MAX = 16 };
static const char mark[] = "\033]777;brigd;";
enum { MARK_LEN = sizeof(mark) - 1 };

static void give(struct terminal *t, const char *s, size_t n)
{
	auto_strbuf struct strbuf b = {0};

	if (!n)
		return;
	lines_clean(&b, s, n);
	t->output(t, b.p, b.len);
}

struct prompt { int exit_code, number; };

/* How much of s[0..n) is a mark: its length when it is whole, 0 when it is none, -1: it may become
 * one. */
static long mark_length(const char *s, size_t n, struct prompt *ret)
{
	size_t same = n < MARK_LEN ? n : MARK_LEN, i = MARK_LEN, second;

	if (memcmp(s, mark, same) != 0)
		return 0;
	while (i < n && i < MARK_LEN + DIGITS_MAX && ((s[i] >= '0' && s[i] <= '9') || s[i] == ';'))
		i++;
	if (i >= n)
		return -1;
	second = MARK_LEN + strspn(s + MARK_LEN, "0123456789");
	if (s[i] != '\007' || s[second] != ';')
		return 0;
	*ret = (struct prompt){atoi(s + MARK_LEN), atoi(s + second + 1)};
	return (long)i + 1;
}

static void prompted(struct terminal *t, const struct prompt *p)
{
	bool again = t->prompted && p->number == t->prompt;

	if (t->prompted && !again)
		t->command_ended(t, p->exit_code);
	t->prompted = true;
	t->prompt = p->number;
}

/* Bytes at the end that are the begin of a character. */
static size_t incomplete(const char *s, size_t n)
{
	for (size_t k = 1; k <= 3 && k <= n; k++) {
		unsigned char c = (unsigned char)s[n - k];

		if (c < 0x80)
			return 0;
		if (c >= 0xc0)
			return utf8_sequence(s + n - k, k) || utf8_bad_part(s + n - k, k) != k ? 0 : k;
	}
	return 0;
}

static void take(struct terminal *t)
{
	const char *s = t->rest.p;
	size_t n = t->rest.len, from = 0, i = 0;

	while (i < n) {
		const char *escape = memchr(s + i, '\033', n - i);
		struct prompt p = {0};
		long len;

		i = escape ? (size_t)(escape - s) : n;
		if (!escape)
			break;
		len = mark_length(s + i, n - i, &p);
		if (len < 0)
			break;
		if (len == 0) {
			i++;
			continue;
		}
		give(t, s + from, i - from);
		prompted(t, &p);
		if (t->fd.fd < 0)
			return;
		from = i += (size_t)len;
	}
	if (i == n)
		i -= incomplete(s + from, n - from);
	give(t, s + from, i - from);
	memmove(t->rest.p, t->rest.p + i, n - i);
	t->rest.len = n - i;
}

static void write_some(struct terminal *t)
{
	ssize_t n = write(t->fd.fd, t->input.p, t->input.len);

	if (n > 0) {
		memmove(t->input.p, t->input.p + n, t->input.len - (size_t)n);
		t->input.len -= (size_t)n;
	}
}

static void watch(struct terminal *t)
{
	loop_change(&t->fd, (t->paused ? 0 : EPOLLIN) |
				    (t->input.len && t->prompted ? EPOLLOUT : 0));
}

static void ready(struct loop_fd *f, uint32_t events)
{
	struct terminal *t = CONTAINER_OF(f, struct terminal, fd);
	char buf[8192];
	ssize_t n;

	if ((events & EPOLLOUT) && t->input.len)
		write_some(t);
	watch(t);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	n = read(f->fd, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		strbuf_add(&t->rest, buf, (size_t)n);
		take(t);
		watch(t);
		return;
	}
	give(t, strbuf_str(&t->rest), t->rest.len);
	terminal_close(t);
	t->closed(t);
}

int terminal_open(struct terminal *t, int master, struct err *e)
{
	t->fd.ready = ready;
	if (loop_add(&t->fd, master, EPOLLIN, e) < 0)
		return -e->code;
	watch(t);
	return 0;
}

int terminal_type(struct terminal *t, const char *text, size_t n)
{
	if (t->input.len + n > INPUT_MAX)
		return -EFBIG;
	strbuf_add(&t->input, text, n);
	if (t->fd.fd >= 0)
		watch(t);
	return 0;
}

void terminal_resize(struct terminal *t, unsigned rows, unsigned columns)
{
	struct winsize ws = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	ioctl(t->fd.fd, TIOCSWINSZ, &ws);
}

void terminal_pause(struct terminal *t, bool pause)
{
	t->paused = pause;
	if (t->fd.fd >= 0)
		watch(t);
}

void terminal_close(struct terminal *t)
{
	loop_close(&t->fd);
	strbuf_free(&t->input);
	strbuf_free(&t->rest);
}

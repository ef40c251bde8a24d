/* SPDX-License-Identifier: Apache-2.0 */
/* See pipeline.h. What both say is kept in memory until it is known whose failure was the first. */
#include "docker/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { MESSAGE_CAP = 64 << 10 };

struct side { int pid, message; };

static int start(struct dk_context *c, const struct strv *args, struct dk_program *p, struct side *ret,
		 struct err *e)
{
	ret->message = memfd_create("brig-message", MFD_CLOEXEC);
	if (ret->message < 0)
		return err_sys(e, "make a file in memory");
	p->err = ret->message;
	return dk_start_brig_image(c, args, p, &ret->pid, e);
}

static void show(const struct side *s)
{
	auto_strbuf struct strbuf b = {0};
	struct err ignored = {0};

	if (lseek(s->message, 0, SEEK_SET) == 0 && io_read_fd(s->message, MESSAGE_CAP, &b, "message", &ignored) == 0)
		io_write_all(STDERR_FILENO, strbuf_str(&b), b.len);
}

int dk_run_pair(struct dk_context *c, const struct strv *from, const struct strv *into, const char *prefix,
		struct err *e)
{
	struct side first = {-1, -1}, second = {-1, -1};
	struct dk_program p = {.prefix = "Error response from daemon: ", .in = -1, .out = -1};
	struct dk_program q = {.prefix = prefix, .in = -1, .out = -1};
	int ends[2], r, one, two;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	p.out = ends[1];
	q.in = ends[0];
	r = start(c, from, &p, &first, e);
	if (r == 0)
		r = start(c, into, &q, &second, e);
	close(ends[0]);
	close(ends[1]);
	one = first.pid > 0 ? dk_wait_program(first.pid) : 0;
	two = second.pid > 0 ? dk_wait_program(second.pid) : 0;
	/* by a signal it only ended because the other one did */
	if (r == 0 && one != 0 && (one < 128 || two == 0))
		show(&first);
	else if (r == 0 && two != 0)
		show(&second);
	close(first.message);
	close(second.message);
	return r < 0 ? r : one != 0 || two != 0;
}

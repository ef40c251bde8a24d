/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/io.h"
#include "base/sys.h"
#include "nsenter/signals.h"
#include "runtime/console.h"

int rt_write_pid_file(const char *path, pid_t pid, struct err *e)
{
	auto_strbuf struct strbuf b = {0};

	if (!path)
		return 0;
	strbuf_printf(&b, "%ld", (long)pid);
	return io_replace_file(AT_FDCWD, path, &b, 0644, e);
}

void rt_kill_and_end(struct rt_launch *l)
{
	struct err ignored = {0};
	struct ns_exit x;

	sys_pidfd_send_signal(l->pidfd, SIGKILL);
	ns_reap(l->pidfd, &x, NULL, &ignored);
	rt_launch_end(l, &ignored);
}

int rt_wait_for_end(struct rt_launch *l, int sigfd, struct err *e)
{
	struct ns_exit x = {0};
	int r = 0;

	if (l->console_master >= 0)
		r = console_relay(l->console_master, sigfd, l->pidfd, e);
	if (r == 0)
		r = ns_wait(&(struct ns_wait){.pidfd = l->pidfd, .sigfd = sigfd}, &x, NULL, e);
	if (r < 0)
		return r;
	return x.signal ? EXIT_SIGNAL_BASE + x.signal : x.status;
}

int rt_check_console(const struct plan *p, const char *console_socket, bool leave, struct err *e)
{
	bool terminal = p->spec->process->terminal.v;

	if (terminal && leave && !console_socket)
		return err_set(e, EINVAL, "process.terminal: a container that is not in the foreground needs "
					  "--console-socket");
	if (!terminal && console_socket)
		return err_set(e, EINVAL, "--console-socket: process.terminal is not set");
	return 0;
}

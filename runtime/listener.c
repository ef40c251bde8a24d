/* SPDX-License-Identifier: Apache-2.0 */
/* The connection is made early, so that an agent that is not there is the first thing to fail. */
#include "runtime/listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "json/writer.h"
#include "runtime/console.h"

static bool is_notify(const char *action)
{
	return str_eq(action, "SCMP_ACT_NOTIFY");
}

bool listener_wanted(const struct oci_seccomp *s)
{
	if (!s)
		return false;
	for (size_t i = 0; i < s->syscalls.n; i++)
		if (is_notify(s->syscalls.v[i].action))
			return true;
	return is_notify(s->default_action);
}

static bool names_write(const struct oci_syscall *call)
{
	for (size_t i = 0; i < call->names.n; i++)
		if (str_eq(call->names.v[i], "write"))
			return true;
	return false;
}

int listener_check(const struct oci_seccomp *s, struct err *e)
{
	bool asks = is_notify(s->default_action);

	for (size_t i = 0; i < s->syscalls.n; i++) {
		if (!names_write(&s->syscalls.v[i]))
			continue;
		asks = is_notify(s->syscalls.v[i].action);
		if (asks)
			break;
	}
	if (asks)
		return err_set(e, ENOTSUP, "linux.seccomp: SCMP_ACT_NOTIFY is not possible for `write`: the "
					   "listener is handed over by it; allow `write`");
	return 0;
}

int listener_connect(struct rt_listener *l, const struct oci_seccomp *s, struct err *e)
{
	l->seccomp = s;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, l->pair) < 0)
		return err_sys(e, "make a socket pair");
	l->agent = console_connect(s->listener_path, e);
	if (l->agent < 0) {
		listener_close(l);
		return err_wrap(e, "linux.seccomp.listenerPath");
	}
	return 0;
}

int listener_install(struct rt_listener *l, const struct sec_plan *p, struct err *e)
{
	auto_close int fd = -1;
	struct err ignored = {0};
	int r = ns_handover_begin(&l->handover, l->pair[1], e);

	if (r < 0)
		return err_wrap(e, "hand over the listener");
	r = sec_install_filter(p, &fd, e);
	if (r < 0) {
		ns_handover_end(&l->handover, -1, &ignored);
		return r;
	}
	r = ns_handover_end(&l->handover, take_fd(&fd), e); /* closed by the exec: no call for it */
	return r < 0 ? err_wrap(e, "hand over the listener") : 0;
}

int listener_send(struct rt_listener *l, const struct spec_state *state, const char *status, pid_t pid,
		  struct err *e)
{
	auto_close int fd = console_receive(l->pair[0], e);
	auto_strbuf struct strbuf b = {0};
	const char *metadata = l->seccomp->listener_metadata;
	struct json_writer w;
	int r;

	if (fd < 0)
		return fd;
	json_writer_init(&w, &b, false);
	spec_state_write_seccomp(&w, state, status, pid, metadata && *metadata ? metadata : NULL);
	r = console_send(l->agent, fd, strbuf_str(&b), e); /* a blocking stream: all of it */
	/* One state a connection; INIT has a copy, closed by an exec that may have to ask first. */
	shutdown(l->agent, SHUT_RDWR);
	cleanup_close(&l->agent);
	return r < 0 ? err_wrap(e, "linux.seccomp.listenerPath") : 0;
}

void listener_close(struct rt_listener *l)
{
	cleanup_close(&l->agent);
	cleanup_close(&l->pair[0]);
	cleanup_close(&l->pair[1]);
	ns_handover_free(&l->handover);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/foreground.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/events.h"
#include "docker/monitor.h"
#include "docker/wire.h"

int dk_run_monitored(struct dk_container *k, const struct dk_keys *keys, struct err *e)
{
	const struct dk_container_config *f = &k->record->config;
	struct dk_attachment a = {
		.socket = -1,
		.tty = f->tty,
		.input = f->attach_stdin && f->open_stdin,
		.output = f->attach_stdout,
		.error = f->attach_stderr,
		.proxy = k->record->options.sig_proxy && !f->tty,
		.keys = *keys,
	};
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		err_sys(e, "make a socket pair for the monitor");
		dk_abandon(k, e, EXIT_SETUP_FAILED);
		return -e->code;
	}
	a.socket = pair[0];
	dk_container_event(k->store, k->record, "attach", (struct dk_event_fact){0});
	r = dk_start_detached(k, pair[1], e);
	if (r < 0) {
		close(a.socket);
		return r;
	}
	r = dk_attach(&a, e);
	return r == DK_DETACHED ? 0 : r;
}

int dk_attach_running(struct dk_context *c, const struct dk_record *r, const struct dk_attach_how *how,
		      struct err *e)
{
	struct dk_attachment a = {
		.socket = dk_wire_connect(dk_run_path(c->store, r->id, NULL)),
		.tty = r->config.tty,
		.input = !how->no_stdin && r->config.open_stdin,
		.output = true,
		.error = true,
		.proxy = how->proxy && !r->config.tty,
		.keys = *how->keys,
	};
	unsigned char flags = (unsigned char)(DK_ATTACH_OUTPUT | DK_ATTACH_ERROR | (a.input ? DK_ATTACH_INPUT : 0));
	auto_strbuf struct strbuf b = {0};
	int code;

	if (a.socket < 0)
		return dk_daemon_error(c, e, ENOTCONN, "container %s is attached to the client that started it", r->id);
	dk_frame_put(&b, DK_FRAME_ATTACH, &flags, 1);
	if (send(a.socket, b.p, b.len, MSG_NOSIGNAL) < 0) {
		close(a.socket);
		return err_sys(e, "attach to container %.12s", r->id);
	}
	dk_container_event(c->store, r, "attach", (struct dk_event_fact){0});
	code = dk_attach(&a, e);
	return code == DK_DETACHED ? 0 : code;
}

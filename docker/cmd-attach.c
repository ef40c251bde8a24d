/* SPDX-License-Identifier: Apache-2.0 */
/* `docker attach`. */
#include <errno.h>

#include "base/str.h"
#include "docker/attach.h"
#include "docker/commands.h"
#include "docker/control.h"
#include "docker/foreground.h"

int dk_cmd_attach(struct dk_context *c, const struct dk_args *args, struct err *e)
{
	const struct dk_attach_options *o = args->options;
	struct dk_record *r;
	struct dk_look look;
	struct dk_keys keys;

	if (dk_parse_keys(c, o->detach_keys, &keys, e) < 0 || dk_find_and_look(c, args->argv[0], &r, &look, e) < 0)
		return -e->code;
	if (str_eq(look.status, DK_RESTARTING))
		return dk_error(c, e, EAGAIN, "You cannot attach to a restarting container, wait until it is running");
	if (!look.running)
		return dk_error(c, e, ESRCH, "You cannot attach to a stopped container, start it first");
	if (look.paused)
		return dk_error(c, e, EBUSY, "You cannot attach to a paused container, unpause it first");
	return dk_attach_running(c, r, &(struct dk_attach_how){o->no_stdin, o->sig_proxy, &keys}, e);
}

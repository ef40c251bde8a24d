/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a command line: global flags, command words, the command's flags, the command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docker/cli.h"

int dk_main(struct dk_context *c, int argc, char **argv)
{
	(void)c;
	if (argc > 1 && (str_eq(argv[1], "--version") || str_eq(argv[1], "-v"))) {
		printf("Docker version %s, build %s\n", DK_CLIENT_VERSION, BRIG_VERSION);
		return 0;
	}
	return 1;
}

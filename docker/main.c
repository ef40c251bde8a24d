/* SPDX-License-Identifier: Apache-2.0 */
/* `brig-docker`: hands the command line to dk_main, see docker/cli.h. */
#include "docker/cli.h"

int main(int argc, char **argv, char **env)
{
	auto_arena struct arena *a = arena_new();
	struct dk_context c = {.arena = a, .argv = argv, .env = env, .exe_mount = -1};

	return dk_main(&c, argc, argv);
}

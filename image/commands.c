/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of brig-image: their arguments, and the descriptors that are opened before it shuts
 * itself in. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "image/gc.h"
#include "image/load.h"
#include "image/program.h"

/* FILE or stdin ("-" or nothing); Docker's words. */
static int open_input(struct img_program *p, struct err *e)
{
	int fd;

	if (p->argc == 0 || strcmp(p->argv[0], "-") == 0)
		return dup(STDIN_FILENO);
	fd = open(p->argv[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s: %s", p->argv[0],
			       errno == ENOENT ? "no such file or directory" : err_name(errno));
	return fd;
}

int img_cmd_load(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_load_options o = {0};
	auto_close int fd = -1;
	const char *name;

	o.names.v = arena_array(a, (size_t)p->argc + 1, sizeof(char *));
	for (;;) {
		if (img_option(p, "--quiet", NULL))
			o.quiet = true;
		else if (img_option(p, "--silent", NULL))
			o.silent = true;
		else if (img_option(p, "--name", &name))
			o.names.v[o.names.n++] = (char *)name;
		else
			break;
	}
	fd = open_input(p, e);
	if (fd < 0 || img_shut_in(p, -1, e) < 0)
		return -e->code;
	return img_load(&p->store, fd, &o, e);
}

int img_cmd_gc(struct img_program *p, struct err *e)
{
	auto_arena struct arena *a = arena_new();
	struct img_gc_result result;

	if (img_shut_in(p, -1, e) < 0 || img_gc(&p->store, a, &result, e) < 0)
		return -e->code;
	for (size_t i = 0; i < result.layers.n; i++)
		printf("%s\n", result.layers.v[i]);
	printf("%llu\n", (unsigned long long)result.bytes);
	return 0;
}

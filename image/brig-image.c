/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `brig-image`: everything that reads or writes archives, for brig-docker, which is static and stays
 * small. Not for people; but what it does can be tried by hand.
 *
 *	brig-image [--data DIR] [--prefix TEXT] COMMAND [ARG...]
 *
 * A failure is one line on stderr, TEXT in front, and exit code 1. Before an archive is opened, a
 * normal user's process becomes root of a user namespace, and every process shuts itself in.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "image/program.h"

static const struct img_command commands[] = {
	{"commit", "--base ID --diff DIR --document FILE [--name NAME]", img_cmd_commit, true, IMG_USER_ROOT},
	{"diff", "--lower DIR... DIR", img_cmd_diff, false, IMG_USER_ROOT},
	{"gc", "", img_cmd_gc, true, IMG_USER_ROOT},
	{"import", "--document FILE [--name NAME] [--link] [FILE|DIR]", img_cmd_import, true, IMG_USER_ROOT},
	{"load", "[--quiet] [--silent] [--ids FD] [--name NAME]... [FILE]", img_cmd_load, true, IMG_USER_ROOT},
	{"pack", "--lower DIR... [--as NAME] [PATH]", img_cmd_pack, false, IMG_USER_ROOT},
	{"pack-own", "--proc FD|--dir DIR [--as NAME] [PATH]", img_cmd_pack, false, IMG_USER_SELF},
	{"remove", "PATH", img_cmd_remove, false, IMG_USER_ROOT},
	{"save", "NAME...", img_cmd_save, true, IMG_USER_ROOT},
	{"stat", "--lower DIR... PATH", img_cmd_stat, false, IMG_USER_ROOT},
	{"stat-own", "--proc FD|--dir DIR PATH", img_cmd_stat, false, IMG_USER_SELF},
	{"unpack", "--lower DIR... [--upper DIR --work DIR] DIR", img_cmd_unpack, false, IMG_USER_ROOT},
	{"unpack-own", "--proc FD|--dir DIR [--host] DIR", img_cmd_unpack, false, IMG_USER_SELF},
};

static const struct img_command *find_command(const char *name)
{
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int usage(void)
{
	fprintf(stderr, "usage: brig-image [--data DIR] [--prefix TEXT] COMMAND [ARG...]\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(stderr, "  %s %s\n", commands[i].name, commands[i].usage);
	return 2;
}

bool img_option(struct img_program *p, const char *name, const char **ret_value)
{
	size_t n = strlen(name);

	if (p->argc == 0 || strncmp(p->argv[0], name, n) != 0)
		return false;
	if (!ret_value && p->argv[0][n] == '\0') {
		p->argv++;
		p->argc--;
		return true;
	}
	if (!ret_value || p->argv[0][n] != '\0' || p->argc < 2)
		return false;
	*ret_value = p->argv[1];
	p->argv += 2;
	p->argc -= 2;
	return true;
}

int img_shut_in(const struct img_program *p, int more, struct err *e)
{
	int dirs[2], n = 0;

	if (p->store.dir >= 0)
		dirs[n++] = p->store.dir;
	if (more >= 0)
		dirs[n++] = more;
	return img_confine(dirs, (size_t)n, e);
}

static int run(const struct img_command *c, struct img_program *p, struct err *e)
{
	int r;

	if (c->user == IMG_USER_ROOT && img_enter_userns(e) < 0)
		return -e->code;
	r = c->store ? img_store_create(&p->store, p->data, e) : 0;
	return r < 0 ? r : c->run(p, e);
}

int main(int argc, char **argv)
{
	struct img_program p = {.store = {.dir = -1}, .argc = argc - 1, .argv = argv + 1,
				.data = getenv("BRIG_DOCKER_DATA"), .prefix = ""};
	const struct img_command *c;
	struct err e = {0};
	int r;

	if (getauxval(AT_SECURE))
		return 1;
	umask(0);
	/* libarchive looks at names as the locale has them; bytes of UTF-8 pass this one unchanged */
	setlocale(LC_CTYPE, "C.UTF-8");
	while (img_option(&p, "--data", &p.data) || img_option(&p, "--prefix", &p.prefix))
		;
	c = find_command(p.argc ? p.argv[0] : NULL);
	if (!c || (c->store && !p.data))
		return usage();
	p.argv++;
	p.argc--;
	r = run(c, &p, &e);
	if (r < 0) {
		fflush(stdout);
		fprintf(stderr, "%s%s\n", p.prefix, e.msg);
		return 1;
	}
	if (fflush(stdout) != 0)
		return 1;
	return r;
}

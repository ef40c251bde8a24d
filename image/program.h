/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of brig-image have in common. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "image/confine.h"
#include "image/store.h"
#include "image/userns.h"

struct img_program {
	struct img_store store; /* open when the command has .store */
	const char *data, *prefix;
	int argc;               /* what is left of the command line */
	char **argv;
};

struct img_command {
	const char *name, *usage;
	int (*run)(struct img_program *p, struct err *e); /* exit code, or -errno */
	bool store;   /* opens the image store */
	enum img_user { IMG_USER_ROOT, IMG_USER_SELF } user; /* as a normal user: root of a user namespace, or not */
};

/* Takes the option `name` (and its value) off the front of the command line. */
bool img_option(struct img_program *p, const char *name, const char **ret_value);
/* Only the store, and what is below `more` (-1: nothing), from now on. */
int img_shut_in(const struct img_program *p, int more, struct err *e);

int img_cmd_gc(struct img_program *p, struct err *e);
int img_cmd_load(struct img_program *p, struct err *e);
int img_cmd_commit(struct img_program *p, struct err *e);
int img_cmd_import(struct img_program *p, struct err *e);
int img_cmd_remove(struct img_program *p, struct err *e);
int img_cmd_save(struct img_program *p, struct err *e);
int img_cmd_diff(struct img_program *p, struct err *e);
int img_cmd_pack(struct img_program *p, struct err *e);
int img_cmd_stat(struct img_program *p, struct err *e);
int img_cmd_unpack(struct img_program *p, struct err *e);

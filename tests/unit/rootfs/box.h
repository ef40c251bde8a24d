/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small container for tests of rootfs/: a temporary rootfs, a spec made by hand, and all steps
 * run in fresh namespaces in one of three ways. The caller's checks run inside of it.
 */
#pragma once

#include "rootfs/rootfs.h"

enum box_mode { BOX_ROOT, BOX_ROOT_USERNS, BOX_USER, BOX_N_MODES };

struct box {
	enum box_mode mode;
	char dir[64];      /* the temporary directory, "/tmp/brig-box-XXXXXX" */
	char rootfs[96];   /* <dir>/rootfs: empty */
	char outside[96];  /* <dir>/outside: must never change */
	struct arena *a;
	struct oci_spec spec;
	struct rootfs_options options;
	struct rootfs_plan *plan;
	struct err err;    /* of the step that failed */
	const char *failed_step;
	const char *cwd;   /* when set: rootfs_chdir after the pivot */
	bool console;      /* a pty of the container's devpts is bound over /dev/console */
	bool owned;
	void *data;
};

/* The state of test.h's checks, which is of the test's own file; once in each test. */
int *box_test_failed(void);
#define BOX_TEST_STATE                    \
	int *box_test_failed(void)        \
	{                                 \
		return &test_failed;      \
	}

/* How a box can be run here: -1 and a note when not (no root, no user namespaces). */
bool box_can(enum box_mode mode);
const char *box_mode_name(enum box_mode mode);
void box_init(struct box *b, enum box_mode mode);
void box_free(struct box *b);
/* Options as one string "ro,nosuid". */
void box_mount(struct box *b, const char *target, const char *type, const char *source,
	       const char *options);
/* proc, tmpfs on /dev, devpts, shm, mqueue, sysfs: what `runc spec` has. */
void box_default_mounts(struct box *b);
void box_masked(struct box *b, const char *path);
void box_readonly(struct box *b, const char *path);
void box_device(struct box *b, const char *path, char type, int64_t major, int64_t minor);

/*
 * Plans, starts a child in new namespaces and runs the steps there; then `inside` in the
 * container. Returns 0 when all went well and no check failed, 1 when a check inside failed, 2
 * when a step failed (b->err and b->failed_step say how).
 */
int box_run(struct box *b, void (*inside)(struct box *b));
/* The same, but `before` runs in INIT in front of the mounts (to start a race...). */
int box_run_with(struct box *b, void (*before)(struct box *b), void (*inside)(struct box *b));

/* The rootfs and the directory outside get the ids of the container; box_run does it too. */
void box_own(struct box *b);

/* Helpers for checks. */
void put_file(const char *path, const char *text);
/* Names, modes, owners, sizes and change times of a directory as one number. */
unsigned long long fingerprint(const char *dir);
bool exists(const char *path);
bool is_type(const char *path, unsigned mode_type);
/* errno of opening for writing (with O_CREAT), 0 when it went well. */
int try_write(const char *path);
/* The options field of the top mount at path in /proc/self/mountinfo of the caller, "" when absent. */
const char *mount_options_of(const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
/* What `load` shows on a terminal: a bar for each layer that is being unpacked. Only in brig-image. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { IMG_PROGRESS_LINES = 16 };

struct img_progress_line {
	const char *name; /* at most 12 digits are shown */
	uint64_t done, total;
};

struct img_progress {
	int width;       /* of the terminal */
	pthread_mutex_t lock;
	struct img_progress_line lines[IMG_PROGRESS_LINES]; /* name NULL: free */
	size_t shown;    /* lines on the terminal that are drawn again */
	int64_t last;    /* when; milliseconds */
};

/* The width of the terminal that stdout is; 0: it is none. To be asked before the process is shut in. */
int img_progress_width(void);
void img_progress_init(struct img_progress *p, int width);

/* All of these may be called by several threads, and do nothing for p NULL or a line NULL. */
struct img_progress_line *img_progress_begin(struct img_progress *p, const char *name, uint64_t total);
void img_progress_set(struct img_progress *p, struct img_progress_line *l, uint64_t done);
/* The line stays as it is. */
void img_progress_end(struct img_progress *p, struct img_progress_line *l);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of the layers in work stand at the bottom and are drawn again, ten times a second at most;
 * those of finished ones stay above them, so that it does not matter how many there are.
 */
#include "image/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 50, DIGITS = 12, WIDTH_FOR_BAR = 110, WIDTH_IF_UNKNOWN = 80, INTERVAL_MS = 100 };

int img_progress_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_IF_UNKNOWN;
}

void img_progress_init(struct img_progress *p, int width)
{
	memset(p, 0, sizeof(*p));
	p->width = width;
	pthread_mutex_init(&p->lock, NULL);
}

static void print_size(uint64_t bytes, int width)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)bytes;
	char text[32];
	size_t i = 0;

	for (; v >= 1000; i++)
		v /= 1000;
	snprintf(text, sizeof(text), "%.4g%s", v, units[i]);
	printf("%*s", width, text);
}

static void print_line(const struct img_progress *p, const struct img_progress_line *l)
{
	int part = l->total ? (int)((double)l->done * BAR / (double)l->total) : BAR;

	part = part < BAR ? part : BAR;
	printf("\033[2K\r%.*s: Loading layer ", DIGITS, l->name);
	if (p->width > WIDTH_FOR_BAR) {
		putchar('[');
		for (int i = 0; i < BAR; i++)
			putchar(i < part ? '=' : i == part ? '>' : ' ');
		fputs(part == BAR ? ">] " : " ] ", stdout);
	}
	print_size(l->done, 8);
	putchar('/');
	print_size(l->total, 0);
	putchar('\n');
}

/* With the lock: `ended`, which stays, above those that go on. */
static void draw(struct img_progress *p, const struct img_progress_line *ended)
{
	if (p->shown)
		printf("\033[%zuA", p->shown);
	if (ended)
		print_line(p, ended);
	p->shown = 0;
	for (size_t i = 0; i < IMG_PROGRESS_LINES; i++) {
		if (!p->lines[i].name || &p->lines[i] == ended)
			continue;
		print_line(p, &p->lines[i]);
		p->shown++;
	}
	fflush(stdout);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct img_progress_line *img_progress_begin(struct img_progress *p, const char *name, uint64_t total)
{
	struct img_progress_line *l = NULL;

	if (!p)
		return NULL;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < IMG_PROGRESS_LINES && !l; i++)
		if (!p->lines[i].name)
			l = &p->lines[i];
	if (l) {
		*l = (struct img_progress_line){.name = name, .total = total};
		draw(p, NULL);
	}
	pthread_mutex_unlock(&p->lock);
	return l;
}

void img_progress_set(struct img_progress *p, struct img_progress_line *l, uint64_t done)
{
	int64_t now = p && l ? now_ms() : 0;

	if (!p || !l)
		return;
	pthread_mutex_lock(&p->lock);
	l->done = done;
	if (now - p->last >= INTERVAL_MS) {
		p->last = now;
		draw(p, NULL);
	}
	pthread_mutex_unlock(&p->lock);
}

void img_progress_end(struct img_progress *p, struct img_progress_line *l)
{
	if (!p || !l)
		return;
	pthread_mutex_lock(&p->lock);
	draw(p, l);
	l->name = NULL;
	pthread_mutex_unlock(&p->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 16 * 1024 - 64, ALIGN = 16 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	char data[] __attribute__((aligned(ALIGN)));
};

struct arena {
	struct chunk *head;
};

static void (*say_last_words)(void);

void on_out_of_memory(void (*last_words)(void))
{
	say_last_words = last_words;
}

_Noreturn void die_out_of_memory(void)
{
	static const char msg[] = "brig: out of memory\n";

	(void)!write(STDERR_FILENO, msg, sizeof(msg) - 1);
	if (say_last_words)
		say_last_words();
	_exit(125);
}

void *xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size);

	if (!q)
		die_out_of_memory();
	return q;
}

struct arena *arena_new(void)
{
	struct arena *a = xrealloc(NULL, sizeof(*a));

	a->head = NULL;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->head) {
		struct chunk *c = a->head;

		a->head = c->next;
		free(c);
	}
	free(a);
}

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = xrealloc(NULL, sizeof(*c) + size);

	c->used = 0;
	c->size = size;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct chunk *c = a->head;
	void *p;

	if (size > SIZE_MAX / 2)
		die_out_of_memory();
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (size > CHUNK / 4) { /* a chunk of its own, behind the one in use */
		struct chunk *big = chunk_new(size);

		big->used = size;
		big->next = c ? c->next : NULL;
		if (c)
			c->next = big;
		else
			a->head = big;
		return memset(big->data, 0, size);
	}
	if (!c || c->size - c->used < size) {
		c = chunk_new(CHUNK);
		c->next = a->head;
		a->head = c;
	}
	p = c->data + c->used;
	c->used += size;
	return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		die_out_of_memory();
	return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char most[256]; /* formatting twice takes twice as long */
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(most, sizeof(most), fmt, ap);
	va_end(ap);
	if (n < 0)
		die_out_of_memory();
	if ((size_t)n < sizeof(most))
		return arena_strndup(a, most, (size_t)n);
	p = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

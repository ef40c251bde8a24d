/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All data that comes from one document lives in one arena and is freed with it.
 * Allocation never returns NULL: a process that is out of memory ends with a message and exit
 * status 125, exactly as if it had been killed; what it left is swept like after a SIGKILL.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
/* Frees the arena and all that was allocated from it; NULL is allowed. */
void arena_free(struct arena *a);
/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* n * size zeroed bytes; the multiplication is checked. */
void *arena_array(struct arena *a, size_t n, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new_of(a, type) ((type *)arena_alloc((a), sizeof(type)))

/* For memory outside of arenas, with the same rule. */
void *xrealloc(void *p, size_t size);
_Noreturn void die_out_of_memory(void);
/* Called by it before the end, without memory to be had; NULL: nothing. */
void on_out_of_memory(void (*last_words)(void));

static inline void cleanup_arena(struct arena **a)
{
	arena_free(*a);
	*a = NULL;
}
#define auto_arena __attribute__((cleanup(cleanup_arena)))

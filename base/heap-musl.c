/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc for the build with musl. Its own maps and unmaps memory for every few kilobytes: in one
 * `brig run` some twenty pairs of system calls and thirty page faults, 0.2 ms of 4.5, and an unmap
 * that another processor has to hear of while INIT shares our memory. Here memory comes from one
 * block in .bss, then from bigger ones, and is never given back but for large objects, which are
 * mappings of their own. brig lives for the time of one container and keeps little.
 *
 * Sizes are rounded up to a power of two; freed objects of each size are in a list. The header in
 * front of an object has a mark made of its address: an overrun or a second free() ends the process.
 * There are no locks: no program of ours has threads that allocate.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	MIN_SHIFT = 5,             /* the smallest object, header included: 32 bytes */
	LARGE_SHIFT = 17,          /* from here on an object is a mapping */
	FIRST_BLOCK = 96 * 1024,
	BLOCK = 1024 * 1024,
};

struct header {
	size_t size; /* with the header; a power of two, or the length of the mapping */
	uintptr_t mark;
} __attribute__((aligned(16)));

struct free_object {
	struct header header;
	struct free_object *next;
};

static char first_block[FIRST_BLOCK] __attribute__((aligned(16)));
static char *block = first_block;
static size_t left = FIRST_BLOCK;
static struct free_object *lists[LARGE_SHIFT];

static uintptr_t mark_of(const struct header *h, bool live)
{
	uintptr_t secret = live ? (uintptr_t)0x9e3779b97f4a7c15 : (uintptr_t)0x6a09e667f3bcc908;

	return secret ^ (uintptr_t)h ^ h->size;
}

static void *hand_out(struct header *h, size_t size)
{
	h->size = size;
	h->mark = mark_of(h, true);
	return h + 1;
}

static struct header *header_of(void *p)
{
	struct header *h = (struct header *)p - 1;

	if (h->mark != mark_of(h, true))
		abort();
	return h;
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p; /* errno is ENOMEM */
}

static void *map_large(size_t size)
{
	struct header *h = map(size);

	return h ? hand_out(h, size) : NULL;
}

static struct header *carve(size_t size)
{
	char *p;

	if (size > left) {
		p = map(BLOCK);
		if (!p)
			return NULL;
		block = p;
		left = BLOCK;
	}
	p = block;
	block += size;
	left -= size;
	return (struct header *)p;
}

void *malloc(size_t n)
{
	unsigned shift = MIN_SHIFT;
	struct free_object *o;
	struct header *h;

	if (n > PTRDIFF_MAX - sizeof(*h)) {
		errno = ENOMEM;
		return NULL;
	}
	n += sizeof(*h);
	if (n > (size_t)1 << (LARGE_SHIFT - 1))
		return map_large(n);
	if (n > (size_t)1 << MIN_SHIFT)
		shift = (unsigned)(sizeof(long) * 8) - (unsigned)__builtin_clzl(n - 1);
	o = lists[shift];
	if (!o) {
		h = carve((size_t)1 << shift);
		return h ? hand_out(h, (size_t)1 << shift) : NULL;
	}
	if (o->header.mark != mark_of(&o->header, false))
		abort();
	lists[shift] = o->next;
	return hand_out(&o->header, (size_t)1 << shift);
}

void free(void *p)
{
	struct free_object *o;
	int saved = errno;

	if (!p)
		return;
	o = (struct free_object *)header_of(p);
	if (o->header.size > (size_t)1 << (LARGE_SHIFT - 1)) {
		munmap(o, o->header.size);
		errno = saved;
		return;
	}
	o->header.mark = mark_of(&o->header, false);
	o->next = lists[__builtin_ctzl(o->header.size)];
	lists[__builtin_ctzl(o->header.size)] = o;
}

void *calloc(size_t n, size_t size)
{
	size_t total;
	void *p;

	if (__builtin_mul_overflow(n, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	p = malloc(total);
	return p ? memset(p, 0, total) : NULL;
}

/* The last object carved grows where it is, as buffers do while they are filled; but not past a free one, else
 * whoever fills and frees one again and again would take new memory each time. */
static bool grow_in_place(struct header *h, size_t n)
{
	size_t size = h->size;

	if ((char *)h + size != block)
		return false;
	while (size < n)
		size *= 2;
	if (size > (size_t)1 << (LARGE_SHIFT - 1) || size - h->size > left || lists[__builtin_ctzl(size)])
		return false;
	block += size - h->size;
	left -= size - h->size;
	hand_out(h, size);
	return true;
}

static void *grow_large(struct header *h, size_t n)
{
	void *p = mremap(h, h->size, n, MREMAP_MAYMOVE);

	return p == MAP_FAILED ? NULL : hand_out(p, n);
}

void *realloc(void *p, size_t n)
{
	struct header *h;
	void *q;

	if (!p)
		return malloc(n);
	h = header_of(p);
	if (n > PTRDIFF_MAX - sizeof(*h)) {
		errno = ENOMEM;
		return NULL;
	}
	if (n + sizeof(*h) <= h->size || grow_in_place(h, n + sizeof(*h)))
		return p;
	if (h->size > (size_t)1 << (LARGE_SHIFT - 1))
		return grow_large(h, n + sizeof(*h));
	q = malloc(n);
	if (!q)
		return NULL;
	memcpy(q, p, h->size - sizeof(*h));
	free(p);
	return q;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled seccomp programs, kept between starts: compiling takes some 150 microseconds for a
 * profile of Docker's size, reading a file 25.
 *
 * A file holds the profile that it was made from, byte for byte, and a hit is only a file whose
 * profile is equal: no hash has to be trusted. The hash picks one of a fixed number of file
 * names, so the cache cannot grow; a profile that lands on the place of another replaces it.
 * What is in a file is believed because of who can write it: it must be a regular file of our
 * own uid with mode 0600 and one link, in a directory of ours. The check sum is for torn disks.
 *
 *   struct head | profile (key_len bytes) | program (n_insns instructions)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "security/filter-calls.h"
#include "security/internal.h"

enum { SLOTS = 64, KEY_MAX = 256 * 1024 };

/* The number changes with the compiler: a program of another one must not be used. */
#define MAGIC "brigBPF1"

struct head {
	char magic[8];
	uint32_t key_len, n_insns;
	uint64_t sum; /* of all that follows */
};

/* Not cryptographic, and needs not be: see above. Eight bytes a round. */
static uint64_t hash(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

	for (; n >= sizeof(w); p += sizeof(w), n -= sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, p, n);
	h = (h ^ w) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static void put_number(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void put_string(struct strbuf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	put_number(b, n);
	if (n)
		strbuf_add(b, s, n);
}

static void put_strings(struct strbuf *b, const struct strv *v)
{
	put_number(b, v->n);
	for (size_t i = 0; i < v->n; i++)
		put_string(b, v->v[i]);
}

static void put_errno(struct strbuf *b, const struct opt_u32 *v)
{
	put_number(b, v->set ? (uint64_t)v->v + 1 : 0);
}

/* Everything that the program depends on; flags and listener are not in the program. */
static void put_profile(struct strbuf *b, const struct oci_seccomp *s)
{
	put_string(b, "brig " BRIG_VERSION);
	put_number(b, sec_calls_version());
	put_string(b, s->default_action);
	put_errno(b, &s->default_errno_ret);
	put_strings(b, &s->architectures);
	put_number(b, s->syscalls.n);
	for (size_t i = 0; i < s->syscalls.n; i++) {
		const struct oci_syscall *c = &s->syscalls.v[i];

		put_strings(b, &c->names);
		put_string(b, c->action);
		put_errno(b, &c->errno_ret);
		put_number(b, c->args.n);
		for (size_t j = 0; j < c->args.n; j++) {
			const struct oci_seccomp_arg *g = &c->args.v[j];

			put_number(b, g->index);
			put_number(b, g->value);
			put_number(b, g->value_two.set ? g->value_two.v : 0);
			put_string(b, g->op);
		}
	}
}

/* The file's size when it can be trusted, 0 otherwise. */
static size_t trusted_size(int fd)
{
	const size_t max = sizeof(struct head) + KEY_MAX + BPF_MAXINSNS * sizeof(struct sock_filter);
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_mode & 07777) != 0600 ||
	    st.st_uid != geteuid() || st.st_nlink != 1 || st.st_size < 0 ||
	    (size_t)st.st_size <= sizeof(struct head) || (size_t)st.st_size > max)
		return 0;
	return (size_t)st.st_size;
}

/* The program in a file's bytes, when it was made from this key. */
static bool take_program(const char *file, size_t size, const struct strbuf *key,
			 struct sec_filter *f)
{
	const struct head *h = (const void *)file;
	size_t n = h->n_insns;

	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0 || h->key_len != key->len || n == 0 ||
	    n > BPF_MAXINSNS ||
	    size != sizeof(*h) + key->len + n * sizeof(struct sock_filter) ||
	    memcmp(file + sizeof(*h), key->p, key->len) != 0 ||
	    hash(file + sizeof(*h), size - sizeof(*h)) != h->sum)
		return false;
	f->insns = (const void *)(file + sizeof(*h) + key->len);
	f->n = (unsigned short)n;
	return true;
}

static bool load(struct arena *a, int dirfd, const char *name, const struct strbuf *key,
		 struct sec_filter *f)
{
	auto_close int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t size = fd < 0 ? 0 : trusted_size(fd);
	char *file;

	if (!size)
		return false;
	file = arena_alloc(a, size);
	return io_read_upto(fd, file, size) == (ssize_t)size && take_program(file, size, key, f);
}

static void store(int dirfd, const char *name, const struct strbuf *key,
		  const struct sec_filter *f)
{
	size_t bytes = f->n * sizeof(*f->insns);
	auto_strbuf struct strbuf b = {0};
	struct head h = {.key_len = (uint32_t)key->len, .n_insns = f->n};
	struct err e;

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	strbuf_add(&b, &h, sizeof(h));
	strbuf_add(&b, key->p, key->len);
	strbuf_add(&b, f->insns, bytes);
	h.sum = hash(b.p + sizeof(h), b.len - sizeof(h));
	memcpy(b.p, &h, sizeof(h));
	if (io_replace_file(dirfd, name, &b, 0600, &e) < 0)
		log_debug("cannot keep the compiled seccomp program: %s", e.msg);
}

int sec_filter_cached(struct arena *a, int dirfd, const struct oci_seccomp *s,
		      struct sec_filter **ret_filter, struct err *e)
{
	auto_strbuf struct strbuf key = {0};
	struct sec_filter *f = arena_new_of(a, struct sec_filter);
	char name[32];
	int r;

	put_profile(&key, s);
	/* Instructions in the file must be aligned like the head. */
	while (key.len % sizeof(uint64_t))
		strbuf_addc(&key, '\0');
	if (dirfd < 0 || key.len > KEY_MAX)
		return sec_filter_build(a, s, ret_filter, e);
	r = sec_filter_options(s, f, e);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "seccomp-%02u", (unsigned)(hash(key.p, key.len) % SLOTS));
	if (load(a, dirfd, name, &key, f)) {
		*ret_filter = f;
		return 0;
	}
	r = sec_filter_build(a, s, ret_filter, e);
	if (r >= 0)
		store(dirfd, name, &key, *ret_filter);
	return r;
}

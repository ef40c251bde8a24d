/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the executions of the HTTP interface: those that run, the last 256 with their
 * output, and of all others, for as long as brigd lives, that their id was used and how they ended.
 *
 * The latter is a table of fixed size, 16 bytes an entry, allocated and touched at the start. The
 * key is 64 bits of a SHA-256 over a random prefix and the id: nobody can choose ids that collide,
 * and by chance a new id among 262144 is taken for a used one once in 7e13. When the table is full,
 * no further id is accepted until brigd is restarted: a replay must never pass.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { RECORDS_WITH_OUTPUT = 256 };

enum record_status { RECORD_RUNNING, RECORD_COMPLETED, RECORD_FAILED, RECORD_CANCELLED };

struct record {
	char *id;
	enum record_status status;
	bool has_returncode, timed_out, stdout_cut, stderr_cut, oom_killed;
	int returncode;
	double duration, cpu_seconds;  /* < 0: unknown */
	uint64_t memory_peak;          /* 0: unknown */
	struct strbuf out, err;
	void *running;                 /* the owner's, while it runs */
	struct record *next, *prev;    /* of those with output */
};

int records_open(uint64_t max_ids, struct err *e);
/* A new running record; NULL with -EEXIST (used before) or -ENOSPC (table full) in *ret_code. */
struct record *records_add(const char *id, int *ret_code);
/* Forgets the id again: nothing was started. */
void records_withdraw(struct record *r);
/* It has ended: all members but the lists are the caller's to fill before. */
void records_end(struct record *r);
/* One that is running or has its output; NULL. */
struct record *records_find(const char *id);
/* One of the others: true, and what is left of it in *ret (no strings). */
bool records_find_old(const char *id, struct record *ret);
/* The JSON object of the interface. */
void records_write(struct strbuf *b, const struct record *r, const char *id);

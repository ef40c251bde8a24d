/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most three quarters full. Entries never move and are
 * removed only right after they were added, by a tombstone that the next one may take. */
#include "sidecar/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "json/writer.h"

enum { SLOT_USED = 1, SLOT_TIMED_OUT = 2, SLOT_RETURNCODE = 4, SLOT_STATUS_SHIFT = 4 };

struct slot {
	uint64_t key;       /* 0: empty */
	int16_t returncode;
	uint8_t flags;      /* SLOT_USED clear: a tombstone */
	uint8_t unused;
	float duration;
};

static struct slot *slots;
static uint64_t n_slots, n_used, most_used;
static unsigned char prefix[32];
static struct record running = {.next = &running, .prev = &running};
static struct record ended = {.next = &ended, .prev = &ended};
static unsigned n_ended;

int records_open(uint64_t max_ids, struct err *e)
{
	n_slots = 4096;
	while (n_slots / 4 * 3 < max_ids)
		n_slots *= 2;
	most_used = max_ids;
	if (getrandom(prefix, sizeof(prefix), 0) != sizeof(prefix))
		return err_sys(e, "getrandom");
	/* All pages now, not bit by bit: memory use stays flat. */
	slots = mmap(NULL, n_slots * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return slots == MAP_FAILED ? err_sys(e, "allocate the table of used ids") : 0;
}

static uint64_t key_of(const char *id)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;
	uint64_t key;

	sha256_init(&s);
	sha256_add(&s, prefix, sizeof(prefix));
	sha256_add(&s, id, strlen(id));
	sha256_end(&s, digest);
	memcpy(&key, digest, sizeof(key));
	return key ? key : 1;
}

/* The slot of the key, or the empty one where it would go. */
static struct slot *find_slot(uint64_t key)
{
	uint64_t i = key & (n_slots - 1);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static void append(struct record *list, struct record *r)
{
	r->prev = list->prev;
	r->next = list;
	r->prev->next = r;
	list->prev = r;
}

static void unlink_record(struct record *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
}

static void free_record(struct record *r)
{
	strbuf_free(&r->out);
	strbuf_free(&r->err);
	free(r->id);
	free(r);
}

struct record *records_add(const char *id, int *ret_code)
{
	uint64_t key = key_of(id);
	struct slot *s = find_slot(key);
	struct record *r;

	if (s->key && (s->flags & SLOT_USED)) {
		*ret_code = -EEXIST;
		return NULL;
	}
	if (!s->key && n_used >= most_used) {
		*ret_code = -ENOSPC;
		return NULL;
	}
	n_used += !s->key;
	*s = (struct slot){.key = key, .flags = SLOT_USED | RECORD_RUNNING << SLOT_STATUS_SHIFT};
	r = xrealloc(NULL, sizeof(*r));
	*r = (struct record){.status = RECORD_RUNNING, .duration = -1, .cpu_seconds = -1};
	r->id = xrealloc(NULL, strlen(id) + 1);
	memcpy(r->id, id, strlen(id) + 1);
	append(&running, r);
	return r;
}

void records_withdraw(struct record *r)
{
	find_slot(key_of(r->id))->flags = 0;
	unlink_record(r);
	free_record(r);
}

void records_end(struct record *r)
{
	struct slot *s = find_slot(key_of(r->id));
	int code = r->returncode;

	s->returncode = (int16_t)(code < INT16_MIN ? INT16_MIN : code > INT16_MAX ? INT16_MAX : code);
	s->flags = (uint8_t)(SLOT_USED | (r->timed_out ? SLOT_TIMED_OUT : 0) |
			     (r->has_returncode ? SLOT_RETURNCODE : 0) |
			     (unsigned)r->status << SLOT_STATUS_SHIFT);
	s->duration = (float)r->duration;
	r->running = NULL;
	unlink_record(r);
	append(&ended, r);
	if (++n_ended > RECORDS_WITH_OUTPUT) {
		struct record *oldest = ended.next;

		n_ended--;
		unlink_record(oldest);
		free_record(oldest);
	}
}

static struct record *find_in(struct record *list, const char *id)
{
	for (struct record *r = list->prev; r != list; r = r->prev)
		if (str_eq(r->id, id))
			return r;
	return NULL;
}

struct record *records_find(const char *id)
{
	struct record *r = find_in(&running, id);

	return r ? r : find_in(&ended, id);
}

bool records_find_old(const char *id, struct record *ret)
{
	const struct slot *s = find_slot(key_of(id));

	if (!s->key || !(s->flags & SLOT_USED))
		return false;
	*ret = (struct record){
		.status = (enum record_status)(s->flags >> SLOT_STATUS_SHIFT),
		.has_returncode = s->flags & SLOT_RETURNCODE,
		.returncode = s->returncode,
		.timed_out = s->flags & SLOT_TIMED_OUT,
		.duration = (double)s->duration,
		.cpu_seconds = -1,
		.stdout_cut = true,
		.stderr_cut = true,
	};
	return true;
}

static const char *record_status_name(enum record_status s)
{
	static const char *const names[] = {"running", "completed", "failed", "cancelled"};

	return names[s];
}

static void member_seconds(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	if (v < 0 || !isfinite(v))
		json_null(w);
	else
		json_f64(w, v);
}

void records_write(struct strbuf *b, const struct record *r, const char *id)
{
	struct json_writer w;

	json_writer_init(&w, b, false);
	json_begin_object(&w);
	json_member_str(&w, "execution_id", id);
	json_member_str(&w, "status", record_status_name(r->status));
	json_key(&w, "returncode");
	if (r->has_returncode)
		json_i64(&w, r->returncode);
	else
		json_null(&w);
	json_key(&w, "stdout");
	json_strn(&w, strbuf_str(&r->out), r->out.len);
	json_key(&w, "stderr");
	json_strn(&w, strbuf_str(&r->err), r->err.len);
	member_seconds(&w, "duration_seconds", r->duration);
	json_member_bool(&w, "timed_out", r->timed_out);
	json_member_bool(&w, "stdout_truncated", r->stdout_cut);
	json_member_bool(&w, "stderr_truncated", r->stderr_cut);
	json_member_bool(&w, "oom_killed", r->oom_killed);
	member_seconds(&w, "cpu_seconds", r->cpu_seconds);
	json_key(&w, "memory_peak_bytes");
	if (r->memory_peak)
		json_u64(&w, r->memory_peak);
	else
		json_null(&w);
	json_end_object(&w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to containers, images, networks and volumes, for `docker events`: a line of JSON each
 * in RUN/docker-events/log, which becomes log.1 at LOG_MAX bytes, so that up to twice that is kept.
 * Nobody is there to be told: each command writes what it did, by one write(2) to a file opened for
 * appending, and those who follow it are woken by inotify.
 *
 * An event that cannot be written (the disk is full) is lost; nothing fails for it.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "base/types.h"
#include "docker/record.h"
#include "docker/roots.h"

struct dk_event {
	int64_t time;       /* nanoseconds since the epoch; writing: 0 is now */
	char *type;         /* "container", "image", "network", "volume" */
	char *action, *id;
	struct str_map attributes;
};

void dk_event_write(const struct dk_roots *roots, const struct dk_event *event);
/* Several in one write: added to lines, each with its time. */
void dk_event_add(struct strbuf *lines, const struct dk_event *event);
void dk_events_write(const struct dk_roots *roots, const struct strbuf *lines);
/* With one attribute, or none (key NULL): "name" of an image, "driver" of a volume. */
struct dk_event_fact { const char *key, *value; };
void dk_object_event(const struct dk_roots *roots, const char *type, const char *action, const char *id,
		     struct dk_event_fact fact);
/* Of a container, with its image, name and labels besides. */
struct str_map dk_container_facts(struct arena *a, const struct dk_record *r, struct dk_event_fact fact);
void dk_container_event(const struct dk_store *s, const struct dk_record *r, const char *action,
			struct dk_event_fact fact);
void dk_container_event_number(const struct dk_store *s, const struct dk_record *r, const char *action,
			       const char *key, int number);

/* ---- reading ---- */

struct dk_event_reader {
	char *dir;      /* path */
	int fd, watch;  /* -1 */
	struct strbuf pending;
	size_t at;      /* what of it has been given out */
};
#define DK_EVENT_READER_NONE {.fd = -1, .watch = -1}

/* 1: what is there already is read too; 0: only what comes. */
int dk_events_open(struct dk_event_reader *r, const struct dk_store *s, bool old, struct err *e);
/* The next one, in the arena: 1; 0: there is none now (poll r->watch for reading). */
int dk_events_next(struct dk_event_reader *r, struct arena *a, struct dk_event *ret, struct err *e);
void dk_events_close(struct dk_event_reader *r);
#define auto_event_reader __attribute__((cleanup(dk_events_close)))

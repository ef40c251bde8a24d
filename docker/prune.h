/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that list or prune networks, volumes and more have in common. */
#pragma once

#include <stdbool.h>

#include "docker/cli.h"

/* `label` and `label!` entries: all have to fit. "KEY" or "KEY=VALUE". */
bool dk_labels_fit(const struct str_map *filter, const struct str_map *labels);
/* `until` entries: created (RFC 3339) before it. -EINVAL for one that is no time. 1, 0 */
int dk_until_fits(struct dk_context *c, const struct str_map *filter, const char *created, struct err *e);
/* Entries `key` that are regular expressions; true when one fits, or there is none. */
bool dk_pattern_fits(const struct str_map *filter, const char *key, const char *text);
/* One of the entries `key` is the text (or its beginning); true when there is none. */
bool dk_word_fits(const struct str_map *filter, const char *key, const char *text, bool beginning);
/* Only these (NULL-terminated) keys: `invalid filter 'x'`. */
int dk_check_filter(struct dk_context *c, const struct str_map *filter, const char *const *known,
		    struct err *e);
/* A boolean entry: 1, 0; -1: there is none; -EINVAL with a message. */
int dk_filter_bool(struct dk_context *c, const struct str_map *filter, const char *key, struct err *e);

/* "k=v,k2=v2", sorted. */
const char *dk_labels_text(struct arena *a, const struct str_map *labels);

/* Prints text, "Are you sure...? [y/N] " and reads a line from stdin. */
bool dk_confirm(const char *text);
/* The lines of the filters that Docker puts into the warning of `system prune`. */
const char *dk_filter_lines(struct arena *a, const struct str_map *filter);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The WebSocket /exec: one message with code, its output as it comes, how it ended, which files it
 * left; then the connection is closed.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "json/writer.h"
#include "sidecar/box.h"
#include "sidecar/rundir.h"
#include "sidecar/server.h"

/* How WebSockets are closed; above 4000 are codes of our own. */
enum { CLOSE_DONE = 1000, CLOSE_INVALID = 1003, CLOSE_FAILED = 1011, CLOSE_BUSY = 1013,
       CLOSE_TIME_LIMIT = 4008 };

void snippet_opened(struct conn *c);
void snippet_message(struct conn *c);
/* GET /files/ID/NAME. */
void snippet_file(struct conn *c);

enum snippet_language { SNIPPET_PYTHON, SNIPPET_BASH, SNIPPET_NODE };

enum { SNIPPET_FILES_MAX = 60 };

/* A message, checked. Strings live in the arena it was parsed in. */
struct snippet {
	enum snippet_language language;
	const char *code, *input;
	size_t code_len, input_len;
	struct str_map env;
	uint64_t timeout_ms;
	struct { const char *name; struct strbuf data; } files[SNIPPET_FILES_MAX];
	size_t n_files;
	bool as_json;
};

/* 0, or -EINVAL with a sentence for the client. */
int snippet_parse(struct arena *a, const char *text, size_t len, struct snippet *ret, struct err *e);
void snippet_free(struct snippet *s);
/* What code without wishes runs in; sessions too. */
void snippet_default_spec(struct box_spec *s);
/* {"error": "..."}. */
void snippet_send_error(struct conn *c, const char *why);
/* A line of output, as it is or as {"type": ..., "data": ...}. */
struct snippet_line { const char *type, *text; size_t n; bool as_json; };
void snippet_send_line(struct conn *c, const struct snippet_line *l);
void snippet_prepare_pool(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* The program's terminal: the other end of a pty, within a session. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sidecar/loop.h"
#include "base/str.h"

struct terminal {
	struct loop_fd fd;
	struct strbuf input;   /* what it has not taken yet */
	struct strbuf rest;    /* the begin of a mark or character that is not complete */
	bool paused;
	int prompt;            /* number of the last one */
	bool prompted;         /* the shell has said that it is there: before, nothing is typed */
	void (*output)(struct terminal *t, const char *text, size_t n);
	void (*command_ended)(struct terminal *t, int exit_code);
	void (*closed)(struct terminal *t);
};

/* The shell's prompt, which tells the end of each command, and what it needs for that. */
#define TERMINAL_PROMPT "\\w\\$ \\[\\e]777;brigd;$?;$_prompt\\a\\]"
#define TERMINAL_PROMPT_COMMAND "_prompt=$((_prompt+1))"

int terminal_open(struct terminal *t, int master, struct err *e);
/* Types: -EFBIG when too much waits. */
int terminal_type(struct terminal *t, const char *text, size_t n);
void terminal_resize(struct terminal *t, unsigned rows, unsigned columns);
void terminal_pause(struct terminal *t, bool pause);
void terminal_close(struct terminal *t);

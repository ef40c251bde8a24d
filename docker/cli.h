/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of brig-docker: tables of commands and flags, from which parsing, --help,
 * completion and the manual page come.
 *
 * HOW TO ADD A COMMAND. All commands of Docker that are ours stand in docker/command-table.c, and
 * their option structs in docker/commands.h with the functions' declarations. These are weak: a
 * command whose function nobody has written is not there (unknown command). So to implement `docker
 * stop` write in a new file docker/cmd-stop.c
 *
 *	int dk_cmd_stop(struct dk_context *c, const struct dk_args *args, struct err *e)
 *	{
 *		const struct dk_stop_options *o = args->options;
 *		for (int i = 0; i < args->argc; i++) ...
 *	}
 *
 * and put the file into brig_docker_SOURCES in docker/Makemodule.am (docker/cmd-*.c must be there,
 * not in the library: an archive's members do not satisfy weak symbols). Nothing else is to be done.
 *
 * WHAT A COMMAND RETURNS. An exit code >= 0, when all has been printed; or -errno with *e filled,
 * which main prints as Docker would: "docker: MSG" with the hint at --help and 125, 126 or 127 for
 * run (chosen from the words, as Docker does), "MSG" and 1 for all others. "Error response from
 * daemon: " has to be in the message where Docker has it (dk_daemon_error puts it there). With
 * several arguments print each failure by dk_print_error and return 1 in the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

struct dk_store;

struct dk_context {
	struct arena *arena;     /* lives as long as the process */
	char **argv, **env;
	/* Global flags; --context and the TLS flags are accepted and have no effect. */
	char *config_dir, *host, *context, *log_level;
	bool debug;
	char *long_error;        /* see dk_error */
	struct dk_store *store;  /* opened by who needs it first; docker/store.h */
	int exe_mount;           /* of dk_protect, for the first container that is started; or -1 */
};

struct dk_command;

struct dk_args {
	const struct dk_command *command;
	const char *path; /* as called: "docker run", "docker container run" */
	void *options;    /* the command's option struct, filled; NULL if it has none */
	uint64_t given[3]; /* a bit per row of the flag table */
	int argc;         /* words behind the flags; for run and exec all from the first one on */
	char **argv;      /* NULL-terminated */
};

typedef int dk_run_fn(struct dk_context *c, const struct dk_args *args, struct err *e);

/*
 * The engine that --host or DOCKER_HOST names, NULL if it is not another one: there is no engine but
 * the files, and whoever wants to reach another one must not get this. dk_no_engine is the error.
 */
const char *dk_other_engine(const struct dk_context *c);
int dk_no_engine(struct dk_context *c, struct err *e);

/* Was the flag of this long name given? */
bool dk_given(const struct dk_args *args, const char *flag);

/*
 * Errors. dk_error fills *e like err_set, and keeps a text that is longer than *e holds for main
 * (last call wins); dk_daemon_error puts "Error response from daemon: " in front. Both return -code.
 * dk_print_error prints the text of *e (the long one, if it is its beginning) as a line on stderr
 * and forgets it. dk_fail prints a line on stderr and returns `exit_code`.
 */
int dk_error(struct dk_context *c, struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int dk_daemon_error(struct dk_context *c, struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
const char *dk_error_text(const struct dk_context *c, const struct err *e);
void dk_print_error(struct dk_context *c, const struct err *e);
int dk_fail(int exit_code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- tables ---- */

enum dk_flag_kind {
	DK_BOOL,     /* bool */
	DK_STRING,   /* char *: the last one wins */
	DK_INT,      /* int64_t */
	DK_OPT_INT,  /* struct opt_i64 */
	DK_OPT_BOOL, /* struct opt_bool */
	DK_UINT16,   /* uint16_t */
	DK_DURATION, /* int64_t: nanoseconds */
	DK_BYTES,    /* int64_t: 512m, 1g */
	DK_OPT_BYTES, /* struct opt_i64 */
	DK_SWAP,     /* int64_t: bytes or -1 */
	DK_CPUS,     /* int64_t: thousand-millionths */
	DK_LIST,     /* struct strv: one entry for each occurrence */
	DK_STRINGS,  /* struct strv: occurrences are comma-separated lists */
	DK_MAP,      /* struct str_map: KEY=VALUE, the last of a key wins */
	DK_FILTER,   /* struct str_map: NAME=VALUE, several of a name */
	DK_CUSTOM,   /* by .parse, into the member at .offset */
};

struct dk_flag;
/* Where a value is put. `text` is the argument; messages say why it is wrong, without the flag. */
struct dk_value_slot {
	struct dk_context *c;
	const struct dk_flag *flag;
	void *out; /* the member */
};
typedef int dk_parse_fn(const struct dk_value_slot *slot, const char *text, struct err *e);

struct dk_flag {
	const char *name;
	char letter;
	uint8_t kind;
	uint16_t offset;
	const char *type;       /* word in the help; NULL: by kind */
	const char *help;
	const char *def;        /* shown and applied (strings, numbers; "true" for bool) */
	dk_parse_fn *parse;     /* DK_CUSTOM; for DK_LIST: checks one entry (may replace it) */
	bool hidden;            /* accepted, not shown in --help */
	bool no_effect;         /* accepted without effect: the manual page lists it */
	const char *deprecated; /* what to use instead */
};

#define DK_FLAG(type_, member, name_, letter_, kind_, help_, ...) \
	{.name = (name_), .letter = (letter_), .kind = (kind_), .offset = offsetof(type_, member), \
	 .help = (help_), ##__VA_ARGS__}

struct dk_flag_table {
	const struct dk_flag *v;
	size_t n;
	size_t options_size;
};
#define DK_FLAGS(type_, rows) {.v = (rows), .n = sizeof(rows) / sizeof((rows)[0]), .options_size = sizeof(type_)}

enum dk_error_form { DK_ERROR_PLAIN, DK_ERROR_RUN };

struct dk_command {
	const char *name;        /* below docker itself; NULL: only in its group */
	const char *group;       /* "container", ...; NULL: none */
	const char *group_name;  /* its name there; NULL: as `name` */
	const char *aliases;     /* more names in the group, separated by blanks */
	const char *usage;       /* "[OPTIONS] IMAGE [COMMAND] [ARG...]" */
	const char *summary;
	const char *description; /* longer text of --help; NULL: summary */
	dk_run_fn *run;          /* NULL: not implemented, not there */
	dk_run_fn *check;        /* run behind the parsing; its errors are "docker: ..." and 125 */
	const struct dk_flag_table *flags;
	int min_args, max_args;  /* max -1: any number */
	bool stop_at_argument;   /* flags end at the first word (run, create, exec, top) */
	bool common;             /* listed among the common commands */
	bool no_engine;          /* has something to say when --host or DOCKER_HOST names another engine */
	enum dk_error_form form;
};

extern const struct dk_command dk_commands[];
extern const size_t dk_command_count;

struct dk_group { const char *name, *summary; };
extern const struct dk_group dk_groups[];
extern const size_t dk_group_count;

/* All of `docker ARGV...`; the exit code. */
int dk_main(struct dk_context *c, int argc, char **argv);

/* What `--version` and `version` say. */
#define DK_CLIENT_VERSION "24.0.9+brig"
#define DK_SERVER_VERSION "24.0.9+brig"
#define DK_API_VERSION "1.43"
#define DK_MIN_API_VERSION "1.12"

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--format` of list commands and of inspect.
 *
 * A list command has a table of columns; a value is computed only when the format names it:
 *
 *	static struct dk_value get_id(struct arena *a, const void *row) {...}
 *	static const struct dk_column columns[] = {{"ID", "CONTAINER ID", get_id}, ...};
 *	static const struct dk_columns ps_columns = DK_COLUMNS("*formatter.ContainerContext", columns);
 *
 *	struct dk_format_spec spec = {.columns = &ps_columns, .format = o->format,
 *		.table = "table {{.ID}}\t{{.Image}}...", .quiet = o->quiet ? "{{.ID}}" : NULL};
 *	dk_format_open(a, &spec, &f, e); dk_format_row(f, &row, e) ...; dk_format_close(f, e);
 *
 * {{json .}} and `json` write all columns that have a `get`, sorted by name, as Docker does.
 * Errors are ready to be returned by the command ("failed to parse template: ...").
 */
#pragma once

#include "docker/template.h"

struct dk_column {
	const char *name;   /* "ID" */
	const char *header; /* "CONTAINER ID"; NULL: "<no value>" in a table's header */
	struct dk_value (*get)(struct arena *a, const void *row);
	/* Instead of get: a method with one text argument, {{.Label "k"}}. */
	struct dk_value (*method)(struct arena *a, const void *row, const char *argument);
};
struct dk_columns {
	const char *go_type; /* "*formatter.ContainerContext" */
	const struct dk_column *v;
	size_t n;
};
#define DK_COLUMNS(go_type_, rows) {.go_type = (go_type_), .v = (rows), .n = sizeof(rows) / sizeof((rows)[0])}

struct dk_format_spec {
	const struct dk_columns *columns;
	const char *format; /* the user's; NULL or "": the default table */
	const char *table;  /* "table {{.ID}}\t..." */
	const char *quiet;  /* NULL: no -q; else the template of a line, "{{.ID}}" */
	const char *raw;    /* the template of --format raw; NULL: not known, "raw" is a literal */
	const char *raw_quiet;
	/* What ps says: it looks at the template before, and -q wins over a format. */
	bool ps;
};

struct dk_format;

int dk_format_open(struct arena *a, const struct dk_format_spec *spec, struct dk_format **ret, struct err *e);
bool dk_format_uses(const struct dk_format *f, const char *field);
/* Lines are kept until dk_format_close, which prints them (a table's columns need all). */
int dk_format_row(struct dk_format *f, const void *row, struct err *e);
int dk_format_close(struct dk_format *f, struct err *e);
/* For lines that must come at once (events, stats): what there is, to stdout; in a table with the
 * header first. */
int dk_format_flush(struct dk_format *f, struct err *e);

/*
 * inspect: documents are collected, printed by dk_inspect_close: an indented array, or with a format
 * a line each. A template is tried on Go's field names first, then on the JSON names, as Docker does.
 * dk_inspect_open returns 64 when the template cannot be parsed (all is printed then).
 * dk_inspect_close prints "[]" or an empty line when nothing was added; 0 or -errno.
 */
struct dk_inspect;
int dk_inspect_open(struct arena *a, const char *format, struct dk_inspect **ret, struct err *e);
int dk_inspect_add(struct dk_inspect *i, struct dk_value doc, struct err *e);
int dk_inspect_close(struct dk_inspect *i, struct err *e);

/* One document by a format of its own (version, info): "json", or a template on Go's names with
 * `name` in messages. Prints the result and a newline; -EINVAL after an empty line. */
int dk_print_formatted(struct arena *a, const char *format, const char *name, struct dk_value doc, struct err *e);

/* The first `width` columns of a terminal, the last of them an ellipsis if something is cut off. */
char *dk_ellipsis(struct arena *a, const char *text, size_t width);
/* Tab-separated lines in columns of at least 10, three blanks between them, as Docker's tables. */
void dk_align_columns(struct strbuf *out, const char *text, size_t n);

/* Writes all to fd 1; -errno with Docker's "write /dev/stdout: broken pipe". */
int dk_write_stdout(const void *data, size_t n, struct err *e);

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of list commands: by a template, the default one or the user's. See docker/format.h. */
#include "docker/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docker/lists.h"

struct dk_format {
	struct arena *a;
	const struct dk_columns *columns;
	struct dk_template *t, *header;
	const char *execute_error;
	bool by_word; /* "json" */
	bool table, header_done;
	struct strbuf out;
};

/* "\t" and "\n" as two characters are meant as one: a shell's quotes leave them so. */
static char *unescape(struct arena *a, const char *s)
{
	char *out = arena_alloc(a, strlen(s) + 1), *p = out;

	for (; *s; s++)
		if (s[0] == '\\' && (s[1] == 't' || s[1] == 'n'))
			*p++ = *++s == 't' ? '\t' : '\n';
		else
			*p++ = *s;
	return out;
}

static char *trim_blanks(struct arena *a, const char *s)
{
	size_t n;

	s += strspn(s, " ");
	for (n = strlen(s); n && s[n - 1] == ' '; n--)
		;
	return arena_strndup(a, s, n);
}

/* The template that the user's words stand for. */
static const char *choose(const struct dk_format_spec *spec)
{
	const char *format = spec->format;

	if (!format || !*format || str_eq(format, "table"))
		return spec->quiet ? spec->quiet : spec->table;
	if (spec->ps && spec->quiet) {
		fputs("WARNING: Ignoring custom format, because both --format and --quiet are set.\n", stderr);
		return spec->quiet;
	}
	if (str_eq(format, "raw") && spec->raw)
		return spec->quiet && spec->raw_quiet ? spec->raw_quiet : spec->raw;
	return str_eq(format, "json") ? "{{json .}}" : format;
}

int dk_format_open(struct arena *a, const struct dk_format_spec *spec, struct dk_format **ret, struct err *e)
{
	static const char table[] = "table";
	struct dk_template_options plain = {.name = ""}, head = {.name = "", .header_functions = true};
	struct dk_format *f = arena_new_of(a, struct dk_format);
	const char *format = choose(spec);

	f->a = a;
	f->columns = spec->columns;
	f->by_word = spec->format && str_eq(spec->format, "json");
	f->execute_error = spec->ps ? "failed to execute template" : "template parsing error";
	f->table = str_starts(format, table);
	format = unescape(a, trim_blanks(a, format + (f->table ? strlen(table) : 0)));
	if (dk_template_parse(a, &plain, format, &f->t, e) < 0)
		return err_wrap(e, spec->ps ? "failed to parse template" : "template parsing error");
	if (f->table && dk_template_parse(a, &head, format, &f->header, e) < 0)
		return err_wrap(e, "template parsing error");
	*ret = f;
	return 0;
}

bool dk_format_uses(const struct dk_format *f, const char *field)
{
	/* The word "json" costs nothing that takes time, {{json .}} everything; as Docker does it. */
	return !f->by_word && dk_template_uses(f->t, field);
}

int dk_format_row(struct dk_format *f, const void *row, struct err *e)
{
	const struct dk_value v = {.type = DK_OBJECT, .object = row, .columns = f->columns};

	if (dk_template_execute(f->t, &v, false, &f->out, e) < 0)
		return err_wrap(e, "%s", f->execute_error);
	strbuf_addc(&f->out, '\n');
	return 0;
}

static int write_header(struct dk_format *f, struct strbuf *out, struct err *e)
{
	const struct dk_value v = {.type = DK_OBJECT, .null = true, .columns = f->columns};

	f->header_done = true;
	if (dk_template_execute(f->header, &v, false, out, e) < 0)
		return err_wrap(e, "template parsing error");
	strbuf_addc(out, '\n');
	return 0;
}

int dk_format_flush(struct dk_format *f, struct err *e)
{
	auto_strbuf struct strbuf all = {0}, text = {0};
	int r;

	if (f->table && !f->header_done && write_header(f, &all, e) < 0)
		return -e->code;
	strbuf_add(&all, strbuf_str(&f->out), f->out.len);
	if (f->table)
		dk_align_columns(&text, strbuf_str(&all), all.len);
	r = f->table ? dk_write_stdout(strbuf_str(&text), text.len, e) : dk_write_stdout(strbuf_str(&all), all.len, e);
	strbuf_free(&f->out);
	f->out = (struct strbuf){0};
	return r;
}

int dk_format_close(struct dk_format *f, struct err *e)
{
	return dk_format_flush(f, e);
}

/* ---- documents ---- */

struct dk_inspect {
	struct arena *a;
	struct dk_template *t; /* NULL: JSON */
	bool indent;
	struct dk_value docs;
	struct strbuf out;
};

static int bad_template(const struct err *e)
{
	fprintf(stderr, "template parsing error: %s\n", e->msg);
	return 64;
}

int dk_inspect_open(struct arena *a, const char *format, struct dk_inspect **ret, struct err *e)
{
	struct dk_template_options plain = {.name = ""};
	struct dk_inspect *i = arena_new_of(a, struct dk_inspect);

	i->a = a;
	i->docs = dk_array();
	i->indent = !format || !*format;
	if (!i->indent && !str_eq(format, "json") && dk_template_parse(a, &plain, format, &i->t, e) < 0)
		return bad_template(e);
	*ret = i;
	return 0;
}

int dk_inspect_add(struct dk_inspect *i, struct dk_value doc, struct err *e)
{
	size_t before = i->out.len;
	struct err typed = {0};
	struct dk_value raw;

	if (!i->t) {
		dk_push(i->a, &i->docs, doc);
		return 0;
	}
	if (dk_template_execute(i->t, &doc, false, &i->out, &typed) < 0) {
		/* Once more on the JSON names; nothing of the first attempt stays. */
		i->out.len = before;
		raw = dk_to_raw(i->a, &doc);
		if (dk_template_execute(i->t, &raw, true, &i->out, e) < 0) {
			i->out.len = before;
			return err_wrap(e, "template parsing error");
		}
	}
	strbuf_addc(&i->out, '\n');
	return 0;
}

int dk_inspect_close(struct dk_inspect *i, struct err *e)
{
	int r;

	if (!i->t) {
		dk_write_json(&i->out, &i->docs, i->indent);
		strbuf_addc(&i->out, '\n');
	} else if (!i->out.len) {
		strbuf_addc(&i->out, '\n');
	}
	r = dk_write_stdout(i->out.p, i->out.len, e);
	strbuf_free(&i->out);
	return r;
}

int dk_print_formatted(struct arena *a, const char *format, const char *name, struct dk_value doc, struct err *e)
{
	struct dk_template_options o = {.name = name};
	auto_strbuf struct strbuf out = {0};
	struct dk_template *t;
	struct err ignored = {0};
	int r;

	if (dk_template_parse(a, &o, str_eq(format, "json") ? "{{json .}}" : format, &t, e) < 0)
		return bad_template(e);
	r = dk_template_execute(t, &doc, false, &out, e);
	strbuf_addc(&out, '\n');
	if (dk_write_stdout(out.p, out.len, r < 0 ? &ignored : e) < 0 && r == 0)
		return -e->code;
	return r;
}

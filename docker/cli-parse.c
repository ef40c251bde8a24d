/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags by the rules of Go's pflag, which the callers of Docker rely on: --name VALUE, --name=VALUE,
 * -n VALUE, -nVALUE, -n=VALUE, letters of bools in a row (-it), "--" as the end. A bool takes a
 * value only behind "=". The messages are pflag's.
 */
#include "docker/cli-parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docker/lists.h"
#include "docker/units.h"

static int set_bool(const char *text, bool *ret, struct err *e)
{
	static const char *const words[] = {"1", "t", "T", "TRUE", "true", "True",
					    "0", "f", "F", "FALSE", "false", "False", NULL};
	int i = str_index(words, text);

	if (i < 0)
		return err_set(e, EINVAL, "strconv.ParseBool: parsing \"%s\": invalid syntax", text);
	*ret = i < 6;
	return 0;
}

/* The fields of the first line of comma-separated values; quotes as in RFC 4180. */
int dk_split_csv(struct arena *a, const char *text, struct strv *ret, struct err *e)
{
	const char *s = text;

	for (;;) {
		auto_strbuf struct strbuf field = {0};

		if (*s == '"') {
			for (s++; *s && (*s != '"' || s[1] == '"'); s += *s == '"' ? 2 : 1)
				strbuf_addc(&field, *s);
			if (!*s)
				return err_set(e, EINVAL, "parse error on line 1, column %zu: extraneous or missing \" in quoted-field",
					       (size_t)(s - text) + 1);
			s++;
			if (*s && *s != ',' && *s != '\n')
				return err_set(e, EINVAL, "parse error on line 1, column %zu: extraneous or missing \" in quoted-field",
					       (size_t)(s - text));
		} else {
			for (; *s && *s != ',' && *s != '\n'; s++) {
				if (*s == '"')
					return err_set(e, EINVAL, "parse error on line 1, column %zu: bare \" in non-quoted-field",
						       (size_t)(s - text) + 1);
				strbuf_addc(&field, *s);
			}
		}
		dk_strv_add(a, ret, arena_strdup(a, strbuf_str(&field)));
		if (*s != ',')
			return 0;
		s++;
	}
}

static int set_map(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	const char *eq = strchr(text, '=');

	(void)e;
	/* opts.MapOpts: a key alone has the value "". */
	dk_map_add(a, slot->out, eq ? arena_strndup(a, text, (size_t)(eq - text)) : arena_strdup(a, text),
		   arena_strdup(a, eq ? eq + 1 : ""), true);
	return 0;
}

static int set_filter(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	struct arena *a = slot->c->arena;
	const char *eq = strchr(text, '=');

	if (!*text)
		return 0;
	if (!eq)
		return err_set(e, EINVAL, "bad format of filter (expected name=value)");
	dk_map_add(a, slot->out, dk_lower(a, dk_trim(a, arena_strndup(a, text, (size_t)(eq - text)))),
		   dk_trim(a, eq + 1), false);
	return 0;
}

static int set_uint16(const char *text, uint16_t *ret, struct err *e)
{
	uint64_t v = 0;
	int r = dk_parse_uint(text, 16, &v, e);

	if (r == 0)
		*ret = (uint16_t)v;
	return r;
}

static int set_opt(struct opt_i64 *out, int r)
{
	out->set = r == 0;
	return r;
}

static int set_list(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	if (slot->flag->parse)
		return slot->flag->parse(slot, text, e);
	dk_strv_add(slot->c->arena, slot->out, arena_strdup(slot->c->arena, text));
	return 0;
}

static int set_value(const struct dk_value_slot *slot, const char *text, struct err *e)
{
	void *out = slot->out;
	struct opt_bool *ob = out;
	struct opt_i64 *oi = out;

	switch ((enum dk_flag_kind)slot->flag->kind) {
	case DK_BOOL: return set_bool(text, out, e);
	case DK_OPT_BOOL: ob->set = true; return set_bool(text, &ob->v, e);
	case DK_STRING: *(char **)out = (char *)text; return 0;
	case DK_INT: return dk_parse_int(text, 64, out, e);
	case DK_OPT_INT: return set_opt(oi, dk_parse_int(text, 64, &oi->v, e));
	case DK_UINT16: return set_uint16(text, out, e);
	case DK_DURATION: return dk_parse_duration(text, out, e);
	case DK_BYTES: return dk_parse_bytes(text, out, e);
	case DK_OPT_BYTES: return set_opt(oi, dk_parse_bytes(text, &oi->v, e));
	case DK_SWAP: return dk_parse_swap(text, out, e);
	case DK_CPUS: return dk_parse_cpus(text, out, e);
	case DK_LIST: return set_list(slot, text, e);
	case DK_STRINGS: return *text ? dk_split_csv(slot->c->arena, text, out, e) : 0;
	case DK_MAP: return slot->flag->parse ? slot->flag->parse(slot, text, e) : set_map(slot, text, e);
	case DK_FILTER: return set_filter(slot, text, e);
	case DK_CUSTOM: return slot->flag->parse(slot, text, e);
	}
	return err_set(e, EINVAL, "unknown kind of flag");
}

bool dk_flag_is_bool(const struct dk_flag *f)
{
	return f->kind == DK_BOOL || f->kind == DK_OPT_BOOL;
}

const char *dk_flag_type(const struct dk_flag *f)
{
	static const char *const types[] = {
		[DK_BOOL] = "", [DK_OPT_BOOL] = "", [DK_STRING] = "string", [DK_INT] = "int",
		[DK_OPT_INT] = "int", [DK_UINT16] = "uint16", [DK_DURATION] = "duration",
		[DK_BYTES] = "bytes", [DK_OPT_BYTES] = "bytes", [DK_SWAP] = "bytes",
		[DK_CPUS] = "decimal", [DK_LIST] = "list", [DK_STRINGS] = "strings", [DK_MAP] = "map",
		[DK_FILTER] = "filter", [DK_CUSTOM] = "string",
	};

	return f->type ? f->type : types[f->kind];
}

const struct dk_flag *dk_find_flag(const struct dk_flag_table *t, const char *name, size_t n)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (strncmp(t->v[i].name, name, n) == 0 && !t->v[i].name[n])
			return &t->v[i];
	return NULL;
}

static const struct dk_flag *find_letter(const struct dk_flag_table *t, char letter)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (t->v[i].letter == letter)
			return &t->v[i];
	return NULL;
}

static struct dk_value_slot slot_of(const struct dk_parser *p, const struct dk_flag *f)
{
	return (struct dk_value_slot){.c = p->c, .flag = f, .out = (char *)p->options + f->offset};
}

static int set_flag(struct dk_parser *p, const struct dk_flag *f, const char *text, struct err *e)
{
	struct dk_value_slot slot = slot_of(p, f);
	struct err why = {0};
	size_t row = (size_t)(f - p->table->v);
	char letter[8] = "";

	if (set_value(&slot, text, &why) == 0) {
		p->given[row / 64] |= UINT64_C(1) << row % 64;
		if (f->deprecated) { /* on stdout, as Docker does it, and before anything else */
			printf("Flag --%s has been deprecated, %s\n", f->name, f->deprecated);
			fflush(stdout);
		}
		return 0;
	}
	if (f->letter)
		snprintf(letter, sizeof(letter), "-%c, ", f->letter);
	return dk_error(p->c, e, why.code, "invalid argument %s for \"%s--%s\" flag: %s",
			dk_quoted(p->c->arena, text), letter, f->name, dk_error_text(p->c, &why));
}

/* The words that are left, and the one that is read. */
struct words {
	char **v;
	int n, i;
};

/* --name or --name=value; words->i is behind it. */
static int long_flag(struct dk_parser *p, char *word, struct words *w, struct err *e)
{
	const char *name = word + 2, *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct dk_flag *f = dk_find_flag(p->table, name, n);

	if (!n || name[0] == '-')
		return dk_error(p->c, e, EINVAL, "bad flag syntax: %s", word);
	if (!f && n == 4 && memcmp(name, "help", 4) == 0) {
		p->help = true;
		return 0;
	}
	if (!f)
		return dk_error(p->c, e, EINVAL, "unknown flag: --%.*s", (int)n, name);
	if (eq)
		return set_flag(p, f, eq + 1, e);
	if (dk_flag_is_bool(f))
		return set_flag(p, f, "true", e);
	if (w->i >= w->n)
		return dk_error(p->c, e, EINVAL, "flag needs an argument: %s", word);
	return set_flag(p, f, w->v[w->i++], e);
}

/* The letter at the start of `letters`; *rest is what of the word is left to read. */
static int short_flag(struct dk_parser *p, const char *letters, struct words *w, const char **rest,
		      struct err *e)
{
	const struct dk_flag *f = find_letter(p->table, letters[0]);

	*rest = "";
	if (!f && letters[0] == 'h') {
		p->help = true;
		return 0;
	}
	if (!f) {
		char *quoted = dk_quoted(p->c->arena, (char[]){letters[0], '\0'});

		/* Go quotes a character: 'Q'. */
		quoted[0] = quoted[strlen(quoted) - 1] = '\'';
		return dk_error(p->c, e, EINVAL, "unknown shorthand flag: %s in -%s", quoted, letters);
	}
	if (letters[1] == '=' && letters[2])
		return set_flag(p, f, letters + 2, e);
	if (dk_flag_is_bool(f)) {
		*rest = letters + 1;
		return set_flag(p, f, "true", e);
	}
	if (letters[1])
		return set_flag(p, f, letters + 1, e);
	if (w->i >= w->n)
		return dk_error(p->c, e, EINVAL, "flag needs an argument: '%c' in -%s", letters[0], letters);
	return set_flag(p, f, w->v[w->i++], e);
}

static int short_flags(struct dk_parser *p, char *word, struct words *w, struct err *e)
{
	const char *letters = word + 1;

	while (*letters && !p->help)
		if (short_flag(p, letters, w, &letters, e) < 0)
			return -e->code;
	return 0;
}

int dk_parse_flags(struct dk_parser *p, int argc, char **argv, struct err *e)
{
	struct words w = {.v = argv, .n = argc};
	int kept = 0, r = 0;

	p->argv = argv;
	while (w.i < w.n && r == 0 && !p->help) {
		char *word = argv[w.i++];

		if (word[0] != '-' || !word[1]) {
			argv[kept++] = word;
			if (p->stop_at_argument)
				break;
		} else if (word[1] != '-') {
			r = short_flags(p, word, &w, e);
		} else if (!word[2]) {
			break;
		} else {
			r = long_flag(p, word, &w, e);
		}
	}
	while (w.i < w.n)
		argv[kept++] = argv[w.i++];
	argv[kept] = NULL;
	p->argc = kept;
	return r;
}

int dk_parse_defaults(struct dk_parser *p, struct err *e)
{
	for (size_t i = 0; p->table && i < p->table->n; i++) {
		const struct dk_flag *f = &p->table->v[i];
		struct dk_value_slot slot = slot_of(p, f);

		if (f->def && f->kind != DK_LIST && f->kind != DK_CUSTOM && f->kind != DK_MAP &&
		    set_value(&slot, f->def, e) < 0)
			return err_wrap(e, "default of --%s", f->name);
	}
	return 0;
}

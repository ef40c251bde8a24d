/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's text/template, as far as it can be seen through `docker ... --format`: actions, pipelines,
 * variables, if/else/with/range/define/template/block/break/continue, comments, trim markers, Go's
 * own functions and Docker's (json, split, join, title, lower, upper, pad, truncate, println...).
 * Error texts are Go's.
 *
 * Templates come from the caller, the data partly from a hostile image: both are only read, nesting
 * and output are bounded.
 */
#pragma once

#include "docker/value.h"

struct dk_template;

struct dk_template_options {
	const char *name;      /* in messages; "" for most of Docker's */
	bool header_functions; /* for the header line of a table: truncate, json and so on give their argument back */
};

/* -EINVAL with "template: NAME:LINE: ..."; nothing is put in front. */
int dk_template_parse(struct arena *a, const struct dk_template_options *o, const char *text,
		      struct dk_template **ret, struct err *e);
/* Appends to out, also what came before an error. missing_is_error: Go's missingkey=error. */
int dk_template_execute(struct dk_template *t, const struct dk_value *data, bool missing_is_error,
			struct strbuf *out, struct err *e);
/* Is a field of this name mentioned anywhere? (Docker's way to know whether Size is wanted.) */
bool dk_template_uses(const struct dk_template *t, const char *field);

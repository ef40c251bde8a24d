/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the sandbox spec. */
#pragma once

#include "spec/sandbox.h"

/* [A-Za-z_][A-Za-z0-9_]* */
bool sandbox_valid_variable(const char *name);
/* Appends to a list that was empty at first and is changed by this function alone; keeps a NULL
 * behind the last entry. */
void sandbox_strv_add(struct arena *a, struct strv *list, char *s);
/* sandbox_set for an annotation, whose key begins with SANDBOX_ANNOTATION. */
int sandbox_set_annotation(struct sandbox_options *o, struct arena *a, const struct str_pair *pair,
			   struct err *e);

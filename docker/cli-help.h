/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the command line: --help, from the tables. See docker/cli.h. */
#pragma once

#include "docker/cli.h"
#include "docker/cli-parse.h"

void dk_help_docker(struct strbuf *b);
void dk_help_group(struct strbuf *b, const struct dk_group *g);
void dk_help_command(struct strbuf *b, const struct dk_command *cmd, const char *path);

/* The rows that are shown, sorted by name; malloced. */
const struct dk_flag **dk_shown_flags(const struct dk_flag_table *t, size_t *n);
/* The commands of a group (NULL: of docker itself) that exist and are shown, sorted; malloced. */
const struct dk_command **dk_shown_commands(const char *group, size_t *n);
/* Its name in the group, or below docker itself for NULL. */
const char *dk_command_name(const struct dk_command *cmd, const char *group);
/* A flag's help with what is said of its default. */
char *dk_flag_text(struct arena *a, const struct dk_flag *f);

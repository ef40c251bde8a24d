/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of the commands on images, registries, networks, volumes, and of the rest. */
#include "docker/commands.h"
#include "docker/flag-tables.h"

#define FORMAT_HELP                                                                          \
	"Format of the output:\n'json':             JSON\n'TEMPLATE':         by this Go template"
#define TABLE_HELP                                                                           \
	"Format of the output:\n'table':            a table with headers (default)\n"         \
	"'table TEMPLATE':   a table by this Go template\n'json':             JSON\n"          \
	"'TEMPLATE':         by this Go template"

static const struct dk_flag images_rows[] = {
#define F(...) DK_FLAG(struct dk_images_options, __VA_ARGS__)
	F(all, "all", 'a', DK_BOOL, "Show all images, intermediate ones too"),
	F(digests, "digests", 0, DK_BOOL, "Show digests"),
	F(filter, "filter", 'f', DK_FILTER, "Show only what matches a condition"),
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(no_trunc, "no-trunc", 0, DK_BOOL, "Do not cut anything off"),
	F(quiet, "quiet", 'q', DK_BOOL, "Show IDs only"),
	F(tree, "tree", 0, DK_BOOL, "List images as a tree", .hidden = true),
#undef F
};
const struct dk_flag_table dk_images_flags = DK_FLAGS(struct dk_images_options, images_rows);

#define F(...) DK_FLAG(struct dk_pull_options, __VA_ARGS__)
static const struct dk_flag pull_rows[] = {
	F(all_tags, "all-tags", 'a', DK_BOOL, "Download all tags of the repository"),
	F(disable_content_trust, "disable-content-trust", 0, DK_BOOL, "Do not verify signatures of images", .def = "true", .no_effect = true),
	F(platform, "platform", 0, DK_STRING, "Platform of the image"),
	F(quiet, "quiet", 'q', DK_BOOL, "Do not show how it goes on"),
};
const struct dk_flag_table dk_pull_flags = DK_FLAGS(struct dk_pull_options, pull_rows);

static const struct dk_flag push_rows[] = {
	F(all_tags, "all-tags", 'a', DK_BOOL, "Push all tags of the image"),
	F(disable_content_trust, "disable-content-trust", 0, DK_BOOL, "Do not sign the image", .def = "true", .no_effect = true),
	F(platform, "platform", 0, DK_STRING, "Platform of the image"),
	F(quiet, "quiet", 'q', DK_BOOL, "Do not show how it goes on"),
};
const struct dk_flag_table dk_push_flags = DK_FLAGS(struct dk_pull_options, push_rows);
#undef F

static const struct dk_flag load_rows[] = {
#define F(...) DK_FLAG(struct dk_load_options, __VA_ARGS__)
	F(input, "input", 'i', DK_STRING, "Read from a file instead of STDIN"),
	F(platform, "platform", 0, DK_STRING, "Load only this platform: os[/arch[/variant]]"),
	F(quiet, "quiet", 'q', DK_BOOL, "Do not show how it goes on"),
#undef F
};
const struct dk_flag_table dk_load_flags = DK_FLAGS(struct dk_load_options, load_rows);

static const struct dk_flag save_rows[] = {
#define F(...) DK_FLAG(struct dk_save_options, __VA_ARGS__)
	F(output, "output", 'o', DK_STRING, "Write to a file instead of STDOUT"),
	F(platform, "platform", 0, DK_STRING, "Save only this platform: os[/arch[/variant]]"),
#undef F
};
const struct dk_flag_table dk_save_flags = DK_FLAGS(struct dk_save_options, save_rows);

static const struct dk_flag import_rows[] = {
#define F(...) DK_FLAG(struct dk_import_options, __VA_ARGS__)
	F(change, "change", 'c', DK_LIST, "Apply a Dockerfile instruction to the image"),
	F(link, "link", 0, DK_BOOL, "Use a directory as the image's root, without copying it"),
	F(message, "message", 'm', DK_STRING, "Message of the image's history"),
	F(platform, "platform", 0, DK_STRING, "Platform of the image"),
#undef F
};
const struct dk_flag_table dk_import_flags = DK_FLAGS(struct dk_import_options, import_rows);

static const struct dk_flag rmi_rows[] = {
#define F(...) DK_FLAG(struct dk_rmi_options, __VA_ARGS__)
	F(force, "force", 'f', DK_BOOL, "Remove also an image that is used"),
	F(no_prune, "no-prune", 0, DK_BOOL, "Keep parents that have no name"),
	F(platform, "platform", 0, DK_STRINGS, "Remove only this platform: os[/arch[/variant]]"),
#undef F
};
const struct dk_flag_table dk_rmi_flags = DK_FLAGS(struct dk_rmi_options, rmi_rows);

static const struct dk_flag history_rows[] = {
#define F(...) DK_FLAG(struct dk_history_options, __VA_ARGS__)
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(human, "human", 'H', DK_BOOL, "Sizes and dates for people", .def = "true"),
	F(no_trunc, "no-trunc", 0, DK_BOOL, "Do not cut anything off"),
	F(platform, "platform", 0, DK_STRING, "Platform of the image: os[/arch[/variant]]"),
	F(quiet, "quiet", 'q', DK_BOOL, "Show IDs only"),
#undef F
};
const struct dk_flag_table dk_history_flags = DK_FLAGS(struct dk_history_options, history_rows);

static const struct dk_flag login_rows[] = {
#define F(...) DK_FLAG(struct dk_login_options, __VA_ARGS__)
	F(password, "password", 'p', DK_STRING, "Password or access token"),
	F(password_stdin, "password-stdin", 0, DK_BOOL, "Read the password from STDIN"),
	F(username, "username", 'u', DK_STRING, "Name of the user"),
#undef F
};
const struct dk_flag_table dk_login_flags = DK_FLAGS(struct dk_login_options, login_rows);

/* ---- networks ---- */

static const struct dk_flag network_create_rows[] = {
#define F(...) DK_FLAG(struct dk_network_create_options, __VA_ARGS__)
	F(attachable, "attachable", 0, DK_BOOL, "Allow containers to be attached by hand"),
	F(aux_address, "aux-address", 0, DK_MAP, "Further addresses that the driver uses (default map[])"),
	F(config_from, "config-from", 0, DK_STRING, "Network to copy the configuration from"),
	F(config_only, "config-only", 0, DK_BOOL, "Make a configuration only"),
	F(driver, "driver", 'd', DK_STRING, "Driver of the network", .def = "bridge"),
	F(gateway, "gateway", 0, DK_STRINGS, "Gateway of the subnet"),
	F(ingress, "ingress", 0, DK_BOOL, "Make swarm's routing mesh", .hidden = true),
	F(internal, "internal", 0, DK_BOOL, "Give no access to the outside"),
	F(ip_range, "ip-range", 0, DK_STRINGS, "Take addresses from this part of the subnet"),
	F(ipam_driver, "ipam-driver", 0, DK_STRING, "Driver that manages addresses", .def = "default"),
	F(ipam_opt, "ipam-opt", 0, DK_MAP, "Option of that driver (default map[])"),
	F(ipv4, "ipv4", 0, DK_OPT_BOOL, "Assign IPv4 addresses (default true)"),
	F(ipv6, "ipv6", 0, DK_OPT_BOOL, "Assign IPv6 addresses"),
	F(labels_flags, "label", 0, DK_LIST, "Set a label of the network", .parse = dk_flag_label),
	F(opt, "opt", 'o', DK_MAP, "Option of the driver (default map[])"),
	F(scope, "scope", 0, DK_STRING, "Scope of the network"),
	F(subnet, "subnet", 0, DK_STRINGS, "Subnet in CIDR form"),
#undef F
};
const struct dk_flag_table dk_network_create_flags =
	DK_FLAGS(struct dk_network_create_options, network_create_rows);

#define F(...) DK_FLAG(struct dk_list_options, __VA_ARGS__)
static const struct dk_flag network_ls_rows[] = {
	F(filter, "filter", 'f', DK_FILTER, "Show only what matches a condition (\"driver=bridge\")"),
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(no_trunc, "no-trunc", 0, DK_BOOL, "Do not cut anything off"),
	F(quiet, "quiet", 'q', DK_BOOL, "Show IDs only"),
};
const struct dk_flag_table dk_network_ls_flags = DK_FLAGS(struct dk_list_options, network_ls_rows);

static const struct dk_flag volume_ls_rows[] = {
	F(filter, "filter", 'f', DK_FILTER, "Show only what matches a condition (\"dangling=true\")"),
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(quiet, "quiet", 'q', DK_BOOL, "Show names only"),
};
const struct dk_flag_table dk_volume_ls_flags = DK_FLAGS(struct dk_list_options, volume_ls_rows);

static const struct dk_flag context_ls_rows[] = {
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(quiet, "quiet", 'q', DK_BOOL, "Show names only"),
};
const struct dk_flag_table dk_context_ls_flags = DK_FLAGS(struct dk_list_options, context_ls_rows);
#undef F

static const struct dk_flag network_connect_rows[] = {
#define F(...) DK_FLAG(struct dk_network_connect_options, __VA_ARGS__)
	F(alias, "alias", 0, DK_STRINGS, "Another name of the container in the network"),
	F(driver_opt, "driver-opt", 0, DK_STRINGS, "Option of the network's driver"),
	F(gw_priority, "gw-priority", 0, DK_INT, "The network with the highest one has the default gateway"),
	F(ip, "ip", 0, DK_STRING, "IPv4 address (\"172.30.100.104\")"),
	F(ip6, "ip6", 0, DK_STRING, "IPv6 address (\"2001:db8::33\")"),
	F(link, "link", 0, DK_LIST, "Add a link to another container", .parse = dk_flag_link),
	F(link_local_ip, "link-local-ip", 0, DK_STRINGS, "Link-local address of the container"),
#undef F
};
const struct dk_flag_table dk_network_connect_flags =
	DK_FLAGS(struct dk_network_connect_options, network_connect_rows);

#define F(...) DK_FLAG(struct dk_force_options, __VA_ARGS__)
static const struct dk_flag network_rm_rows[] = {
	F(force, "force", 'f', DK_BOOL, "A network that does not exist is no error"),
};
const struct dk_flag_table dk_network_rm_flags = DK_FLAGS(struct dk_force_options, network_rm_rows);

static const struct dk_flag network_disconnect_rows[] = {
	F(force, "force", 'f', DK_BOOL, "Disconnect in any case"),
};
const struct dk_flag_table dk_network_disconnect_flags =
	DK_FLAGS(struct dk_force_options, network_disconnect_rows);

static const struct dk_flag volume_rm_rows[] = {
	F(force, "force", 'f', DK_BOOL, "A volume that does not exist is no error"),
};
const struct dk_flag_table dk_volume_rm_flags = DK_FLAGS(struct dk_force_options, volume_rm_rows);
#undef F

static const struct dk_flag volume_create_rows[] = {
#define F(...) DK_FLAG(struct dk_volume_create_options, __VA_ARGS__)
	F(driver, "driver", 'd', DK_STRING, "Driver of the volume", .def = "local"),
	F(labels_flags, "label", 0, DK_LIST, "Set a label of the volume", .parse = dk_flag_label),
	F(name, "name", 0, DK_STRING, "Name of the volume", .hidden = true),
	F(opt, "opt", 'o', DK_MAP, "Option of the driver (default map[])"),
#undef F
};
const struct dk_flag_table dk_volume_create_flags =
	DK_FLAGS(struct dk_volume_create_options, volume_create_rows);

/* ---- prune ---- */

#define F(...) DK_FLAG(struct dk_prune_options, __VA_ARGS__)
static const struct dk_flag image_prune_rows[] = {
	F(all, "all", 'a', DK_BOOL, "Remove all images that are not used, not only those without a name"),
	F(filter, "filter", 0, DK_FILTER, "Remove only what matches a condition (\"until=<timestamp>\")"),
	F(force, "force", 'f', DK_BOOL, "Do not ask"),
};
const struct dk_flag_table dk_image_prune_flags = DK_FLAGS(struct dk_prune_options, image_prune_rows);

static const struct dk_flag network_prune_rows[] = {
	F(filter, "filter", 0, DK_FILTER, "Remove only what matches a condition (\"until=<timestamp>\")"),
	F(force, "force", 'f', DK_BOOL, "Do not ask"),
};
const struct dk_flag_table dk_network_prune_flags = DK_FLAGS(struct dk_prune_options, network_prune_rows);

static const struct dk_flag volume_prune_rows[] = {
	F(all, "all", 'a', DK_BOOL, "Remove all volumes that are not used, not only anonymous ones"),
	F(filter, "filter", 0, DK_FILTER, "Remove only what matches a condition (\"label=<label>\")"),
	F(force, "force", 'f', DK_BOOL, "Do not ask"),
};
const struct dk_flag_table dk_volume_prune_flags = DK_FLAGS(struct dk_prune_options, volume_prune_rows);

static const struct dk_flag system_prune_rows[] = {
	F(all, "all", 'a', DK_BOOL, "Remove all images that are not used, not only those without a name"),
	F(filter, "filter", 0, DK_FILTER, "Remove only what matches a condition (\"label=<key>=<value>\")"),
	F(force, "force", 'f', DK_BOOL, "Do not ask"),
	F(volumes, "volumes", 0, DK_BOOL, "Remove anonymous volumes"),
};
const struct dk_flag_table dk_system_prune_flags = DK_FLAGS(struct dk_prune_options, system_prune_rows);
#undef F

/* ---- system ---- */

static const struct dk_flag format_rows[] = {
	DK_FLAG(struct dk_format_options, format, "format", 'f', DK_STRING, FORMAT_HELP),
};
const struct dk_flag_table dk_format_flags = DK_FLAGS(struct dk_format_options, format_rows);

static const struct dk_flag df_rows[] = {
#define F(...) DK_FLAG(struct dk_df_options, __VA_ARGS__)
	F(format, "format", 0, DK_STRING, TABLE_HELP),
	F(verbose, "verbose", 'v', DK_BOOL, "Show each object"),
#undef F
};
const struct dk_flag_table dk_df_flags = DK_FLAGS(struct dk_df_options, df_rows);

static const struct dk_flag events_rows[] = {
#define F(...) DK_FLAG(struct dk_events_options, __VA_ARGS__)
	F(filter, "filter", 'f', DK_FILTER, "Show only what matches a condition"),
	F(format, "format", 0, DK_STRING, FORMAT_HELP),
	F(since, "since", 0, DK_STRING, "Begin with what happened at this time"),
	F(until, "until", 0, DK_STRING, "End at this time"),
#undef F
};
const struct dk_flag_table dk_events_flags = DK_FLAGS(struct dk_events_options, events_rows);

static const struct dk_flag global_rows[] = {
#define F(...) DK_FLAG(struct dk_global_options, __VA_ARGS__)
	F(config, "config", 0, DK_STRING, "Directory of the client's configuration files"),
	F(context, "context", 'c', DK_STRING, "Name of the context; there is only \"default\"", .no_effect = true),
	F(debug, "debug", 'D', DK_BOOL, "Log every step"),
	F(host, "host", 'H', DK_LIST, "Socket of an engine; there is none", .no_effect = true),
	F(log_level, "log-level", 'l', DK_STRING, "Level of the log: debug, info, warn, error or fatal", .def = "info"),
	F(tls, "tls", 0, DK_BOOL, "Use TLS", .no_effect = true),
	F(tlscacert, "tlscacert", 0, DK_STRING, "Certificate of the authority", .no_effect = true),
	F(tlscert, "tlscert", 0, DK_STRING, "Certificate", .no_effect = true),
	F(tlskey, "tlskey", 0, DK_STRING, "Key", .no_effect = true),
	F(tlsverify, "tlsverify", 0, DK_BOOL, "Use TLS and verify the other side", .no_effect = true),
	F(version, "version", 'v', DK_BOOL, "Print the version and quit"),
#undef F
};
const struct dk_flag_table dk_global_flags = DK_FLAGS(struct dk_global_options, global_rows);

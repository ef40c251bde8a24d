/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of build. Those that buildah has under the same name are handed over by this table. */
#include "docker/commands.h"
#include "docker/flag-tables.h"

static const struct dk_flag rows[] = {
#define F(...) DK_FLAG(struct dk_build_options, __VA_ARGS__)
	F(add_host, "add-host", 0, DK_LIST, "Add an entry to /etc/hosts (\"host:ip\")"),
	F(no_effect_list, "allow", 0, DK_LIST, "Allow something to the builder", .hidden = true, .no_effect = true),
	F(no_effect_list, "attest", 0, DK_LIST, "Attestation of the image", .hidden = true, .no_effect = true),
	F(build_arg, "build-arg", 0, DK_LIST, "Set a variable of the build"),
	F(build_context, "build-context", 0, DK_LIST, "Further context (\"name=path\")"),
	F(no_effect, "builder", 0, DK_STRING, "Builder to use", .hidden = true, .no_effect = true),
	F(no_effect_list, "cache-from", 0, DK_LIST, "Images or places that have a cache", .no_effect = true),
	F(no_effect_list, "cache-to", 0, DK_LIST, "Where to put the cache", .no_effect = true),
	F(cgroup_parent, "cgroup-parent", 0, DK_STRING, "Parent cgroup of RUN"),
	F(no_effect_bool, "compress", 0, DK_BOOL, "Compress the context", .hidden = true, .no_effect = true),
	F(cpu_period, "cpu-period", 0, DK_STRING, "Limit CPU time: period", .type = "int"),
	F(cpu_quota, "cpu-quota", 0, DK_STRING, "Limit CPU time: quota", .type = "int"),
	F(cpu_shares, "cpu-shares", 'c', DK_STRING, "CPU shares (relative weight)", .type = "int"),
	F(cpuset_cpus, "cpuset-cpus", 0, DK_STRING, "CPUs to run on (0-3, 0,1)"),
	F(cpuset_mems, "cpuset-mems", 0, DK_STRING, "Memory nodes to use (0-3, 0,1)"),
	F(no_effect_bool, "disable-content-trust", 0, DK_BOOL, "Do not verify signatures of images",
	  .def = "true", .no_effect = true),
	F(file, "file", 'f', DK_STRING, "The Dockerfile (default: \"PATH/Dockerfile\")"),
	F(no_effect_bool, "force-rm", 0, DK_BOOL, "Always remove what was made for the build", .no_effect = true),
	F(iidfile, "iidfile", 0, DK_STRING, "Write the image's ID to a file"),
	F(label, "label", 0, DK_LIST, "Set a label of the image"),
	F(load, "load", 0, DK_BOOL, "Put the image among the images, as always", .no_effect = true),
	F(memory, "memory", 'm', DK_STRING, "Memory limit", .type = "bytes"),
	F(memory_swap, "memory-swap", 0, DK_STRING, "Memory and swap together: '-1' for no limit of swap",
	  .type = "bytes"),
	F(network, "network", 0, DK_STRING, "Network of RUN: none, host, bridge (default: the configuration's)"),
	F(no_cache, "no-cache", 0, DK_BOOL, "Use no cache"),
	F(output, "output", 'o', DK_LIST, "Write the result elsewhere, too (\"type=local,dest=path\")"),
	F(platform, "platform", 0, DK_STRINGS, "Platform of the image"),
	F(no_effect, "progress", 0, DK_STRING, "Form of what is said meanwhile", .no_effect = true),
	F(no_effect, "provenance", 0, DK_STRING, "Attestation of the image", .hidden = true, .no_effect = true),
	F(pull, "pull", 0, DK_BOOL, "Download the images that it builds on in any case"),
	F(quiet, "quiet", 'q', DK_BOOL, "Show the image's ID only"),
	F(no_effect_bool, "rm", 0, DK_BOOL, "Remove what was made for the build", .def = "true", .no_effect = true),
	F(no_effect, "sbom", 0, DK_STRING, "Attestation of the image", .hidden = true, .no_effect = true),
	F(secret, "secret", 0, DK_LIST, "Give RUN a secret (\"id=name,src=path\")"),
	F(security_opt, "security-opt", 0, DK_LIST, "Security options of RUN"),
	F(shm_size, "shm-size", 0, DK_STRING, "Size of /dev/shm", .type = "bytes"),
	F(squash, "squash", 0, DK_BOOL, "Make one layer of all new ones"),
	F(ssh, "ssh", 0, DK_LIST, "Give RUN an agent or keys (\"default|id[=socket|key]\")"),
	F(tag, "tag", 't', DK_LIST, "Name of the image (\"name:tag\")"),
	F(target, "target", 0, DK_STRING, "Build this stage"),
	F(ulimit, "ulimit", 0, DK_LIST, "Limit of a process (\"type=soft[:hard]\")"),
#undef F
};
const struct dk_flag_table dk_build_flags = DK_FLAGS(struct dk_build_options, rows);

#!/usr/bin/env bats
# places: cgroup2
# What a payload sees under brig is what it sees under runc and crun; see tests/lib/compare.bash for
# the differences that are meant. On pure cgroup v2, because crun runs on no other.

load ../lib/common
load ../lib/compare

setup() {
	need_command runc
	need_command crun
	brig_setup
	make_bundle "$T/bundle"
	with_probe "$T/bundle"
}

edit() { edit_config "$T/bundle" "$@"; }

@test "the default bundle" {
	diff_runtimes "$T/bundle"
}

@test "user, groups, umask, directory, environment, limits, scheduling" {
	mkdir -p "$T/bundle/rootfs/work"
	edit '.process += {user: {uid: 5, gid: 6, umask: 63, additionalGids: [7, 8]}, cwd: "/work",
		env: ["PATH=/bin", "A=b", "A=c", "EMPTY="], noNewPrivileges: false, oomScoreAdj: 300,
		rlimits: [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0}]}'
	diff_runtimes "$T/bundle"
}

@test "all capabilities, ambient ones, none" {
	local all
	all=$(capsh --print 2>/dev/null | sed -n 's/^Bounding set =//p' | tr a-z, 'A-Z\n' |
		grep -v SYS_RESOURCE | jq -R . | jq -s .) || all='["CAP_CHOWN", "CAP_SYS_ADMIN"]'
	edit '.process.capabilities = {bounding: $all, effective: $all, permitted: $all}' --argjson all "$all"
	diff_runtimes "$T/bundle"
	edit '.process.capabilities = (["CAP_CHOWN", "CAP_KILL"] | {bounding: ., effective: ., permitted: .,
		inheritable: ., ambient: .}) | .process.user = {uid: 5, gid: 6}'
	diff_runtimes "$T/bundle"
	edit '.process.capabilities = {}'
	diff_runtimes "$T/bundle"
}

@test "a user namespace" {
	edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000,
		size: 1000}] | .linux.gidMappings = .linux.uidMappings'
	chmod 755 "$T" "$T/bundle"
	diff_runtimes "$T/bundle"
}

@test "mounts: binds, read-only ones, tmpfs, propagation, cgroup" {
	mkdir -p "$T/source/sub"
	touch "$T/file"
	edit '.mounts += [
		{destination: "/bind", type: "bind", source: ($t + "/source"), options: ["rbind", "ro", "nosuid"]},
		{destination: "/file", type: "bind", source: ($t + "/file"), options: ["bind", "rprivate"]},
		{destination: "/slave", type: "bind", source: ($t + "/source"), options: ["rbind", "rslave", "noexec"]},
		{destination: "/shared", type: "bind", source: ($t + "/source"), options: ["rbind", "rshared", "nodev"]},
		{destination: "/small", type: "tmpfs", source: "tmpfs",
			options: ["size=1m", "mode=0700", "noatime", "nr_inodes=100", "uid=5"]},
		{destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup",
			options: ["nosuid", "noexec", "nodev", "relatime", "ro"]}]' --arg t "$T"
	diff_runtimes "$T/bundle"
}

@test "a read-only root, sysctl, devices, no masks" {
	edit '.root.readonly = true | .linux.sysctl = {"net.ipv4.ip_forward": "1", "kernel.msgmax": "4096"}
		| .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 384, uid: 5, gid: 6},
			{path: "/dev/sub/pipe", type: "p"}]
		| .linux.maskedPaths = [] | .linux.readonlyPaths = ["/proc/sys"]'
	diff_runtimes "$T/bundle"
}

@test "the host's namespaces" {
	edit '.linux.namespaces = [{type: "mount"}, {type: "pid"}] | del(.hostname)
		| .mounts |= map(select(.destination | IN("/sys", "/dev/mqueue") | not))'
	diff_runtimes "$T/bundle"
}

@test "a seccomp filter" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64"],
		syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
	diff_runtimes "$T/bundle"
}

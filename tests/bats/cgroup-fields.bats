#!/usr/bin/env bats
# places: vm
# The container's cgroup as it sees it: ownership, unified, and controllers that are not there.

load ../lib/common

USERNS='.linux.namespaces += [{type: "user"}] |
	.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
mounted() { echo ".mounts += [{destination: \"/sys/fs/cgroup\", source: \"cgroup\", type: \"cgroup\", options: [$1]}]"; }

# look FILTER COMMANDS
look() {
	make_bundle "$T/bundle" sh -c "$2"
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	edit_config "$T/bundle" "$1"
	run_brig run -b "$T/bundle" "$(new_id)"
	rm -rf "$T/bundle"
}

OWNERS='cd /sys/fs/cgroup; stat -c "%n %u" . cgroup.procs cgroup.threads cgroup.subtree_control memory.max pids.max
	mkdir sub && echo $$ >sub/cgroup.procs && cat /proc/self/cgroup; echo max >memory.max && echo raised'

@test "a cgroup that is mounted writable belongs to the container's root, its limits do not" {
	look "$USERNS | $(mounted '"nosuid"') | .linux.resources.memory.limit = 50000000" "$OWNERS"
	assert_contains "$output" ". 0"
	assert_contains "$output" "cgroup.procs 0"
	assert_contains "$output" "cgroup.threads 0"
	assert_contains "$output" "cgroup.subtree_control 0"
	assert_contains "$output" "memory.max 65534"
	assert_contains "$output" "pids.max 65534"
	assert_contains "$output" "0::/sub"
	assert_contains "$stderr" "Permission denied"
	[[ $output != *raised* ]]
}

@test "a cgroup that is mounted read-only, or in the host's namespace, keeps its owner" {
	look "$USERNS | $(mounted '"ro"')" 'stat -c "%n %u" /sys/fs/cgroup/cgroup.procs'
	assert_equal "$output" "/sys/fs/cgroup/cgroup.procs 65534"
}

@test "unified: files of the cgroup by name" {
	look "$(mounted '"ro"') | .linux.resources.unified = {\"memory.high\": \"30000000\", \"pids.max\": \"17\", \"cpu.weight\": \"42\"}" \
		'cd /sys/fs/cgroup; cat pids.max cpu.weight; echo $(($(cat memory.high) / 1000000))'
	assert_status 0
	assert_equal "$output" $'17\n42\n29'
	look '.linux.resources.unified = {"no.such.file": "1"}' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "no.such.file"
	look '.linux.resources.unified = {"../memory.max": "1"}' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "unified"
}

@test "hugetlb and rdma where the kernel has none: an error that says so" {
	look '.linux.resources.hugepageLimits = [{pageSize: "2MB", limit: 4194304}]' true
	if [ "$status" = 0 ]; then
		skip "this kernel has the hugetlb controller"
	fi
	assert_contains "$stderr" hugetlb
	look '.linux.resources.rdma = {mlx5_1: {hcaHandles: 3}}' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" rdma
}

@test "run.oci.delegate-cgroup: the program is in a cgroup of its own below that with the limits" {
	look "$USERNS | $(mounted '"nosuid"') | .linux.resources.pids.limit = 33 | .annotations[\"run.oci.delegate-cgroup\"] = \"inner\"" \
		'cat /proc/self/cgroup; cd /sys/fs/cgroup; stat -c "%n %u" inner inner/cgroup.procs pids.max; cat pids.max
		mkdir inner/sub && echo $$ >inner/sub/cgroup.procs && cat /proc/self/cgroup'
	assert_status 0
	assert_equal "$output" $'0::/inner\ninner 0\ninner/cgroup.procs 0\npids.max 65534\n33\n0::/inner/sub'
	look '.annotations["run.oci.delegate-cgroup"] = "../x"' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" run.oci.delegate-cgroup
}

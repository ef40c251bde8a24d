#!/usr/bin/env bats
# places: vm
# What containerd's CRI plugin does by cgroup v2: limits, update, statistics, out of memory. One pod on the
# host's network, and one client, for every program that starts takes long here.

load ../lib/common
load ../lib/callers

setup_file() { cri_setup_file; }
teardown_file() { cri_teardown_file; }
setup() { cri_setup; }
teardown() { cri_teardown; }

@test "a pod's container: limits, update, statistics, out of memory" {
	local dir
	run_pod '.linux.security_context.namespace_options = {network: 2, pid: 1} | del(.hostname) | del(.linux.sysctls)'
	run_container one '.linux = {resources: {memory_limit_in_bytes: 33554432, cpu_quota: 50000, cpu_period: 100000, cpu_shares: 512,
		unified: {"memory.high": "30000000"}}, security_context: {namespace_options: {network: 2, pid: 1}}}'
	dir=/sys/fs/cgroup/$PARENT/$CTR
	assert_equal "$(cat "$dir"/{memory.max,cpu.max,memory.high})" $'33554432\n50000 100000\n29999104'
	cri_ok UpdateContainerResources "{\"container_id\": \"$CTR\", \"linux\": {\"memory_limit_in_bytes\": 12582912,
		\"unified\": {\"memory.high\": \"max\"}}}"
	assert_equal "$(cat "$dir"/{memory.max,memory.high})" $'12582912\nmax'
	cri_ok ContainerStats "{\"container_id\": \"$CTR\"}"
	[ "$(jget .stats.memory.working_set_bytes.value)" -gt 4096 ]
	exec_sync dd if=/dev/zero of=/dev/null bs=64M count=1
	assert_json .exit_code 137
	grep -q '^oom_kill [1-9]' "$dir/memory.events"
	cri_ok StopContainer "{\"container_id\": \"$CTR\", \"timeout\": 0}"
	container_has_exited
	assert_json .status.exit_code 137
	remove_pod
}

#!/usr/bin/env bats
# places: root
# containerd's CRI plugin, as kubelet drives it, with brig as its runtime: pods, whose containers
# join the namespaces of the first one by path.

load ../lib/common
load ../lib/callers

setup_file() { cri_setup_file; }
teardown_file() { cri_teardown_file; }
setup() { cri_setup; }
teardown() { cri_teardown; }

@test "a pod, two containers in its namespaces: exec, statistics, stop, remove" {
	local first ip shared
	run_pod '.linux.security_context.namespace_options = {pid: 1}'
	cri_ok PodSandboxStatus "{\"pod_sandbox_id\": \"$POD\"}"
	ip=$(jget .status.network.ip)
	run_container first '.linux.security_context.namespace_options = {pid: 1}'
	first=$CTR
	exec_sync sh -c 'hostname; ip -4 addr show eth0; cat /proc/sys/net/ipv4/ip_forward; exit 3'
	assert_json .exit_code 3
	assert_contains "$(jget .stdout)" "pod1"
	assert_contains "$(jget .stdout)" "$ip"
	shared='for ns in net ipc uts pid mnt cgroup; do readlink /proc/self/ns/$ns; done'
	exec_sync sh -c "$shared"
	shared=$(jget .stdout)
	run_container second '.linux.security_context.namespace_options = {pid: 1}'
	exec_sync sh -c 'for ns in net ipc uts pid mnt cgroup; do readlink /proc/self/ns/$ns; done'
	# Network, IPC and UTS are the pod's; processes and mounts the container's own.
	assert_equal "$(jget .stdout | head -n 3)" "$(head -n 3 <<<"$shared")"
	[ "$(jget .stdout | sed -n 4p)" != "$(sed -n 4p <<<"$shared")" ]
	[ "$(jget .stdout | sed -n 5p)" != "$(sed -n 5p <<<"$shared")" ]
	cri_ok ContainerStats "{\"container_id\": \"$CTR\"}"
	[ "$(jget .stats.memory.working_set_bytes.value)" -gt 4096 ]
	[ "$(jget .stats.cpu.usage_core_nano_seconds.value)" -gt 0 ]
	cri_ok StopContainer "{\"container_id\": \"$first\", \"timeout\": 0}"
	cri_ok ContainerStatus "{\"container_id\": \"$first\"}"
	assert_json .status.state 2
	assert_json .status.exit_code 137
	cri_ok RemoveContainer "{\"container_id\": \"$first\"}"
	remove_pod
}

@test "a pod with one pid namespace for all" {
	run_pod '.linux.security_context.namespace_options = {pid: 0}'
	run_container one '.linux.security_context.namespace_options = {pid: 0}'
	exec_sync sh -c 'tr "\0" " " </proc/1/cmdline; ps | grep -c "sleep"'
	assert_contains "$(jget .stdout)" "sleep infinity"
	remove_pod
}

@test "a pod on the host's network, process ids and IPC; privileged" {
	run_pod '.linux.security_context |= {privileged: 1, namespace_options: {network: 2, pid: 2, ipc: 2}}
		| del(.linux.sysctls) | del(.hostname)'
	run_container one '.linux.security_context = {privileged: 1,
		namespace_options: {network: 2, pid: 2, ipc: 2}}'
	exec_sync sh -c 'for ns in net pid ipc; do readlink /proc/self/ns/$ns; done; ls -l /dev/ptmx
		grep CapEff /proc/self/status; touch /sys/fs/cgroup/x 2>&1'
	assert_contains "$(jget .stdout)" "$(readlink /proc/self/ns/net)"
	assert_contains "$(jget .stdout)" "$(readlink /proc/self/ns/pid)"
	assert_contains "$(jget .stdout)" "$(readlink /proc/self/ns/ipc)"
	assert_contains "$(jget .stdout)" "/dev/ptmx -> pts/ptmx"
	assert_contains "$(jget .stdout)" "CapEff:"
	remove_pod
}

@test "a restricted container: user, groups, read-only, mounts, environment, resources, update" {
	local dir
	mkdir "$T/volume"
	echo data >"$T/volume/file"
	run_pod
	run_container one '.working_dir = "/tmp" | .envs = [{key: "A", value: "b"}]
		| .mounts = [{container_path: "/data", host_path: "'"$T/volume"'", readonly: 1}]
		| .linux = {resources: {memory_limit_in_bytes: 33554432, cpu_quota: 50000,
			cpu_period: 100000, cpu_shares: 512, oom_score_adj: 500},
		  security_context: {run_as_user: {value: 5}, run_as_group: {value: 6},
			supplemental_groups: [7], readonly_rootfs: 1, no_new_privs: 1,
			capabilities: {drop: ["ALL"]}}}'
	exec_sync sh -c 'id -u; id -G; echo "$A $PWD"; cat /data/file /proc/self/oom_score_adj
		touch /x; touch /data/x; grep -E "^(CapBnd|NoNewPrivs):" /proc/self/status'
	assert_equal "$(jget .stdout)" $'5\n6 7\nb /tmp\ndata\n500\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1'
	assert_contains "$(jget .stderr)" "/x: Read-only file system"
	assert_contains "$(jget .stderr)" "/data/x: Read-only file system"
	dir=$(find /sys/fs/cgroup -path "*/$PARENT/$CTR" \( -path '*/memory/*' -o -path "/sys/fs/cgroup/$PARENT/*" \))
	assert_equal "$(cat "$dir"/memory.{max,limit_in_bytes} 2>/dev/null)" 33554432
	cri_ok UpdateContainerResources \
		"{\"container_id\": \"$CTR\", \"linux\": {\"memory_limit_in_bytes\": 50331648}}"
	assert_equal "$(cat "$dir"/memory.{max,limit_in_bytes} 2>/dev/null)" 50331648
	remove_pod
}

@test "ExecSync times out, and reports a program that is not there" {
	run_pod
	run_container one
	cri ExecSync "{\"container_id\": \"$CTR\", \"cmd\": [\"no-such-program\"], \"timeout\": 5}"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "executable file not found"
	cri ExecSync "{\"container_id\": \"$CTR\", \"cmd\": [\"sleep\", \"1000\"], \"timeout\": 1}"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "timeout 1s exceeded"
	remove_pod
}

@test "a container that cannot be started; out of memory is the reason of an exit" {
	run_pod
	run_container one '.command = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]
		| .linux = {resources: {memory_limit_in_bytes: 20971520}}'
	wait_for 20 container_has_exited
	assert_json .status.exit_code 137
	assert_json .status.reason OOMKilled
	remove_pod
}

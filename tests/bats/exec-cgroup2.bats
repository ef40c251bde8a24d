#!/usr/bin/env bats
# places: vm
# exec and the rule of cgroup v2 that a cgroup with controllers for its children has no processes.
load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

@test "exec: where the container has put itself into a child of its cgroup" {
	start_container
	local top
	top=/sys/fs/cgroup$(cgroup_of "$(<"$T/init")")
	mkdir "$top/leaf"
	cat "$T/init" >"$top/leaf/cgroup.procs"
	echo +pids >"$top/cgroup.subtree_control"
	run_detached exec -d --pid-file "$T/pid" "$id" sleep 94
	assert_status 0
	assert_equal "$(cgroup_of "$(<"$T/pid")")" "$(cgroup_of "$(<"$T/init")")"
	assert_contains "$(cgroup_of "$(<"$T/pid")")" /leaf
	run_brig exec --cgroup / "$id" true
	assert_status 255
}

# The process that joins counts as well, for a moment.
@test "exec: no process more than the pids limit" {
	start_container '.linux.resources.pids.limit = 3'
	inside sleep 0.1
	assert_status 0
	run_detached exec -d "$id" sleep 93
	inside true
	assert_status 255
	assert_contains "$stderr" "exec failed: join the container"
}

@test "exec: limits above those of the container's processes, by a caller who may" {
	start_container '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	local hard
	hard=$(($(ulimit -Hn) + 10))
	jq -n --argjson n "$hard" '{args: ["sh", "-c", "ulimit -Hn"], cwd: "/", user: {uid: 0, gid: 0},
		env: ["PATH=/bin"], rlimits: [{type: "RLIMIT_NOFILE", soft: 10, hard: $n}]}' >"$T/process"
	run_brig exec -p "$T/process" "$id"
	assert_equal "$output" "$hard"
}

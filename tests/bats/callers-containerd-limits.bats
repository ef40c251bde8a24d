#!/usr/bin/env bats
# places: root vm
# What containerd does by cgroups: limits, metrics, out of memory, pause. Few calls: in the virtual
# machine each takes one to two seconds.

load ../lib/common
load ../lib/callers

setup_file() { containerd_setup_file; }
teardown_file() { containerd_teardown_file; }
setup() { containerd_setup; }
teardown() { containerd_teardown; }

# cgroup_value V2-FILE V1-CONTROLLER/FILE
cgroup_value() {
	if cgroup2_only; then
		cat "/sys/fs/cgroup/$NS/$ID/$1"
	else
		cat "/sys/fs/cgroup/${2%%/*}/$NS/$ID/${2#*/}"
	fi
}

@test "limits are in the cgroup; containerd finds it by the first process" {
	local json
	start_task --memory-limit 33554432 --cpu-quota 50000 --cpu-period 100000
	assert_equal "$(cgroup_value memory.max memory/memory.limit_in_bytes)" 33554432
	if cgroup2_only; then
		assert_equal "$(cgroup_value cpu.max)" "50000 100000"
	else
		assert_equal "$(cgroup_value - cpu/cpu.cfs_quota_us)" 50000
	fi
	json=$(ctr tasks metrics --format json "$ID")
	assert_contains "$json" 33554432
	assert_json '.pids.current' 1 "$json"
	stop_task
}

@test "task pause and resume; exec into the paused one is refused" {
	start_task
	ctr tasks pause "$ID"
	task_is "$ID" PAUSED
	run ctr tasks exec --exec-id e1 "$ID" true
	[ "$status" -ne 0 ]
	ctr tasks resume "$ID"
	ctr tasks exec --exec-id e2 "$ID" true
	stop_task
}

@test "a paused task can be killed" {
	start_task
	ctr tasks pause "$ID"
	ctr tasks kill -s KILL "$ID"
	wait_for 5 task_is "$ID" STOPPED
	stop_task
}

@test "out of memory: containerd is told" {
	ctr events >"$T/events" &
	local events=$!
	wait_for 10 containerd_has_client
	run ctr_run "$ID" --rm --memory-limit 20971520 -- dd if=/dev/zero of=/dev/null bs=64M count=1
	[ "$status" -ne 0 ]
	wait_for 5 grep -q /tasks/oom "$T/events"
	kill $events
	wait $events || true
}

# The subscription is there when an event comes through.
containerd_has_client() {
	ctr images label "$CALLERS_IMAGE" "n=$RANDOM" >/dev/null
	grep -q /images/update "$T/events"
}


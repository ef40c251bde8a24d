#!/usr/bin/env bats
# places: root cgroup2
# Checkpoint and restore, as far as it is done with cgroups: the container is stopped by its freezer, and
# gets a cgroup again.
# shellcheck disable=SC2154 # id and the results are set by the helpers
load ../lib/common
load ../lib/live
load ../lib/criu

setup_file() { find_criu; }

teardown() {
	end_containers
	brig_teardown
}

@test "checkpoint: the container ends and is removed; restore lets it go on" {
	need_criu
	start_counter
	checkpoint
	assert_status 0
	run_brig state "$id"
	assert_status 1
	assert_contains "$stderr" "container does not exist"
	[ -s "$T/image/inventory.img" ] && [ -s "$T/work/dump.log" ]
	local n
	n=$(<"$T/count/n")
	restore
	assert_status 0
	assert_goes_on "$n"
	run_brig state "$id"
	assert_json .status running
	assert_json .pid "$(<"$T/restored")"
	assert_equal "$(tail -c 1 "$T/restored" | tr -d 0-9)" ""
	inside sh -c 'cat /tmp/n'
	[ "$output" -ge "$n" ]
	run_brig kill "$id" KILL
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	run_brig delete "$id"
	assert_status 0
}

@test "checkpoint: limits of the cgroup hold for the restored container, wherever it is" {
	need_criu
	need_controller pids
	start_counter '.linux.resources.pids.limit = 17'
	checkpoint
	id=$(new_id)
	restore
	assert_status 0
	assert_equal "$(cgroup_file "$(<"$T/restored")" pids.max pids pids.max)" 17
	assert_contains "$(cgroup_of "$(<"$T/restored")")" "$id"
	run_brig pause "$id"
	assert_status 0
	run_brig resume "$id"
	assert_status 0
}

@test "checkpoint: --leave-running, and of a paused container" {
	need_criu
	start_counter
	checkpoint --leave-running
	assert_status 0
	run_brig state "$id"
	assert_json .status running
	assert_goes_on "$(<"$T/count/n")"
	run_brig pause "$id"
	checkpoint --leave-running
	assert_status 0
	run_brig state "$id"
	assert_json .status paused
	run_brig resume "$id"
	assert_goes_on "$(<"$T/count/n")"
}

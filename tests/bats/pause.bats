#!/usr/bin/env bats
# places: root cgroup2 vm vm-rootless
# Pause and resume: nothing in the container runs in between.
load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

ticks() {
	wc -l <"$T/ticks"
}

@test "pause: nothing runs until resume" {
	make_bundle "$T/bundle" sh -c 'while :; do echo x >>/ticks/ticks; sleep 0.02; done'
	edit_config "$T/bundle" '.mounts += [{destination: "/ticks", type: "bind", source: $t,
		options: ["bind", "rw"]}]' --arg t "$T"
	: >"$T/ticks"
	start_container
	wait_for 5 test -s "$T/ticks"
	run_brig pause "$id"
	assert_status 0
	run_brig state "$id"
	assert_json .status paused
	local before
	before=$(ticks)
	sleep 0.3
	assert_equal "$(ticks)" "$before"
	run_brig resume "$id"
	assert_status 0
	run_brig state "$id"
	assert_json .status running
	# shellcheck disable=SC2016
	wait_for 5 eval '[ "$(ticks)" -gt '"$before"' ]'
}

@test "pause: the words for a wrong state" {
	start_container
	run_brig resume "$id"
	assert_status 1
	assert_contains "$stderr" "container not paused"
	run_brig pause "$id"
	run_brig pause "$id"
	assert_status 1
	assert_contains "$stderr" "container not running or created: paused"
	run_brig resume "$id"
	run_brig kill "$id" KILL
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	run_brig pause "$id"
	assert_status 1
	assert_contains "$stderr" "container not running"
	run_brig pause absent
	assert_contains "$stderr" "container does not exist"
}

@test "pause: SIGKILL and delete --force end a paused container" {
	start_container
	run_brig pause "$id"
	run_brig kill "$id" KILL
	assert_status 0
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	run_brig delete "$id"
	assert_status 0
	start_container
	run_brig pause "$id"
	run_brig delete --force "$id"
	assert_status 0
}

@test "pause: a created container" {
	id=$(new_id)
	make_bundle "$T/bundle" sleep 1000
	run_detached create -b "$T/bundle" "$id"
	run_brig pause "$id"
	assert_status 0
	run_brig resume "$id"
	assert_status 0
	run_brig state "$id"
	assert_json .status created
}

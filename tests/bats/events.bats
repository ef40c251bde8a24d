#!/usr/bin/env bats
# places: root vm
# Numbers of a container, and the news that it ran out of memory.
load ../lib/common
load ../lib/live

setup() {
	brig_setup
	need_controller memory
	need_controller pids
}

teardown() {
	end_containers
	brig_teardown
}

@test "events: --stats prints one object with what the container uses" {
	start_container '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}'
	# more than one tick of a slow clock
	inside sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	run_brig events --stats "$id"
	assert_status 0
	assert_equal "${#lines[@]}" 1
	assert_json .type stats
	assert_json .id "$id"
	assert_json .data.pids.current 1
	assert_json .data.pids.limit 20
	assert_json .data.memory.usage.limit 67108864
	assert_json '.data.memory.usage.usage > 0 and .data.cpu.usage.total > 0 and
		(.data.memory.raw | length > 10)' true
	assert_json '.data | keys | join(" ")' \
		"blkio cpu cpuset hugetlb intel_rdt memory network_interfaces pids"
}

@test "events: at each interval, until the container ends" {
	start_container
	"$BRIG" --root "$BRIG_ROOT" events --interval 100ms "$id" >"$T/events" 3>&- &
	wait_for 5 eval '[ "$(wc -l <"$T/events")" -ge 3 ]'
	run_brig kill "$id" KILL
	wait %1
	assert_equal "$(jq -s 'map(.type) | unique | join(" ")' -r <"$T/events")" stats
}

@test "events: oom" {
	start_container '.linux.resources.memory = {limit: 16777216, swap: 16777216}'
	"$BRIG" --root "$BRIG_ROOT" events --interval 1h "$id" >"$T/events" 3>&- &
	sleep 0.5
	[ ! -s "$T/events" ]
	inside sh -c 'x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done'
	[ "$status" != 0 ]
	wait_for 5 test -s "$T/events"
	run_brig kill "$id" KILL
	wait %1
	assert_equal "$(head -n 1 "$T/events")" "{\"type\":\"oom\",\"id\":\"$id\"}"
}

@test "events: wrong intervals and states" {
	local interval
	for interval in 0s x 5 -1s 1s1 ""; do
		run_brig events --interval "$interval" x
		assert_status 1
	done
	run_brig events --stats absent
	assert_status 1
	assert_contains "$stderr" "container does not exist"
	start_container
	run_brig kill "$id" KILL
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	run_brig events --stats "$id"
	assert_status 1
	assert_contains "$stderr" "container with id $id is not running"
}

@test "events: the members are those of runc" {
	need_root
	need_command runc
	in_vm && skip "runc takes too long in the virtual machine"
	start_container '.linux.cgroupsPath = "/brig-t-runc"'
	local ours theirs shape='[paths(type != "object" and type != "array") | map(strings) | join(".")] |
		map(select(test("^data.(memory.raw|blkio|cpu.psi|memory.psi)") | not)) | unique | .[]'
	ours=$("$BRIG" --root "$BRIG_ROOT" events --stats "$id" | jq -r "$shape")
	run_brig delete -f "$id"
	runc --root "$T/runc" run -d -b "$T/bundle" r </dev/null >/dev/null 2>&1 3>&-
	theirs=$(runc --root "$T/runc" events --stats r | jq -r "$shape")
	runc --root "$T/runc" delete -f r
	rm -rf "$T/runc"
	# What is zero is left out by both: one may have used a CPU or a byte more.
	diff <(grep -v 'cache$\|failcnt\|max$' <<<"$theirs") <(grep -v 'cache$\|failcnt\|max$' <<<"$ours")
}

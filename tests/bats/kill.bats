#!/usr/bin/env bats
# places: root cgroup2
# kill in every state of a container: which processes the signal reaches, and which words say that none.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

@test "kill: the signals by number and by name reach the program" {
	make_bundle "$T/bundle" sh -c 'for s in HUP USR1 TERM IO ABRT; do trap "echo $s >>/tmp/got" $s; done
		echo ready >/tmp/ready; while :; do sleep 0.1; done'
	make_container run -d
	wait_for 5 [ -e "$T/bundle/rootfs/tmp/ready" ]
	# POLL and IOT are second names; no name, and an empty one, are TERM.
	for signal in 1 USR1 SIGUSR1 sigterm POLL SIGiot none ""; do
		set -- "$signal"
		[ "$signal" != none ] || shift
		run_brig kill "$id" "$@"
		assert_status 0
		wait_for 5 eval '[ -s "$T/bundle/rootfs/tmp/got" ]'
		cat "$T/bundle/rootfs/tmp/got" >>"$T/all"
		rm "$T/bundle/rootfs/tmp/got"
	done
	assert_equal "$(tr '\n' ' ' <"$T/all")" "HUP USR1 USR1 TERM IO ABRT TERM TERM "
	run_brig kill "$id" NONSENSE
	[ "$status" -ne 0 ]
	assert_contains "$stderr" 'unknown signal "NONSENSE"'
}

@test "kill of a stopped container: an error, with --all none" {
	make_bundle "$T/bundle" true
	make_container run -d
	wait_for 5 has_status stopped
	run_brig kill "$id" KILL
	assert_status 1
	assert_contains "$stderr" "container not running"
	run_brig kill --all "$id" KILL
	assert_status 0
	run_brig kill --all "$id" TERM
	assert_status 0
	run_brig kill absent KILL
	assert_status 1
	assert_contains "$stderr" "does not exist"
}

@test "kill --all reaches every process" {
	has_controller pids || cgroup2_only || skip "no cgroup here"
	need_root
	make_bundle "$T/bundle" sh -c 'trap : USR1
		for i in 1 2 3; do sh -c "trap \"echo $i >>/tmp/got\" USR1; echo >>/tmp/ready; while :; do sleep 0.1; done" & done
		while :; do wait; done'
	make_container run -d
	wait_for 5 eval '[ "$(wc -l <"$T/bundle/rootfs/tmp/ready")" = 3 ]'
	run_brig kill --all "$id" USR1
	assert_status 0
	wait_for 5 eval '[ "$(sort "$T/bundle/rootfs/tmp/got" | tr -d "\n")" = 123 ]'
}

@test "without a pid namespace SIGKILL ends all of the container" {
	need_root
	make_bundle "$T/bundle" sh -c 'sleep 1001 & sleep 1002'
	edit_config "$T/bundle" '.linux.namespaces |= map(select(.type != "pid"))'
	make_container run -d
	wait_for 5 eval '[ "$("$BRIG" --root "$BRIG_ROOT" ps -f json "$id" | jq length)" -ge 2 ]'
	pids=$("$BRIG" --root "$BRIG_ROOT" ps -f json "$id" | jq -r '.[]')
	run_brig kill "$id" KILL
	assert_status 0
	for pid in $pids; do
		wait_for 5 gone "$pid"
	done
}

@test "kill and delete of a frozen container" {
	need_root
	make_container run -d
	run_brig pause "$id"
	[ "$status" = 0 ] || skip "cannot pause here"
	has_status paused
	run_brig kill "$id" KILL
	assert_status 0
	wait_for 5 has_status stopped
	run_brig delete "$id"
	assert_status 0
	id=$(new_id 2)
	make_container run -d
	run_brig pause "$id"
	run_brig delete "$id"
	assert_status 1
	assert_contains "$stderr" "that is not stopped: paused"
	run_brig delete --force "$id"
	assert_status 0
}

@test "a later process with the pid of a dead container is left alone" {
	make_bundle "$T/bundle" true
	make_container run -d
	wait_for 5 has_status stopped
	sleep 1000 3>&- &
	victim=$!
	tail -n 1 "$BRIG_ROOT/$id" | jq -c ".initPid = $victim" >"$T/new"
	cat "$T/new" >"$BRIG_ROOT/$id"
	has_status stopped
	run_brig kill "$id" KILL
	assert_status 1
	assert_contains "$stderr" "container not running"
	run_brig delete --force "$id"
	assert_status 0
	kill -0 "$victim"
	kill "$victim"
}

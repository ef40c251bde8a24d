#!/usr/bin/env bats
# places: root cgroup2
# The processes of a container, as pids of the host.
load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

@test "ps: json is an array of the pids of all processes" {
	start_container
	run_brig ps -f json "$id"
	assert_equal "$output" "[$(<"$T/init")]"
	run_detached exec -d --pid-file "$T/pid" "$id" sleep 99
	run_brig ps --format json "$id"
	assert_equal "$(jq -c sort <<<"$output")" "$(jq -nc '$ARGS.positional | map(tonumber) | sort' \
		--args "$(<"$T/init")" "$(<"$T/pid")")"
}

@test "ps: the table is that of ps, without other processes" {
	ps -ef >/dev/null 2>&1 || skip "ps does not work here"
	start_container
	run_brig ps "$id"
	assert_status 0
	assert_equal "${#lines[@]}" 2
	assert_contains "${lines[0]}" PID
	assert_contains "${lines[1]}" "sleep 1000"
	run_brig ps "$id" -o pid,args
	assert_contains "${lines[1]}" "$(<"$T/init") sleep 1000"
	run_brig ps "$id" -o args
	assert_status 1
	assert_contains "$stderr" "couldn't find PID field in ps output"
}

@test "ps: wrong formats and containers" {
	run_brig ps -f yaml x
	assert_status 1
	run_brig ps x
	assert_status 1
	assert_contains "$stderr" "container does not exist"
}

@test "ps: the same words as runc's" {
	need_root
	need_command runc
	in_vm && skip "runc takes too long in the virtual machine"
	start_container
	edit_config "$T/bundle" '.linux.cgroupsPath = "/brig-t-runc"'
	runc --root "$T/runc" run -d -b "$T/bundle" r </dev/null >/dev/null 2>&1 3>&-
	local theirs
	theirs=$(runc --root "$T/runc" ps -f json r | jq -c type; runc --root "$T/runc" ps r | head -n 1)
	runc --root "$T/runc" delete -f r
	rm -rf "$T/runc"
	run_brig ps -f json "$id"
	local ours
	ours=$(jq -c type <<<"$output"; "$BRIG" --root "$BRIG_ROOT" ps "$id" | head -n 1)
	assert_equal "$ours" "$theirs"
}

@test "ps, kill --all and events without a cgroup: the pid namespace tells, or an error does" {
	make_bundle "$T/bundle" sh -c 'trap "echo told >/tmp/told; exit 7" TERM; sleep 1000 & wait'
	id=$(new_id)
	"$BRIG" --root "$BRIG_ROOT" --cgroup-manager=disabled run -d --pid-file "$T/init" -b "$T/bundle" "$id" \
		</dev/null >"$T/run.log" 2>&1 3>&- || fail "$(<"$T/run.log")"
	wait_for 5 eval '[ "$("$BRIG" --root "$BRIG_ROOT" ps -f json "$id" | jq length)" = 2 ]'
	run_brig ps -f json "$id"
	assert_json '.[0]' "$(<"$T/init")"
	run_brig exec "$id" sh -c 'ls -d /proc/[0-9]* | wc -l'
	run_brig events --stats "$id"
	assert_status 1
	assert_contains "$stderr" "has no cgroup"
	run_brig pause "$id"
	assert_contains "$stderr" "has no cgroup"
	run_brig kill --all "$id" TERM
	assert_status 0
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	[ -s "$T/bundle/rootfs/tmp/told" ]
	run_brig ps -f json "$id"
	assert_equal "$output" "[]"
}

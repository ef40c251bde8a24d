#!/usr/bin/env bats
# places: root cgroup2
# kill and delete in every state of a container, by one and by many at once.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

# make_container COMMAND [OPTION...]: a container $id of $T/bundle, not waited for.
make_container() {
	id=${id:-$(new_id)}
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" sleep 1000
	"$BRIG" --root "$BRIG_ROOT" "$@" --pid-file "$T/init" -b "$T/bundle" "$id" \
		</dev/null >"$T/log" 2>&1 3>&- || fail "$* failed:" "$(<"$T/log")"
}

has_status() { [ "$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq -r .status)" = "$1" ]; }

gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

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

@test "delete: only a stopped or created container, with --force any" {
	make_container run -d
	run_brig delete "$id"
	assert_status 1
	assert_contains "$stderr" "cannot delete container $id that is not stopped: running"
	run_brig delete --force "$id"
	assert_status 0
	gone "$(<"$T/init")"
	run_brig delete "$id"
	assert_status 1
	assert_contains "$stderr" "does not exist"
	run_brig delete --force "$id"
	assert_status 0
	make_container create
	run_brig delete "$id"
	assert_status 0
	gone "$(<"$T/init")"
}

@test "--regex: all containers it matches, and no others" {
	for id in "$(new_id a1)" "$(new_id a2)" "$(new_id b1)"; do
		make_container run -d
	done
	run_brig kill --regex "a[0-9]\$" KILL
	assert_status 0
	id=$(new_id a1)
	wait_for 5 has_status stopped
	id=$(new_id b1)
	has_status running
	run_brig delete --regex "t.*-[ab]"
	assert_status 1
	assert_contains "$stderr" "not stopped: running"
	assert_equal "$("$BRIG" --root "$BRIG_ROOT" list -q)" "$(new_id b1)"
	run_brig delete --force --regex "b1\$"
	assert_status 0
	run_brig delete --regex "nothing-like-it"
	assert_status 0
	run_brig delete --regex "a(b"
	assert_status 1
	assert_contains "$stderr" "--regex: a(b:"
}

# A create that hangs in a hook of that kind.
hang_in() {
	make_bundle "$T/bundle" sleep 1000
	printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 1000\n' "$T/hook-pid" >"$T/hook"
	chmod 755 "$T/hook"
	edit_config "$T/bundle" ".hooks = {$1: [{path: \"$T/hook\"}]}"
	id=$(new_id)
	"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$id" >"$T/log" 2>&1 3>&- &
	creator=$!
	wait_for 10 [ -s "$T/hook-pid" ]
}

@test "delete --force ends a creation that hangs in a hook" {
	hang_in createRuntime
	has_status creating
	run_brig delete "$id"
	assert_status 1
	assert_contains "$stderr" "not stopped: creating"
	run_brig start "$id"
	assert_status 1
	assert_contains "$stderr" "creating"
	run_brig kill "$id" KILL
	assert_status 1
	assert_contains "$stderr" "container not running"
	run_brig delete --force "$id"
	assert_status 0
	wait "$creator" || true
	wait_for 5 gone "$(<"$T/hook-pid")"
	[ ! -e "$BRIG_ROOT/$id" ]
}

@test "delete --force ends a creation that hangs in a hook inside of the container" {
	hang_in createContainer
	run_brig delete --force "$id"
	assert_status 0
	wait "$creator" || true
	[ ! -e "$BRIG_ROOT/$id" ]
}

@test "a poststart hook that hangs does not keep the container from being deleted" {
	make_bundle "$T/bundle" sleep 1000
	printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 1000\n' "$T/hook-pid" >"$T/hook"
	chmod 755 "$T/hook"
	edit_config "$T/bundle" ".hooks = {poststart: [{path: \"$T/hook\"}]}"
	make_container create
	"$BRIG" --root "$BRIG_ROOT" start "$id" >"$T/log" 2>&1 3>&- &
	starter=$!
	wait_for 10 [ -s "$T/hook-pid" ]
	has_status running
	run_brig delete --force "$id"
	assert_status 0
	kill "$(<"$T/hook-pid")"
	run wait "$starter"
	[ "$status" -ne 0 ]
}

@test "any later brig can act on it: no environment, and another cgroup driver asked for" {
	has_controller pids || cgroup2_only || skip "no cgroup here"
	local where
	make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" '.linux.namespaces |= map(select(.type != "cgroup"))'
	make_container create
	where=$(cgroup_of "$(<"$T/init")")
	later() { run env -i "$BRIG" --root "$BRIG_ROOT" "$@" </dev/null; assert_status 0; }
	later --systemd-cgroup start "$id"
	later --cgroup-manager=systemd exec "$id" cat /proc/self/cgroup
	assert_contains "$output" ":$where"
	later ps -f json "$id"
	assert_equal "$output" "[$(<"$T/init")]"
	later ps "$id"
	assert_contains "$output" "sleep 1000"
	later --systemd-cgroup pause "$id"
	has_status paused
	later --cgroup-manager=disabled resume "$id"
	later --systemd-cgroup events --stats "$id"
	assert_json '.type + (.data.pids.current | tostring)' stats1
	later --systemd-cgroup kill "$id" KILL
	wait_for 5 has_status stopped
	later --cgroup-manager=disabled delete "$id"
	[ ! -d "/sys/fs/cgroup$where" ] && [ ! -d "/sys/fs/cgroup/pids$where" ] || fail "$where is still there"
}

@test "many starts at once: one wins" {
	make_bundle "$T/bundle" sh -c 'echo started >>/tmp/starts; sleep 1000'
	make_container create
	local pids=() won=0 i
	for i in 1 2 3 4 5 6; do
		"$BRIG" --root "$BRIG_ROOT" start "$id" >/dev/null 2>"$T/start-$i" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		! wait "$i" || won=$((won + 1))
	done
	assert_equal "$won" 1
	assert_equal "$(cat "$T"/start-* | grep -c 'cannot start an already running container')" 5
	wait_for 5 [ -s "$T/bundle/rootfs/tmp/starts" ]
	assert_equal "$(wc -l <"$T/bundle/rootfs/tmp/starts")" 1
}

@test "many creates of one id: one wins" {
	make_bundle "$T/bundle" sleep 1000
	local pids=() won=0 i
	id=$(new_id)
	for i in 1 2 3 4; do
		"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$id" >"$T/create-$i" 2>&1 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		! wait "$i" || won=$((won + 1))
	done
	assert_equal "$won" 1
	assert_equal "$(cat "$T"/create-* | grep -c 'container with given ID already exists')" 3
	has_status created
}

@test "start against delete, and many deletes: no error but that it is gone" {
	make_bundle "$T/bundle" sleep 1000
	local pids=() i round
	for round in 1 2 3; do
		make_container create
		for i in 1 2 3; do
			"$BRIG" --root "$BRIG_ROOT" delete --force "$id" >"$T/log-$i" 2>&1 3>&- &
			pids+=($!)
			"$BRIG" --root "$BRIG_ROOT" start "$id" >"$T/start-$i" 2>&1 3>&- &
		done
		for i in "${pids[@]}"; do
			wait "$i" || fail "delete --force failed: $(cat "$T"/log-*)"
		done
		wait
		pids=()
		[ ! -e "$BRIG_ROOT/$id" ]
		! grep -v -e "does not exist" -e "already running" -e "has stopped" "$T"/start-* ||
			fail "round $round"
	done
}

@test "a later process with the pid of a dead container is left alone" {
	make_bundle "$T/bundle" true
	make_container run -d
	wait_for 5 has_status stopped
	sleep 1000 3>&- &
	victim=$!
	jq -c ".initPid = $victim" "$BRIG_ROOT/$id/state.json" >"$T/new"
	cat "$T/new" >"$BRIG_ROOT/$id/state.json"
	has_status stopped
	run_brig kill "$id" KILL
	assert_status 1
	assert_contains "$stderr" "container not running"
	run_brig delete --force "$id"
	assert_status 0
	kill -0 "$victim"
	kill "$victim"
}

@test "create that was killed: the container can be deleted" {
	hang_in createRuntime
	kill -KILL "$creator"
	wait "$creator" || true
	wait_for 5 gone "$(<"$T/hook-pid")"
	has_status stopped
	run_brig delete "$id"
	assert_status 0
	[ ! -e "$BRIG_ROOT/$id" ]
}

@test "run --keep: the record stays; list shows it as a table and as JSON" {
	make_bundle "$T/bundle" sh -c 'exit 3'
	run_brig run --keep -b "$T/bundle" "$(new_id)"
	assert_status 3
	run_brig list
	assert_equal "$(head -n 1 <<<"$output" | tr -s ' ')" "ID PID STATUS BUNDLE CREATED OWNER"
	[[ $(tail -n 1 <<<"$output" | tr -s ' ') == "$(new_id) 0 stopped $T/bundle "*"Z root" ]] || fail "$output"
	run_brig list -f json
	assert_json '.[0] | .id + " " + .status + " " + .owner' "$(new_id) stopped root"
	run unshare --mount --propagation private bash -c 'mount --bind /dev/null /etc/passwd && exec "$@"' no-names \
		"$BRIG" --root "$BRIG_ROOT" list -f json
	assert_json '.[0].owner' "#0"
	run_brig state "$(new_id)"
	assert_json 'has("owner")' false
	run_brig start "$(new_id)"
	assert_contains "$stderr" "cannot start a container that has stopped"
	run_brig delete "$(new_id)" --force
	assert_status 0
}

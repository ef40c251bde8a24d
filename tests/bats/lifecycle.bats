#!/usr/bin/env bats
# places: root cgroup2
# Commands by many at once, by another brig than that which made the container, after one that died.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
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

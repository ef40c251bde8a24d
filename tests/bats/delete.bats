#!/usr/bin/env bats
# places: root cgroup2
# delete in every state of a container, also one that is still being made; --force, --regex.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
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

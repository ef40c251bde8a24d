#!/usr/bin/env bats
# places: root cgroup2
# list: all containers below the state directory.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
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

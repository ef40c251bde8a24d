#!/usr/bin/env bats
# places: root rootless
# brig doctor: what is blocked is named, with the way out.

load ../lib/common

# doctor_without SYSCTL: in a user namespace in which /proc/sys/user/SYSCTL is 0.
doctor_without() {
	run_apart unshare --user --map-root-user bash -c 'echo 0 >"/proc/sys/user/$1"; shift; exec "$@"' \
		without "$1" "$BRIG" doctor --json
}

@test "doctor: each check has a name, a verdict, and a fix when it fails" {
	run_brig doctor --json
	assert_json 'all(.[]; (.name | length > 0) and (.ok | type == "boolean") and (.required | type == "boolean"))' true
	assert_json 'all(.[]; .ok or (.fix | type == "string" and length > 10))' true
	assert_json '[.[] | select(.name == ("user namespace", "pid namespace", "seccomp")) | .ok] | all' true
	local names
	names=$(jq -r '.[].name' <<<"$output")
	run_brig doctor
	while read -r name; do
		assert_contains "$output" "$name"
	done <<<"$names"
	run_brig doctor extra
	assert_status 1
}

@test "doctor: a primitive that is switched off is found, and is the only thing that changes" {
	unshare --user --map-root-user true 2>/dev/null || skip "no user namespaces"
	run_apart unshare --user --map-root-user "$BRIG" doctor --json
	local before=$output kind name
	for kind in net:network ipc:ipc uts:uts time:time; do
		name="${kind#*:} namespace"
		[ "$(jq --arg n "$name" '.[] | select(.name == $n) | .ok' <<<"$before")" = true ] || continue
		doctor_without "max_${kind%:*}_namespaces"
		[ "$name" = "time namespace" ] || assert_status 1
		assert_json "[.[] | select(.ok | not) | .name] | index(\"$name\") != null" true
		assert_json "[.[] | select(.name == \"$name\") | .fix] | .[0] | length > 10" true
		assert_json '[.[] | select(.name == "pid namespace") | .ok] | .[0]' true
	done
}

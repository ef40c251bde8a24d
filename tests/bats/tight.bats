#!/usr/bin/env bats
# places: root rootless
# Callers that give brig little: long ids, a small stack, little memory, a user namespace that is not
# theirs to mount in. It works, or it says why; a sandbox gives its record in any case.

load ../lib/common
load ../lib/live
load ../lib/sandbox

teardown() {
	end_containers
	brig_teardown
}

@test "an id as long as a file name may be" {
	local long
	printf -v long '%255s' ''
	long=${long// /a}
	make_bundle "$T/bundle" sleep 1000
	run_detached run -d -b "$T/bundle" "$long"
	assert_status 0
	# Another one that begins alike has a cgroup of its own.
	run_brig run -b "$T/bundle" "${long}a"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "invalid container ID format"
	edit_config "$T/bundle" '.process.args = ["echo", "second"]'
	run_brig run -b "$T/bundle" "${long%a}b"
	assert_equal "$output" second
	run_brig exec "$long" echo inside
	assert_equal "$output" inside
	run_brig delete -f "$long"
	assert_status 0
}

# limited KIND VALUE COMMAND...: under a ulimit; sets $status, $output and $stderr.
limited() {
	run_apart bash -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' - "$@"
}

@test "a small stack is enough, or an error that says so" {
	make_bundle "$T/bundle" echo hello
	limited -s 64 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_equal "$output" hello
	limited -s 64 "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --rootfs "$T/bundle/rootfs" -- /bin/echo hello
	assert_json .status exited
	assert_json .stdout hello
	limited -s 40 "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --rootfs "$T/bundle/rootfs" -- /bin/echo hello
	assert_status 125
	assert_json .status setup_failed
	assert_contains "$(jget .error)" "ulimit -s"
	limited -s 40 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_contains "$stderr" "ulimit -s"
}

@test "no memory for what a sandbox asks: a record says so" {
	make_bundle "$T/bundle"
	jq -n --arg r "$T/bundle/rootfs" '{rootfs: $r, command: ["/bin/true"], env: {X: ("x" * 4000000)}}' >"$T/spec"
	limited -v 6000 "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --spec "$T/spec"
	assert_status 125
	assert_json .status setup_failed
	assert_json .error "out of memory"
	assert_json .backend brig
	assert_equal "$(wc -l <<<"$output")" 1
	limited -v 6000 "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --result "$T/result" --spec "$T/spec"
	assert_equal "$output" ""
	assert_json .error "out of memory" "$(<"$T/result")"
}

@test "root of a user namespace in a mount namespace of the host's" {
	make_bundle "$T/bundle" sh -c 'id -u; cat /proc/self/setgroups; touch /tmp/x && echo written'
	# One id only, so no group tty; and no user namespace of its own.
	edit_config "$T/bundle" 'del(.linux.uidMappings, .linux.gidMappings) | .linux.namespaces |= map(select(.type != "user")) |
		.mounts |= map(if .options then .options |= map(select(startswith("gid=") | not)) else . end)'
	run unshare -Ur "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_equal "$output" $'0\ndeny\nwritten'
	run_apart unshare -Ur "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- /bin/sh -c 'id -u'
	assert_json .stdout 1000
	run_apart unshare -Urm "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- /bin/sh -c 'id -u'
	assert_json .stdout 1000
	edit_config "$T/bundle" '.process.user.additionalGids = [5]'
	run unshare -Ur "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$output" "setgroups is denied"
}

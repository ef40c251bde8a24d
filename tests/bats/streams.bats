#!/usr/bin/env bats
# places: cgroup2 rootless
# The standard streams, as the payload can use them.

load ../lib/common

# Opens both again by name, which the kernel checks against the owner of the pipe.
AGAIN='echo out >/dev/stdout && echo err >/dev/stderr'

as_pipes() { "$@" 2>&1 | cat; }

@test "a payload with another uid opens /dev/stdout and /dev/stderr again" {
	need_root
	make_bundle "$T/bundle" sh -c "$AGAIN"
	edit_config "$T/bundle" '.process.user = {uid: 5, gid: 6}'
	run as_pipes "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_equal "$output" $'out\nerr'
}

@test "the same in a user namespace, by run and exec" {
	need_root
	local uid
	for uid in 0 5; do
		make_bundle "$T/bundle$uid" sleep 1000
		edit_config "$T/bundle$uid" '.process.user = {uid: $uid, gid: 6} | .linux.namespaces += [{type: "user"}]
			| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}]
			| .linux.gidMappings = .linux.uidMappings' --argjson uid $uid
		chmod 755 "$T/bundle$uid"
		"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle$uid" "$(new_id $uid)" </dev/null \
			>/dev/null 2>&1 3>&-
		run as_pipes "$BRIG" --root "$BRIG_ROOT" exec --user "$uid:6" "$(new_id $uid)" sh -c "$AGAIN"
		assert_equal "$output" $'out\nerr'
		run_brig delete --force "$(new_id $uid)"
		edit_config "$T/bundle$uid" '.process.args = ["sh", "-c", $a]' --arg a "$AGAIN"
		run as_pipes "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle$uid" "$(new_id $uid)"
		assert_equal "$output" $'out\nerr'
	done
}

@test "a sandbox's payload opens its streams again" {
	run_brig sandbox --best-effort -- sh -c "$AGAIN"
	assert_json .returncode 0
	assert_json .stdout out
	assert_json .stderr err
}

@test "a file as standard output keeps its owner" {
	need_root
	make_bundle "$T/bundle" sh -c 'echo out'
	edit_config "$T/bundle" '.process.user = {uid: 5, gid: 6}'
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" >"$T/file"
	assert_equal "$(stat -c %u "$T/file") $(cat "$T/file")" "0 out"
}

@test "the last entry of a variable wins" {
	make_bundle "$T/bundle" env
	edit_config "$T/bundle" '.process.env = ["A=1", "PATH=/bin", "A=2", "AB=3"]'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_equal "$(grep ^A <<<"$output")" $'A=2\nAB=3'
}

@test "a terminal whose caller's input ends tells the program so" {
	make_bundle "$T/bundle" sh -c 'cat; echo over'
	edit_config "$T/bundle" '.process.terminal = true'
	run timeout -k 1 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id 1)" </dev/null
	assert_equal "$output" $'over\r'
	run timeout -k 1 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id 2)" <<<"a line"
	assert_contains "$output" $'a line\r\nover\r'
	# a line that was begun, too
	run timeout -k 1 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id 3)" < <(printf abc)
	assert_contains "$output" $'abcover\r'
}

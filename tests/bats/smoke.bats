#!/usr/bin/env bats
# places: root rootless cgroup2 vm vm-rootless
# The shortest way through everything: if one of these fails, look here first.

load ../lib/common

@test "brig says its version and how to use it" {
	run_brig --version
	assert_status 0
	assert_contains "$output" "brig"
	run_brig --help
	assert_status 0
	assert_contains "$output" "sandbox"
}

@test "a Python program prints 4 in the host rootfs" {
	command -v /usr/bin/python3 >/dev/null || skip "no /usr/bin/python3 on this machine"
	run_brig sandbox --best-effort -- python3 -c 'print(2 + 2)'
	assert_status 0
	assert_json .status exited
	assert_json .returncode 0
	assert_json .stdout 4
}

@test "a bundle runs and its exit status comes back" {
	make_bundle "$T/bundle" sh -c 'echo "pid $$"; exit 7'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 7
	assert_equal "$output" "pid 1"
}

@test "a missing bundle is one sentence and leaves nothing" {
	run_brig run -b "$T/absent" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_equal "$(wc -l <<<"$stderr")" 1
	assert_contains "$stderr" "$T/absent"
}

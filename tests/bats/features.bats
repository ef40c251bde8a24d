#!/usr/bin/env bats
# places: root rootless
# brig features, beside what Debian's runc prints.

load ../lib/common

@test "features: stdout is one JSON object, stderr is empty, whatever the environment" {
	env -i "$BRIG" features >"$T/out" 2>"$T/err" </dev/null
	[ ! -s "$T/err" ] || fail "$(<"$T/err")"
	assert_equal "$(jq -r '.ociVersionMin + " " + .ociVersionMax' "$T/out")" "1.0.0 1.3.0"
	# What CRI-O and containerd look for.
	assert_equal "$(jq -r '.linux.mountExtensions.idmap.enabled, (.mountOptions | index("rro") != null)' "$T/out")" $'true\ntrue'
	run_brig --log "$T/log" --log-format json --systemd-cgroup features
	assert_status 0
	assert_equal "$output" "$(<"$T/out")"
}

# LIST: a path of a list; what is in runc's and not in brig's.
missing() {
	jq -r -n --slurpfile runc "$T/runc" --slurpfile brig "$T/brig" "(\$runc[0] | $1) - (\$brig[0] | $1) | .[]"
}

@test "features: all that runc says, brig says too" {
	command -v runc >/dev/null || skip "runc is not installed"
	runc features >"$T/runc" || skip "this runc has no features"
	"$BRIG" features >"$T/brig"
	local list
	for list in .hooks .mountOptions .linux.namespaces .linux.capabilities .linux.seccomp.actions \
		.linux.seccomp.operators .linux.seccomp.archs '[.linux.cgroup | to_entries[] | select(.value) | .key]' \
		'[.linux | keys[]]' '[.annotations | keys[] | select(endswith("checkpoint.enabled"))]'; do
		assert_equal "$list $(missing "$list")" "$list "
	done
	assert_equal "$(jq -c '[.linux.apparmor.enabled, .linux.selinux.enabled, .linux.seccomp.enabled]' "$T/brig")" \
		'[true,true,true]'
}

@test "features: a mount option that is listed is one, and reaches no file system as data" {
	make_bundle "$T/bundle" true
	"$BRIG" features | jq '[.mountOptions[] | select(test("bind|idmap|remount|copy|nofollow|mand|acl|iversion|private|shared|slave") | not)]' \
		>"$T/options"
	[ "$(jq length "$T/options")" -gt 35 ]
	edit_config "$T/bundle" '.mounts += [{destination: "/new", type: "tmpfs", source: "tmpfs", options: $options[0]}]' \
		--slurpfile options "$T/options"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	edit_config "$T/bundle" '.mounts[-1].options = ["no-such-option"]'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "no-such-option"
}

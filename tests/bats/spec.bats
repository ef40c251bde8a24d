#!/usr/bin/env bats
# places: root rootless
# spec: a config.json that runs as it is, beside runc's.

load ../lib/common

@test "spec makes config.json where it is called, and replaces none" {
	cd "$T"
	run_brig spec
	assert_status 0
	assert_equal "$output" ""
	[ "$(jq -r .root.path config.json)" = rootfs ]
	run_brig spec --rootless
	assert_status 1
	assert_contains "$stderr" "config.json: File exists"
	run_brig spec --rootless --file -
	assert_json '.linux.namespaces | map(select(.type == "user")) | length' 1
	run_brig spec --sandbox
	assert_json '.process.args[0]' python3
	run_brig spec --bundle "$T/absent"
	assert_status 1
	assert_contains "$stderr" "$T/absent"
}

@test "spec: what it makes runs: a shell whose input is ours" {
	mkdir "$T/b"
	cp -a "$(busybox_rootfs)" "$T/b/rootfs"
	if [ "$EUID" = 0 ]; then run_brig spec -b "$T/b"; else run_brig spec --rootless -b "$T/b"; fi
	assert_status 0
	edit_config "$T/b" '.process.terminal = false'
	run_apart "$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" <<<'id -u; hostname; touch /x 2>/dev/null || echo read-only'
	assert_status 0
	assert_equal "$output" $'0\nbrig\nread-only'
}

@test "spec: the members, mounts and namespaces of runc's" {
	command -v runc >/dev/null || skip "runc is not installed"
	local option what
	for option in "" --rootless; do
		mkdir "$T/brig$option" "$T/runc$option"
		# shellcheck disable=SC2086
		"$BRIG" spec $option -b "$T/brig$option"
		# shellcheck disable=SC2086
		runc spec $option -b "$T/runc$option"
		for what in '[keys[]]' '[.process | keys[]]' '[.mounts[].destination]' '[.linux.maskedPaths[]]' \
			'[.process.capabilities | to_entries[] | select(.key != "ambient") | .key as $k | .value[] | $k + . ]' \
			'[.linux.namespaces[].type]'; do
			assert_equal "$option $what $(jq -n --slurpfile r "$T/runc$option/config.json" --slurpfile b "$T/brig$option/config.json" \
				"(\$r[0] | $what) - (\$b[0] | $what)")" "$option $what []"
		done
	done
}

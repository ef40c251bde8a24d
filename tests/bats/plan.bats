#!/usr/bin/env bats
# places: root cgroup2 rootless
# brig plan: what run would do, without doing it.

load ../lib/common

@test "plan: the steps and mounts are those of a run" {
	make_bundle "$T/bundle" cat /proc/mounts
	run_brig plan -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$stderr" ""
	local plan=$output
	# with another processor the network namespace may be made ahead
	run_apart taskset -c "$(taskset -pc $$ | grep -oE '[0-9]+$')" "$BRIG" --root "$BRIG_ROOT" \
		--debug --log "$T/log" --log-format json run -b "$T/bundle" "$(new_id)"
	assert_status 0
	# What comes after the container's end is no step.
	assert_equal "$(jq -r '.steps[] | .actor + ": " + .name' <<<"$plan")" \
		"$(jq -r .msg "$T/log" | grep -E '^(parent|init|beside): ')"
	cut -d' ' -f2 <<<"$output" >"$T/seen"
	jq -r '.rootfs.mounts[] | select(.kind == "fs") | .target' <<<"$plan" >"$T/planned"
	[ -s "$T/planned" ]
	while read -r target; do
		grep -qx "$target" "$T/seen" || fail "$target is planned and not there:" "$(<"$T/seen")"
	done <"$T/planned"
}

@test "plan: needs no privileges, and makes nothing" {
	make_bundle "$T/bundle" true
	chmod 755 "$T" "$T/bundle"
	run setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$BRIG" --root "$T/none" plan -b "$T/bundle"
	[ "$EUID" != 0 ] && [[ $output == *"Operation not permitted"* ]] &&
		run "$BRIG" --root "$T/none" plan -b "$T/bundle"
	assert_status 0
	assert_json .id plan
	[ ! -e "$T/none" ]
}

@test "plan: what cannot be done is the same error as that of run" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.hostname = "x" | .linux.namespaces |= map(select(.type != "uts")) | del(.domainname)'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	local words=$stderr
	run_brig plan -b "$T/bundle"
	assert_status 1
	assert_equal "$stderr" "$words"
	run_brig plan -b "$T/absent"
	assert_status 1
	assert_contains "$stderr" "$T/absent"
}

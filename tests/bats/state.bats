#!/usr/bin/env bats
# places: root rootless
# state: the members that runtime.md, go-runc, podman and CRI-O read, at each point of a life.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

state() {
	run_brig state "$id"
	assert_status 0
	assert_equal "$stderr" ""
}

@test "state: every member, from created to stopped" {
	make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" '.annotations = {"a.b/c": "quote \" and\nline", empty: ""}'
	cd "$T"
	id=$(new_id)
	"$BRIG" --root "$BRIG_ROOT" create -b bundle --pid-file init "$id" </dev/null >log 2>&1 3>&-
	state
	local created
	created=$(jq -r .created <<<"$output")
	assert_json '[.id, .status, (.pid | tostring), .bundle, .rootfs] | join(" ")' \
		"$id created $(<init) $T/bundle $T/bundle/rootfs"
	assert_json .ociVersion "$(jq -r .ociVersion bundle/config.json)"
	assert_json '.annotations | to_entries | map(.key + "=" + .value) | join(",")' $'a.b/c=quote " and\nline,empty='
	[[ $created =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z$ ]]
	[ $(($(date +%s) - $(date -d "$created" +%s))) -lt 30 ]
	run_brig start "$id"
	state
	assert_json '.status + " " + .created' "running $created"
	if [ "$EUID" = 0 ] && { has_controller pids || cgroup2_only; }; then
		run_brig pause "$id"
		state
		assert_json '.status + " " + (.pid | tostring)' "paused $(<init)"
		run_brig resume "$id"
	fi
	# The bundle need not be there any more.
	mv bundle/config.json bundle/gone.json
	run_brig kill "$id" KILL
	wait_for 5 has_status stopped
	state
	assert_json '.status + " " + (.pid | tostring) + " " + .created' "stopped 0 $created"
}

@test "state: the members of runc's, with the same types" {
	command -v runc >/dev/null || skip "runc is not installed"
	[ "$EUID" = 0 ] || skip "runc is compared with as root"
	make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" '.ociVersion = "1.0.2" | .annotations = {a: "b"}'
	make_container create
	state
	runc --root "$T/runc" create -b "$T/bundle" "r$id" </dev/null >"$T/log" 2>&1 3>&- || skip "runc does not run here"
	runc --root "$T/runc" state "r$id" >"$T/runc.json"
	runc --root "$T/runc" delete --force "r$id"
	# runc's owner is always empty in the state.
	local types='to_entries | map(select(.key != "owner") | .key + ":" + (.value | type)) | sort | join(" ")'
	assert_equal "$(jq -r "$types" <<<"$output")" "$(jq -r "$types" "$T/runc.json")"
}

@test "state: what does not exist, or is no id, is an error of one line" {
	for id in absent ../x "" "a b" x/y; do
		run_brig state "$id"
		assert_status 1
		assert_equal "$output" ""
		assert_equal "$(wc -l <<<"$stderr")" 1
	done
	run_brig state absent
	assert_contains "$stderr" "container does not exist"
}

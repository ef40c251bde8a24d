#!/usr/bin/env bats
# places: cgroup2 rootless
# linux.intelRdt on a machine without resctrl; tests/unit/cgroups/resctrl.c has its rules.

load ../lib/common

setup() {
	brig_setup
	! grep -q " - resctrl " /proc/self/mountinfo || skip "resctrl is mounted here"
}

@test "without resctrl intelRdt is an error that says so" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.linux.intelRdt = {closID: "gold", schemata: ["L3:0=f"]}'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.intelRdt: resctrl is not mounted"
}

@test "a closID that is a path, and a schema of two lines, are errors" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.linux.intelRdt = {closID: "../gold"}'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.intelRdt.closID"
	edit_config "$T/bundle" '.linux.intelRdt = {closID: "gold", schemata: ["L3:0=f\nMB:0=1"]}'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.intelRdt.schemata[0]"
}

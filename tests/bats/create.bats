#!/usr/bin/env bats
# places: root cgroup2 rootless
# create and start: what is there between them, the pid file, the words for a wrong order.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

@test "create: all is made, and the program has not run; start runs it" {
	make_bundle "$T/bundle" sh -c 'hostname >/tmp/started; sleep 1000'
	edit_config "$T/bundle" '.hostname = "made-by-create"'
	make_container create
	has_status created
	local pid
	pid=$(<"$T/init")
	# What callers look at before they call start: the namespaces are there, and for a user who gets one the cgroup.
	[ "$(readlink "/proc/$pid/ns/uts")" != "$(readlink /proc/self/ns/uts)" ]
	if has_controller pids || cgroup2_only; then
		[ "$EUID" != 0 ] || assert_contains "$(cgroup_of "$pid")" "$id"
	fi
	run_brig exec "$id" hostname
	assert_equal "$output" made-by-create
	[ ! -e "$T/bundle/rootfs/tmp/started" ]
	run_brig start "$id"
	assert_status 0
	wait_for 5 [ -s "$T/bundle/rootfs/tmp/started" ]
	assert_equal "$(<"$T/bundle/rootfs/tmp/started")" made-by-create
	assert_json .pid "$pid" "$("$BRIG" --root "$BRIG_ROOT" state "$id")"
}

@test "start: the words for a container that cannot be started" {
	make_bundle "$T/bundle" sleep 1000
	run_brig start absent
	assert_status 1
	assert_contains "$stderr" "container does not exist"
	make_container run -d
	run_brig start "$id"
	assert_status 1
	assert_contains "$stderr" "cannot start an already running container"
	run_brig kill "$id" KILL
	wait_for 5 has_status stopped
	run_brig start "$id"
	assert_status 1
	assert_contains "$stderr" "cannot start a container that has stopped"
}

@test "the pid file has the pid and nothing else, appears whole, and only when the container does" {
	make_bundle "$T/bundle" sleep 1000
	echo old >"$T/init"
	ln "$T/init" "$T/link"
	make_container create
	assert_equal "$(od -An -c "$T/init" | tr -d ' \n')" "$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq -j .pid)"
	# Renamed into place: what was there has not been written to.
	assert_equal "$(<"$T/link")" old
	assert_equal "$(stat -c %a "$T/init")" 644
	edit_config "$T/bundle" '.process.args = ["/absent"]'
	run_brig create -b "$T/bundle" --pid-file "$T/never" "$(new_id 2)"
	assert_status 1
	[ ! -e "$T/never" ]
	# What cannot be written is an error, and ends what was made.
	write_config "$T/bundle" rootfs sleep 1000
	mkdir "$T/is-a-directory"
	run_brig create -b "$T/bundle" --pid-file "$T/is-a-directory" "$(new_id 2)"
	assert_status 1
	assert_contains "$stderr" "$T/is-a-directory"
	[ ! -e "$BRIG_ROOT/$(new_id 2)" ]
}

@test "create without --bundle takes the working directory" {
	make_bundle "$T/bundle" sleep 1000
	id=$(new_id)
	cd "$T/bundle"
	"$BRIG" --root "$BRIG_ROOT" create "$id" </dev/null >"$T/log" 2>&1 3>&-
	run_brig state "$id"
	assert_json .bundle "$T/bundle"
}

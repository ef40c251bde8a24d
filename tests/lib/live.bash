# Helpers for tests of commands on a running container: a container `$id` that sleeps in the
# background, of the bundle $T/bundle.

# start_container [FILTER]: FILTER changes its config.json first.
start_container() {
	id=$(new_id)
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" sleep 1000
	[ -z "${1:-}" ] || edit_config "$T/bundle" "$1"
	"$BRIG" --root "$BRIG_ROOT" run -d --pid-file "$T/init" -b "$T/bundle" "$id" \
		</dev/null >"$T/run.log" 2>&1 3>&- || fail "run -d failed:" "$(<"$T/run.log")"
}

# For the teardown of files that load this.
end_containers() {
	local record
	for record in "$BRIG_ROOT"/*; do
		[ ! -f "$record" ] || "$BRIG" --root "$BRIG_ROOT" delete -f "${record##*/}"
	done
}

inside() {
	run_brig exec "$id" "$@"
}

# The cgroup of a process on v2, or on the pids hierarchy of v1.
cgroup_of() {
	if cgroup2_only; then
		sed -n 's/^0:://p' "/proc/$1/cgroup"
	else
		sed -n 's/^[0-9]*:pids://p' "/proc/$1/cgroup"
	fi
}

# cgroup_file PID FILE-V2 CONTROLLER FILE-V1: the value for the cgroup of the process.
cgroup_file() {
	local path
	if cgroup2_only; then
		path=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")/$2
	else
		path=/sys/fs/cgroup/$3$(sed -nE "s/^[0-9]+:([a-z,]*,)?$3(,[a-z,]*)?://p" "/proc/$1/cgroup")/$4
	fi
	cat "$path"
}

# run_detached ARG...: run_brig for what leaves a process behind, which would keep its pipes open.
# shellcheck disable=SC2034 # the results are for the tests
run_detached() {
	status=0
	"$BRIG" --root "$BRIG_ROOT" "$@" </dev/null >"$T/detached.out" 2>"$T/detached.err" 3>&- || status=$?
	output=$(<"$T/detached.out") stderr=$(<"$T/detached.err")
}

# make_container COMMAND [OPTION...]: a container $id of $T/bundle by create or run -d.
make_container() {
	id=${id:-$(new_id)}
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" sleep 1000
	"$BRIG" --root "$BRIG_ROOT" "$@" --pid-file "$T/init" -b "$T/bundle" "$id" \
		</dev/null >"$T/log" 2>&1 3>&- || fail "$* failed:" "$(<"$T/log")"
}

has_status() { [ "$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq -r .status)" = "$1" ]; }

gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# hang_in KIND: a create that hangs in a hook of that kind; $creator is its pid.
# shellcheck disable=SC2034 # for the tests
hang_in() {
	make_bundle "$T/bundle" sleep 1000
	printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 1000\n' "$T/hook-pid" >"$T/hook"
	chmod 755 "$T/hook"
	edit_config "$T/bundle" ".hooks = {$1: [{path: \"$T/hook\"}]}"
	id=$(new_id)
	"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$id" >"$T/log" 2>&1 3>&- &
	creator=$!
	wait_for 10 [ -s "$T/hook-pid" ]
}

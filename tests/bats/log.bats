#!/usr/bin/env bats
# places: root rootless
# What callers of --log parse.

load ../lib/common

@test "a JSON log has one object with msg, level and an RFC 3339 time; stderr has the words too" {
	run_brig --log "$T/log" --log-format json start nobody
	assert_status 1
	assert_contains "$stderr" "container does not exist"
	assert_equal "$(wc -l <"$T/log")" 1
	assert_equal "$(jq -r '"\(keys) \(.level) \(.msg)"' "$T/log")" \
		'["level","msg","time"] error container does not exist: nobody'
	[[ $(jq -r .time "$T/log") =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z$ ]]
	assert_equal "$(stat -c %a "$T/log")" 600
	run_brig --log "file:$T/log" --log-format json start nobody
	assert_equal "$(wc -l <"$T/log")" 2
}

@test "warnings are not in a JSON log: podman parses the file as one object" {
	make_bundle "$T/bundle" /etc
	edit_config "$T/bundle" '.linux.resources = {memory: {kernel: 4194304}}'
	run_brig --log "$T/log" --log-format json run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" warning
	assert_equal "$(wc -l <"$T/log")" 1
	assert_equal "$(jq -r .level "$T/log")" error
}

@test "--debug: every step is a line of the log, in the order in which it was done" {
	make_bundle "$T/bundle" true
	run_brig --log "$T/log" run -b "$T/bundle" "$(new_id)"
	assert_status 0
	[ ! -s "$T/log" ] || fail "lines without --debug:" "$(<"$T/log")"
	run_brig --debug --log "$T/log" --log-format json run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$stderr" ""
	assert_equal "$(jq -r .level "$T/log" | sort -u)" debug
	jq -r .msg "$T/log" >"$T/said"
	assert_contains "$(head -n 1 "$T/said")" ": run, state directory $BRIG_ROOT"
	assert_equal "$(grep -x -e 'parent: reserve the id' -e 'parent: make the first process' -e 'init: mount' \
		-e 'init: set the ids' "$T/said" | uniq)" \
		$'parent: reserve the id\nparent: make the first process\ninit: mount\ninit: set the ids'
	# The other way round, without warnings.
	edit_config "$T/bundle" '.linux.resources = {memory: {kernel: 4194304}}'
	for level in warning error; do
		run_brig --log-level $level run -b "$T/bundle" "$(new_id)"
		assert_equal "$level $(grep -c 'memory.kernel' <<<"$stderr")" "$level $([ $level = error ] && echo 0 || echo 1)"
	done
	run_brig --log-level debug state nobody
	assert_contains "$stderr" "brig: brig "
	assert_contains "$stderr" ": state, state directory $BRIG_ROOT"
}

@test "control characters of a name cannot forge a line" {
	run_brig --log "$T/log" start $'x\n{"level":"error"}'
	assert_equal "$(wc -l <"$T/log")" 1
	assert_equal "$(wc -l <<<"$stderr")" 1
}

# listen SOCKET: prints the first datagram that comes.
listen() {
	/usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(10)
open(sys.argv[1] + ".ready", "w").close()
print(s.recv(4096).decode())' "$1"
}

@test "syslog: and journald:" {
	need_root
	export -f listen
	run unshare --mount --propagation private bash -c '
		mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal || exit
		mount -t tmpfs tmpfs /dev && mknod -m 666 /dev/null c 1 3 || exit
		for target in journald:frog=/run/systemd/journal/socket syslog:=/dev/log; do
			socket=${target#*=}
			listen "$socket" &
			until [ -e "$socket.ready" ]; do sleep 0.05; done
			"$BRIG" --log "${target%%=*}" start nobody 2>/dev/null
			wait
		done'
	assert_equal "${lines[0]}" "MESSAGE=container does not exist: nobody"
	assert_equal "${lines[1]}" "PRIORITY=3"
	assert_equal "${lines[2]}" "SYSLOG_IDENTIFIER=frog"
	[[ ${lines[3]} =~ ^"<27>brig["[0-9]+"]: container does not exist: nobody"$ ]]
	run_brig --log journald: start nobody
	[ "$status" -ne 0 ]
}

@test "global options that callers send" {
	run_brig --rootless=true --criu /usr/sbin/criu --log-level debug --systemd-cgroup=false --cgroup-manager=cgroupfs -log-format json list -q
	assert_status 0
	run_brig --cgroup-manager nonsense list
	assert_status 1
	assert_contains "$stderr" "--cgroup-manager"
	run_apart "$BRIG" features
	assert_status 0
	assert_equal "$stderr" ""
}

@test "--cgroup-manager=disabled: no cgroup, and no limits" {
	make_bundle "$T/bundle" cat /proc/self/cgroup
	run_brig --cgroup-manager disabled run -b "$T/bundle" "$(new_id)"
	assert_status 0
	[[ $output != *"$(new_id)"* ]]
	edit_config "$T/bundle" '.linux.resources = {pids: {limit: 10}}'
	run_brig --cgroup-manager disabled run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.resources.pids.limit"
	assert_contains "$stderr" "disabled"
}

#!/usr/bin/env bats
# places: root vm vm-rootless
# What podman does by cgroups. Few calls: each takes several seconds in the virtual machine.

load ../lib/common
load ../lib/callers

setup_file() { podman_setup_file; }
teardown_file() { podman_teardown_file; }
setup() { podman_setup; }
teardown() { podman_teardown; }

@test "limits, update, stats, pause: one container's life" {
	podman_run -d --name "$NAME" --memory 64m --pids-limit 20 -- sleep 1000
	podman update --memory 48m "$NAME"
	assert_equal "$(cat "$(find /sys/fs/cgroup -path '*/libpod-*/memory.limit_in_bytes' -o \
		-path '*/libpod-*/memory.max')")" 50331648
	run podman stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' "$NAME"
	assert_status 0
	[[ $output =~ ^[0-9.]+kB\ /\ .*MB\ 1$ ]]
	podman pause "$NAME"
	run podman ps -a --format '{{.Status}}'
	assert_equal "$output" Paused
	run podman exec "$NAME" true
	[ "$status" -ne 0 ]
	podman unpause "$NAME"
	run podman exec "$NAME" sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 5 & done'
	[ "$status" -ne 0 ]
	assert_contains "$output" "can't fork"
	podman rm -f -t 0 "$NAME"
}

@test "out of memory: the program is killed" {
	run podman_run --name "$NAME" --memory 20m -- sh -c 'x=$(tr "\0" x </dev/zero)'
	assert_status 137
	if cgroup2_only; then
		run podman inspect -f '{{.State.OOMKilled}}' "$NAME"
		assert_equal "$output" true
	fi
	podman rm "$NAME"
}

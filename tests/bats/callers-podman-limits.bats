#!/usr/bin/env bats
# places: root vm vm-rootless
# What podman does by cgroups. Few calls: each takes several seconds in the virtual machine.

load ../lib/common
load ../lib/callers

setup_file() { podman_setup_file; }
teardown_file() { podman_teardown_file; }
setup() { podman_setup; }
teardown() { podman_teardown; }

# cgroup_value V2-FILE V1-FILE: of the container's memory cgroup.
cgroup_value() {
	local pid
	pid=$(podman inspect -f '{{.State.Pid}}' "$NAME")
	if cgroup2_only; then
		cat "/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$pid/cgroup")/$1"
	else
		cat "/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' "/proc/$pid/cgroup")/$2"
	fi
}

@test "limits, update, statistics, pause, out of memory: one container's life" {
	podman_run -d --name "$NAME" --memory 64m --pids-limit 20 -- sleep 1000
	podman update --memory 20m "$NAME"
	assert_equal "$(cgroup_value memory.max memory.limit_in_bytes)" 20971520
	run podman stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' "$NAME"
	assert_status 0
	[[ $output =~ ^[0-9.]+kB\ /\ .*MB\ 1$ ]]
	podman pause "$NAME"
	run podman ps -a --format '{{.Status}}'
	assert_equal "$output" Paused
	run podman exec "$NAME" true
	[ "$status" -ne 0 ]
	podman unpause "$NAME"
	run podman exec "$NAME" dd if=/dev/zero of=/dev/null bs=64M count=1
	assert_status 137
	[[ $(cgroup_value memory.events memory.oom_control) =~ oom_kill\ [1-9] ]]
	run podman exec "$NAME" sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 5 & done'
	[ "$status" -ne 0 ]
	assert_contains "$output" "can't fork"
	podman rm -f -t 0 "$NAME"
}

@test "a program that needs too much memory is killed" {
	run podman_run --rm --memory 20m -- dd if=/dev/zero of=/dev/null bs=64M count=1
	assert_status 137
}

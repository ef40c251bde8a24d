#!/usr/bin/env bats
# places: vm-systemd
# podman, conmon and brig with systemd as the manager of cgroups. One test, for each call takes seconds.

load ../lib/common
load ../lib/callers

setup_file() { podman_setup_file systemd; }
teardown_file() { podman_teardown_file; }
setup() { podman_setup; }
teardown() { podman_teardown; }

@test "podman with systemd's cgroups: limits, update, statistics, out of memory, rm" {
	local id scope
	id=$(podman_run -d --name "$NAME" --memory 16m --memory-swap 16m --pids-limit 20 --cpus 0.5 -- sleep 1000)
	scope=libpod-$id.scope
	run systemctl show "$scope" --property=MemoryMax --property=TasksMax --property=CPUQuotaPerSecUSec --property=Slice
	assert_equal "$(sort <<<"$output")" $'CPUQuotaPerSecUSec=500ms\nMemoryMax=16777216\nSlice=machine.slice\nTasksMax=20'
	podman update --memory 8m --memory-swap 8m "$NAME"
	assert_equal "$(systemctl show --value --property=MemoryMax "$scope")" 8388608
	run podman exec "$NAME" dd if=/dev/zero of=/dev/null bs=64M count=1
	assert_status 137
	grep -q '^oom_kill [1-9]' "/sys/fs/cgroup/machine.slice/$scope/container/memory.events"
	run podman stats --no-stream --format '{{.MemUsage}}' "$NAME"
	[[ $output =~ ^[0-9.]+kB\ /\ 16\.78MB$ ]]
	podman rm -f -t 0 "$NAME"
	[ ! -e "/sys/fs/cgroup/machine.slice/$scope" ]
}

#!/usr/bin/env bats
# places: root vm
# The limits of brig-docker, measured by the container: with an image of layers and with the host's
# own programs. On cgroup v1 and, in the machine, v2.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	for controller in memory cpu pids; do
		need_controller $controller
	done
}

teardown() {
	"$(dirname "$BRIG_DOCKER")/brig-image" remove "$BRIG_DOCKER_DATA/images/layers" 2>/dev/null || true
	docker_teardown
}

layered() {
	"$TESTS_LIB/layered-image" "$T/i.tar" layered:1 "$(command -v busybox)"
	dk load -qi "$T/i.tar" >/dev/null
}

# Hundredths of a second of processor time in 1.5 seconds of trying; then sizes, then limits of a process.
measure='read up rest </proc/uptime
end=$((${up%.*}${up#*.} + 150))
while read up rest </proc/uptime && [ ${up%.*}${up#*.} -lt $end ]; do :; done
read a b c d e f g h i j k l m user system rest </proc/self/stat
echo $((user + system))
for f in /tmp/f /dev/shm/f; do cat /dev/zero >$f 2>/dev/null; stat -c %s $f; done
ulimit -n; ulimit -Hn; ulimit -c'

limits_hold() { # IMAGE DD...
	local image=$1 ticks rest
	shift
	run_dk run --rm --network none --cpus 0.4 --ulimit nofile=64:128 --ulimit core=0 --tmpfs /tmp:size=1m \
		--shm-size 2m "$image" sh -c "$measure"
	assert_status 0
	read -r ticks rest <<<"${output//$'\n'/ }"
	assert_equal "$rest" "1048576 2097152 64 128 0"
	# without a limit it is 150, where nobody else wants the processor; a virtual machine counts roughly
	[ "$ticks" -le 110 ] || fail "$ticks hundredths of a second, not 60"
	[ "$ticks" -ge 10 ] || fail "only $ticks hundredths of a second"

	run_dk run --name oom --network none --memory 32m "$image" "$@" if=/dev/zero of=/dev/null bs=100M count=1
	assert_status 137
	assert_equal "$(dk inspect -f '{{.State.OOMKilled}} {{.State.ExitCode}} {{.HostConfig.Memory}}' oom)" "true 137 33554432"
	dk rm oom >/dev/null
	run_dk run --rm --network none --pids-limit 10 "$image" \
		sh -c 'i=0; while [ $i -lt 30 ]; do sleep 5 & i=$((i + 1)); echo $i; done; echo all'
	[ "$status" != 0 ] || fail "$output"
	[[ $output != *all* ]] && [[ $output == *9* ]] || fail "not 9 processes: $output"
	assert_contains "$stderr" fork
}

@test "limits: an image of layers" {
	layered
	limits_hold layered:1 /bin/busybox dd
}

@test "limits: the host's own programs" {
	limits_hold host dd
}

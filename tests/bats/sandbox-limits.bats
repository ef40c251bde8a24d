# places: root vm vm-rootless
# Limits are real: each is reached, held, and told in the result.
load ../lib/common
load ../lib/sandbox

setup() {
	brig_setup
	need_limits
}

@test "sandbox limits: 64 MiB of memory, and the OOM killer is named" {
	python 'x = bytearray(200 << 20); print(len(x))' --memory 64m
	assert_status 137
	assert_json .status oom_killed
	assert_json .oom_killed true
	assert_json .returncode -9
	assert_stdout ""
}

@test "sandbox limits: an OOM kill of a child takes all of it on v2, and is told on v1" {
	python 'import subprocess as s, sys; print(s.call([sys.executable, "-c", "x = bytearray(200 << 20)"]))' \
		--memory 64m
	assert_json .oom_killed true
	if cgroup2_only; then
		assert_json .status oom_killed
	else
		assert_stdout -9
	fi
}

@test "sandbox limits: what fits into the memory runs" {
	python 'x = bytearray(40 << 20); print(len(x))' --memory 64m
	assert_status 0
	assert_stdout 41943040
	[ "$(jget '.memory_peak_bytes // 67000000')" -gt 41943040 ] || fail "$output"
}

@test "sandbox limits: files in /tmp and shared memory count as memory" {
	sandbox --memory 32m --tmp-size 64m -- sh -c 'head -c 60000000 /dev/zero >/tmp/x; echo done'
	assert_json .oom_killed true
	sandbox --memory 32m -- sh -c 'head -c 60000000 /dev/zero >/dev/shm/x; echo done'
	assert_json .oom_killed true
}

@test "sandbox limits: a fork bomb stops at the limit and the host goes on" {
	local start
	"$BRIG" --root "$BRIG_ROOT" sandbox --pids 32 --timeout 4s -- \
		sh -c 'b() { b | b & b; }; b' >"$T/result.json" 2>/dev/null &
	local pid=$!
	sleep 1
	start=$(date +%s%N)
	/bin/true
	[ $((($(date +%s%N) - start) / 1000000)) -lt 2000 ] || fail "the host is stuck"
	wait $pid || true
	output=$(cat "$T/result.json")
	[[ $(jget .status) = timed_out || $(jget .status) = exited ]] || fail "$output"
	[ "$(jget '.pids_peak // 33')" -le 33 ] || fail "$output"
	assert_contains "$(jget .stderr)" "fork"
}

@test "sandbox limits: the number of processes is exact" {
	python 'import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
        n += 1
except BlockingIOError:
    print(n, flush=True)
os._exit(0)' --pids 10
	assert_stdout 9
}

@test "sandbox limits: threads are processes here" {
	python 'import threading, time
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
except RuntimeError:
    print(n)' --pids 10
	assert_stdout 9
}

@test "sandbox limits: CPU time, of all processes together" {
	python 'import os
for i in range(3): os.fork()
while True: pass' --cpu-time 1s --timeout 60s
	assert_status 124
	assert_json .status cpu_limit
	assert_json .timed_out true
	assert_json '.cpu_seconds >= 0.99 and .cpu_seconds < 1.8' true
}

@test "sandbox limits: a program that only sleeps reaches no CPU limit" {
	sandbox --cpu-time 500ms -- sleep 2
	assert_status 0
}

@test "sandbox limits: half a CPU" {
	python 'import os
os.fork()
while True: pass' --cpus 0.5 --timeout 4s
	assert_json .status timed_out
	# From the counters of the cgroup; one period more or less.
	assert_json '.cpu_seconds / .duration_seconds < 0.56' true
	assert_json '.cpu_seconds / .duration_seconds > 0.2' true
}

@test "sandbox limits: a limit in linux.resources is taken as it is" {
	echo '{"process":{"args":["python3","-c","x = bytearray(200 << 20)"]},
		"root":{"path":"'"$(python_rootfs)"'"},
		"linux":{"resources":{"memory":{"limit":67108864}}}}' >"$T/spec.json"
	sandbox --spec "$T/spec.json"
	assert_json .status oom_killed
}

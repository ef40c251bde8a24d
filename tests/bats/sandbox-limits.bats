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

@test "sandbox limits: wall time" {
	python 'print("begin", flush=True)
while True: pass' --timeout 1s
	assert_status 124
	assert_json .status timed_out
	assert_json .timed_out true
	assert_json .returncode -1
	assert_stdout begin
	assert_json '.duration_seconds >= 1 and .duration_seconds < 3' true
}

@test "sandbox limits: wall time of a program that sleeps and ignores signals" {
	python 'import signal, time
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
print("begin", flush=True)
time.sleep(1000)' --timeout 3s
	assert_status 124
	assert_stdout begin
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

@test "sandbox limits: 100 MiB of output, and brig stays small" {
	local pid hwm last=0
	"$BRIG" --root "$BRIG_ROOT" sandbox --result "$T/result.json" -- \
		sh -c 'head -c 104857600 /dev/zero | tr "\0" x; echo end >&2; sleep 2' &
	pid=$!
	# The last reading is from the two seconds in which all output has been written.
	while kill -0 $pid 2>/dev/null; do
		hwm=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && last=${hwm:-$last}
		sleep 0.2
	done
	wait $pid
	output=$(cat "$T/result.json")
	assert_json .stdout_truncated true
	assert_json '.stdout | length' 1048576
	assert_json .stderr end
	assert_json .stderr_truncated false
	echo "# brig's memory: $last KiB"
	[[ $last -gt 500 && $last -lt 6000 ]] || fail "brig took $last KiB"
}

@test "sandbox limits: too much output can end the program" {
	sandbox --output-limit 1k --output-action kill -- sh -c 'while echo xxxxxxxxxxxxxxxx; do :; done'
	assert_status 137
	assert_json .status output_limit
	assert_json '.stdout | length' 1024
	assert_json .stdout_truncated true
}

@test "sandbox limits: output from a process that left the session, and never ends" {
	python 'import os, sys
if os.fork() == 0:
    os.setsid()
    while True: print("x" * 1000)
sys.exit(4)'
	assert_status 4
}

@test "sandbox limits: 65 MiB do not fit into the 64 MiB of /tmp" {
	python 'import errno
try:
    with open("/tmp/big", "wb") as f:
        for i in range(65): f.write(bytes(1 << 20))
except OSError as e:
    print(errno.errorcode[e.errno])'
	assert_stdout ENOSPC
	python 'open("/tmp/big", "wb").write(bytes(63 << 20)); print("fits")'
	assert_stdout fits
}

@test "sandbox limits: /workspace and /tmp do not share their space; files are counted" {
	sandbox --tmp-size 1m --work-size 1m -- sh -c 'head -c 2000000 /dev/zero >/tmp/a; echo ok >b; cat b
		i=0; while touch f$i; do i=$((i + 1)); done 2>/dev/null; echo $((i < 300))'
	assert_json .stdout $'ok\n1'
}

@test "sandbox limits: a limit in linux.resources is taken as it is" {
	echo '{"process":{"args":["python3","-c","x = bytearray(200 << 20)"]},
		"root":{"path":"'"$(python_rootfs)"'"},
		"linux":{"resources":{"memory":{"limit":67108864}}}}' >"$T/spec.json"
	sandbox --spec "$T/spec.json"
	assert_json .status oom_killed
}

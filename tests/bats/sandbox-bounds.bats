# places: root rootless
# Limits that brig and the mounts hold, without cgroups: time, output, the size of file systems.
load ../lib/common
load ../lib/sandbox

@test "sandbox bounds: wall time" {
	python 'print("begin", flush=True)
while True: pass' --timeout 1s
	assert_status 124
	assert_json .status timed_out
	assert_json .timed_out true
	assert_json .returncode -1
	assert_stdout begin
	assert_json '.duration_seconds >= 1 and .duration_seconds < 3' true
}

@test "sandbox bounds: wall time of a program that sleeps and ignores signals" {
	python 'import signal, time
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
print("begin", flush=True)
time.sleep(1000)' --timeout 3s
	assert_status 124
	assert_stdout begin
}

@test "sandbox bounds: 100 MiB of output, and brig stays small" {
	local pid hwm last=0 waive=--best-effort=false
	limits_work || waive=--best-effort
	"$BRIG" --root "$BRIG_ROOT" sandbox $waive --result "$T/result.json" -- \
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

@test "sandbox bounds: too much output can end the program" {
	sandbox --output-limit 1k --output-action kill -- sh -c 'while echo xxxxxxxxxxxxxxxx; do :; done'
	assert_status 137
	assert_json .status output_limit
	assert_json '.stdout | length' 1024
	assert_json .stdout_truncated true
}

@test "sandbox bounds: output from a process that left the session, and never ends" {
	python 'import os, sys
if os.fork() == 0:
    os.setsid()
    while True: print("x" * 1000)
sys.exit(4)'
	assert_status 4
}

@test "sandbox bounds: 65 MiB do not fit into the 64 MiB of /tmp" {
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

@test "sandbox bounds: /workspace and /tmp do not share their space; files are counted" {
	sandbox --tmp-size 1m --work-size 1m -- sh -c 'head -c 2000000 /dev/zero >/tmp/a; echo ok >b; cat b
		i=0; while touch f$i; do i=$((i + 1)); done 2>/dev/null; echo $((i < 300))'
	assert_json .stdout $'ok\n1'
}

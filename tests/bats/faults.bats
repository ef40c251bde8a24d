#!/usr/bin/env bats
# places: root
# Calls of each kind made to fail, and each process killed at them, by strace's injection: the error is
# named, and nothing is left. doc/testing.md says which steps that does not reach.

load ../lib/common

FILTER='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]} |
	.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 50, hard: 60}] | .process.oomScoreAdj = 10 |
	.linux.sysctl = {"net.ipv4.ip_forward": "1"}'

# What the first filter does not reach: a user and a time namespace, a terminal, hooks, a seccomp agent.
MORE='def hook: [{path: "/bin/busybox", args: ["true"], timeout: 5}];
	.process.terminal = true | .linux.timeOffsets = {boottime: {secs: 5}} |
	.linux.namespaces += [{type: "user"}, {type: "time"}] |
	.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings |
	.linux.seccomp.syscalls[0].action = "SCMP_ACT_NOTIFY" | .linux.seccomp.listenerPath = $socket |
	.hooks = {prestart: hook, createRuntime: hook, createContainer: hook, poststop: hook}'

GLOBAL=() OPTIONS=()

setup() {
	brig_setup
	need_command strace
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" "$FILTER"
	id=$(new_id)
	strace -qq -o "$T/strace" true || skip "strace does not work here"
}

b() { "$BRIG" --root "$BRIG_ROOT" "$@"; }

# inject HOW SYSCALL N COMMAND [OPTION...]: into the Nth such call of each process. Sets $code, $T/log, and
# $injected: some process has made that many.
inject() {
	code=0 injected=0
	timeout 10 strace -D -f -q -o "$T/strace" -e trace="$2" -e inject="$2:$1:when=$3" \
		"$BRIG" --root "$BRIG_ROOT" "${GLOBAL[@]}" "${@:4}" "${OPTIONS[@]}" -b "$T/bundle" "$id" >"$T/log" 2>&1 3>&- || code=$?
	[[ $(<"$T/strace") != *@("(INJECTED)"|"killed by SIGKILL")* ]] || injected=1
}

# Nothing of $id is there, or only what its record says and `delete` removes.
nothing_of_it() {
	local path
	# Names with a dot in front are caches.
	for path in "$BRIG_ROOT"/* /sys/fs/cgroup/{,*/}"brig-$id"; do
		[ ! -e "$path" ] || fail "$1: left behind: $path" "$(<"$T/log")"
	done
}

# fail_each HOW COMMAND SYSCALL[:TIMES]... Each of the first four, or TIMES, as far as they are made.
fail_each() {
	local how=$1 command=$2 call n times
	for call in "${@:3}"; do
		[[ $call == *:* ]] || call+=:4
		times=${call#*:} call=${call%:*}
		for ((n = 1; n <= times; n++)); do
			inject "$how" "$call" "$n" "$command"
			[ "$code" != 0 ] || b delete --force "$id" # a call that may fail, or that was not made
			nothing_of_it "$command: $call $n"
			[ $injected = 1 ] || break
			[ "$code" = 0 ] || assert_one_line "$command: $call $n"
		done
	done
}

# The fault may meet the poststop hook as well: its failure is a warning, in front.
assert_one_line() {
	local lines
	mapfile -t lines <"$T/log"
	[[ ${lines[0]} != "brig: warning: "* ]] || lines=("${lines[@]:1}")
	# The message itself is a write too.
	[[ $1 != *": write "* || ${#lines[@]} != 0 ]] || return 0
	[[ ${#lines[@]} = 1 && ${lines[0]} == "brig: "* ]] || fail "$1: not one line:" "${lines[@]}"
}

# kill_each COMMAND SYSCALL...: at the first three.
kill_each() {
	local command=$1 call n
	for call in "${@:2}"; do
		for n in 1 2 3; do
			inject signal=KILL "$call" "$n" "$command" 2>/dev/null # the shell says "Killed"
			# Whoever comes next sweeps; what had been started is a container like others.
			b run -b "$T/bundle" "$(new_id sweeper)" >"$T/sweep" 2>&1 3>&- || fail "$(<"$T/sweep")"
			b delete --force "$id"
			nothing_of_it "$command: SIGKILL at $call $n"
			[ $injected = 1 ] || break
		done
	done
}

HOST="flock renameat2 mkdirat socketpair clone3 fcntl"
ROOTFS="open_tree mount move_mount mount_setattr fsopen fsconfig fsmount openat2:8 mknodat symlinkat fchdir chdir pivot_root umount2"
PROCESS="setsid keyctl unshare sethostname prlimit64 setgroups setresgid setresuid capset prctl seccomp close_range write"

@test "run: each call of the host's side fails" { fail_each error=ENOMEM run $HOST openat:20 write:30 mmap pipe2; }
@test "run: each call that makes the root fails" { fail_each error=EPERM run $ROOTFS; }
@test "run: each call that makes the process fails" { fail_each error=EPERM run $PROCESS; }
@test "create: each call fails" { fail_each error=ENOSPC create $HOST openat:12 mknodat; }
@test "create: each call that makes the process fails" { fail_each error=EINVAL create setsid keyctl unshare sethostname setresuid capset close_range mknodat; }
@test "run: SIGKILL at each call of the host's side" { kill_each run $HOST openat write read waitid unlinkat sendto; }
@test "run: SIGKILL at each call that makes the root" { kill_each run ${ROOTFS/:8/}; }
@test "run: SIGKILL at each call that makes the process" { kill_each run $PROCESS; }
@test "create: SIGKILL at each call" { kill_each create $HOST openat open_tree mount move_mount pivot_root setsid keyctl capset write unlinkat; }

# Both the console and the agent's: whatever is sent there is taken and dropped.
more() {
	/usr/bin/python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(99)
while True:
    s.accept()[0].recv(1)' "$T/socket" 3>&- &
	listener=$!
	GLOBAL=(--cgroup-manager=disabled) OPTIONS=(--console-socket "$T/socket")
	edit_config "$T/bundle" "$MORE" --arg socket "$T/socket"
	chown -R 100000:100000 "$T/bundle/rootfs"
	wait_for 5 test -S "$T/socket"
	inject error=EPERM swapoff 1 create
	assert_equal "$code" 0
	b delete --force "$id"
	"$@"
	kill "$listener"
	wait "$listener" || true
}

MORE_CALLS="read unshare setns setgroups setresuid sethostname ioctl dup2 socket connect sendmsg recvmsg fchown vfork
	execve wait4 pidfd_open seccomp mount_setattr mkdirat"

@test "create with more: each call fails" { more fail_each error=EPERM create $MORE_CALLS openat:16 write:8; }
@test "create with more: SIGKILL at each call" { more kill_each create openat write $MORE_CALLS; }

@test "a cgroup that cannot be removed is an error, and delete tries again" {
	inject error=ENOMEM unlinkat 1 run
	[ "$code" -ne 0 ]
	b delete --force "$id"
	nothing_of_it "delete"
}

@test "a full disk under the state directory" {
	local free
	for free in 0 1; do
		run unshare -m --propagation private sh -ec '
			mkdir -p "$1/small"
			mount -t tmpfs -o size=16k tmpfs "$1/small"
			mkdir -m 700 "$1/small/state"
			dd if=/dev/zero of="$1/small/fill" bs=4096 2>/dev/null || true
			[ "$4" = 0 ] || dd if=/dev/zero of="$1/small/fill" bs=4096 count=3 2>/dev/null || true
			code=0
			"$2" --root "$1/small/state" run -b "$1/bundle" "$3" || code=$?
			ls "$1/small/state"
			exit $code' sh "$T" "$BRIG" "$id" "$free"
		if [ "$status" != 0 ]; then
			assert_contains "$output" "No space left on device"
			assert_equal "$(wc -l <<<"$output")" 1
		else
			assert_equal "$free" 1
		fi
	done
}

@test "a state directory that cannot be written" {
	mkdir "$T/ro"
	run unshare -m --propagation private sh -ec 'mount -t tmpfs -o ro tmpfs "$1/ro"
		exec "$2" --root "$1/ro/state" run -b "$1/bundle" "$3"' sh "$T" "$BRIG" "$id"
	[ "$status" -ne 0 ]
	assert_contains "$output" "Read-only file system"
}

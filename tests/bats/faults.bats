#!/usr/bin/env bats
# places: root
# Each step made to fail, and each process killed at each step, by strace's injection: the error is
# named, and nothing is left.

load ../lib/common

FILTER='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]} |
	.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 50, hard: 60}] | .process.oomScoreAdj = 10 |
	.linux.sysctl = {"net.ipv4.ip_forward": "1"}'

setup() {
	brig_setup
	need_command strace
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" "$FILTER"
	id=$(new_id)
	strace -qq -o "$T/strace" true || skip "strace does not work here"
}

b() { "$BRIG" --root "$BRIG_ROOT" "$@"; }

# inject HOW SYSCALL N COMMAND [OPTION...]: sets $code and $T/log.
inject() {
	code=0
	timeout 10 strace -D -f -qq -o /dev/null -e trace="$2" -e inject="$2:$1:when=$3" \
		"$BRIG" --root "$BRIG_ROOT" "${@:4}" -b "$T/bundle" "$id" >"$T/log" 2>&1 3>&- || code=$?
}

# Nothing of $id is there, or only what its record says and `delete` removes.
nothing_of_it() {
	local left
	left=$(find "$BRIG_ROOT" -mindepth 1 -maxdepth 1 ! -name '.*'
		find /sys/fs/cgroup -maxdepth 2 -name "brig-$id")
	[ -z "$left" ] || fail "$1: left behind: $left" "$(<"$T/log")"
}

# fail_each HOW COMMAND SYSCALL...
fail_each() {
	local how=$1 command=$2 call n
	for call in "${@:3}"; do
		for n in 1 2 3; do
			inject "$how" "$call" "$n" "$command"
			if [ "$code" = 0 ]; then
				b delete --force "$id" # a step that may fail, or that was not reached
			else
				assert_equal "$(grep -c '^brig: ' "$T/log")" 1
				assert_equal "$(wc -l <"$T/log")" 1
			fi
			nothing_of_it "$command: $call $n"
		done
	done
}

kill_each() {
	local command=$1 call n
	for call in "${@:2}"; do
		for n in 1 2 3; do
			inject signal=KILL "$call" "$n" "$command" 2>/dev/null # the shell says "Killed"
			# Whoever comes next sweeps; what had been started is a container like others.
			b run -b "$T/bundle" "$(new_id sweeper)" >"$T/sweep" 2>&1 3>&- || fail "$(<"$T/sweep")"
			b delete --force "$id"
			nothing_of_it "$command: SIGKILL at $call $n"
		done
	done
}

HOST="flock renameat2 mkdirat socketpair clone3 openat fcntl"
ROOTFS="open_tree mount move_mount mount_setattr fsopen fsconfig fsmount openat2 mknodat symlinkat fchdir chdir pivot_root umount2"
PROCESS="setsid keyctl unshare sethostname prlimit64 setgroups setresgid setresuid capset prctl seccomp close_range write"

@test "run: each call of the host's side fails" { fail_each error=ENOMEM run $HOST mmap pipe2; }
@test "run: each call that makes the root fails" { fail_each error=EPERM run $ROOTFS; }
@test "run: each call that makes the process fails" { fail_each error=EPERM run $PROCESS; }
@test "create: each call fails" { fail_each error=ENOSPC create $HOST $ROOTFS; }
@test "create: each call that makes the process fails" { fail_each error=EINVAL create setsid keyctl unshare sethostname setresuid capset close_range mknodat; }
@test "run: SIGKILL at each call of the host's side" { kill_each run $HOST write read waitid unlinkat sendto; }
@test "run: SIGKILL at each call that makes the root" { kill_each run $ROOTFS; }
@test "run: SIGKILL at each call that makes the process" { kill_each run $PROCESS; }
@test "create: SIGKILL at each call" { kill_each create $HOST open_tree mount move_mount pivot_root setsid keyctl capset write unlinkat; }

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

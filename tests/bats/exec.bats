#!/usr/bin/env bats
# places: rootless cgroup2
# A further program in a running container: what it sees, and what becomes of its end.
load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

@test "exec: the exit code is the program's, 128 + N after a signal, 255 when there is none" {
	start_container
	inside sh -c 'exit 7'
	assert_status 7
	inside sh -c 'kill -TERM $$'
	assert_status 143
	inside absent
	assert_status 255
	assert_contains "$stderr" 'exec: "absent": executable file not found in $PATH'
	inside /etc/passwd
	assert_status 255
	assert_contains "$stderr" 'exec: "/etc/passwd": Permission denied'
	inside /absent
	assert_status 255
	assert_contains "$stderr" 'No such file or directory'
}

@test "exec: standard streams are the caller's" {
	start_container
	run_apart "$BRIG" --root "$BRIG_ROOT" exec "$id" sh -c 'cat; echo err >&2' <<<"in"
	assert_equal "$output" in
	assert_equal "$stderr" err
}

@test "exec: every namespace and the root are those of the first process" {
	start_container
	inside sh -c 'for n in user mnt pid net ipc uts cgroup time; do
		[ "$(readlink /proc/self/ns/$n)" = "$(readlink /proc/1/ns/$n)" ] || echo "$n differs"; done
		[ "$(stat -Lc %d:%i /)" = "$(stat -Lc %d:%i /proc/1/root)" ] || echo "root differs"
		cat /proc/1/comm; hostname'
	assert_equal "$output" $'sleep\ntest'
}

@test "exec: a time namespace with offsets is joined" {
	[ -e /proc/self/ns/time ] || skip "the kernel has no time namespaces"
	start_container '.linux.namespaces += [{"type": "time"}] |
		.linux.timeOffsets = {"monotonic": {"secs": 1000000, "nanosecs": 0}}'
	inside sh -c 'readlink /proc/self/ns/time; readlink /proc/1/ns/time; cat /proc/self/timens_offsets'
	assert_equal "${lines[0]}" "${lines[1]}"
	assert_contains "$output" 1000000
}

@test "exec: into a created container, before its program runs" {
	id=$(new_id)
	make_bundle "$T/bundle" sleep 1000
	run_detached create -b "$T/bundle" "$id"
	assert_status 0
	inside sh -c 'readlink /proc/self/ns/mnt; hostname; ls -d /proc/1'
	assert_status 0
	assert_contains "$output" test
}

@test "exec: a container that shares namespaces with the host" {
	start_container '.linux.namespaces |= map(select(.type | IN("mount", "user"))) | del(.hostname) |
		.mounts |= map(select(.destination | IN("/dev", "/dev/pts", "/dev/shm")) |
			.options |= map(select(. != "newinstance")))'
	inside sh -c 'echo $$ >/dev/null; test -e /bin/busybox && echo in'
	assert_equal "$output" in
}

@test "exec: capabilities, no-new-privileges, filter, groups and limits are the container's" {
	start_container '.process.rlimits = [{"type": "RLIMIT_NOFILE", "soft": 100, "hard": 200}] |
		.process.oomScoreAdj = 500 |
		.linux.seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
			{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 95}]}'
	inside sh -c 'grep -hE "^(Cap|NoNew|Seccomp:|Groups|Uid)" /proc/1/status >/tmp/1
		grep -hE "^(Cap|NoNew|Seccomp:|Groups|Uid)" /proc/self/status | diff /tmp/1 - && echo same
		grep "open files" /proc/self/limits | tr -s " "; cat /proc/self/oom_score_adj
		mkdir /tmp/x 2>&1; grep CapInh /proc/self/status'
	assert_equal "$output" "same
Max open files 100 200 files 
500
mkdir: can't create directory '/tmp/x': Operation not supported
CapInh:	0000000000000000"
}

@test "exec: our own OOM score is left as it was" {
	start_container '.process.oomScoreAdj = 300'
	local before
	before=$(cat /proc/self/oom_score_adj)
	"$BRIG" --root "$BRIG_ROOT" exec "$id" sleep 5 3>&- &
	local pid=$!
	wait_for 5 grep -qx sleep /proc/[0-9]*/comm
	# shellcheck disable=SC2016
	wait_for 5 sh -c '[ "$(cat /proc/'$pid'/oom_score_adj)" = '"$before"' ]'
	kill "$pid"
	wait "$pid" || true
}

@test "exec: --cap adds no inheritable and no ambient capability" {
	start_container
	run_brig exec --cap CAP_CHOWN --cap SETUID "$id" grep Cap /proc/self/status
	# 0x20000420 is that of the bundle; CHOWN is bit 0, SETUID bit 7
	assert_contains "$output" $'CapInh:\t0000000000000000'
	assert_contains "$output" $'CapAmb:\t0000000000000000'
	assert_contains "$output" $'CapEff:\t00000000200004a1'
	assert_contains "$output" $'CapBnd:\t00000000200004a1'
	run_brig exec --cap CAP_NOTHING "$id" true
	assert_status 255
	assert_contains "$stderr" "unknown capability CAP_NOTHING"
}

@test "exec: user and groups by number only" {
	start_container
	if [ "$EUID" = 0 ]; then
		run_brig exec --user 1000:1001 --additional-gids 5 -g 6 "$id" id
		assert_equal "$output" "uid=1000 gid=1001 groups=5,6"
		run_brig exec --user 1000 "$id" sh -c 'id -u; id -g; grep CapEff /proc/self/status; echo $HOME'
		assert_equal "$output" $'1000\n0\nCapEff:\t0000000000000000\n/'
	fi
	local user
	for user in root 1000x -1 4294967295 0x10 "" 1: 1:2:3; do
		run_brig exec --user "$user" "$id" id
		if [ -n "$user" ]; then
			assert_status 255
			assert_contains "$stderr" "not a numeric id"
		else
			assert_status 255
		fi
	done
}

@test "exec: environment is the container's and what is added, the last of a name wins" {
	start_container
	FOREIGN=1 run_brig exec --env A=1 -e PATH=/bin -e A=2 -e FOREIGN "$id" env
	assert_equal "$(sort <<<"$output")" $'A=2\nHOME=/root\nPATH=/bin\nTERM=dumb'
}

@test "exec: the working directory lies in the container, and must be there" {
	start_container
	run_brig exec --cwd /tmp "$id" pwd
	assert_equal "$output" /tmp
	run_brig exec --cwd /missing "$id" pwd
	assert_status 255
	assert_contains "$stderr" "No such file or directory"
	inside ls -d /missing
	assert_status 1
	ln -s /proc/self/fd/7 "$T/bundle/rootfs/link"
	local cwd
	for cwd in /proc/self/fd/3 /proc/self/fd/7 /proc/1/cwd/../../.. /link; do
		run_brig exec --cwd "$cwd" "$id" ls 7<"$T"
		[[ $output != *bundle* ]] || fail "$cwd shows the host"
		assert_status 255
	done
	run_brig exec --cwd relative "$id" pwd
	assert_status 255
}

@test "exec: no descriptor but 0, 1, 2 and the preserved ones" {
	start_container
	exec 7</etc/hosts
	inside sh -c 'ls /proc/self/fd | wc -l'
	assert_equal "$output" 4
	run_apart bash -c 'exec 3<<<three 4<<<four; exec "$@"' - \
		"$BRIG" --root "$BRIG_ROOT" exec --preserve-fds 2 "$id" sh -c 'cat <&3 <&4; ls /proc/self/fd | wc -l'
	assert_equal "$output" $'four\n6'
	exec 7<&-
	run_brig exec --preserve-fds 20 "$id" true
	assert_status 255
}

@test "exec: a terminal of the container's own devpts" {
	start_container
	run_brig exec -t "$id" sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && echo all; exit 5' </dev/null
	assert_status 5
	assert_equal "$(tr -d '\r' <<<"$output")" $'/dev/pts/0\nall'
	# Ours is not taken: it has a session of its own.
	inside sh -c 'exec </dev/tty' 2>&1
	[ "$status" != 0 ]
}

@test "exec: the terminal goes to a console socket" {
	need_command python3
	start_container
	"$TESTS_LIB/recv-fd" "$T/sock" 'echo $((6 * 7)); exit' >"$T/got" 3>&- &
	wait_for 5 test -S "$T/sock"
	run_detached exec -t -d --console-socket "$T/sock" --pid-file "$T/pid" "$id" sh
	assert_status 0
	wait %1 || true
	assert_contains "$(<"$T/got")" "/dev/ptmx"
	grep -q 42 "$T/got" || fail "$(<"$T/got")"
	run_brig exec -t -d "$id" sh
	assert_status 255
	assert_contains "$stderr" "without setting console socket"
	run_brig exec --console-socket "$T/sock" "$id" sh
	assert_status 255
	assert_contains "$stderr" "cannot use console socket"
}

@test "exec: a pidfd goes to a socket" {
	need_command python3
	start_container
	"$TESTS_LIB/recv-fd" "$T/sock" >"$T/got" 3>&- &
	wait_for 5 test -S "$T/sock"
	run_detached exec -d --pidfd-socket "$T/sock" "$id" sleep 100
	assert_status 0
	wait %1
	assert_contains "$(<"$T/got")" "pidfd"
}

@test "exec: --detach writes the pid file when the program runs, and only then" {
	start_container
	run_detached exec -d --pid-file "$T/pid" "$id" sleep 98
	assert_status 0
	assert_equal "$(wc -l <"$T/pid")" 0
	assert_equal "$(tr '\0' ' ' <"/proc/$(<"$T/pid")/cmdline")" "sleep 98 "
	run_brig exec -d --pid-file "$T/none" "$id" absent
	assert_status 255
	[ ! -e "$T/none" ]
	run_detached exec -d --pid-file "$T/no/dir" "$id" sleep 97
	assert_status 255
	inside sh -c 'ps | grep "[s]leep 97"'
	assert_status 1
}

@test "exec: a process file; what it does not mention is the container's" {
	start_container
	jq -n '{args: ["sh", "-c", "pwd; echo $X; grep -E \"NoNew|CapEff\" /proc/self/status"], cwd: "/tmp",
		env: ["X=y", "PATH=/bin"], user: {uid: 0, gid: 0}}' >"$T/process"
	run_brig exec --process "$T/process" "$id"
	assert_equal "$output" $'/tmp\ny\nCapEff:\t0000000020000420\nNoNewPrivs:\t1'
	jq '.capabilities = {bounding: ["CAP_KILL"], effective: [], permitted: []} | .noNewPrivileges = false' \
		"$T/process" >"$T/process2"
	run_brig exec -p "$T/process2" "$id"
	# uid 0 gets what is in the bounding set by its exec
	assert_equal "$output" $'/tmp\ny\nCapEff:\t0000000000000020\nNoNewPrivs:\t0'
	jq '.terminal = true | .args = ["tty"]' "$T/process" >"$T/process3"
	run_brig exec -p "$T/process3" "$id" </dev/null
	assert_equal "${output%$'\r'}" /dev/pts/0
	echo '{"args": ["true"]}' >"$T/process4"
	run_brig exec -p "$T/process4" "$id"
	assert_status 255
	assert_contains "$stderr" cwd
}

@test "exec: a stopped container, one that does not exist" {
	start_container
	run_brig kill "$id" KILL
	wait_for 5 sh -c "! kill -0 $(<"$T/init") 2>/dev/null || grep -q '^State:.Z' /proc/$(<"$T/init")/status"
	inside true
	assert_status 255
	assert_contains "$stderr" "container not running"
	run_brig exec absent true
	assert_status 255
	assert_contains "$stderr" "container does not exist"
	run_brig exec ../x true
	assert_contains "$stderr" "invalid container ID format"
}

@test "exec: the program is in the cgroup of the container from its first moment" {
	need_root
	start_container
	run_detached exec -d --pid-file "$T/pid" "$id" sleep 96
	assert_equal "$(cgroup_of "$(<"$T/pid")")" "$(cgroup_of "$(<"$T/init")")"
	[ "$(cgroup_of "$(<"$T/pid")")" != "$(cgroup_of self)" ]
}

@test "exec: --cgroup is below the container's and never above" {
	need_root
	start_container
	local top sub
	top=$(cgroup_of "$(<"$T/init")")
	if cgroup2_only; then
		sub=/sys/fs/cgroup$top/sub
		mkdir "$sub"
		run_detached exec -d --cgroup sub --pid-file "$T/pid" "$id" sleep 95
	else
		sub=/sys/fs/cgroup/pids$top/sub
		mkdir "$sub"
		run_detached exec -d --cgroup pids:sub --pid-file "$T/pid" "$id" sleep 95
	fi
	assert_status 0
	assert_equal "$(cgroup_of "$(<"$T/pid")")" "$top/sub"
	for sub in absent ../x / ; do
		run_brig exec --cgroup "$sub" "$id" true
		[ "$sub" = / ] || assert_status 255
		[ "$sub" != ../x ] || assert_contains "$stderr" "../x is not a sub cgroup path"
	done
	run_brig exec --cgroup a:b:c "$id" true
	assert_status 255
	assert_contains "$stderr" "invalid --cgroup argument"
}

@test "exec: paused containers are refused, unless asked for" {
	need_root
	start_container
	run_brig pause "$id"
	inside true
	assert_status 255
	assert_contains "$stderr" "cannot exec in a paused container (use --ignore-paused to override)"
	"$BRIG" --root "$BRIG_ROOT" exec --ignore-paused "$id" sh -c 'echo late' >"$T/late" 3>&- &
	sleep 0.3
	[ ! -s "$T/late" ]
	run_brig resume "$id"
	wait %1
	assert_equal "$(<"$T/late")" late
}

@test "exec: a signal to us goes on to the program" {
	start_container
	"$BRIG" --root "$BRIG_ROOT" exec "$id" sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done' \
		>"$T/out" 3>&- &
	local pid=$!
	wait_for 5 grep -q ready "$T/out"
	kill -TERM "$pid"
	local code=0
	wait "$pid" || code=$?
	assert_equal "$code" 9
}

@test "exec: a session keyring of its own" {
	need_command python3
	make_python_bundle "$T/bundle" sleep 1000
	start_container
	local get='import ctypes; print(ctypes.CDLL(None).syscall(250, 0, -3, 0))' first
	inside python3 -c "$get"
	assert_status 0
	first=$output
	inside python3 -c "$get"
	[ "$output" != "$first" ] || fail "twice the keyring $first"
	[ "$(python3 -c "$get")" != "$first" ]
}

@test "exec: CPU affinity" {
	need_root
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	start_container '.process.execCPUAffinity = {"initial": "0-1", "final": "1"}'
	inside grep Cpus_allowed_list /proc/self/status
	assert_equal "$output" $'Cpus_allowed_list:\t1'
}

@test "exec: many at the same time" {
	start_container
	local i
	for i in $(seq 20); do
		"$BRIG" --root "$BRIG_ROOT" exec "$id" echo "$i" >"$T/many.$i" 3>&- &
	done
	wait
	assert_equal "$(cat "$T"/many.* | sort -n | tr '\n' ' ')" "$(seq 20 | tr '\n' ' ')"
}

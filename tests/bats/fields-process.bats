#!/usr/bin/env bats
# places: cgroup2 rootless
# Fields of `process`, as the program sees them; and linux.personality and linux.memoryPolicy.

load ../lib/common

# look FILTER ARG...: runs ARG... in a bundle changed by FILTER, sets $output.
look() {
	local filter=$1
	shift
	rm -rf "$T/bundle"
	make_bundle "$T/bundle" "$@"
	edit_config "$T/bundle" "$filter"
	run_brig run -b "$T/bundle" "$(new_id)"
}

# The fields of /proc/self/stat behind the name: field 3 is the first.
STAT='set -- $(sed "s/.*) //" /proc/self/stat); shift 16; echo nice $1; shift 22; echo policy $1'

@test "scheduler: SCHED_BATCH and a nice value" {
	look '.process.scheduler = {policy: "SCHED_BATCH", nice: 5}' sh -c "$STAT"
	assert_status 0
	assert_equal "$output" $'nice 5\npolicy 3'
	look '.process.scheduler = {policy: "SCHED_IDLE"}' sh -c "$STAT"
	assert_contains "$output" "policy 5"
}

@test "scheduler: a real-time policy, and one that is not allowed" {
	if [ "$EUID" = 0 ]; then
		look '.process.scheduler = {policy: "SCHED_FIFO", priority: 10, flags: ["SCHED_FLAG_RESET_ON_FORK"]}' \
			cat /proc/self/stat
		if [ "$status" != 0 ]; then
			assert_contains "$stderr" "process.scheduler"
			skip "no real-time scheduling here"
		fi
		assert_equal "$(cut -d' ' -f38,39 <<<"${output##*) }")" "10 1"
	else
		look '.process.scheduler = {policy: "SCHED_FIFO", priority: 10}' true
		[ "$status" -ne 0 ]
		assert_contains "$stderr" "scheduler"
	fi
}

@test "ioPriority" {
	look '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 6}' ionice
	assert_status 0
	assert_contains "$output" "best-effort: prio 6"
	look '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE"}' ionice
	assert_contains "$output" "idle"
}

@test "personality" {
	[ "$(uname -m)" = x86_64 ] || skip "is about x86_64"
	look '.linux.personality = {domain: "LINUX32"}' uname -m
	assert_status 0
	assert_equal "$output" i686
	look '.linux.personality = {domain: "LINUX"}' uname -m
	assert_equal "$output" x86_64
}

@test "memoryPolicy" {
	[ -e /proc/self/numa_maps ] || skip "no NUMA in this kernel"
	look '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES"]}' \
		sh -c 'head -n 1 /proc/self/numa_maps'
	assert_status 0
	assert_contains "$output" "bind=static:0"
	look '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "4095"}' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "memoryPolicy"
}

@test "oomScoreAdj, umask, rlimits" {
	look '.process.oomScoreAdj = 123 | .process.user.umask = 63 |
		.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 50, hard: 60}, {type: "RLIMIT_CORE", soft: 0, hard: 0}]' \
		sh -c 'cat /proc/self/oom_score_adj; umask; ulimit -n; ulimit -Hn; ulimit -c'
	assert_status 0
	assert_equal "$output" $'123\n0077\n50\n60\n0'
}

@test "additionalGids, cwd that does not exist yet, no-new-privileges" {
	need_root
	look '.process.user.additionalGids = [5, 7] | .process.cwd = "/not/yet" | .process.user.gid = 3' \
		sh -c 'id -G; pwd; grep NoNewPrivs /proc/self/status'
	assert_status 0
	assert_equal "$output" $'3 5 7\n/not/yet\nNoNewPrivs:\t1'
}

@test "capabilities: each of the five sets" {
	need_root
	look '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_FOWNER"], permitted: ["CAP_CHOWN", "CAP_KILL"],
		effective: ["CAP_CHOWN"], inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]} | .process.user.uid = 1000' \
		sh -c 'grep ^Cap /proc/self/status'
	assert_status 0
	# ambient: kept over the exec by a user who is not root; the rest is lost by it
	assert_equal "$(tr -d '\t' <<<"$output" | tr '\n' ' ')" \
		"CapInh:0000000000000020 CapPrm:0000000000000020 CapEff:0000000000000020 CapBnd:0000000000000029 CapAmb:0000000000000020 "
}

@test "consoleSize" {
	make_bundle "$T/bundle" busybox stty size
	edit_config "$T/bundle" '.process.terminal = true | .process.consoleSize = {height: 33, width: 77}'
	mkfifo "$T/keyboard" # opened in both directions, it has no end
	run script -qec "'$BRIG' --root '$BRIG_ROOT' run -b '$T/bundle' $(new_id)" /dev/null <>"$T/keyboard"
	assert_contains "$output" "33 77"
}

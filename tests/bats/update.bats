#!/usr/bin/env bats
# places: root vm
# New limits for a live container, read back from the kernel.
load ../lib/common
load ../lib/live

setup() {
	brig_setup
	need_controller pids
	need_controller memory
}

teardown() {
	end_containers
	brig_teardown
}

# limit V2-FILE CONTROLLER V1-FILE: of the container's cgroup.
limit() {
	cgroup_file "$(<"$T/init")" "$@"
}

memory() { limit memory.max memory memory.limit_in_bytes; }
pids() { limit pids.max pids pids.max; }
quota() {
	if cgroup2_only; then
		limit cpu.max cpu cpu.max
	else
		echo "$(limit x cpu cpu.cfs_quota_us) $(limit x cpu cpu.cfs_period_us)"
	fi
}

weight() { limit cpu.weight cpu cpu.shares; }

update() {
	run_brig update "$@" "$id"
	assert_status 0
}

@test "update: by options" {
	start_container '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}'
	assert_equal "$(memory) $(pids)" "67108864 20"
	update --memory 128m --pids-limit 30
	assert_equal "$(memory) $(pids)" "134217728 30"
	update --memory 33554432
	assert_equal "$(memory) $(pids)" "33554432 30"
	update --pids-limit -1
	assert_equal "$(pids)" max
}

@test "update: by a file and by standard input" {
	start_container
	echo '{"memory": {"limit": 67108864}, "pids": {"limit": 11}}' >"$T/new"
	update -r "$T/new"
	assert_equal "$(memory) $(pids)" "67108864 11"
	run_apart "$BRIG" --root "$BRIG_ROOT" update --resources=- "$id" <<<'{"pids": {"limit": 12}}'
	assert_status 0
	run_apart "$BRIG" --root "$BRIG_ROOT" update --resources - "$id" <<<'{"pids": {"limit": -2}}'
	assert_status 1
	assert_equal "$(memory) $(pids)" "67108864 12"
}

@test "update: what depends on each other starts from what is there" {
	need_controller cpu
	start_container '.linux.resources.cpu = {quota: 50000, period: 200000}'
	assert_equal "$(quota)" "50000 200000"
	update --cpu-quota 20000
	assert_equal "$(quota)" "20000 200000"
	update --cpu-period 100000
	assert_equal "$(quota)" "20000 100000"
	echo '{"cpu": {"quota": 0, "period": 0, "shares": 512}}' >"$T/new"
	update -r "$T/new"
	assert_equal "$(quota)" "20000 100000"
}

@test "update: takes effect on the processes" {
	start_container '.linux.resources.pids.limit = 50'
	update --pids-limit 3
	inside sh -c 'sleep 5 & sleep 5 & sleep 5 & wait'
	[ "$status" != 0 ]
	assert_contains "$stderr" "fork"
}

@test "update: wrong values change nothing" {
	start_container '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}'
	local option
	for option in --memory=1x --memory=-5 --pids-limit=x --cpu-period=-1 --cpu-quota=5 --blkio-weight=70000 \
		--memory=99999999999999999999 --l3-cache-schema=L3:0=f; do
		run_brig update "$option" "$id"
		assert_status 1
		[ -n "$stderr" ] || fail "$option: no message"
	done
	assert_equal "$(memory) $(pids)" "67108864 20"
	run_brig update --pids-limit 3 absent
	assert_status 1
	assert_contains "$stderr" "container does not exist"
}

@test "update: what the kernel refuses changes nothing else, either" {
	need_controller cpu
	start_container '.linux.resources = {memory: {limit: 67108864}, cpu: {quota: 50000, period: 100000, shares: 512}}'
	local before
	before="$(memory) $(pids) $(quota) $(weight)"
	# A burst above the quota; it is written after what comes before it here.
	run_brig update --memory 128m --pids-limit 30 --cpu-share 2048 --cpu-quota 20000 --cpu-burst 90000000 "$id"
	assert_status 1
	assert_contains "$stderr" "linux.resources.cpu.burst"
	assert_equal "$(memory) $(pids) $(quota) $(weight)" "$before"
	run_brig update --cpu-idle 1 --cpu-burst 90000000 "$id"
	assert_status 1
	assert_equal "$(memory) $(pids) $(quota) $(weight)" "$before"
	update --pids-limit 31
	assert_equal "$(memory) $(pids)" "67108864 31"
}

@test "update: idle and back; meanwhile other limits change, and the weight is remembered" {
	need_controller cpu
	start_container '.linux.resources.cpu.shares = 512'
	local before
	before=$(weight)
	update --cpu-idle 1
	assert_equal "$(limit cpu.idle cpu cpu.idle)" 1
	update --cpu-quota 20000
	assert_equal "$(quota)" "20000 100000"
	update --cpu-idle 0
	assert_equal "$(limit cpu.idle cpu cpu.idle) $(weight)" "0 $before"
	run_brig update --cpu-idle 2 "$id"
	assert_status 1
}

@test "update: a schema without resctrl is an error that says so, and nothing else changes" {
	! grep -q " - resctrl " /proc/self/mountinfo || skip "resctrl is mounted here"
	start_container '.linux.resources.pids.limit = 20'
	run_brig update --mem-bw-schema MB:0=20 --pids-limit 30 "$id"
	assert_status 1
	assert_contains "$stderr" "linux.intelRdt: resctrl is not mounted"
	assert_equal "$(pids)" 20
}

@test "update: the device policy stays" {
	need_root
	start_container '.process.capabilities |= map_values(. + ["CAP_MKNOD"])'
	update --pids-limit 30
	inside sh -c 'mknod /tmp/mem c 1 1 2>/dev/null; cat /tmp/mem >/dev/null 2>&1 || echo denied; cat /dev/null && echo ok'
	assert_equal "$output" $'denied\nok'
	echo '{"devices": [{"allow": true, "access": "rwm"}], "pids": {"limit": 31}}' >"$T/new"
	update -r "$T/new"
	inside sh -c 'cat /tmp/mem >/dev/null 2>&1 || echo denied'
	assert_equal "$output" denied
	assert_equal "$(pids)" 31
}

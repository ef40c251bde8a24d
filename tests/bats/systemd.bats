#!/usr/bin/env bats
# places: vm-systemd
# The systemd driver under a booted system manager: the limits are properties of the scope, and
# the payload feels them; they outlive a reload, change by update, and go with the container.
# Few starts, for every process costs 20 ms here.

load ../lib/common
load ../lib/live

setup() {
	brig_setup
	id=$(new_id)
	SLICE=brigtest.slice
	UNIT=run-$id.scope
}

teardown() {
	end_containers
	[ -z "${SCOPE:-}" ] || systemctl stop "$SLICE"
	[ -z "${LOOP:-}" ] || losetup -d "$LOOP"
	brig_teardown
}

sys() { "$BRIG" --root "$BRIG_ROOT" --systemd-cgroup "$@"; }

# start FILTER: a sleeping container in the scope, of $T/bundle.
start() {
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" ".linux.cgroupsPath = \"$SLICE:run:$id\" | $1"
	sys run -d --pid-file "$T/init" -b "$T/bundle" "$id" </dev/null >"$T/run.log" 2>&1 3>&- ||
		fail "$(<"$T/run.log")"
	LEAF=/sys/fs/cgroup$(cgroup_of "$(<"$T/init")")
	SCOPE=${LEAF%/*}
}

# assert_properties NAME=VALUE...: of the scope, by the manager's word; one call, for each is slow.
assert_properties() {
	local want have names=("${@%%=*}")
	want=$(printf '%s\n' "$@" | sort)
	have=$(systemctl show "$UNIT" "${names[@]/#/--property=}" | sort)
	assert_equal "$have" "$want"
}

property() { systemctl show --property "$1" --value "$UNIT"; }

# files NAME...: the same values in the scope and in its leaf, one a line.
files() {
	local name
	for name; do
		[ "$(<"$SCOPE/$name")" = "$(<"$LEAF/$name")" ] || echo "differ: $name"
		cat "$SCOPE/$name"
	done
}

LIMITS='.linux.resources = {
	memory: {limit: 67108864, reservation: 33554432, swap: 100663296},
	cpu: {shares: 512, quota: 25000, period: 50000},
	pids: {limit: 20},
	unified: {"memory.high": "60M", "memory.min": "1048576"}}'

@test "systemd: limits are the scope's, in its slice, before the first instruction" {
	start "$LIMITS | .annotations = {\"org.systemd.property.TimeoutStopSec\": \"1.5\",
		\"org.systemd.property.SendSIGHUP\": \"true\", \"org.systemd.property.Before\": \"['brig-a.target', 'brig-b.target']\"}"
	[[ $SCOPE == */brigtest.slice/$UNIT ]] || fail "$SCOPE"
	assert_properties MemoryMax=67108864 MemoryLow=33554432 MemoryHigh=62914560 MemoryMin=1048576 \
		MemorySwapMax=33554432 CPUQuotaPerSecUSec=500ms CPUQuotaPeriodUSec=50ms TasksMax=20 \
		Slice="$SLICE" Delegate=yes TimeoutStopUSec=1.500000s SendSIGHUP=yes "CPUWeight=$(<"$LEAF/cpu.weight")"
	assert_contains "$(property Before)" brig-b.target
	assert_equal "$(files memory.max memory.low memory.high memory.min memory.swap.max cpu.max pids.max)" \
		$'67108864\n33554432\n62914560\n1048576\n33554432\n25000 50000\n20'
	[ "$(files cpu.weight)" != 100 ]
	# systemd writes all its own files again.
	systemctl daemon-reload
	assert_equal "$(files memory.max cpu.max pids.max)" $'67108864\n25000 50000\n20'
	run_brig exec "$id" sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 100 >/dev/null 2>&1 & done'
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "can't fork"
}

@test "systemd: update goes through the manager, and needs neither flag nor environment" {
	start "$LIMITS"
	run env -i "$BRIG" --root "$BRIG_ROOT" update --memory 128m --memory-swap 192m --pids-limit 30 --cpu-share 2048 \
		--cpu-quota -1 "$id"
	assert_equal "$output" ""
	assert_status 0
	assert_properties MemoryMax=134217728 MemorySwapMax=67108864 TasksMax=30 CPUQuotaPerSecUSec=infinity \
		"CPUWeight=$(<"$LEAF/cpu.weight")"
	assert_equal "$(files memory.max memory.swap.max pids.max cpu.max)" $'134217728\n67108864\n30\ndiffer: cpu.max\nmax 100000'
	echo '{"cpu": {"idle": 1}, "pids": {"limit": 0}, "unified": {"memory.high": "max"}}' >"$T/new"
	run_brig update -r "$T/new" "$id"
	assert_status 0
	assert_properties CPUWeight=idle MemoryHigh=infinity TasksMax=1
	assert_equal "$(cat "$SCOPE/cpu.idle" "$LEAF/cpu.idle" "$LEAF/pids.max")" $'1\n1\n0'
	# The kernel refuses a burst above the quota: the scope, too, has its old limits again.
	run_brig update --memory 64m --pids-limit 40 --cpu-quota 10000 --cpu-burst 90000000 "$id"
	assert_status 1
	assert_properties MemoryMax=134217728 CPUWeight=idle CPUQuotaPerSecUSec=infinity
	assert_equal "$(files memory.max)" 134217728
	run_brig update --cpu-idle 0 "$id"
	assert_status 0
	assert_properties "CPUWeight=$(<"$LEAF/cpu.weight")"
	assert_equal "$(cat "$SCOPE/cpu.idle" "$LEAF/cpu.idle")" $'0\n0'
	run_brig update --memory 1m --pids-limit 5 absent
	assert_status 1
}

@test "systemd: devices" {
	start '.process.capabilities |= map_values(. + ["CAP_MKNOD"]) | .linux.resources.devices = [
		{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, minor: 11, access: "r"}]'
	assert_equal "$(property DevicePolicy)" strict
	assert_contains "$(property DeviceAllow)" "/dev/char/1:11 r"
	assert_contains "$(property DeviceAllow)" "char-pts rwm"
	run_brig exec "$id" sh -c 'cd /tmp; mknod mem c 1 1; mknod kmsg c 1 11
		for f in /dev/null mem kmsg; do dd if=$f of=/dev/null count=0 2>/dev/null && echo "$f"; done
		echo >kmsg || echo no writing'
	assert_equal "$output" $'/dev/null\nkmsg\nno writing'
	echo '{"devices": [{"allow": true, "access": "rwm"}]}' >"$T/new"
	run_brig update -r "$T/new" "$id"
	assert_status 0
	# What systemd cannot say is in our own filter alone.
	sys delete -f "$id"
	start '.linux.resources.devices = [{allow: true, type: "c", major: 1, access: "rwm"}, {allow: false, type: "c", major: 1, minor: 1}]'
	assert_equal "$(property DevicePolicy)" auto
	run_brig exec "$id" sh -c 'cd /tmp; mknod kmsg c 1 11; dd if=kmsg of=/dev/null count=0 2>/dev/null'
	assert_status 0
}

@test "systemd: io limits" {
	[ -e /dev/loop-control ] || busybox insmod "$(find /usr/lib/uml -name loop.ko)" || skip "no loop devices here"
	truncate -s 1M "$T/disk"
	LOOP=$(losetup -f --show "$T/disk")
	local device
	device=$(printf '%d:%d' "$(stat -c 0x%t "$LOOP")" "$(stat -c 0x%T "$LOOP")")
	start ".linux.resources.blockIO = {
		throttleReadBpsDevice: [{major: ${device%:*}, minor: ${device#*:}, rate: 1048576}],
		throttleWriteIOPSDevice: [{major: ${device%:*}, minor: ${device#*:}, rate: 20}]}"
	assert_contains "$(property IOReadBandwidthMax)" "$device 1048576"
	assert_contains "$(property IOWriteIOPSMax)" "$device 20"
	assert_equal "$(files io.max)" "$device rbps=1048576 wbps=max riops=max wiops=20"
	echo "{\"blockIO\": {\"throttleReadBpsDevice\": [{\"major\": ${device%:*}, \"minor\": ${device#*:}, \"rate\": 2097152}]}}" >"$T/new"
	run_brig update -r "$T/new" "$id"
	assert_status 0
	assert_contains "$(property IOReadBandwidthMax)" "$device 2097152"
	assert_equal "$(files io.max)" "$device rbps=2097152 wbps=max riops=max wiops=20"
}

@test "systemd: the name is free when delete returns; a taken one and bad properties are errors" {
	local i
	for i in 1 2 3; do
		start .
		[ "$i" != 3 ] || break
		run_brig delete -f "$id"
		assert_status 0
		[ ! -e "$SCOPE" ] || fail "$SCOPE is still there"
	done
	run sys run -d -b "$T/bundle" "$id-2"
	[ "$status" -ne 0 ]
	assert_contains "$output" "does not make the scope $UNIT"
	edit_config "$T/bundle" '.annotations = {"org.systemd.property.NoSuchThing": "true"}'
	sys delete -f "$id"
	run sys run -b "$T/bundle" "$id"
	[ "$status" -ne 0 ]
	assert_contains "$output" "NoSuchThing"
	run sys run -b "$T/bundle" "$id" # nothing stays that would be in its way
	assert_contains "$output" "NoSuchThing"
	[ -z "$(property ControlGroup)" ]
}

@test "systemd: exec, pause, kill and out of memory in a scope" {
	start '.linux.resources.memory = {limit: 6291456, swap: 6291456}'
	run_brig exec "$id" cat /proc/self/cgroup
	assert_equal "$output" 0::/
	run_brig pause "$id"
	assert_status 0
	grep -q '^frozen 1' "$LEAF/cgroup.events"
	run_brig resume "$id"
	run_brig exec "$id" dd if=/dev/zero of=/dev/null bs=64M count=1
	assert_status 137
	grep -q '^oom_kill [1-9]' "$LEAF/memory.events"
	run_brig kill "$id" KILL
	wait_for 5 test ! -d "$SCOPE"
}

# A manager of the account's own, as pam_systemd would have started it at a login.
start_user_manager() {
	local runtime
	runtime=/run/user/$(id -u brigtest2)
	install -d -o brigtest2 -m 700 "$runtime"
	cat >/run/systemd/system/brig-user.service <<-END
		[Unit]
		DefaultDependencies=no
		[Service]
		Type=notify
		User=brigtest2
		Delegate=yes
		Environment=XDG_RUNTIME_DIR=$runtime SYSTEMD_UNIT_PATH=$runtime/systemd/transient:$runtime/systemd/user:/usr/lib/systemd/user
		ExecStart=/lib/systemd/systemd --user --unit=basic.target
		StandardError=null
	END
	systemctl daemon-reload
	systemctl start brig-user.service
}

@test "systemd: without root, in a scope of the user's manager" {
	as_user brigtest2 test -x "$BRIG" || skip "the account cannot read $TREE"
	chmod 777 "$T"
	start_user_manager
	mkdir -p "$T/b" && cp -a "$(busybox_rootfs)" "$T/b/rootfs" && chown -R brigtest2 "$T/b"
	as_user brigtest2 bash -c 'source "$0/bundles.bash"; TESTS_LIB=$0; write_config "$1" rootfs sleep 1000
		edit_config "$1" ".linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}"' "$TESTS_LIB" "$T/b"
	as_user brigtest2 "$BRIG" --root "$T/ustate" --systemd-cgroup run -d --pid-file "$T/upid" -b "$T/b" "$id" \
		</dev/null >"$T/log" 2>&1 || fail "$(<"$T/log")"
	LEAF=/sys/fs/cgroup$(cgroup_of "$(<"$T/upid")") SCOPE=
	[[ $LEAF == */brig-user.service/user.slice/brig-$id.scope/container ]] || fail "$LEAF"
	assert_equal "$(cat "$LEAF/memory.max" "${LEAF%/*}/memory.max" "${LEAF%/*}/pids.max")" $'67108864\n67108864\n20'
	# In a user namespace of its own, as podman calls it.
	as_user brigtest2 unshare -r "$BRIG" --root "$T/ustate" update --memory 32m "$id"
	assert_equal "$(cat "$LEAF/memory.max" "${LEAF%/*}/memory.max")" $'33554432\n33554432'
	as_user brigtest2 "$BRIG" --root "$T/ustate" delete -f "$id"
	[ ! -e "$LEAF" ]
	systemctl stop brig-user.service
}

@test "systemd: run.oci.systemd.subgroup names the cgroup below the scope, or says that there is none" {
	start '.annotations = {"run.oci.systemd.subgroup": "mine"} | .linux.resources.pids.limit = 44'
	assert_equal "${LEAF##*/}" mine
	assert_equal "$(files pids.max)" 44
	sys delete -f "$id"
	start '.annotations = {"run.oci.systemd.subgroup": "", "run.oci.delegate-cgroup": "inner"}'
	[[ $LEAF == */$UNIT/inner ]] || fail "$LEAF"
	inside true
	assert_status 0
	sys delete -f "$id"
	start '.annotations = {"run.oci.systemd.subgroup": ""}'
	[[ $LEAF == */$UNIT ]] || fail "$LEAF"
	SCOPE=$LEAF
	assert_equal "$(<"$LEAF/pids.max")" 44
	inside true
	assert_status 0
	sys update --pids-limit 30 "$id"
	assert_equal "$(property TasksMax) $(<"$LEAF/pids.max")" "30 30"
}

# What it has to do by itself was once asked of a cgroup that the parent was changing.
@test "systemd: a first process that begins late follows the same plan" {
	need_command strace
	sys() {
		strace -D -f -q -o "$T/trace" -e trace=rt_sigaction -e inject=rt_sigaction:delay_enter=10000 \
			"$BRIG" --root "$BRIG_ROOT" --systemd-cgroup "$@"
	}
	start '.annotations = {"run.oci.systemd.subgroup": "", "run.oci.delegate-cgroup": "inner"}'
	[[ $LEAF == */$UNIT/inner ]] || fail "$LEAF"
}

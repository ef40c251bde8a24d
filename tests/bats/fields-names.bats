#!/usr/bin/env bats
# places: cgroup2 rootless
# hostname, domainname, time offsets and kernel parameters.

load ../lib/common

look() {
	local filter=$1
	shift
	rm -rf "$T/bundle"
	make_bundle "$T/bundle" "$@"
	edit_config "$T/bundle" "$filter"
	run_brig run -b "$T/bundle" "$(new_id)"
}

@test "hostname and domainname" {
	look '.hostname = "a-host" | .domainname = "a.domain"' \
		sh -c 'hostname; cat /proc/sys/kernel/domainname'
	assert_status 0
	assert_equal "$output" $'a-host\na.domain'
	[ "$(</proc/sys/kernel/domainname)" != a.domain ]
	look '.domainname = "a.domain" | del(.hostname) | .linux.namespaces |= map(select(.type != "uts"))' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "uts namespace"
}

@test "time offsets" {
	[ -e /proc/self/timens_offsets ] || skip "no time namespaces"
	look '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {boottime: {secs: 1000000}, monotonic: {secs: 2000000, nanosecs: 5}}' \
		sh -c 'cat /proc/self/timens_offsets; cut -d. -f1 /proc/uptime'
	assert_status 0
	assert_equal "$(head -n 2 <<<"$output" | tr -s ' \t' ' ')" $'monotonic 2000000 5\nboottime 1000000 0'
	local up
	up=$(cut -d. -f1 /proc/uptime)
	[ "$(tail -n 1 <<<"$output")" -ge $((up + 999990)) ]
	look '.linux.timeOffsets = {boottime: {secs: 10}}' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "time"
}

@test "time offsets of an exec" {
	[ -e /proc/self/timens_offsets ] || skip "no time namespaces"
	make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {boottime: {secs: 1000000}}'
	"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle" "$(new_id)" >"$T/log" 2>&1 3>&-
	run_brig exec "$(new_id)" cut -d. -f1 /proc/uptime
	[ "$output" -ge 1000000 ]
	run_brig delete --force "$(new_id)"
}

@test "kernel parameters of the container's own namespaces" {
	need_root
	local before
	before=$(</proc/sys/net/ipv4/ip_forward)
	look '.linux.sysctl = {"net/ipv4/ip_forward": "1", "net.ipv4.ip_default_ttl": "77", "kernel.shm_rmid_forced": "1",
		"kernel.msgmax": "9000", "fs.mqueue.msg_max": "20", "kernel.domainname": "by.sysctl"} | del(.domainname)' \
		sh -c 'cd /proc/sys; cat net/ipv4/ip_forward net/ipv4/ip_default_ttl kernel/shm_rmid_forced \
			kernel/msgmax fs/mqueue/msg_max kernel/domainname'
	assert_status 0
	assert_equal "$output" $'1\n77\n1\n9000\n20\nby.sysctl'
	assert_equal "$(</proc/sys/net/ipv4/ip_forward)" "$before"
}

@test "kernel parameters of the host are refused" {
	local key
	for key in kernel.panic vm.swappiness kernel.core_pattern kernel.hostname/../panic kernel/panic fs.file-max; do
		look ".linux.sysctl = {\"$key\": \"1\"}" true
		[ "$status" -ne 0 ] || fail "$key was accepted"
		assert_contains "$stderr" "linux.sysctl"
	done
	look '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | .linux.namespaces |= map(select(.type != "network")) | del(.linux.netDevices)' true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.sysctl"
}

@test "user.* in a user namespace" {
	look 'if any(.linux.namespaces[]; .type == "user") then . else .linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings end |
		.linux.sysctl = {"user.max_pid_namespaces": "0"} | .linux.readonlyPaths = []' cat /proc/sys/user/max_pid_namespaces
	assert_status 0
	assert_equal "$output" 0
}

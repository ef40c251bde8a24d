#!/usr/bin/env bats
# places: cgroup2 rootless
# /dev and linux.devices.

load ../lib/common

look() {
	local filter=$1
	shift
	rm -rf "$T/bundle"
	make_bundle "$T/bundle" "$@"
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	edit_config "$T/bundle" "$filter"
	run_brig run -b "$T/bundle" "$(new_id)"
}

USERNS='.linux.namespaces += [{type: "user"}] |
	.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'

@test "the default devices and links, and that they work" {
	look . sh -c 'for d in null zero full random urandom tty; do stat -c "%n %F %t:%T %a" /dev/$d; done
		for l in fd stdin stdout stderr ptmx; do echo $l $(readlink /dev/$l); done
		echo gone >/dev/null; head -c 3 /dev/zero | od -An -tx1; head -c 1 /dev/urandom | wc -c
		echo x >/dev/full || true'
	assert_status 0
	assert_contains "$output" "/dev/null character special file 1:3 666"
	assert_contains "$output" "/dev/full character special file 1:7 666"
	assert_contains "$output" "/dev/tty character special file 5:0 666"
	assert_contains "$output" "stdin /proc/self/fd/0"
	assert_contains "$output" "ptmx pts/ptmx"
	assert_contains "$output" "00 00 00"
	assert_contains "$stderr" "No space left on device"
}

@test "linux.devices: type, numbers, mode and owner" {
	need_root
	look '.linux.devices = [{path: "/dev/sub/a-full", type: "c", major: 1, minor: 7, fileMode: 416, uid: 5, gid: 6},
			{path: "/dev/a-fifo", type: "p", fileMode: 384},
			{path: "/dev/a-disk", type: "b", major: 7, minor: 250, fileMode: 438}]' \
		sh -c 'stat -c "%n %F %t:%T %a %u %g" /dev/sub/a-full /dev/a-fifo /dev/a-disk; echo x >/dev/sub/a-full'
	assert_contains "$output" "/dev/sub/a-full character special file 1:7 640 5 6"
	assert_contains "$output" "/dev/a-fifo fifo 0:0 600 0 0"
	assert_contains "$output" "/dev/a-disk block special file 7:fa 666 0 0"
}

@test "linux.devices in a user namespace: the host's, bound" {
	if [ "$EUID" = 0 ]; then
		filter=$USERNS
	else
		filter=.
	fi
	look "$filter | .linux.devices = [{path: \"/dev/full\", type: \"c\", major: 1, minor: 7}]" \
		sh -c 'stat -c "%F %t:%T" /dev/full; echo x >/dev/full; grep -c " /dev/full " /proc/self/mountinfo'
	assert_contains "$output" "character special file 1:7"
	assert_contains "$stderr" "No space left on device"
	assert_contains "$output" $'\n1'
	look "$filter | .linux.devices = [{path: \"/dev/none\", type: \"c\", major: 1, minor: 99}]" true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "/dev/none"
}

@test "resources.devices: what is not allowed cannot be opened" {
	need_root
	[ -e /sys/fs/cgroup/devices ] || cgroup2_only || skip "no control over devices here"
	look '.linux.devices = [{path: "/dev/a-kmsg", type: "c", major: 1, minor: 11, fileMode: 438}] |
		.linux.resources.devices = [{allow: false, access: "rwm"}]' \
		sh -c 'head -c 1 /dev/a-kmsg; head -c 1 /dev/zero | wc -c'
	assert_contains "$stderr" "Operation not permitted"
	assert_equal "$output" 1
	look '.linux.devices = [{path: "/dev/a-full", type: "c", major: 1, minor: 7, fileMode: 438}] |
		.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, minor: 7, access: "r"}]' \
		sh -c 'head -c 1 /dev/a-full | wc -c'
	assert_equal "$output" 1
}

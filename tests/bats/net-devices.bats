#!/usr/bin/env bats
# places: cgroup2 rootless
# linux.netDevices: interfaces of the "host", which is a network namespace of the test's own.

load ../lib/common

# devices_bundle DEVICES ARG...
devices_bundle() {
	local devices=$1
	shift
	make_bundle "$T/bundle" "$@"
	edit_config "$T/bundle" ".linux.netDevices = $devices"
}

# on_host COMMANDS...: the container after COMMANDS, and what is left of the host's devices.
on_host() {
	need_root
	unshare -n true 2>/dev/null || skip "no network namespaces"
	cat >"$T/host" <<-END
		set -e
		ip link add d0 type veth peer name p0 2>/dev/null || exit 99
		$1
		code=0
		"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" || code=\$?
		ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/host \1/'
		exit \$code
	END
	run_apart unshare -n bash "$T/host"
	[ "$status" != 99 ] || skip "no veth interfaces here"
}

@test "a device moves, is up, and keeps addresses, MTU and MAC" {
	devices_bundle '{d0: {}}' sh -c 'ip addr show d0; ip link show d0'
	on_host 'ip link set d0 mtu 1400 address 02:00:00:00:00:07 up
		ip addr add 10.7.0.1/24 brd 10.7.0.255 dev d0
		ip addr add fd00:7::1/64 dev d0'
	assert_status 0
	assert_contains "$output" "UP"
	assert_contains "$output" "mtu 1400"
	assert_contains "$output" "02:00:00:00:00:07"
	assert_contains "$output" "inet 10.7.0.1/24 brd 10.7.0.255"
	assert_contains "$output" "inet6 fd00:7::1/64"
	assert_contains "$output" "host lo"
	[[ $output != *"host d0"* ]]
}

@test "an address that is not permanent stays behind" {
	devices_bundle '{d0: {}}' ip addr show d0
	on_host 'ip addr add 10.7.0.2/24 dev d0 valid_lft 1000 preferred_lft 1000'
	assert_status 0
	[[ $output != *"10.7.0."* ]]
}

@test "a device gets another name, or one that the kernel numbers" {
	devices_bundle '{d0: {name: "eth0"}, d1: {name: "net%d"}, d2: {name: "net%d"}}' \
		sh -c 'ls /sys/class/net | sort'
	on_host 'ip link add d1 type veth peer name p1; ip link add d2 type veth peer name p2; ip link set d1 up'
	assert_status 0
	assert_equal "$(grep -v host <<<"$output")" $'eth0\nlo\nnet0\nnet1'
}

@test "kernel parameters of a device with a dot in its name: with slashes, or a slash for the dot" {
	devices_bundle '{d0: {name: "a.b"}}' sh -c 'cd /proc/sys/net/ipv4/conf/a.b; cat rp_filter forwarding'
	edit_config "$T/bundle" '.linux.sysctl = {"net.ipv4.conf.a/b.rp_filter": "2", "net/ipv4/conf/a.b/forwarding": "1"}'
	on_host ''
	assert_status 0
	assert_contains "$output" $'2\n1'
}

@test "a device in a container with a user namespace" {
	devices_bundle '{d0: {}}' ip addr show d0
	edit_config "$T/bundle" '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
		.linux.gidMappings = .linux.uidMappings'
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	on_host 'ip addr add 10.7.0.1/24 dev d0'
	assert_status 0
	assert_contains "$output" "10.7.0.1/24"
}

@test "a device that does not exist, or a name that is taken: nothing has moved" {
	devices_bundle '{d0: {}, absent: {}}' true
	on_host :
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "network device absent: does not exist"
	assert_contains "$output" "host d0"
	devices_bundle '{d0: {name: "lo"}}' true
	on_host :
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "network device d0: the container has a lo already"
	assert_contains "$output" "host d0"
}

@test "a start that fails behind the move: the devices are back, as they were" {
	devices_bundle '{d0: {name: "net%d"}, d1: {}}' /etc/passwd
	on_host 'ip link add d1 type veth
		ip link set d0 mtu 1400 up
		ip addr add 10.7.0.1/24 dev d0
		trap "ip -o addr show d0; ip -o link show d0; ip -o link show d1" EXIT'
	assert_status 126
	assert_contains "$output" "inet 10.7.0.1/24"
	assert_contains "$output" "mtu 1400"
	[ -n "$(grep -E '^[0-9]+: d0[^<]*<[^>]*\bUP\b' <<<"$output")" ]
	assert_contains "$output" "host d1"
	[ -z "$(grep -E '^[0-9]+: d1[^<]*<[^>]*\bUP\b' <<<"$output")" ]
}

@test "a move that fails half way: all devices are back, as they were" {
	devices_bundle '{d0: {name: "eth0"}, d1: {name: "eth0"}}' true
	on_host 'ip link add d1 type veth peer name p1
		ip addr add 10.7.0.1/24 dev d0
		ip addr add 10.7.1.1/24 dev d1
		ip link set d1 up
		trap "ip -o addr show; ip -o link show d1" EXIT'
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "network device d1: rename it in the container: File exists"
	assert_contains "$output" "inet 10.7.0.1/24"
	assert_contains "$output" "inet 10.7.1.1/24"
	[ -n "$(grep -E '^[0-9]+: d1[^<]*<[^>]*\bUP\b' <<<"$output")" ]
}

@test "what cannot be a name, and a container without a network of its own, are errors" {
	devices_bundle '{d0: {name: "a/b"}}' true
	on_host :
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.netDevices.d0.name: \"a/b\" is not an interface name"
	edit_config "$T/bundle" '.linux.netDevices = {d0: {}} | del(.linux.namespaces[] | select(.type == "network"))'
	on_host :
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.namespaces has no network namespace"
}

@test "a normal user cannot move devices" {
	need_rootless
	devices_bundle '{d0: {}}' true
	edit_config "$T/bundle" '.linux.namespaces += [{type: "network"}]'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.netDevices: only root can move the host's devices"
}

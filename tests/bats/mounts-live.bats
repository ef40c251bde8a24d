#!/usr/bin/env bats
# places: cgroup2 rootless
# `mounts add` and `mounts remove` on a running container.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

prepare() {
	mkdir "$T/src"
	echo from-host >"$T/src/file"
	start_container "${1:-}"
}

userns='.linux.namespaces += [{type: "user"}] |
	.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'

mounts() { run_brig mounts "$@"; }

@test "a directory of the host comes and goes" {
	need_root
	prepare
	mounts add -o ro,nosuid "$id" "$T/src" /new/place
	assert_status 0
	inside sh -c 'cat /new/place/file; touch /new/place/x || true; grep " /new/place " /proc/self/mountinfo'
	assert_contains "$output" "from-host"
	assert_contains "$stderr" "Read-only file system"
	assert_contains "$output" "nosuid"
	mounts remove "$id" /new/place
	assert_status 0
	inside ls /new/place
	assert_equal "$output" ""
	mounts remove "$id" /new/place
	assert_status 1
	assert_contains "$stderr" "unmount /new/place (nothing is mounted there)"
}

@test "a container with a user namespace" {
	need_root
	chmod 755 "$T"
	make_bundle "$T/bundle" sleep 1000
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	chown -R 100000:100000 "$T/bundle/rootfs"
	prepare "$userns"
	mounts add "$id" "$T/src" /mnt
	assert_status 0
	inside cat /mnt/file
	assert_equal "$output" from-host
	mounts remove "$id" /mnt
	assert_status 0
	inside cat /mnt/file
	[ "$status" -ne 0 ]
}

@test "a file, and a new file system" {
	prepare
	mounts add --type tmpfs -o size=64k,mode=700 "$id" tmpfs /scratch
	assert_status 0
	inside sh -c 'stat -f -c %T /scratch; stat -c %a /scratch'
	assert_equal "$output" $'tmpfs\n700'
	mounts remove "$id" /scratch
	assert_status 0
	inside stat -f -c %T /scratch
	[ "$output" != tmpfs ]
	mounts add "$id" "$T/src/file" /etc/a-file
	assert_status 0
	inside cat /etc/a-file
	assert_equal "$output" from-host
	mounts remove "$id" /etc/a-file
	assert_status 0
}

@test "a list in a file, and a link in the container that points outside" {
	need_root
	prepare
	mkdir "$T/bundle/rootfs/target"
	ln -s /../../../target "$T/bundle/rootfs/evil"
	jq -n --arg src "$T/src" '{mounts: [
		{destination: "/evil/in", source: $src, type: "bind", options: ["bind"]},
		{destination: "/tmp/t", source: "tmpfs", type: "tmpfs"}]}' >"$T/mounts.json"
	mounts add "$id" "$T/mounts.json"
	assert_status 0
	inside sh -c 'cat /target/in/file; stat -f -c %T /tmp/t'
	assert_equal "$output" $'from-host\ntmpfs'
	[ ! -e /target ]
	mounts remove --config "$T/mounts.json" "$id"
	assert_status 0
	inside sh -c 'cut -d" " -f5 /proc/self/mountinfo | grep -e /tmp/ -e /target/'
	assert_equal "$output" ""
}

@test "new mounts are in the saved configuration, removed ones are not" {
	prepare
	mounts add "$id" "$T/src" /new/place
	assert_status 0
	mounts add --type tmpfs "$id" tmpfs /scratch
	saved() { jq -c '[.config.mounts[].destination | select(. == "/new/place" or . == "/scratch")]' "$BRIG_ROOT/.files/$id/state.json"; }
	assert_equal "$(saved)" '["/new/place","/scratch"]'
	mounts remove "$id" /new/place
	assert_equal "$(saved)" '["/scratch"]'
	mounts add "$id" "$T/absent" /mnt
	assert_status 1
	assert_equal "$(saved)" '["/scratch"]'
}

@test "a directory with mounts below it, read-only as a whole" {
	prepare
	mounts add -o rbind,rro "$id" /sys /host-sys
	assert_status 0
	inside sh -c 'ls /host-sys/kernel >/dev/null && ! touch /host-sys/x 2>/dev/null && echo good'
	assert_equal "$output" good
}

@test "the host's mounts do not change, and no process stays" {
	need_root
	prepare
	before=$(wc -l </proc/self/mountinfo)
	mounts add "$id" "$T/src" /mnt
	assert_status 0
	assert_equal "$(wc -l </proc/self/mountinfo)" "$before"
	assert_equal "$("$BRIG" --root "$BRIG_ROOT" ps -f json "$id" | jq length)" 1
}

@test "errors: an absent source or container, a word too few, a stopped container" {
	prepare
	mounts add "$id" "$T/absent" /mnt
	assert_status 1
	mounts add absent "$T/src" /mnt
	assert_status 1
	assert_contains "$stderr" "container does not exist: absent"
	mounts remove "$id"
	assert_status 1
	assert_contains "$stderr" "needs an ID and a DESTINATION"
	mounts change "$id"
	assert_status 1
	assert_contains "$stderr" '"change" is neither add nor remove'
	run_brig kill "$id" KILL
	wait_for 5 eval '[ "$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq -r .status)" = stopped ]'
	mounts add "$id" "$T/src" /mnt
	assert_status 1
	assert_contains "$stderr" "container not running"
}

@test "a normal user: files of the host, as far as the user may see them" {
	need_rootless
	prepare
	mounts add -o ro "$id" "$T/src" /mnt
	assert_status 0
	inside sh -c 'cat /mnt/file; touch /mnt/x || true'
	assert_equal "$output" from-host
	assert_contains "$stderr" "Read-only file system"
	mounts add "$id" /etc/shadow /etc/theirs
	assert_status 0
	inside cat /etc/theirs
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "Permission denied"
	mounts remove "$id" /mnt
	assert_status 0
	# Half of a list that fails brings nothing.
	jq -n --arg src "$T/src" '{mounts: [{destination: "/mnt", source: $src, type: "bind", options: ["bind"]},
		{destination: "/more", source: "/no/such/place", type: "bind", options: ["bind"]}]}' >"$T/list"
	mounts add "$id" "$T/list"
	assert_status 1
	assert_contains "$stderr" "/no/such/place"
	inside ls /mnt
	assert_equal "$output" ""
}

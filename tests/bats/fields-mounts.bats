#!/usr/bin/env bats
# places: cgroup2 rootless
# Options of mounts, id-mapped mounts and rootfsPropagation, as the program sees them.

load ../lib/common

look() {
	local filter=$1
	shift
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" "$@"
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	write_config "$T/bundle" rootfs "$@"
	edit_config "$T/bundle" "$filter"
	run_brig run -b "$T/bundle" "$(new_id)"
}

# A directory of the host with a mount below it, in a mount namespace of this test's own.
nested() {
	mkdir -p "$T/src/below"
	echo text >"$T/src/file"
}

with_mount_below() {
	need_root
	nested
	make_bundle "$T/bundle" "${@:2}"
	chmod 755 "$T/bundle" "$T/bundle/rootfs"
	edit_config "$T/bundle" "$1"
	run_apart unshare -m --propagation private sh -c \
		'mount -t tmpfs tmpfs "$1/src/below" && echo low >"$1/src/below/file" && exec "$2" --root "$BRIG_ROOT" run -b "$1/bundle" "$3"' \
		sh "$T" "$BRIG" "$(new_id)"
}

bind() { echo ".mounts += [{destination: \"/mnt\", source: \"$T/src\", type: \"bind\", options: [$1]}]"; }
tmpfs() { echo ".mounts += [{destination: \"/mnt\", source: \"tmpfs\", type: \"tmpfs\", options: [$1]}]"; }

@test "ro covers one mount, rro the whole tree" {
	with_mount_below "$(bind '"rbind", "ro"')" sh -c 'touch /mnt/x; touch /mnt/below/x && echo wrote; cat /mnt/below/file'
	assert_equal "$output" $'wrote\nlow'
	assert_contains "$stderr" "Read-only file system"
	with_mount_below "$(bind '"rbind", "rro"')" sh -c 'touch /mnt/x; touch /mnt/below/x && echo wrote; cat /mnt/below/file'
	assert_equal "$output" low
}

@test "bind shows one mount, rbind the tree; rnoexec, rnosuid, rnodev, rnoatime, rnosymfollow cover it" {
	with_mount_below "$(bind '"bind"')" ls /mnt/below
	assert_equal "$output" ""
	with_mount_below "$(bind '"rbind", "rnoexec", "rnosuid", "rnodev", "rnoatime", "rnosymfollow"')" \
		sh -c 'grep " /mnt" /proc/self/mountinfo | cut -d" " -f5,6'
	assert_equal "$output" $'/mnt rw,nosuid,nodev,noexec,noatime,nosymfollow\n/mnt/below rw,nosuid,nodev,noexec,noatime,nosymfollow'
}

@test "nosymfollow: links are not followed" {
	look "$(tmpfs '"nosymfollow"')" sh -c 'echo text >/mnt/file; ln -s file /mnt/link; cat /mnt/file; cat /mnt/link'
	assert_equal "$output" text
	assert_contains "$stderr" "Too many levels of symbolic links"
}

@test "tmpfs: size, nr_inodes, mode, noexec" {
	look "$(tmpfs '"size=64k", "nr_inodes=5", "mode=1750", "noexec", "nosuid"')" \
		sh -c 'stat -c %a /mnt; head -c 100000 /dev/zero >/mnt/big || true; stat -c %s /mnt/big; cp /bin/busybox /mnt/b 2>/dev/null; /mnt/b true; for i in 1 2 3 4 5 6; do touch /mnt/$i; done'
	assert_contains "$output" 1750
	assert_contains "$output" 65536
	assert_contains "$stderr" "Permission denied"
	assert_contains "$stderr" "No space left on device"
}

@test "tmpcopyup: the new file system has what was there, with owners and modes" {
	make_bundle "$T/bundle" true
	mkdir -p "$T/bundle/rootfs/data/sub"
	echo text >"$T/bundle/rootfs/data/sub/file"
	chmod 640 "$T/bundle/rootfs/data/sub/file"
	ln -s sub/file "$T/bundle/rootfs/data/link"
	look '.mounts += [{destination: "/data", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]}]' \
		sh -c 'cat /data/link; stat -c %a /data/sub/file; stat -f -c %T /data; echo new >/data/sub/file'
	assert_status 0
	assert_equal "$output" $'text\n640\ntmpfs'
	assert_equal "$(<"$T/bundle/rootfs/data/sub/file")" text
}

@test "an id-mapped bind: another owner inside, and files made there belong to the host's" {
	need_root
	nested
	chown 1000:1000 "$T/src/file"
	look "$(bind '"bind"') | .mounts[-1].uidMappings = [{containerID: 1000, hostID: 5000, size: 1}, {containerID: 0, hostID: 6000, size: 1}] |
		.mounts[-1].gidMappings = .mounts[-1].uidMappings" \
		sh -c 'stat -c "%u %g" /mnt/file'
	if [ "$status" != 0 ]; then
		assert_contains "$stderr" "id-mapped"
		skip "the file system has no id-mapped mounts"
	fi
	assert_equal "$output" "5000 5000"
}

@test "an id-mapped bind in a user namespace: the ids of the container" {
	need_root
	nested
	make_bundle "$T/bundle" true
	mkdir "$T/bundle/rootfs/mnt"
	look "$(bind '"bind", "idmap"') | .linux.namespaces += [{type: \"user\"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings" \
		sh -c 'stat -c "%u %g" /mnt/file; echo mine >/mnt/made'
	if [ "$status" != 0 ]; then
		assert_contains "$stderr" "id-mapped"
		skip "the file system has no id-mapped mounts"
	fi
	assert_equal "$output" "0 0"
	assert_equal "$(stat -c "%u %g" "$T/src/made")" "0 0"
}

# propagation VALUE: the optional fields of the root, and whether a later mount of the host arrives.
propagation() {
	make_bundle "$T/bundle" sleep 1000
	edit_config "$T/bundle" ".linux.rootfsPropagation = \"$1\" | .mounts += [{destination: \"/mnt\", source: \"$T/bundle/rootfs\", type: \"bind\", options: [\"rbind\"]}]"
	mkdir -p "$T/bundle/rootfs/late"
	unshare -m --propagation private sh -ec '
		mount --bind "$T/bundle/rootfs" "$T/bundle/rootfs"
		mount --make-shared "$T/bundle/rootfs"
		"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle" "$1" >"$T/log" 2>&1 3>&-
		mount -t tmpfs tmpfs "$T/bundle/rootfs/late"
		"$BRIG" --root "$BRIG_ROOT" exec "$1" sh -c "grep \" / / \\| / \" /proc/self/mountinfo | head -n 1; cut -d\" \" -f5 /proc/self/mountinfo | grep -x /late; true"
		"$BRIG" --root "$BRIG_ROOT" delete --force "$1"' sh "$(new_id)" || fail "$(<"$T/log")"
}

@test "rootfsPropagation: private, slave, shared, unbindable" {
	need_root
	export BRIG T BRIG_ROOT
	run propagation private
	[[ $output != *shared:* && $output != *master:* ]]
	[[ $output != *$'\n/late' ]]
	rm -rf "$T/bundle"
	run propagation rslave
	assert_contains "$output" master:
	[[ $output != *shared:* ]]
	assert_contains "$output" $'\n/late'
	rm -rf "$T/bundle"
	run propagation rshared
	assert_contains "$output" shared:
	rm -rf "$T/bundle"
	run propagation unbindable
	assert_contains "$output" unbindable
	rm -rf "$T/bundle"
	run propagation sideways
	[ "$status" -ne 0 ]
}

@test "cgroup, sysfs and mqueue are what their names say; unknown options go to the file system" {
	look . sh -c 'stat -f -c %T /dev/mqueue /dev/shm /dev/pts /proc'
	assert_status 0
	look "$(tmpfs '"no-such-option"')" true
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "/mnt"
}

@test "lazytime; a source that is a link: followed, bound itself (src-nofollow), or copied (copy-symlink)" {
	mkdir "$T/src"
	echo text >"$T/src/file"
	ln -s file "$T/src/link"
	look ".mounts += [{destination: \"/run/tmpfs\", type: \"tmpfs\", source: \"tmpfs\", options: [\"lazytime\"]}] + ([
		[\"followed\", []], [\"bound\", [\"src-nofollow\"]], [\"copied\", [\"copy-symlink\"]]] |
		map({destination: (\"/tmp/\" + .[0]), type: \"bind\", source: \"$T/src/link\", options: ([\"bind\"] + .[1])}))" \
		sh -c 'grep " /run/tmpfs " /proc/self/mountinfo | grep -o lazytime; cat /tmp/followed; for l in bound copied; do readlink /tmp/$l; done
			grep -c " /tmp/copied " /proc/self/mountinfo'
	assert_equal "$output" $'lazytime\ntext\nfile\nfile\n0'
}

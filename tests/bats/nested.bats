# places: root
# brig inside of a container, and on hosts that lack things. The outer container is made by brig
# too, with what Docker gives: masked and read-only parts of /proc, no seccomp filter here.
load ../lib/common

setup() {
	brig_setup
	need_root
	OUTER=$T/outer
	make_bundle "$OUTER" true
	# Absolute in the container: /bin/brig, and a bundle /inner of whoever runs it.
	cp "$BRIG" "$OUTER/rootfs/bin/brig"
	mkdir "$OUTER/rootfs/inner"
	cp -a "$(busybox_rootfs)" "$OUTER/rootfs/inner/rootfs"
	chmod 1777 "$OUTER/rootfs/run"
	edit_config "$OUTER" '.process.noNewPrivileges = false |
		.process.env += ["XDG_RUNTIME_DIR=/run"] | .process.cwd = "/inner" |
		.mounts += [{destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup",
			options: ["nosuid", "noexec", "nodev", "ro"]}]'
}

# inner UID ARG...: what brig is to run inside, as a config.json for this user.
inner() {
	local uid=$1
	shift
	jq -n --arg root rootfs --argjson uid "$uid" --argjson gid "$uid" \
		-f "$TESTS_LIB/config.jq" --args -- "$@" >"$OUTER/rootfs/inner/config.json"
}

edit_inner() { edit_config "$OUTER/rootfs/inner" "$@"; }

as_user_1000() {
	edit_config "$OUTER" '.process.user = {uid: 1000, gid: 1000} | .process.capabilities = {}'
}

unmasked() {
	edit_config "$OUTER" '.linux.maskedPaths = [] | .linux.readonlyPaths = []'
}

all_capabilities() {
	local names
	names=$(capsh --decode=000001ffffffffff | sed 's/.*=//' | tr '[:lower:]' '[:upper:]')
	edit_config "$OUTER" '($names | split(",")) as $all |
		.process.capabilities = {bounding: $all, effective: $all, permitted: $all}' \
		--arg names "$names"
}

# A user namespace with 65536 ids for the outer container.
in_userns() {
	chown -R 100000:100000 "$OUTER/rootfs"
	edit_config "$OUTER" '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
		.linux.gidMappings = .linux.uidMappings'
}

without_mount() {
	edit_config "$OUTER" '.mounts |= map(select(.destination | startswith($at) | not)) |
		.linux.maskedPaths |= map(select(startswith($at) | not)) |
		.linux.readonlyPaths |= map(select(startswith($at) | not))' --arg at "$1"
}

# outer SCRIPT: sh -c SCRIPT in the outer container.
outer() {
	edit_config "$OUTER" '.process.args = ["sh", "-c", $script]' --arg script "$1"
	run_brig run --bundle "$OUTER" "$(new_id)"
}

@test "nested: a masked /proc is an error that names the way out" {
	as_user_1000
	inner 1000 true
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "mount /proc"
	assert_contains "$stderr" "org.brig.proc=bind"
	outer 'brig sandbox --best-effort --rootfs /inner/rootfs -- true'
	assert_status 125
	assert_contains "$stderr" "--proc bind"
	outer 'brig doctor'
	assert_status 1
	assert_contains "$output" "--proc bind"
}

@test "nested: org.brig.proc=bind shows the existing /proc with its masks" {
	as_user_1000
	inner 1000 sh -c 'echo $$; tr "\0" " " </proc/1/cmdline; echo
		cat /proc/1/environ; readlink /proc/1/root; cat /proc/1/fd/0; ls -A /proc/acpi
		cat /proc/keys; echo >/proc/sys/kernel/domainname; sed -n s/^NSpid://p /proc/self/status'
	edit_inner '.annotations["org.brig.proc"] = "bind"'
	outer 'brig run x; true'
	assert_status 0
	# Another pid namespace than the one that /proc shows.
	assert_equal "${lines[0]}" 1
	assert_contains "${lines[1]}" "brig run x"
	[[ ${lines[2]} =~ ^[[:space:]]*[0-9]+[[:space:]]+[0-9]+$ ]] || fail "$output"
	assert_equal "${#lines[@]}" 3
	assert_contains "$stderr" "/proc/1/environ': Permission denied"
	assert_contains "$stderr" "/proc/1/fd/0': Permission denied"
	assert_contains "$stderr" "/proc/sys/kernel/domainname: Read-only file system"
}

@test "nested: a signal does not reach what the bound /proc shows" {
	as_user_1000
	inner 1000 sh -c 'for p in /proc/[0-9]*; do
			[ ${p#/proc/} -le 2 ] || kill -KILL ${p#/proc/}
		done 2>/dev/null; exit 7'
	edit_inner '.annotations["org.brig.proc"] = "bind"'
	outer 'sleep 100 & brig run x; echo $?; kill %1 && echo alive'
	assert_equal "$output" $'7\nalive'
}

@test "nested: org.brig.proc=bind takes the same way in a sandbox" {
	as_user_1000
	outer 'brig sandbox --best-effort --rootfs /inner/rootfs --proc bind -- sh -c "
		id -u; cat /proc/1/environ; unshare -U true; echo x >/proc/sys/kernel/domainname; ls /proc/kmsg"'
	assert_status 0
	assert_json .status exited
	assert_json .stdout $'1000\n/proc/kmsg'
	local told
	told=$(jget .stderr)
	assert_contains "$told" "/proc/1/environ': Permission denied"
	assert_contains "$told" "unshare"
	assert_contains "$told" "/proc/sys/kernel/domainname: Read-only file system"
}

@test "nested: org.brig.proc=bind needs a user namespace, and no other word is known" {
	all_capabilities
	in_userns
	inner 0 true
	edit_inner '.annotations["org.brig.proc"] = "bind"'
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "only possible in a new user namespace"
	edit_inner '.annotations["org.brig.proc"] = "Bind"'
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "neither new nor bind"
}

@test "nested: a user with one id, in a container without masks" {
	unmasked
	as_user_1000
	inner 1000 sh -c 'cat /proc/self/uid_map; cat /proc/self/setgroups; id -u; ls -d /proc/[0-9]*'
	outer 'brig run x'
	assert_status 0
	assert_equal "$(tr -s ' ' <<<"${lines[0]}")" " 0 1000 1"
	assert_equal "${lines[*]:1:3}" "deny 0 /proc/1"
	outer 'brig sandbox --best-effort --rootfs /inner/rootfs -- sh -c "id -u; ls /proc/self/fd"'
	assert_status 0
	assert_json '.stdout | split("\n")[0]' 1000
	outer 'brig sandbox --best-effort --userns range --rootfs /inner/rootfs -- true'
	assert_status 125
	assert_contains "$(jget .error)" "/etc/subuid"
}

@test "nested: root of a user namespace: devices by bind, no device filter" {
	unmasked
	all_capabilities
	in_userns
	inner 0 sh -c 'cat /proc/self/uid_map; stat -c "%t %T" /dev/null; echo >/dev/null && echo written
		grep " /dev/null " /proc/self/mountinfo | cut -d" " -f4; mknod /x c 1 3 || echo refused'
	outer 'brig run x'
	assert_status 0
	assert_equal "$(tr -s ' ' <<<"${lines[0]}")" " 0 100000 65536"
	assert_equal "${lines[*]:1}" "1 3 written /null refused"
	outer 'brig sandbox --best-effort --rootfs /inner/rootfs -- cat /proc/self/uid_map'
	assert_status 0
	assert_json '.stdout | split(" ") | map(select(. != "")) | join(" ") | rtrimstr("\n")' "1000 0 1"
}

@test "nested: a read-only /sys/fs/cgroup refuses limits and nothing else" {
	unmasked
	as_user_1000
	inner 1000 echo in
	outer 'brig run x'
	assert_status 0
	assert_equal "$output" in
	edit_inner '.linux.resources.pids.limit = 10'
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "linux.resources.pids.limit needs a cgroup"
}

@test "nested: a read-only /sys/fs/cgroup for root tells so, and how to go without" {
	unmasked
	all_capabilities
	inner 0 echo in
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "read-only"
	assert_contains "$stderr" "--cgroup-manager=disabled"
	outer 'brig --cgroup-manager=disabled run x'
	assert_status 0
	assert_equal "$output" in
	edit_inner '.linux.resources.pids.limit = 10'
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "linux.resources.pids.limit needs a cgroup, but"
	assert_contains "$stderr" "read-only"
}

@test "nested: without any /sys" {
	unmasked
	as_user_1000
	without_mount /sys
	inner 1000 echo in
	edit_inner '.mounts |= map(select(.destination != "/sys")) | .linux.maskedPaths = []'
	rmdir "$OUTER/rootfs/sys"
	outer 'brig run x; brig sandbox --best-effort --rootfs /inner/rootfs -- echo in as well'
	assert_status 0
	assert_equal "${lines[0]}" in
	assert_json .stdout "in as well" "${lines[1]}"
	edit_inner '.linux.resources.memory.limit = 10000000'
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "/sys/fs/cgroup does not exist"
}

@test "nested: without /proc the error names it" {
	unmasked
	as_user_1000
	without_mount /proc
	inner 1000 true
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "mount -t proc proc /proc"
	outer 'brig sandbox --best-effort --rootfs /inner/rootfs -- true'
	assert_status 125
	assert_contains "$stderr" "mount -t proc proc /proc"
	rmdir "$OUTER/rootfs/proc"
	outer 'brig run x'
	assert_status 125
	assert_contains "$stderr" "/proc"
}

# in_chroot BIND USER SCRIPT
in_chroot() {
	local root=$OUTER/rootfs script=$3
	run_apart unshare -m --propagation private bash -euc '
		[ "$1" = no ] || mount --bind "$0" "$0"
		mount -t proc proc "$0/proc"
		mount -t tmpfs -o mode=1777 tmpfs "$0/run"
		mount --rbind /dev "$0/dev"
		exec chroot --userspec="$2" "$0" env XDG_RUNTIME_DIR=/run sh -c "cd /inner; $3"' \
		"$root" "$1" "$2" "$script"
}

@test "nested: a chroot whose root is no mount point" {
	inner 0 echo in
	local no_pivot
	for no_pivot in "" --no-pivot; do
		in_chroot no 0:0 "brig --cgroup-manager=disabled run $no_pivot x"
		assert_status 125
		assert_contains "$stderr" "bind its directory onto itself"
		in_chroot bind 0:0 "brig --cgroup-manager=disabled run $no_pivot x"
		assert_status 0
		assert_equal "$output" in
	done
	inner 1000 echo in
	in_chroot no 1000:1000 "brig run x"
	assert_status 125
	assert_contains "$stderr" "in a chroot"
}

# with_hidepid VALUE: brig as brigtest1, with /proc mounted so. In a pid namespace of its own: the
# options of proc belong to the pid namespace, those of the machine's /proc would change with ours.
with_hidepid() {
	run_apart unshare -m -p -f --kill-child --propagation private bash -euc '
		mount -t proc -o "hidepid=$0" proc /proc
		bundle=$2
		brig() { "$TESTS_LIB/as-user" brigtest1 "$BRIG" --root "$BRIG_ROOT" "$@"; }
		brig sandbox --best-effort --result "$T/result" -- sh -c "id -u; ls -d /proc/1 || echo hidden"
		# Detached, so not below a pipe of bats.
		brig run -d --bundle "$bundle" "h$0"
		brig exec "h$0" cat /proc/1/comm
		brig state "h$0" | jq -r .status
		brig delete -f "h$0"' "$1" brigtest1 "$OUTER/rootfs/inner"
}

@test "nested: /proc with hidepid, for a normal user" {
	"$TESTS_LIB/accounts"
	local uid gid value
	uid=$(id -u brigtest1) gid=$(id -g brigtest1)
	inner "$uid" sh -c "exec sleep 1000 >/dev/null 2>&1 3>&-"
	edit_inner '.linux.gidMappings[0].hostID = $gid' --argjson gid "$gid"
	chown -R brigtest1: "$OUTER/rootfs/inner"
	BRIG_ROOT=$T/state-brigtest1
	install -d -o brigtest1 -m 700 "$BRIG_ROOT"
	: >"$T/result"
	chown brigtest1 "$T/result"
	export TESTS_LIB BRIG_ROOT
	for value in 1 2 4; do
		with_hidepid $value
		assert_status 0
		assert_equal "$output" $'sleep\nrunning'
		assert_json .stdout $'1000\nhidden' "$(<"$T/result")"
	done
	! grep -q hidepid /proc/mounts || fail "the machine's own /proc was changed"
}

#!/usr/bin/env bats
# places: root rootless
# brig inside of a container that podman made without any option for it: its seccomp filter (which refuses
# sethostname), masked parts of /proc, a read-only /sys/fs/cgroup, no privileges. The runtime of podman is
# brig, but what it sets up is podman's. More such hosts are in nested.bats.

load ../lib/common
load ../lib/callers

setup_file() { podman_setup_file; }
teardown_file() { podman_teardown_file; }
teardown() { podman_teardown; }

setup() {
	podman_setup
	INNER=$T/inner$BATS_TEST_NUMBER
	mkdir -p "$INNER"
	cp -a "$(busybox_rootfs)" "$INNER/rootfs"
	cp "$BRIG" "$INNER/brig"
}

# in_podman [OPTION...] -- SCRIPT
in_podman() {
	local script=${!#}
	run_apart podman_run --rm -e XDG_RUNTIME_DIR=/tmp -w /inner -v "$INNER:/inner" \
		-v "$("$TESTS_LIB/rootfs"):/debian:ro" "${@:1:$#-2}" -- sh -c "$script"
}

# A bundle of a normal user with this id.
bundle_for() {
	jq -n --arg root rootfs --argjson uid "$1" --argjson gid "$1" -f "$TESTS_LIB/config.jq" --args -- \
		"${@:2}" >"$INNER/config.json"
}

@test "nested: a sandbox in podman's container, of its root and of a user" {
	local options
	for options in "" --user=1000:1000; do
		# shellcheck disable=SC2086
		in_podman $options -- './brig sandbox --best-effort --proc bind --rootfs /debian -- \
			python3 -c "import os; print(os.getuid(), os.listdir(\"/proc/self/fd\"))"'
		assert_status 0
		assert_json .status exited
		assert_json .stdout "1000 ['0', '1', '2', '3']"
		assert_json '.warnings[-1]' "hostname: not set, a seccomp filter around us refuses it"
	done
	in_podman -- './brig sandbox --best-effort --rootfs /debian -- true'
	assert_status 125
	assert_contains "$stderr" "--proc bind"
	in_podman -- ./brig\ doctor
	[[ $output =~ optional\ +host\ name\ +Operation ]]
}

@test "nested: a container in podman's container" {
	bundle_for 1000 sh -c 'tr -s " " </proc/self/uid_map; echo $$; cat /proc/1/environ'
	edit_config "$INNER" '.annotations["org.brig.proc"] = "bind"'
	in_podman --user=1000:1000 -- './brig run x'
	assert_status 125
	assert_contains "$stderr" "set the host name: sethostname: Operation not permitted: a seccomp filter around us may refuse it"
	edit_config "$INNER" 'del(.hostname)'
	in_podman --user=1000:1000 -- './brig run x; echo "status $?"'
	assert_equal "$output" $' 0 1000 1\n1\nstatus 1'
	assert_contains "$stderr" "'/proc/1/environ': Permission denied"
	# With what podman can be told, all of it is possible.
	bundle_for 1000 sh -c 'hostname; ls -d /proc/[0-9]*'
	in_podman --user=1000:1000 --security-opt seccomp=unconfined --security-opt unmask=ALL -- './brig run x'
	assert_status 0
	assert_equal "$output" $'test\n/proc/1'
}

# places: root
# Namespaces that are joined by path, as for the containers of a pod.
load ../lib/common
load ../lib/sandbox

# holder FLAG...: a process in new namespaces; sets $holder.
holder() {
	unshare "$@" sleep 100 &
	holder=$!
	# unshare has become sleep, in its namespaces, when its comm says so
	for ((i = 0; i < 200; i++)); do
		[ "$(cat "/proc/$holder/comm" 2>/dev/null)" != sleep ] || return 0
		sleep 0.02
	done
	return 1
}

teardown() {
	[ -z "${holder:-}" ] || kill "$holder"
	brig_teardown
}

@test "a sandbox joins a network namespace and keeps its own mounts" {
	holder -n
	echo '{"process": {"args": ["sh", "-c", "readlink /proc/self/ns/net; ls /usr >/dev/null && echo usr"]},
		"linux": {"namespaces": [{"type": "network", "path": "/proc/'"$holder"'/ns/net"}]}}' >"$T/spec"
	sandbox --spec "$T/spec"
	assert_status 0
	assert_stdout "$(readlink "/proc/$holder/ns/net")"$'\nusr'
}

@test "a container joins network, ipc and uts, and has the rest of its own" {
	holder -n -i -u
	make_bundle "$T/bundle" sh -c 'for n in net ipc uts pid mnt; do readlink /proc/self/ns/$n; done; hostname'
	jq --arg p "/proc/$holder/ns/" '(.linux.namespaces[] | select(.type == "network")) += {path: ($p + "net")}
		| (.linux.namespaces[] | select(.type == "ipc")) += {path: ($p + "ipc")}
		| (.linux.namespaces[] | select(.type == "uts")) += {path: ($p + "uts")} | del(.hostname)' \
		"$T/bundle/config.json" >"$T/config" && mv "$T/config" "$T/bundle/config.json"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	for n in net ipc uts; do
		assert_contains "$output" "$(readlink "/proc/$holder/ns/$n")"
	done
	for n in pid mnt; do
		[[ $output != *"$(readlink "/proc/self/ns/$n")"* ]]
	done
}

@test "a path that is no namespace of that type is named" {
	make_bundle "$T/bundle" true
	jq '(.linux.namespaces[] | select(.type == "network")) += {path: "/proc/self/ns/ipc"}' \
		"$T/bundle/config.json" >"$T/config" && mv "$T/config" "$T/bundle/config.json"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_contains "$stderr" /proc/self/ns/ipc
}

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

# join_user ID GID...: a bundle of a container in the holder's user namespace, with these additional groups.
join_user() {
	make_bundle "$T/$1" sh -c 'grep ^Groups: /proc/self/status; sleep 60'
	jq --arg p "/proc/$holder/ns/user" 'del(.linux.uidMappings, .linux.gidMappings)
		| .linux.namespaces |= map(select(.type != "user")) + [{type: "user", path: $p}]
		| (.mounts[] | select(.destination == "/dev/pts") | .options) -= ["gid=5"]
		| .process.user = {uid: 0, gid: 0, additionalGids: ($ARGS.positional | map(tonumber))}' \
		"$T/$1/config.json" --args "${@:2}" >"$T/config" && mv "$T/config" "$T/$1/config.json"
}

@test "a joined user namespace where setgroups is denied: no groups, or an error that says why, as with exec" {
	local id denied='process.user.additionalGids: setgroups is denied in this user namespace'
	holder -U -r
	assert_equal "$(cat "/proc/$holder/setgroups")" deny
	id=$(new_id)
	join_user "$id" 0
	run_brig run -b "$T/$id" "$id"
	assert_status 125
	assert_contains "$stderr" "$denied"
	run_brig create -b "$T/$id" "$id"
	assert_status 1
	assert_contains "$stderr" "$denied"
	join_user "$id"
	"$BRIG" --root "$BRIG_ROOT" create -b "$T/$id" "$id" >"$T/out"
	run_brig start "$id"
	assert_status 0
	wait_for 10 grep -q ^Groups: "$T/out"
	run_brig exec "$id" true
	assert_status 0
	run_brig exec --additional-gids 0 "$id" true
	assert_contains "$stderr" "$denied"
	run_brig delete -f "$id"
	kill "$holder"
	# Where it is allowed they are set.
	holder -U
	echo 0 0 65536 >"/proc/$holder/gid_map"
	echo 0 0 65536 >"/proc/$holder/uid_map"
	id=$(new_id)
	join_user "$id" 7 9
	sed -i 's/; sleep 60//' "$T/$id/config.json"
	run_brig run -b "$T/$id" "$id"
	assert_status 0
	[[ $output =~ ^Groups:[[:space:]]*7\ 9\ *$ ]] || fail "$output"
}

#!/usr/bin/env bats
# places: cgroup2 rootless
# linux.seccomp with SCMP_ACT_NOTIFY: the listener goes to the agent, and the agent's answer is what
# the program in the container sees.

load ../lib/common

MKDIR='{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_NOTIFY"}'

teardown() {
	if [ -n "${agent:-}" ]; then
		kill "$agent"
		wait "$agent" || true
	fi
	brig_teardown
}

start_agent() {
	[ -x /usr/bin/python3 ] || skip "no /usr/bin/python3"
	"$TESTS_LIB/seccomp-agent" "$T/agent" "$T/states" 3>&- &
	agent=$!
	wait_for 10 [ -S "$T/agent" ]
}

# notify_bundle RULES ARG...
notify_bundle() {
	local rules=$1
	shift
	make_bundle "$T/bundle" "$@"
	edit_config "$T/bundle" ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\",
		listenerPath: \"$T/agent\", listenerMetadata: \"for the agent\", syscalls: [$rules]}"
}

states() { sed "${1:-1}q;d" "$T/states"; }

@test "the agent answers a call of the program" {
	start_agent
	notify_bundle "$MKDIR" sh -c 'mkdir /tmp/x; ls /tmp'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$output" ""
	assert_contains "$stderr" "Too many links"
}

@test "the agent gets the container process state, once a connection" {
	start_agent
	notify_bundle "$MKDIR" true
	edit_config "$T/bundle" '.annotations = {"org.example.a": "b"}'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$(wc -l <"$T/states")" 1
	assert_json '.fds | join(",")' seccompFd "$(states)"
	assert_json .metadata "for the agent" "$(states)"
	assert_json .state.id "$(new_id)" "$(states)"
	assert_json .state.bundle "$T/bundle" "$(states)"
	assert_json .state.status creating "$(states)"
	assert_json '.pid == .state.pid and .pid > 1' true "$(states)"
	assert_json '.state.annotations["org.example.a"]' b "$(states)"
	assert_json .ociVersion 1.2.0 "$(states)"
}

@test "without no-new-privileges the filter is in force early, and the agent still answers" {
	start_agent
	notify_bundle "$MKDIR" sh -c 'mkdir /tmp/x; ls /tmp'
	edit_config "$T/bundle" '.process.noNewPrivileges = false'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$output" ""
	assert_contains "$stderr" "Too many links"
}

@test "calls that the set-up itself needs may be asked about" {
	start_agent
	notify_bundle "$MKDIR, {names: [\"execve\"], action: \"SCMP_ACT_NOTIFY\"}" \
		sh -c 'mkdir /tmp/x; true'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_contains "$stderr" "Too many links"
}

@test "create, start: the agent has the listener before the start" {
	start_agent
	notify_bundle "$MKDIR" sh -c 'mkdir /tmp/x 2>/tmp/error; sleep 100'
	"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$(new_id)" >"$T/out" 2>&1 3>&-
	assert_json .state.status creating "$(states)"
	run_brig state "$(new_id)"
	assert_equal "$(jget .pid)" "$(jget .pid "$(states)")"
	run_brig start "$(new_id)"
	assert_status 0
	wait_for 5 grep -q "Too many links" "$T/bundle/rootfs/tmp/error"
	run_brig delete --force "$(new_id)"
	assert_status 0
}

@test "exec: a listener of its own" {
	start_agent
	notify_bundle "$MKDIR" sleep 100
	"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle" "$(new_id)" >"$T/out" 2>&1 3>&-
	run_brig exec "$(new_id)" sh -c 'mkdir /tmp/x; true'
	assert_status 0
	assert_contains "$stderr" "Too many links"
	assert_json .state.status running "$(states 2)"
	assert_equal "$(jget .state.pid "$(states 1)")" "$(jget .state.pid "$(states 2)")"
	assert_json '.pid != .state.pid' true "$(states 2)"
	run_brig delete --force "$(new_id)"
	assert_status 0
}

@test "the program gets none of the descriptors of the set-up" {
	start_agent
	notify_bundle "$MKDIR" sh -c 'ls /proc/self/fd | wc -l; ls /proc/self/task | wc -l'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	# 0, 1, 2 and the directory that ls reads
	assert_equal "$output" "4"$'\n'"1"
}

@test "no agent, an agent that is gone and a call that cannot be asked about are errors" {
	notify_bundle "$MKDIR" true
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "linux.seccomp.listenerPath: open the socket $T/agent"
	notify_bundle '{names: ["read", "write"], action: "SCMP_ACT_NOTIFY"}' true
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "not possible for \`write\`"
	edit_config "$T/bundle" '.linux.seccomp.syscalls = [] | .linux.seccomp.defaultAction = "SCMP_ACT_NOTIFY"'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "not possible for \`write\`"
}

@test "run.oci.seccomp.receiver and RUN_OCI_SECCOMP_RECEIVER: the agent's socket without listenerPath" {
	start_agent
	notify_bundle "$MKDIR" sh -c 'mkdir /tmp/x; true'
	edit_config "$T/bundle" 'del(.linux.seccomp.listenerPath, .linux.seccomp.listenerMetadata)'
	RUN_OCI_SECCOMP_RECEIVER=$T/agent run_brig run -b "$T/bundle" "$(new_id)"
	assert_contains "$stderr" "Too many links"
	edit_config "$T/bundle" ".annotations[\"run.oci.seccomp.receiver\"] = \"$T/agent\""
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_contains "$stderr" "Too many links"
}

@test "without SCMP_ACT_NOTIFY the path is ignored" {
	notify_bundle '{names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 31}' \
		sh -c 'mkdir /tmp/x || true'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
}

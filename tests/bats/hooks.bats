#!/usr/bin/env bats
# places: cgroup2 rootless
# Hooks: where and when they run, what they get, and what their failures do.

load ../lib/common

setup() {
	brig_setup
	make_bundle "$T/bundle" sh -c 'echo payload >>/tmp/order'
	id=$(new_id)
}

teardown() {
	"$BRIG" --root "$BRIG_ROOT" delete --force "$id" >/dev/null 2>&1 || true
	brig_teardown
}

# hook KIND SCRIPT [FIELDS]: adds one; SCRIPT runs with the host's sh, or for startContainer and
# createContainer with what there is.
hook() {
	edit_config "$T/bundle" ".hooks.$1 += [{path: \"/bin/sh\", args: [\"sh\", \"-c\", \$script]} + (${3:-{\}})]" --arg script "$2"
}

brig_silent() { "$BRIG" --root "$BRIG_ROOT" "$@" >"$T/log" 2>&1 3>&-; }

# The order of config.md, over create, start and delete.
@test "all six kinds, in order, in their namespaces, with the state on stdin" {
	local kind order=$T/bundle/rootfs/tmp/order
	for kind in prestart createRuntime poststart poststop; do
		hook $kind "echo $kind \$(readlink /proc/self/ns/mnt) >>$order; cat >$T/$kind.json"
	done
	hook createContainer "echo createContainer \$(readlink /proc/self/ns/mnt) >>$order; cat >$T/createContainer.json"
	hook startContainer 'echo startContainer $(readlink /proc/self/ns/mnt) >>/tmp/order; cat >/tmp/startContainer.json'
	brig_silent create -b "$T/bundle" "$id"
	assert_equal "$(cut -d' ' -f1 "$order" | tr '\n' ' ')" "prestart createRuntime createContainer "
	brig_silent start "$id"
	wait_for 5 grep -q payload "$order"
	brig_silent delete --force "$id"
	assert_equal "$(cut -d' ' -f1 "$order" | sort | tr '\n' ' ')" \
		"createContainer createRuntime payload poststart poststop prestart startContainer "
	assert_equal "$(grep -n startContainer "$order" | cut -d: -f1)" 4
	assert_equal "$(tail -n 1 "$order" | cut -d' ' -f1)" poststop
	# of the host
	assert_equal "$(sed -n 's/^createRuntime //p' "$order")" "$(readlink /proc/self/ns/mnt)"
	assert_equal "$(sed -n 's/^prestart //p' "$order")" "$(readlink /proc/self/ns/mnt)"
	# of the container
	[ "$(sed -n 's/^createContainer //p' "$order")" != "$(readlink /proc/self/ns/mnt)" ]
	assert_equal "$(sed -n 's/^createContainer //p' "$order")" "$(sed -n 's/^startContainer //p' "$order")"
	for kind in prestart createRuntime createContainer; do
		assert_json .status creating "$(<"$T/$kind.json")"
		assert_json .id "$id" "$(<"$T/$kind.json")"
		assert_json .bundle "$T/bundle" "$(<"$T/$kind.json")"
	done
	assert_json '.pid > 1' true "$(<"$T/createRuntime.json")"
	assert_json .status created "$(<"$T/bundle/rootfs/tmp/startContainer.json")"
	assert_json .status running "$(<"$T/poststart.json")"
	assert_json .status stopped "$(<"$T/poststop.json")"
}

@test "a hook has its own environment and no descriptors of ours" {
	hook createRuntime "env >$T/env; ls -l /proc/self/fd >$T/fds" '{env: ["ONLY=this"]}'
	LEAK=1 brig_silent run -b "$T/bundle" "$id"
	assert_equal "$(grep -v -e '^PWD=' -e '^_=' -e '^SHLVL=' -e '^OLDPWD=' "$T/env")" "ONLY=this"
	# 0, 1 (the file), 2 and the directory
	assert_equal "$(grep -c -- '->' "$T/fds")" 4
}

@test "a failure before the start ends it, with the hook's words" {
	local kind
	for kind in prestart createRuntime createContainer startContainer; do
		write_config "$T/bundle" rootfs true
		hook $kind 'echo the reason >&2; exit 3'
		run_brig run -b "$T/bundle" "$id"
		[ "$status" -ne 0 ]
		assert_contains "$stderr" "$kind hook /bin/sh: exit status 3: the reason"
		[ ! -e "$BRIG_ROOT/$id" ]
	done
}

@test "a failure behind the start of what was created is \`start\`'s error" {
	write_config "$T/bundle" rootfs true
	hook startContainer 'echo the reason >&2; exit 3'
	hook poststart "echo ran >$T/poststart"
	brig_silent create -b "$T/bundle" "$id"
	run_brig start "$id"
	assert_status 1
	assert_contains "$stderr" "run the hooks: startContainer hook /bin/sh: exit status 3: the reason"
	assert_equal "${#stderr_lines[@]}" 1
	[ ! -e "$T/poststart" ]
	brig_silent delete "$id"
	# The program was there when it was looked for.
	write_config "$T/bundle" rootfs /tmp/program
	cp "$T/bundle/rootfs/bin/busybox" "$T/bundle/rootfs/tmp/program"
	brig_silent create -b "$T/bundle" "$id"
	rm "$T/bundle/rootfs/tmp/program"
	run_brig start "$id"
	assert_status 1
	assert_contains "$stderr" 'start the program: exec: "/tmp/program": '
	brig_silent delete "$id"
}

@test "a hook that hangs is killed at its timeout" {
	local kind
	for kind in createRuntime createContainer; do
		write_config "$T/bundle" rootfs true
		hook $kind 'sleep 1000 & sleep 1000' '{timeout: 1}'
		hook $kind 'kill $(ps -o pid,args | sed -n "s/ *\([0-9]*\) sleep 1000/\1/p")' '{timeout: 10}'
		run_brig run -b "$T/bundle" "$id"
		[ "$status" -ne 0 ]
		assert_contains "$stderr" "$kind hook /bin/sh: still running after 1 s, killed"
		[ ! -e "$BRIG_ROOT/$id" ]
		for pid in $(marked_processes); do
			[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" != "sleep 1000 " ] || kill "$pid"
		done
	done
}

@test "a hook that does not exist" {
	edit_config "$T/bundle" '.hooks.createRuntime = [{path: "/no/such/hook"}]'
	run_brig run -b "$T/bundle" "$id"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "createRuntime hook /no/such/hook: No such file or directory"
}

@test "poststart: a failure ends the container; poststop: only a warning" {
	write_config "$T/bundle" rootfs sleep 1000
	hook poststart 'exit 4'
	brig_silent create -b "$T/bundle" "$id"
	run_brig start "$id"
	[ "$status" -ne 0 ]
	[[ $stderr == *"poststart hook /bin/sh: exit status 4" ]] || fail "$stderr"
	wait_for 5 eval '[ "$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq -r .status)" = stopped ]'
	brig_silent delete "$id"
	write_config "$T/bundle" rootfs true
	hook poststop 'exit 5'
	hook poststop "echo second >$T/second"
	run_brig run -b "$T/bundle" "$id"
	assert_status 0
	assert_contains "$stderr" "poststop hook /bin/sh: exit status 5"
	[ -s "$T/second" ]
}

@test "poststop runs once, also when another command deletes what runs in the foreground" {
	edit_config "$T/bundle" '.process.args = ["sleep", "1000"]'
	hook poststop "echo ran >>$T/poststop"
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$id" </dev/null >"$T/log" 2>&1 3>&- &
	local maker=$!
	wait_for 20 is_recorded "$id"
	run_brig delete --force "$id"
	assert_status 0
	wait "$maker" || true
	assert_equal "$(<"$T/poststop")" ran
}

@test "poststop runs when a later step of the creation fails" {
	hook createRuntime 'exit 6'
	hook poststop "echo ran >$T/poststop"
	run_brig run -b "$T/bundle" "$id"
	[ "$status" -ne 0 ]
	[ -e "$T/poststop" ]
}

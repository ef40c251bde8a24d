# places: root rootless
# What goes wrong with `brig run`: one sentence that names the step and the object, the right exit
# code, and (by teardown) nothing left behind.
load ../lib/common

# mistake CODE WORDS: the bundle fails in that way.
mistake() {
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status "$1"
	assert_equal "$(wc -l <<<"$stderr")" 1
	assert_contains "$stderr" "$2"
}

# broken FILTER CODE WORDS: a good bundle with one change.
broken() {
	rm -rf "$T/bundle"
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" "$1"
	mistake "$2" "$3"
}

@test "run errors: no config.json, no JSON, not an object" {
	mkdir "$T/bundle"
	mistake 125 "brig spec makes a config.json"
	echo '{"ociVersion": "1.2.0", // a comment' >"$T/bundle/config.json"
	mistake 125 config.json
	echo '[]' >"$T/bundle/config.json"
	mistake 125 "an object"
	printf '{"a":%.0s' $(seq 2000) >"$T/bundle/config.json"
	mistake 125 config.json
}

@test "run errors: the JSON path stands in front of a wrong value" {
	broken '.process.user.uid = 4294967296' 125 'process.user.uid: 4294967296'
	broken '.process.user.uid = -1' 125 'process.user.uid: -1'
	broken '.mounts[1].destination = 7' 125 'mounts[1].destination'
	broken '.linux.namespaces += [{"type": "usr"}]' 125 'usr'
	broken '.linux.namespaces += [{"type": "pid"}]' 125 'linux.namespaces'
	broken 'del(.process.args)' 125 'process.args'
	broken '.process.cwd = "relative"' 125 'process.cwd'
	broken '.linux.sysctl = {"kernel.core_pattern": "|/bin/sh"}' 125 'kernel.core_pattern'
	broken '.linux.resources.unified = {"../memory.max": "1"}' 125 'linux.resources.unified'
	broken '.linux.cgroupsPath = "/../../x"' 125 'linux.cgroupsPath'
}

@test "run errors: a root file system or mount source that is not there" {
	broken '.root.path = "absent"' 125 "$T/bundle/absent"
	broken '.mounts += [{"destination": "/mnt", "type": "bind", "source": "/absent/here", "options": ["bind"]}]' \
		125 /absent/here
	broken '.mounts += [{"destination": "/mnt", "type": "nosuchfs", "source": "x"}]' 125 nosuchfs
}

@test "run errors: a program that is not there is 127, one that cannot run 126" {
	broken '.process.args = ["no-such-program"]' 127 '"no-such-program": executable file not found in $PATH'
	broken '.process.args = ["/no/such/program"]' 127 /no/such/program
	broken '.process.args = ["/etc/passwd"]' 126 /etc/passwd
	broken '.process.args = ["/etc"]' 126 /etc
}

@test "run errors: ids" {
	make_bundle "$T/bundle" true
	local id
	for id in ../x a/b '' -x .hidden "$(printf 'x%.0s' {1..256})"; do
		run_brig run -b "$T/bundle" -- "$id"
		assert_status 125
	done
	run_brig run -b "$T/bundle"
	assert_status 125
	run_brig run -b "$T/bundle" a b
	assert_status 125
}

@test "run errors: an id that is in use" {
	make_bundle "$T/bundle" sleep 100
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" &
	wait_for 10 is_recorded "$(new_id)"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_contains "$stderr" "container with given ID already exists"
	run_brig kill "$(new_id)" KILL
	assert_status 0
	wait
}

@test "run errors: user namespaces that are switched off are named with the sysctl" {
	need_root
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.linux.namespaces += [{"type": "user"}]
		| .linux.uidMappings = [{"containerID": 0, "hostID": 100000, "size": 1000}]
		| .linux.gidMappings = .linux.uidMappings'
	# in a namespace of their own the limit is ours to set
	run_apart unshare -U -r -m bash -c 'echo 0 >/proc/sys/user/max_user_namespaces &&
		exec "$@"' _ "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_contains "$stderr" max_user_namespaces
}

@test "run errors: unknown options and commands" {
	run_brig run --no-such-option x
	assert_status 125
	assert_contains "$stderr" --no-such-option
	run_brig no-such-command
	assert_status 1
	assert_contains "$stderr" no-such-command
	run_brig --log-format yaml list
	assert_status 1
	assert_contains "$stderr" yaml
}

@test "run errors: with --log the error is one JSON object with an RFC 3339 time" {
	mkdir "$T/bundle"
	run_brig --log "$T/log" --log-format json run -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_equal "$(jq -s length "$T/log")" 1
	assert_json .level error "$(cat "$T/log")"
	date -d "$(jq -r .time "$T/log")" >/dev/null
}

@test "run errors: a set-up that hangs ends with TERM" {
	need_root
	make_bundle "$T/bundle" true
	local seconds=$((100000 + RANDOM)) # a name that no other test's process has
	edit_config "$T/bundle" '.hooks.createContainer = [{"path": "/bin/sleep", "args": ["sleep", $s]}]' --arg s $seconds
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" 2>"$T/stderr" &
	local pid=$!
	wait_for 10 pgrep -P "$pid" >/dev/null
	wait_for 10 pgrep -x -f "sleep $seconds" >/dev/null
	kill -TERM $pid
	wait $pid || true
	assert_contains "$(cat "$T/stderr")" interrupted
}

@test "run errors: a label that cannot be set is told in the words that podman looks for" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.process.apparmorProfile = "no-such-profile"'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "process.apparmorProfile no-such-profile"
	grep -qE '`/proc/[a-z0-9-].+/attr.*`' <<<"$stderr"
}

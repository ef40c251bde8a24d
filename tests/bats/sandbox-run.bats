# places: root rootless
# What goes in and what comes out of `brig sandbox`.
load ../lib/common
load ../lib/sandbox

@test "sandbox: a Python program in a Debian root file system prints" {
	python 'print(2 + 2)'
	assert_status 0
	assert_stdout 4
	assert_json .status exited
	assert_json .returncode 0
	assert_json .signal null
	assert_json .backend brig
	assert_json .error null
	assert_json '.command | join(" ")' "python3 -c print(2 + 2)"
}

@test "sandbox: the programs of the host, without any root file system" {
	sandbox -- sh -c 'id -u; pwd; hostname; echo "$HOME"; touch x && ls; echo oops >&2; exit 3'
	assert_status 3
	assert_json .stdout $'1000\n/workspace\nsandbox\n/tmp\nx'
	assert_json .stderr oops
	assert_json .returncode 3
	assert_json .workdir /workspace
}

@test "sandbox: every key of the result is there, measured or null" {
	sandbox -- true
	assert_status 0
	assert_json 'keys_unsorted | join(" ")' "status returncode signal timed_out oom_killed stdout stderr \
stdout_truncated stderr_truncated stdout_bytes stderr_bytes duration_seconds cpu_seconds memory_peak_bytes pids_peak cache_key backend \
command workdir error files warnings"
	assert_json '.duration_seconds > 0.0005 and .duration_seconds < 20' true
	assert_json '.cpu_seconds > 0 and .cpu_seconds < 10' true
	if limits_work; then
		assert_json '.memory_peak_bytes == null or .memory_peak_bytes > 10000' true
		assert_json .oom_killed false
	fi
}

@test "sandbox: a signal is told by name and number" {
	sandbox -- sh -c 'kill -SEGV $$'
	assert_status 139
	assert_json .status signaled
	assert_json .returncode -11
	assert_json .signal SIGSEGV
}

@test "sandbox: the program is not pid 1 and its default actions work" {
	sandbox -- sh -c 'echo $$; kill -TERM $$; sleep 20'
	assert_status 143
	assert_json .signal SIGTERM
	assert_json '.stdout | tonumber > 1' true
	sandbox --no-init -- sh -c 'echo $$'
	assert_stdout 1
}

@test "sandbox: what the program leaves behind does not outlive it" {
	sandbox -- sh -c 'sleep 1000 & (sleep 1000 &) ; echo done'
	assert_status 0
	assert_stdout done
	assert_json '.duration_seconds < 10' true
}

@test "sandbox: not found is 127, not executable 126, both with a result" {
	local waive=--best-effort=false
	limits_work || waive=--best-effort
	run -127 --separate-stderr "$BRIG" --root "$BRIG_ROOT" sandbox $waive -- no-such-program
	assert_json .status setup_failed
	assert_json .returncode 127
	assert_contains "$(jget .error)" "no-such-program"
	assert_contains "$stderr" "executable file not found"
	sandbox -- /etc/passwd
	assert_status 126
	assert_json .returncode 126
	sandbox -- /tmp
	assert_status 126
}

@test "sandbox: spec from a file, result to a file, command in place of process.args" {
	echo '{"process":{"args":["echo","spec"],"env":["A=b"]}}' >"$T/spec.json"
	sandbox --spec "$T/spec.json" --result "$T/result.json"
	assert_status 0
	assert_equal "$output" ""
	assert_json .stdout spec "$(cat "$T/result.json")"
	assert_equal "$(stat -c %a "$T/result.json")" 600
	sandbox --spec "$T/spec.json" -- sh -c 'echo $A'
	assert_stdout b
}

@test "sandbox: spec from stdin" {
	local waive=--best-effort
	! limits_work || waive=--best-effort=false
	run "$BRIG" --root "$BRIG_ROOT" sandbox $waive --spec - <<<'{"process":{"args":["echo","hi"]}}'
	assert_status 0
	assert_contains "$output" '"stdout":"hi\n"'
}

@test "sandbox: standard input is nothing, a text, a file or ours" {
	sandbox -- cat
	assert_status 0
	assert_stdout ""
	echo '{"process":{"args":["cat"]},"annotations":{"org.brig.stdin":"a text"}}' >"$T/spec.json"
	sandbox --spec "$T/spec.json"
	assert_stdout "a text"
	sandbox --spec "$T/spec.json" --stdin none
	assert_stdout ""
	echo "a file" >"$T/in"
	sandbox --stdin "$T/in" -- cat
	assert_stdout "a file"
	sandbox --stdin - -- cat <<<"ours"
	assert_stdout "ours"
}

@test "sandbox: a text for stdin larger than a pipe arrives whole" {
	head -c 300000 /dev/zero | tr '\0' x | jq -Rs '{process: {args: ["wc", "-c"]},
		annotations: {"org.brig.stdin": .}}' >"$T/spec.json"
	sandbox --spec "$T/spec.json"
	assert_stdout 300000
	sandbox --spec "$T/spec.json" -- true
	assert_status 0
}

@test "sandbox: output that is no UTF-8 becomes replacement characters" {
	sandbox -- printf 'a\377\300b\303\244'
	assert_stdout $'a\xef\xbf\xbd\xef\xbf\xbdb\xc3\xa4'
}

@test "sandbox: --core-scheduling, or the reason why there is none" {
	# PR_SCHED_CORE, PR_SCHED_CORE_GET
	local get='import ctypes as c; n = c.c_ulong(); r = c.CDLL(None).prctl(62, 0, 0, 0, c.byref(n)); print(r, n.value != 0)'
	sandbox --core-scheduling -- python3 -c "$get"
	if [ "$status" = 125 ]; then
		assert_contains "$stderr" "core-scheduling: this kernel has no core scheduling"
		sandbox --core-scheduling --best-effort -- true
		assert_status 0
		assert_json '.warnings | map(select(startswith("core-scheduling:"))) | length' 1
	else
		[[ $(jget .stdout) == "0 True"* || $(jget .stdout) == "-1 False"* ]] || fail "$output"
	fi
}

@test "sandbox: a mistake is one sentence that names the member, 125, and a result" {
	local spec
	for spec in '{"process":{"args":["a"],"noNewPriviliges":true}}' '{"process":{"args":"a"}}' \
		'{"process":{"args":["a"]},"annotations":{"org.brig.memroy":"5m"}}' '{'; do
		echo "$spec" >"$T/spec.json"
		sandbox --spec "$T/spec.json"
		assert_status 125
		assert_json .status setup_failed
		assert_contains "$(jget .error)" "sandbox spec"
		assert_equal "$(grep -c . <<<"$stderr")" 1
	done
	echo '{}' >"$T/spec.json"
	sandbox --spec "$T/spec.json"
	assert_contains "$(jget .error)" "process.args: is missing"
	sandbox --spec "$T/none.json"
	assert_status 125
	assert_contains "$(jget .error)" "none.json"
	sandbox --memory 5x -- true
	assert_status 125
	assert_contains "$(jget .error)" '--memory: "5x" is not a size'
	sandbox --rootfs "$T/no-rootfs" -- true
	assert_status 125
	assert_contains "$(jget .error)" "no-rootfs"
	sandbox --nosuch -- true
	assert_status 125
	assert_contains "$stderr" "--nosuch"
}

@test "sandbox: a filled work directory and a given root file system" {
	mkdir "$T/data"
	echo content >"$T/data/file"
	chmod 755 "$T/data"
	sandbox --bind "$T/data:/data" -- sh -c 'cat /data/file; echo x >/data/file'
	assert_json .stdout content
	assert_contains "$(jget .stderr)" "Read-only file system"
	sandbox --rootfs "$(busybox_rootfs)" -- sh -c 'pwd; echo a >file; cat file'
	assert_status 0
	assert_json .stdout $'/tmp\na'
}

@test "sandbox: files in the outputs directory belong to its owner" {
	mkdir "$T/out"
	sandbox --outputs "$T/out" -- sh -c 'echo result >/outputs/file'
	[ "$status" = 0 ] || [[ $(jget .error) != *"id-mapped"* ]] || skip "no id-mapped mounts on this file system"
	assert_status 0
	assert_equal "$(cat "$T/out/file")" result
	assert_equal "$(stat -c %u:%g "$T/out/file")" "$(id -u):$(id -g)"
}

@test "sandbox: the environment has a key" {
	local key
	sandbox --cache-key -- true
	assert_status 0
	key=$output
	[[ $key =~ ^sandbox-env:[0-9a-f]{64}$ ]] || fail "$key"
	sandbox --cache-key -- false
	assert_equal "$output" "$key"
	sandbox --cache-key --memory 512m -- true
	assert_equal "$output" "$key"
	sandbox --cache-key --memory 64m -- true
	[ "$output" != "$key" ] || fail "the limit is not in the key"
	sandbox -- true
	assert_json .cache_key "$key"
}

@test "sandbox: --plan shows what would be done" {
	sandbox --plan -- true
	assert_status 0
	jget . >/dev/null
}

@test "sandbox: --help lists every option" {
	local option
	run_brig sandbox --help
	assert_status 0
	for option in spec result memory cpus pids timeout cpu-time output-limit tmp-size network \
		env-allow env rootfs workdir user secret bind outputs stdin best-effort no-init cache-key; do
		assert_contains "$output" "--$option"
	done
}

@test "sandbox: TERM for brig ends the program and still gives a result" {
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --result "$T/result.json" -- \
		sh -c 'echo started; sleep 45678' 2>/dev/null &
	local pid=$!
	wait_for 20 pgrep -P "$pid" -f '[b]rig-init' >/dev/null
	sleep 0.5
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	assert_status 137
	assert_json .status signaled "$(cat "$T/result.json")"
	assert_json .stdout started "$(cat "$T/result.json")"
}

gone() { ! pgrep -f "$1" >/dev/null; }

@test "sandbox: ends when nobody waits for the result any more" {
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- \
		sleep 98765 2>/dev/null | sleep 1 &
	wait_for 20 pgrep -f '[s]leep 98765' >/dev/null
	wait $! || true
	wait_for 10 gone '[s]leep 98765' || fail "still there"
}

@test "sandbox: the examples fit the schema, and the mistakes do not" {
	need_command python3
	python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	python3 - "$TREE" <<'EOF'
import glob, json, sys
from jsonschema import Draft202012Validator as Validator
tree = sys.argv[1]
schema = json.load(open(tree + "/spec/sandbox.schema.json"))
Validator.check_schema(schema)
v = Validator(schema)
files = glob.glob(tree + "/contrib/examples/*.json")
assert len(files) >= 6
for f in files:
    v.validate(json.load(open(f)))
good = {"process": {"args": ["true"]}}
for bad in ({"proces": {}}, {"process": {"args": "true"}}, {"process": {"args": []}}, {"hooks": {}},
            {"annotations": {"org.brig.memroy": "5m"}}, {"annotations": {"org.brig.memory": "5x"}},
            {"annotations": {"org.brig.timeout": "-1"}}, {"process": {"terminal": True}},
            {"linux": {"resources": {"memory": {"limt": 1}}}}, {"annotations": {"org.brig.network": "all"}}):
    assert not v.is_valid({**good, **bad}), bad
for fine in ({"annotations": {"com.example": "x", "org.brig.memory": "1.5GiB", "org.brig.timeout": "none"}},
             {"linux": {"maskedPaths": [], "namespaces": [{"type": "network", "path": "/x"}]}}):
    v.validate({**good, **fine})
EOF
}

@test "sandbox: a loaded image is the root file system" {
	local docker=${BRIG%/*}/brig-docker
	[ -x "$docker" ] || skip "brig-docker is not built"
	export BRIG_DOCKER_DATA=$T/data BRIG_DOCKER_RUN=$T/run
	tar -C "$(python_rootfs)" --exclude ./root --exclude ./var/cache -c . | "$docker" import -c 'ENV WORD=image' -c 'ENV OTHER=o' \
		-c 'CMD ["python3", "-c", "import os; print(os.environ[\"WORD\"], os.environ[\"OTHER\"], os.getuid())"]' - py:1
	sandbox --spec - <<<'{"annotations": {"org.brig.image": "py:1"}, "process": {"env": ["WORD=spec"]}}'
	assert_json .stdout "spec o 1000"
	# two layers; nothing can be written, nothing stays
	"$docker" run --name more py:1 sh -c 'echo second >/second'
	"$docker" commit more py:2
	"$docker" rm more
	sandbox --image py:2 -- sh -c 'cat /second; echo x >/second'
	assert_json .stdout second
	assert_contains "$(jq -r .stderr <<<"$output")" "Read-only file system"
	local key
	key=$(jq -r .cache_key <<<"$output")
	sandbox --image py:1 -- true
	[ "$(jq -r .cache_key <<<"$output")" != "$key" ]
	sandbox --image absent -- true
	assert_status 125
	assert_contains "$(jq -r .error <<<"$output")" "image absent is not in $T/data"
	sandbox --image py:1 --rootfs / -- true
	assert_contains "$(jq -r .error <<<"$output")" "both"
	"$docker" rmi py:1 py:2
}

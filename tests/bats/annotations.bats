#!/usr/bin/env bats
# places: root rootless
# What callers of crun ask for by annotations, and --config.

load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

@test "run.oci.keep_original_groups: the caller's supplementary groups stay, in exec too" {
	need_root
	make_bundle "$T/bundle" sh -c 'grep ^Groups: /proc/self/status; sleep 1000'
	edit_config "$T/bundle" '.process.user.additionalGids = [10] | .annotations["run.oci.keep_original_groups"] = "1"'
	id=$(new_id)
	setpriv --groups 4711,4712 "$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle" "$id" </dev/null >"$T/out" 2>&1 3>&-
	wait_for 5 grep -q Groups "$T/out"
	assert_equal "$(tr -d '\t ' <"$T/out")" Groups:47114712
	run_apart setpriv --groups 4713 "$BRIG" --root "$BRIG_ROOT" exec "$id" grep ^Groups: /proc/self/status
	assert_contains "$output" 4713
	"$BRIG" --root "$BRIG_ROOT" delete -f "$id"
	edit_config "$T/bundle" 'del(.annotations)'
	edit_config "$T/bundle" '.process.args = ["grep", "^Groups:", "/proc/self/status"]'
	run setpriv --groups 4711,4712 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$id"
	assert_equal "${output//[$'\t ']/}" Groups:10
}

# bpf INSTRUCTION...: each "code jt jf k", as base64.
bpf() {
	python3 -c 'import base64, struct, sys
print(base64.b64encode(b"".join(struct.pack("=HBBI", *map(int, a.split())) for a in sys.argv[1:])).decode())' "$@"
}

@test "run.oci.seccomp_bpf_data: a compiled program stands in for linux.seccomp" {
	need_command python3
	# Load the number; mkdir and mkdirat fail with ENOTBLK (15), all else is allowed.
	local program
	program=$(bpf "32 0 0 0" "21 1 0 $(python3 -c 'print({"x86_64": 83}.get(__import__("os").uname().machine, 34))')" \
		"21 0 1 $(python3 -c 'print({"x86_64": 258}.get(__import__("os").uname().machine, 34))')" "6 0 0 327695" "6 0 0 2147418112")
	make_bundle "$T/bundle" sh -c 'mkdir /tmp/x; grep ^Seccomp: /proc/self/status'
	edit_config "$T/bundle" '.annotations["run.oci.seccomp_bpf_data"] = $p |
		.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["openat"], action: "SCMP_ACT_ERRNO"}]}' \
		--arg p "$program"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_contains "$stderr" "Block device required"
	assert_equal "${output//[$'\t ']/}" Seccomp:2
	start_container '.process.args = ["sleep", "1000"]'
	inside mkdir /tmp/y
	assert_contains "$stderr" "Block device required"
	local bad
	for bad in x '====' "${program}A" AAAA ""; do
		edit_config "$T/bundle" '.annotations["run.oci.seccomp_bpf_data"] = $p' --arg p "$bad"
		run_brig run -b "$T/bundle" "$(new_id bad)"
		[ "$status" -ne 0 ]
		assert_contains "$stderr" "run.oci.seccomp_bpf_data"
	done
}

@test "run.oci.hooks.stdout and stderr: what hooks write" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "echo out; echo err >&2"]}] |
		.hooks.poststop = [{path: "/bin/sh", args: ["sh", "-c", "echo later"]}] |
		.annotations = {"run.oci.hooks.stdout": ($t + "/out"), "run.oci.hooks.stderr": ($t + "/err")}' --arg t "$T"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$(<"$T/out")" $'out\nlater'
	assert_equal "$(<"$T/err")" err
	edit_config "$T/bundle" '.annotations["run.oci.hooks.stdout"] = "/no/such/dir/file"'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "run.oci.hooks.stdout"
}

@test "annotations that ask for what is not there are errors" {
	make_bundle "$T/bundle" true
	local key
	for key in run.oci.seccomp.plugins run.oci.systemd.force_cgroup_v1; do
		edit_config "$T/bundle" '.annotations = {($k): "x"}' --arg k "$key"
		run_brig run -b "$T/bundle" "$(new_id)"
		[ "$status" -ne 0 ]
		assert_contains "$stderr" "annotations.$key is not supported"
	done
}

@test "run.oci.seccomp_fail_unknown_syscall, run.oci.mount_context_type: wrong names are errors" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "no_such_call"], action: "SCMP_ACT_ERRNO"}]}'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	edit_config "$T/bundle" '.annotations["run.oci.seccomp_fail_unknown_syscall"] = "1"'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "names[1]: unknown system call no_such_call"
	edit_config "$T/bundle" '.annotations = {"run.oci.mount_context_type": "any"}'
	run_brig run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" run.oci.mount_context_type
}

@test "a normal user needs no user namespace in the configuration; a single id is the program's" {
	need_rootless
	make_bundle "$T/bundle" sh -c 'id -u; cat /proc/self/uid_map'
	edit_config "$T/bundle" '.linux.namespaces |= map(select(.type != "user")) | del(.linux.uidMappings, .linux.gidMappings)'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	[[ $(tr -s ' \n' ' ' <<<"$output") == "0 0 $UID 1 1 "* ]] || fail "$output"
	edit_config "$T/bundle" '.linux.namespaces += [{type: "user"}] | .process.user = {uid: 7, gid: 8} |
		.linux.uidMappings = [{containerID: 0, hostID: ($u | tonumber), size: 1}] |
		.linux.gidMappings = [{containerID: 0, hostID: ($g | tonumber), size: 1}]' --arg u "$(id -u)" --arg g "$(id -g)"
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$(tr -s ' \n' ' ' <<<"$output")" "7 7 $UID 1 "
}

@test "--config: another file than config.json" {
	make_bundle "$T/bundle" echo first
	cp "$T/bundle/config.json" "$T/other.json"
	jq '.process.args[1] = "second"' "$T/bundle/config.json" >"$T/other.json"
	run_brig run --config "$T/other.json" -b "$T/bundle" "$(new_id)"
	assert_equal "$output" second
	cd "$T"
	run_brig run -f other.json -b "$T/bundle" "$(new_id)"
	assert_equal "$output" second
	run_brig run -f absent.json -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" absent.json
}

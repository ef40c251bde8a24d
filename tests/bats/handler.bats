#!/usr/bin/env bats
# places: root rootless
# run.oci.handler: a program of the host runs what the container has as its program.

load ../lib/common
load ../lib/live

setup() {
	brig_setup
	id=$(new_id)
	mkdir -m 755 "$T/handlers"
	export BRIG_HANDLER_DIR=$T/handlers
}

teardown() {
	end_containers
	brig_teardown
}

# handled NAME FILTER ARG...: the bundle, with the handler.
handled() {
	make_bundle "$T/bundle" "${@:3}"
	edit_config "$T/bundle" ".annotations[\"run.oci.handler\"] = \"$1\" | $2"
}

# A static program: a shell as the handler sees everything.
static_handler() { cp "$(type -P busybox)" "$T/handlers/sh"; }

@test "handler: a WebAssembly module, run by wasm-interp with libraries bound from the host" {
	need_command wasm-interp
	local lib mounts='.'
	ln -s "$(type -P wasm-interp)" "$T/handlers/wasm"
	for lib in $(ldd "$(type -P wasm-interp)" | grep -o '/[^ ]*'); do
		mounts+=" | .mounts += [{destination: \"$lib\", source: \"$lib\", type: \"bind\", options: [\"bind\", \"ro\"]}]"
	done
	handled wasm "$mounts" --run-all-exports /answer.wasm
	# (module (func (export "answer") (result i32) (i32.mul (i32.const 6) (i32.const 7))))
	base64 -d <<<AGFzbQEAAAABBQFgAAF/AwIBAAcKAQZhbnN3ZXIAAAoJAQcAQQZBB2wL >"$T/bundle/rootfs/answer.wasm"
	run_brig run -b "$T/bundle" "$id"
	assert_status 0
	assert_equal "$output" "answer() => i32:42"
	edit_config "$T/bundle" ".mounts |= map(select(.destination | startswith(\"/lib\") | not))"
	rm -rf "$T/bundle/rootfs/lib64"
	run_brig run -b "$T/bundle" "$id"
	assert_status 127
	assert_contains "$stderr" "does not have its loader"
}

@test "handler: the annotation of WebAssembly images, and the name of the program where it is smart" {
	cp "$(type -P busybox)" "$T/handlers/echo"
	ln -s echo "$T/handlers/wasm"
	handled wasm '.process.args = ["/Module.WASM", "x"]'
	local variant handler
	seen() { run_brig plan -b "$T/bundle"; jq -r '.process.handler // "none"' <<<"$output"; }
	while read -r variant handler program; do
		edit_config "$T/bundle" '.annotations = {"module.wasm.image/variant": $v} | .process.args[0] = $p' --arg v "$variant" --arg p "$program"
		assert_equal "$variant $program $(seen)" "$variant $program $handler"
	done <<-END
		compat wasm /bin/true
		compat-smart wasm /Module.WASM
		compat-smart wasm /a.b/m.wat
		compat-smart none /bin/true
		compat-smart none /a.wasm/true
		other none /m.wasm
	END
	edit_config "$T/bundle" '.annotations = {"module.wasm.image/variant": "compat", "run.oci.handler": "echo"} | .process.args = ["module"]'
	run_brig run -b "$T/bundle" "$id"
	assert_equal "$output" module
	edit_config "$T/bundle" '.annotations = {"module.wasm.image/variant": "compat"}'
	rm "$T/handlers/wasm"
	run_brig run -b "$T/bundle" "$id"
	assert_status 125
	assert_contains "$stderr" "there is no program $T/handlers/wasm"
}

@test "handler: it is held in as the program would be, and gets no descriptor" {
	static_handler
	handled sh . -c 'echo $$; grep -E "^(Seccomp|NoNewPrivs|CapEff)" /proc/self/status; ls /proc/self/fd; ls /; cat /proc/$$/comm'
	cp "$T/bundle/config.json" "$T/config.json"
	run_brig run -b "$T/bundle" "$id"
	assert_status 0
	local by_handler=$output
	edit_config "$T/bundle" 'del(.annotations) | .process.args = ["sh"] + .process.args'
	run_brig run -b "$T/bundle" "$id"
	assert_equal "$by_handler" "$output"
	cp "$T/config.json" "$T/bundle/config.json"
	run_brig plan -b "$T/bundle"
	assert_json '.process.handler + " " + .process.args[1]' "sh -c"
	assert_json '[.steps[].name] | index("open the handler") != null' true
	run_apart "$BRIG" features
	assert_json '.annotations["org.brig.handler-dir"]' "$T/handlers"
}

@test "handler: create, start and exec" {
	static_handler
	handled sh . -c 'echo "$0 $1" >/tmp/made; sleep 1000' a b
	"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$id" </dev/null >"$T/log" 2>&1 3>&-
	run_brig start "$id"
	assert_status 0
	wait_for 5 grep -q "a b" "$T/bundle/rootfs/tmp/made"
	inside cat /tmp/made
	assert_equal "$output" "a b"
	# In a namespace of another one, as in a pod. (The user namespace of a normal user's has no groups.)
	[ "$EUID" = 0 ] || return 0
	edit_config "$T/bundle" '.process.args = ["-c", "echo $$"] | .linux.namespaces |= map(if .type == "pid" or .type == "user"
		then .path = "/proc/'"$("$BRIG" --root "$BRIG_ROOT" state "$id" | jq .pid)"'/ns/" + .type else . end)'
	run_brig run -b "$T/bundle" "$id-2"
	assert_status 0
	[ "$output" -gt 1 ]
}

# The file of the handler belongs to whom root of the container is outside.
@test "handler, hostile: the program cannot write the handler's file by /proc" {
	static_handler
	chmod 755 "$T/handlers/sh"
	# As long as it runs, and when it does not any more.
	handled sh . -c 'echo x >>/proc/self/exe; exec 9</proc/self/exe; exec /bin/busybox sh -c "echo x >>/proc/self/fd/9; echo x >/proc/self/fd/9; rm -f /proc/self/fd/9; chmod 777 /proc/self/fd/9; true"'
	run_brig run -b "$T/bundle" "$id"
	assert_status 0
	cmp "$T/handlers/sh" "$(type -P busybox)"
	assert_equal "$(stat -c %a "$T/handlers/sh")" 755
}

@test "handler: what is refused names the file and the way out" {
	make_bundle "$T/bundle" true
	printf '#!/bin/sh\n' >"$T/handlers/script"
	cp "$(type -P busybox)" "$T/handlers/suid"
	: >"$T/handlers/data"
	chmod 755 "$T/handlers/script"
	chmod 4755 "$T/handlers/suid"
	mkfifo -m 755 "$T/handlers/fifo"
	local name words
	while read -r name words; do
		edit_config "$T/bundle" '.annotations["run.oci.handler"] = $n' --arg n "$name"
		run_brig run -b "$T/bundle" "$id"
		assert_status 125
		assert_contains "$stderr" "annotations.run.oci.handler"
		assert_contains "$stderr" "$words"
	done <<-E
		absent there is no program $T/handlers/absent
		script is a script
		suid set-user-ID
		data is not an executable file
		fifo is not an executable file
		../sh is not a name
		-x is not a name
	E
	run_brig --handler-dir relative run -b "$T/bundle" "$id"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "not an absolute path"
}

# places: root rootless
# What a service needs of `brig sandbox`: streams as they come, a terminal, files, a prepared start.
load ../lib/common
load ../lib/sandbox

@test "sandbox: --stdout and --stderr get the output as it comes, within the limit" {
	local waive=()
	limits_work || waive=(--best-effort)
	mkfifo "$T/out" "$T/in"
	exec 6<>"$T/in" # opening it for reading must not wait
	# The program goes on only when its first line has been read on the other side.
	"$BRIG" --root "$BRIG_ROOT" sandbox "${waive[@]}" --stdout fd:3 --stderr fd:4 --output-limit 1k \
		--stdin "$T/in" --result "$T/result" -- \
		sh -c 'echo first; read x; head -c 2000 /dev/zero | tr "\0" y; echo gone >&2' \
		3>"$T/out" 4>"$T/err" 6<&- &
	exec 5<"$T/out"
	read -r -t 20 line <&5
	assert_equal "$line" first
	echo go >&6
	exec 6<&-
	assert_equal "$(cat <&5 | wc -c)" 1018
	exec 5<&-
	wait $!
	assert_equal "$(cat "$T/err")" gone
	assert_json '.stdout + .stderr' "" "$(cat "$T/result")"
	assert_json .stdout_truncated true "$(cat "$T/result")"
	assert_json .stderr_truncated false "$(cat "$T/result")"
	assert_json .returncode 0 "$(cat "$T/result")"
}

@test "sandbox: a reader of --stdout that goes away does not stop the program" {
	mkfifo "$T/out"
	head -c 10 <"$T/out" >/dev/null &
	sandbox --stdout fd:3 -- sh -c 'head -c 1000000 /dev/zero; exit 3' 3>"$T/out"
	assert_status 3
	sandbox --stdout fd:2 -- true
	assert_status 125
	assert_contains "$(jget .error)" "--stdout"
}

@test "sandbox: --job prepares all, and the program comes later" {
	mkfifo "$T/job"
	local waive=()
	limits_work || waive=(--best-effort)
	"$BRIG" --root "$BRIG_ROOT" sandbox "${waive[@]}" --timeout 5s --job fd:3 <"$T/job" 3<&0 >"$T/result" &
	exec 5>"$T/job"
	# Prepared: the record in the state directory has the cgroup. The clock does not run yet.
	wait_for 20 compgen -G "$BRIG_ROOT/sandbox-*" >/dev/null
	echo '{"args": ["sh", "-c", "echo $A $HOME"], "env": ["A=b"], "timeout_ms": 20000}' >&5
	exec 5>&-
	wait $!
	assert_json .stdout "b /tmp" "$(cat "$T/result")"
	assert_json .status exited "$(cat "$T/result")"
	assert_json '.duration_seconds < 15' true "$(cat "$T/result")"
	# Nobody sends one.
	sandbox --job fd:3 3</dev/null
	assert_status 125
	assert_contains "$(jget .error)" "its sender went away"
	sandbox --job fd:3 3<<<'{"args": []}'
	assert_status 125
	assert_contains "$(jget .error)" "nothing to run"
	sandbox --job fd:3 3<<<'{"args": ["sleep", "30"], "timeout_ms": 100}'
	assert_status 124
	assert_json .status timed_out
	# Where the first process has a memory of its own, it learns the program, too. (newuidmap does not work there.)
	[ "$EUID" = 0 ] || return 0
	run "$TESTS_LIB/without-clone3" "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --job fd:3 \
		3<<<'{"args": ["sh", "-c", "echo $A"], "env": ["A=b"]}' 2>/dev/null
	assert_status 0
	assert_contains "$output" '"stdout":"b\n"'
}

@test "sandbox: --copy-in and --copy-out, only what is new, no links and no devices" {
	mkdir "$T/out"
	printf 'a\0b' >"$T/given"
	sandbox --copy-in "$T/given:in.bin" --copy-in "$T/given:same.bin" --copy-out "$T/out" -- sh -c '
		wc -c <in.bin; stat -c %u in.bin; echo more >>in.bin; mkdir -p d/e empty; echo x >d/e/f
		ln -s /etc/passwd link; mkfifo fifo; ln d/e/f hard; chmod 000 hard; echo n >"$(printf "a\nb")"'
	assert_status 0
	assert_stdout $'3\n1000'
	if [ "$EUID" = 0 ]; then
		assert_json '[.files[].name] | sort | join(" ")' "d/e/f hard in.bin"
		assert_json '.files[] | select(.name == "d/e/f") | .sha256' "$(echo x | sha256sum | cut -d" " -f1)"
		assert_json '.files[] | select(.name == "in.bin") | .size' 8
		assert_equal "$(cd "$T/out" && find . -mindepth 1 | sort | tr '\n' ' ')" "./d ./d/e ./d/e/f ./hard ./in.bin "
	else # a file without any mode bits stays unread, for its owner is somebody else here
		assert_json '[.files[].name] | sort | join(" ")' "in.bin"
	fi
}

@test "sandbox: files only where the working directory is a tmpfs of its own" {
	mkdir "$T/out" "$T/work"
	echo x >"$T/given"
	sandbox --bind "$T/work:/workspace:rw" --copy-in "$T/given:x" -- true
	assert_status 125
	assert_contains "$(jget .error)" "not on a tmpfs"
	sandbox --workdir /usr --copy-out "$T/out" -- true
	assert_status 125
	sandbox --copy-in "$T/given:../x" -- true
	assert_status 125
	sandbox --copy-in "$T/given:x" --copy-in "$T/given:x" -- true
	assert_status 125
	assert_equal "$(ls "$T/work" "$T/out" | grep -v :)" ""
}

@test "sandbox: --terminal gives the program a terminal, and its other end to a socket" {
	local waive=
	limits_work || waive=--best-effort
	run python3 "$TESTS_LIB/sandbox-terminal" "$BRIG" --root "$BRIG_ROOT" sandbox $waive --no-init
	assert_status 0
	assert_contains "$output" "/dev/pts/0"
	assert_contains "$output" "size 33 99"
	assert_contains "$output" '"returncode":3'
}

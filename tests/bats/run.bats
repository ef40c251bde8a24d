#!/usr/bin/env bats
# places: root rootless
# run in the foreground: the exit status, signals, the terminal, what is left; and --detach.

load ../lib/common
load ../lib/live

teardown() {
	end_containers >/dev/null 2>&1 || true
	brig_teardown
}

@test "run: the exit status is the program's, 128 + N after a signal; nothing is left" {
	make_bundle "$T/bundle" sh -c 'exit 7'
	run_brig run --pid-file "$T/init" -b "$T/bundle" "$(new_id)"
	assert_status 7
	[ ! -e "$BRIG_ROOT/$(new_id)" ]
	! kill -0 "$(<"$T/init")" 2>/dev/null
	# Process 1 of a pid namespace dies of no signal of its own, but of a fault it does.
	edit_config "$T/bundle" '.process.args = ["sh", "-c", "ulimit -t 1; while :; do :; done"]'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 137
}

@test "run: signals to brig go on to the program" {
	make_bundle "$T/bundle" sh -c 'for s in HUP INT USR1 WINCH; do trap "echo $s" $s; done
		trap "echo TERM; exit 9" TERM; echo ready; while :; do sleep 0.05; done'
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" </dev/null >"$T/out" 2>&1 3>&- &
	local pid=$! signal lines=1
	wait_for 5 grep -q ready "$T/out"
	# One after the other, for the shell tells their order only so.
	for signal in HUP INT USR1 WINCH TERM; do
		kill -$signal $pid
		lines=$((lines + 1))
		wait_for 5 eval '[ "$(wc -l <"$T/out")" -ge $lines ]'
	done
	run wait $pid
	assert_status 9
	assert_equal "$(tr '\n' ' ' <"$T/out")" "ready HUP INT USR1 WINCH TERM "
}

@test "run: a terminal has the size of the caller's, follows it, and passes bytes and the exit status" {
	make_bundle "$T/bundle" sh -c 'stty size; trap "stty size; exit 4" WINCH; read -r line; echo "read $line"; while :; do sleep 0.05; done'
	edit_config "$T/bundle" '.process.terminal = true'
	run /usr/bin/python3 - "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" <<-'END'
		import fcntl, os, pty, signal, struct, sys, termios
		signal.alarm(30)
		def size(fd, rows, columns):
		    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
		def until(words):
		    seen = b""
		    while words not in seen:
		        seen += os.read(master, 4096)
		    return seen
		pid, master = pty.fork()
		if pid == 0:
		    size(0, 33, 99)
		    os.execv(sys.argv[1], sys.argv[1:])
		until(b"33 99")
		os.write(master, b"hello\n")
		until(b"read hello")
		size(master, 44, 111)
		until(b"44 111")
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	assert_equal "$output" 4
}

@test "run --detach: brig ends, the program goes on, and belongs to nobody's session" {
	make_bundle "$T/bundle" sh -c 'echo said; sleep 1000'
	id=$(new_id)
	run_detached run -d --pid-file "$T/init" -b "$T/bundle" "$id"
	assert_status 0
	has_status running
	wait_for 5 grep -qx said "$T/detached.out"
	[ "$(ps -o sid= -p "$(<"$T/init")" | tr -d ' ')" = "$(<"$T/init")" ]
	run_brig run -b "$T/bundle" "$id"
	assert_status 125
	assert_contains "$stderr" "container with given ID already exists"
	has_status running
}

@test "run: a session keyring of its own; --no-new-keyring keeps the caller's" {
	need_root
	local get='import ctypes; print(ctypes.CDLL(None).syscall(250, 0, -3, 0))' words
	make_python_bundle "$T/bundle" python3 -c "$get; print(open('/proc/self/mountinfo').readline().split()[4])"
	# 250 is keyctl: 1 joins a new session keyring, 0 tells the one that we have.
	caller() {
		run_apart /usr/bin/python3 -c "import ctypes, os, sys; ctypes.CDLL(None).syscall(250, 1, 0); $get
sys.stdout.flush(); os.execv(sys.argv[1], sys.argv[1:])" "$BRIG" --root "$BRIG_ROOT" run "$@" -b "$T/bundle" "$(new_id)"
		assert_status 0
		mapfile -t words <<<"$output"
	}
	caller
	[ "${words[0]}" != "${words[1]}" ] || fail "the caller's keyring: $output"
	caller --no-new-keyring
	assert_equal "${words[1]} ${words[2]}" "${words[0]} /"
	caller --no-pivot --no-new-keyring
	assert_equal "${words[1]} ${words[2]}" "${words[0]} /"
}

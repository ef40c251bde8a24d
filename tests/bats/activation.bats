#!/usr/bin/env bats
# places: root rootless
# What a service manager hands over: LISTEN_FDS and NOTIFY_SOCKET; and --pidfd-socket, by which the
# manager learns of the container's process.

load ../lib/common

SAY='import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["NOTIFY_SOCKET"])
s.send(sys.argv[1].encode())
'
SAY_LATE="import time
time.sleep(0.5)
${SAY}time.sleep(100)"

teardown() {
	if [ -n "${manager:-}" ]; then
		kill "$manager"
		wait "$manager" || true
	fi
	brig_teardown
}

start_manager() {
	[ -x /usr/bin/python3 ] || skip "no /usr/bin/python3"
	"$TESTS_LIB/notify-manager" "$T/manager" "$T/messages" 3>&- &
	manager=$!
	wait_for 10 [ -S "$T/manager" ]
	export NOTIFY_SOCKET=$T/manager
}

messages() { cat "$T/messages"; }

# listening N COMMAND...: as if a manager had passed the files $T/3, $T/4, ...
listening() {
	local n=$1
	shift
	printf three >"$T/3"
	printf four >"$T/4"
	printf five >"$T/5"
	run_apart env LISTEN_FDNAMES=a:b:c LISTEN_FDS="$n" sh -c \
		'exec 3<"$T/3" 4<"$T/4" 5<"$T/5"; LISTEN_PID=$$; export LISTEN_PID; exec "$@"' sh "$@"
}

@test "LISTEN_FDS: the container has the descriptors, and is the one who is meant" {
	make_bundle "$T/bundle" sh -c 'echo $LISTEN_FDS $LISTEN_PID $LISTEN_FDNAMES; cat <&3; cat <&4; ls /proc/self/fd'
	listening 2 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_status 0
	# 5 is the directory that ls reads
	assert_equal "$output" $'2 1 a:b:c\nthreefour0\n1\n2\n3\n4\n5'
}

@test "LISTEN_FDS and --preserve-fds: the sockets come first" {
	make_bundle "$T/bundle" sh -c 'echo $LISTEN_FDS; cat <&5'
	listening 2 "$BRIG" --root "$BRIG_ROOT" run --preserve-fds 1 -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$output" $'2\nfive'
}

@test "LISTEN_FDS of somebody else are not passed, an absent descriptor is an error" {
	make_bundle "$T/bundle" sh -c 'echo "${LISTEN_FDS-none}"; ls /proc/self/fd | wc -l'
	LISTEN_PID=1 LISTEN_FDS=2 run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	assert_equal "$output" $'none\n4'
	listening 4 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "descriptor 6 is not open"
}

@test "LISTEN_FDS: a container in the host's pid namespace" {
	need_root
	make_bundle "$T/bundle" sh -c 'echo "$LISTEN_PID is $$"'
	edit_config "$T/bundle" '.linux.namespaces |= map(select(.type != "pid"))'
	listening 1 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_status 0
	[[ $output =~ ^([0-9]+)\ is\ ([0-9]+)$ ]]
	assert_equal "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
}

@test "LISTEN_FDS with create and start" {
	make_bundle "$T/bundle" sh -c 'cat <&3; sleep 100'
	listening 1 sh -c 'LISTEN_PID=$$; exec "$@" >"$T/log" 2>&1' sh \
		"$BRIG" --root "$BRIG_ROOT" create -b "$T/bundle" "$(new_id)"
	assert_status 0
	run_brig start "$(new_id)"
	assert_status 0
	wait_for 5 grep -q three "$T/log"
	run_brig delete --force "$(new_id)"
}

@test "NOTIFY_SOCKET: run tells the manager of the container that it is ready" {
	start_manager
	make_python_bundle "$T/bundle" python3 -c "$SAY" $'STATUS=up\nREADY=1'
	edit_config "$T/bundle" '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 0
	wait_for 5 grep -q READY "$T/messages"
	assert_equal "$(head -n 1 "$T/messages")" "READY=1"
}

@test "NOTIFY_SOCKET: run -d waits for it, and hands the container's pid over" {
	start_manager
	make_python_bundle "$T/bundle" python3 -c "$SAY_LATE" READY=1
	edit_config "$T/bundle" '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
	"$BRIG" --root "$BRIG_ROOT" run -d --pid-file "$T/pid" -b "$T/bundle" "$(new_id)" >"$T/out" 2>&1 3>&-
	assert_equal "$(messages)" "MAINPID=$(<"$T/pid")"$'\nREADY=1\nBARRIER=1'
	run_brig delete --force "$(new_id)"
}

@test "NOTIFY_SOCKET: start waits for it" {
	start_manager
	make_python_bundle "$T/bundle" python3 -c "$SAY_LATE" READY=1
	edit_config "$T/bundle" '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
	"$BRIG" --root "$BRIG_ROOT" create --pid-file "$T/pid" -b "$T/bundle" "$(new_id)" >"$T/out" 2>&1 3>&-
	[ ! -e "$T/messages" ] || [ -z "$(messages)" ]
	run_brig start "$(new_id)"
	assert_status 0
	assert_equal "$(messages)" "MAINPID=$(<"$T/pid")"$'\nREADY=1\nBARRIER=1'
	run_brig delete --force "$(new_id)"
}

@test "NOTIFY_SOCKET: a container that ends without a word ends the wait" {
	start_manager
	make_bundle "$T/bundle" sh -c 'ls -ld /run/notify; touch /run/notify/x; echo $NOTIFY_SOCKET; exit 3'
	edit_config "$T/bundle" '.process.env += ["NOTIFY_SOCKET=/elsewhere"]'
	run_brig run -b "$T/bundle" "$(new_id)"
	assert_status 3
	assert_contains "$output" "drwxr-xr-x"
	assert_contains "$output" "/run/notify/notify.sock"
	assert_contains "$stderr" "Read-only file system"
	[ ! -s "$T/messages" ]
}

receive_pidfd() {
	[ -x /usr/bin/python3 ] || skip "no /usr/bin/python3"
	cat >"$T/receive" <<-'END'
		import array, os, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		fds = array.array("i")
		data, control, _, _ = s.accept()[0].recvmsg(64, 64)
		fds.frombytes(control[0][2])
		for line in open("/proc/self/fdinfo/%d" % fds[0]):
		    if line.startswith("Pid:"):
		        print(line.split()[1])
	END
	timeout 30 /usr/bin/python3 "$T/receive" "$T/socket" >"$T/received" 3>&- &
	receiver=$!
	wait_for 10 [ -S "$T/socket" ]
}

@test "--pidfd-socket and run.oci.pidfd_receiver: run and create send a pidfd of the container's process" {
	local command option
	for command in "run -d" create; do
		receive_pidfd
		option="--pidfd-socket $T/socket"
		make_bundle "$T/bundle-$command" sleep 100
		if [ "$command" = create ]; then
			option=
			edit_config "$T/bundle-$command" ".annotations[\"run.oci.pidfd_receiver\"] = \"$T/socket\""
		fi
		# shellcheck disable=SC2086
		"$BRIG" --root "$BRIG_ROOT" $command $option --pid-file "$T/pid" \
			-b "$T/bundle-$command" "$(new_id)" >"$T/out" 2>&1 3>&-
		wait "$receiver"
		assert_equal "$(<"$T/received")" "$(<"$T/pid")"
		run_brig delete --force "$(new_id)"
		assert_status 0
		rm "$T/socket"
	done
}

@test "--pidfd-socket: nobody there is an error before anything is made" {
	make_bundle "$T/bundle" true
	run_brig run --pidfd-socket "$T/absent" -b "$T/bundle" "$(new_id)"
	[ "$status" -ne 0 ]
	assert_contains "$stderr" "open the socket $T/absent"
}

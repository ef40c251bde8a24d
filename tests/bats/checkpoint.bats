#!/usr/bin/env bats
# places: root
# Checkpoint and restore with the real criu (limits and the freezer: checkpoint-cgroups.bats). What the container is after the restore is asked from
# inside of it.
# shellcheck disable=SC2030,SC2031,SC2154 # bats runs each test in a process of its own
load ../lib/common
load ../lib/live
load ../lib/criu

teardown() {
	end_containers
	brig_teardown
}

setup_file() { find_criu; }

@test "checkpoint: the payload sees the same before and after" {
	need_criu
	# shellcheck disable=SC2016
	local look='hostname; id; pwd; grep -E "^(Cap|Seccomp:|NoNewPrivs|Uid|Gid|Groups)" /proc/1/status
		cut -d" " -f5,6 /proc/1/mountinfo | sort; cat /proc/1/limits; tr "\\0" "\\n" </proc/1/environ
		wc -c </proc/timer_list; ls /sys/firmware; cat /proc/1/oom_score_adj; ls -l /dev | cut -c1-40'
	start_counter '.process.oomScoreAdj = 100 | .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 100}]
		| .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}
		| .hostname = "checkpointed" | .mounts += [("/a", "/b", "/c") | {destination: ., type: "bind",
			source: "/bin", options: ["rbind", "ro", "nosuid"]}]'
	inside sh -c "$look"
	assert_status 0
	local before=$output
	checkpoint
	assert_status 0
	restore
	assert_status 0
	inside sh -c "$look"
	assert_equal "$output" "$before"
}

@test "restore: in the foreground, with pipes as standard streams and the exit status" {
	need_criu
	# shellcheck disable=SC2016
	make_bundle "$T/bundle" sh -c 'echo before; while [ ! -e /go ]; do sleep 0.05; done; echo after; exit 7'
	id=$(new_id)
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$id" </dev/null 2>&1 3>&- | cat >"$T/out1" &
	wait_for 5 grep -q before "$T/out1"
	checkpoint
	assert_status 0
	wait
	touch "$T/bundle/rootfs/go"
	local status=0
	"$BRIG" --root "$BRIG_ROOT" restore -b "$T/bundle" --image-path "$T/image" "$id" </dev/null 3>&- \
		> >(cat >"$T/out2") 2>"$T/err2" || status=$?
	[ "$status" = 7 ] || fail "status $status:" "$(<"$T/err2")"
	wait_for 5 grep -q after "$T/out2"
	run_brig state "$id"
	assert_contains "$stderr" "container does not exist"
}

@test "restore: the terminal's master goes to the console socket" {
	need_criu
	# shellcheck disable=SC2016
	make_bundle "$T/bundle" sh -c 'while read -r line; do echo "got $line"; done'
	edit_config "$T/bundle" '.process.terminal = true'
	id=$(new_id)
	"$TESTS_LIB/recv-fd" "$T/socket1" first >"$T/console1" 3>&- &
	wait_for 5 test -S "$T/socket1"
	run_detached run -d -b "$T/bundle" --console-socket "$T/socket1" "$id"
	assert_status 0
	wait_for 5 grep -q "got first" "$T/console1"
	checkpoint
	assert_status 0
	wait
	"$TESTS_LIB/recv-fd" "$T/socket2" hello >"$T/console2" 3>&- &
	wait_for 5 test -S "$T/socket2"
	restore --console-socket "$T/socket2"
	assert_status 0
	wait_for 5 grep -q "got hello" "$T/console2"
}

@test "checkpoint: user namespace" {
	need_criu
	# shellcheck disable=SC2016
	make_bundle "$T/bundle" sh -c 'while :; do sleep 0.1; done'
	chown -R 100000:100000 "$T/bundle/rootfs"
	# criu cannot restore a cgroup namespace below a user namespace.
	edit_config "$T/bundle" '.linux.namespaces |= map(select(.type != "cgroup")) + [{type: "user"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}]
		| .linux.gidMappings = .linux.uidMappings'
	id=$(new_id)
	# A file of root's as a stream could not be opened again.
	"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/bundle" "$id" </dev/null >/dev/null 2>&1 3>&-
	checkpoint
	assert_status 0
	"$BRIG" --root "$BRIG_ROOT" restore -d -b "$T/bundle" --image-path "$T/image" "$id" \
		</dev/null >/dev/null 2>&1 3>&- || fail "$(grep Error "$T/work/restore.log" "$T/image/restore.log")"
	inside sh -c 'cat /proc/1/uid_map; id -u'
	assert_contains "$output" 100000
}

@test "checkpoint: a joined network namespace stays outside" {
	need_criu
	need_command ip
	ip netns add "${T##*/}"
	start_counter '(.linux.namespaces[] | select(.type == "network")).path = "/run/netns/'"${T##*/}"'"'
	checkpoint
	assert_status 0
	restore
	ip netns pids "${T##*/}" >"$T/pids"
	ip netns delete "${T##*/}"
	assert_status 0
	grep -qx "$(<"$T/restored")" "$T/pids"
}

@test "restore: mount points that the root file system lacks are made; hooks run" {
	need_criu
	start_counter '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "cat >'"$T"'/hook"]}]'
	checkpoint
	assert_status 0
	rm "$T/hook"
	rmdir "$T/bundle/rootfs/count" "$T/bundle/rootfs/tmp"
	restore
	assert_status 0
	assert_equal "$(jq -r .pid "$T/hook")" "$(<"$T/restored")"
	assert_goes_on "$(<"$T/count/n")"
}

@test "restore: a damaged checkpoint leaves nothing behind, and the log is quoted" {
	need_criu
	start_counter
	checkpoint
	rm "$T/image/inventory.img"
	restore
	assert_status 1
	assert_contains "$stderr" "restore: criu failed: "
	assert_contains "$stderr" "Error ("
	assert_contains "$stderr" "$T/work/restore.log"
	run_brig list -q
	assert_equal "$output" ""
	rm "$T/image/descriptors.json"
	restore
	assert_status 1
	assert_contains "$stderr" descriptors.json
}

@test "checkpoint: memory that cannot be tracked is an error, else pre-dump and dump" {
	need_criu
	start_counter
	run_brig checkpoint --pre-dump --image-path "$T/parent" "$id"
	if [ "$status" != 0 ]; then
		assert_contains "$stderr" "tracks changed memory"
		run_brig state "$id"
		assert_json .status running
		return
	fi
	checkpoint --parent-path ../parent
	assert_status 0
	restore
	assert_status 0
}

# criu in the background until it has written a line of $T/ready.
start_criu() {
	criu "$@" --status-fd 9 9>"$T/ready" >"$T/beside.log" 2>&1 3>&- &
	wait_for 5 test -s "$T/ready" || fail "$(<"$T/beside.log")"
}

@test "restore: lazy pages come from the images when they are touched" {
	need_criu
	start_counter
	if ! criu check --feature uffd-noncoop >/dev/null 2>&1; then
		run_brig checkpoint --image-path "$T/image" --lazy-pages "$id"
		assert_contains "$stderr" "--lazy-pages needs a kernel with userfaultfd"
		return
	fi
	checkpoint
	assert_status 0
	local n
	n=$(<"$T/count/n")
	start_criu lazy-pages -D "$T/image" -W "$T/work"
	restore --lazy-pages
	assert_status 0
	assert_goes_on "$n"
	grep -q "Lazy restore skips" "$T/work/restore.log"
	wait
}

@test "checkpoint: memory goes to a page server" {
	need_criu
	start_counter
	mkdir "$T/image"
	start_criu page-server -D "$T/image" --address 127.0.0.1 --port 27277
	checkpoint --page-server 127.0.0.1:27277
	assert_status 0
	wait
	local n
	n=$(<"$T/count/n")
	restore
	assert_status 0
	assert_goes_on "$n"
}

# The other side is not in this test: criu 4.2.1 ends the transfer with an error of its own.
@test "checkpoint: with lazy pages it tells --status-fd, waits at the port, and can be given up" {
	need_criu
	criu check --feature uffd-noncoop >/dev/null 2>&1 || skip "no userfaultfd"
	start_counter
	"$BRIG" --root "$BRIG_ROOT" checkpoint --image-path "$T/image" --work-path "$T/work" --lazy-pages \
		--page-server 127.0.0.1:27278 --status-fd 9 "$id" 9>"$T/status" >"$T/log" 2>&1 3>&- &
	local dump=$!
	wait_for 10 test -s "$T/status" || fail "$(<"$T/log")"
	[ -s "$T/image/inventory.img" ]
	kill "$dump"
	wait "$dump" || true
	assert_goes_on "$(<"$T/count/n")"
}

@test "checkpoint: a connection and a file lock, which have to be asked for, go on" {
	need_criu
	make_python_bundle "$T/bundle" python3 -c '
import fcntl, os, socket, time
lock = open("/mnt/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer = server.accept()[0]
i = 0
while True:
    i += 1
    client.send(b"%d\n" % i)
    data = peer.recv(100)
    open("/mnt/n", "wb").write(data)
    time.sleep(0.05)'
	# Its root is shared: no new mount point.
	start_counter '(.mounts[] | select(.destination == "/count")).destination = "/mnt"'
	flock -n "$T/count/lock" true && fail "no lock"
	checkpoint
	assert_status 1
	run_brig state "$id"
	assert_json .status running
	checkpoint --tcp-established --file-locks
	assert_status 0
	local n
	n=$(<"$T/count/n")
	restore --tcp-established --file-locks
	assert_status 0
	assert_goes_on "$n"
	flock -n "$T/count/lock" true && fail "no lock"
	return 0
}

@test "checkpoint: a datagram socket of somebody outside is connected again" {
	need_criu
	[[ $T == /tmp/* ]] || skip "the path of the test must be below the tmpfs of the container, /tmp"
	mkdir "$T/count"
	/usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1] + "/log")
while True:
    data = s.recv(100)
    open(sys.argv[1] + "/n", "wb").write(data)' "$T/count" 3>&- &
	local outside=$!
	wait_for 5 test -S "$T/count/log"
	make_python_bundle "$T/bundle" python3 -c '
import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect("/mnt/log")
i = 0
while True:
    i += 1
    s.send(b"%d\n" % i)
    time.sleep(0.05)'
	# criu looks for the other end in the network namespace, and connects to the path that it was bound to.
	start_counter '(.mounts[] | select(.destination == "/count")).destination = "/mnt" |
		.linux.namespaces |= map(select(.type != "network")) |
		.mounts += [{destination: "'"$T/count"'", type: "bind", source: "'"$T/count"'", options: ["bind"]}]'
	checkpoint
	assert_status 1
	checkpoint --ext-unix-sk
	assert_status 0
	local n
	n=$(<"$T/count/n")
	restore --ext-unix-sk
	assert_status 0
	assert_goes_on "$n"
	kill "$outside"
	wait "$outside" || true
}

# ---- without criu -------------------------------------------------------------------------------

@test "checkpoint: the help, and the words that podman looks for" {
	run_brig checkpoint --help
	assert_status 0
	run_brig restore --lsm-mount-context
	assert_status 1
	assert_contains "$stderr" "flag needs an argument"
}

@test "checkpoint: what is refused, before criu is asked" {
	start_container
	local image=$T/image
	run_brig checkpoint --image-path "$image" --page-server nonsense "$id"
	assert_contains "$stderr" "--page-server: \"nonsense\" is not ADDRESS:PORT"
	run_brig checkpoint --image-path "$image" --page-server '[::1]:0' "$id"
	assert_contains "$stderr" "--page-server"
	run_brig checkpoint --image-path "$image" --status-fd 200 "$id"
	assert_contains "$stderr" "--status-fd: 200 is no descriptor"
	run_brig checkpoint --image-path "$image" --empty-ns nonsense "$id"
	assert_contains "$stderr" "--empty-ns"
	run_brig checkpoint --image-path "$image" --manage-cgroups-mode nonsense "$id"
	assert_contains "$stderr" "--manage-cgroups-mode"
	run_brig checkpoint --image-path "$image" --parent-path /absolute "$id"
	assert_contains "$stderr" "--parent-path must be relative"
	run_brig checkpoint --image-path "$image" --parent-path ../absent "$id"
	assert_contains "$stderr" "../absent"
	run_brig checkpoint --image-path "$T/absent/image" "$id"
	assert_contains "$stderr" "--image-path"
	run_brig checkpoint absent
	assert_contains "$stderr" "container does not exist"
	run_brig kill "$id" KILL
	wait_for 5 eval '"$BRIG" --root "$BRIG_ROOT" state "$id" | grep -q stopped'
	run_brig checkpoint --image-path "$image" "$id"
	assert_contains "$stderr" "container cannot be checkpointed in stopped state"
}

@test "checkpoint: without criu the error names the package, and the container goes on" {
	start_container
	mkdir "$T/empty"
	run env "PATH=$T/empty" "$BRIG" --root "$BRIG_ROOT" checkpoint --image-path "$T/image" "$id"
	[ "$status" = 1 ]
	assert_contains "$output" "install the package criu"
	run_brig state "$id"
	assert_json .status running
	echo '["/dev/null","/dev/null","/dev/null"]' >"$T/image/descriptors.json"
	run env "PATH=$T/empty" "$BRIG" --root "$BRIG_ROOT" restore -d -b "$T/bundle" --image-path "$T/image" other
	[ "$status" = 1 ]
	assert_contains "$output" "install the package criu"
	run_brig state other
	assert_contains "$stderr" "container does not exist"
}

@test "checkpoint: a criu that the kernel is too new for is an error with its words" {
	mkdir "$T/bin"
	printf '#!/bin/sh\necho "Error (criu/vdso.c:1): Unexpected rt vDSO area bounds" >&2\nexit 1\n' >"$T/bin/criu"
	chmod 755 "$T/bin/criu"
	start_container
	run env "PATH=$T/bin:$PATH" "$BRIG" --root "$BRIG_ROOT" checkpoint --image-path "$T/image" "$id"
	[ "$status" = 1 ]
	assert_contains "$output" "checkpoint: criu "
	run_brig state "$id"
	assert_json .status running
}

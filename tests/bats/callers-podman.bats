#!/usr/bin/env bats
# places: root rootless
# podman and its conmon with brig as the runtime.

load ../lib/common
load ../lib/callers
load ../lib/criu

setup_file() {
	find_criu
	podman_setup_file
}
teardown_file() { podman_teardown_file; }
setup() { podman_setup; }
teardown() { podman_teardown; }

@test "podman run: output of both streams, input, exit status, directory, user, environment" {
	run_apart podman_run --rm -i -e A=b -w /tmp -u 5:6 -- \
		sh -c 'cat; echo "$A $PWD $(id -u) $(id -g) $$"; echo problem >&2; exit 7' <<<"through"
	assert_status 7
	assert_equal "$output" $'through\nb /tmp 5 6 1'
	assert_equal "$stderr" problem
}

@test "podman run: 127 for a program that is not there, 126 for one that cannot run" {
	run -127 podman_run --rm -- no-such-program
	assert_contains "$output" "no-such-program"
	run podman_run --rm -- /etc/passwd
	assert_status 126
	assert_contains "$output" "permission denied"
}

@test "podman run -d, exec, logs, stop, start, restart, kill, rm" {
	podman_run -d --name "$NAME" -- sh -c 'trap "exit 9" TERM; echo up; while :; do sleep 0.1; done'
	run podman exec -w /tmp -e A=b "$NAME" sh -c 'echo "$A $PWD"; exit 4'
	assert_status 4
	assert_equal "$output" "b /tmp"
	run -127 podman exec "$NAME" no-such-program
	run podman exec --user 5:6 "$NAME" id -u
	assert_equal "$output" 5
	podman stop "$NAME"
	run podman inspect -f '{{.State.Status}} {{.State.ExitCode}} {{.OCIRuntime}}' "$NAME"
	assert_equal "$output" "exited 9 brig"
	podman start "$NAME"
	podman restart -t 5 "$NAME"
	podman kill "$NAME"
	run podman wait "$NAME"
	assert_equal "$output" 137
	run podman logs "$NAME"
	assert_equal "$output" $'up\nup\nup'
	podman rm "$NAME"
}

@test "podman rm -f of a running container" {
	podman_run -d --name "$NAME" -- sleep 1000
	podman rm -f -t 0 "$NAME"
}

@test "podman run -it: conmon's console has the size of the terminal" {
	on_pty "${PODMAN[@]}" podman run --network none --rm -it "$CALLERS_IMAGE" \
		sh -c 'tty; sleep 0.5; stty size; test -c /dev/console; exit 3'
	assert_status 3
	assert_contains "$output" $'/dev/pts/0\n40 100'
}

@test "podman exec -it" {
	podman_run -d --name "$NAME" -- sleep 1000
	on_pty "${PODMAN[@]}" podman exec -it "$NAME" sh -c 'tty; sleep 0.5; stty size; exit 3'
	assert_status 3
	assert_contains "$output" "40 100"
	podman rm -f -t 0 "$NAME"
}

@test "podman attach: input and output of a running container" {
	podman_run -d -i --name "$NAME" -- sh -c 'read x; echo "got $x"; exit 9'
	run podman attach "$NAME" <<<hello
	assert_contains "$output" "got hello"
	run podman wait "$NAME"
	assert_equal "$output" 9
	podman rm "$NAME"
}

@test "podman cp, both ways" {
	podman_run -d --name "$NAME" -- sleep 1000
	echo content >"$T/file"
	podman cp "$T/file" "$NAME:/tmp/file"
	run podman exec "$NAME" cat /tmp/file
	assert_equal "$output" content
	podman cp "$NAME:/tmp/file" "$T/back"
	cmp "$T/file" "$T/back"
	podman rm -f -t 0 "$NAME"
}

@test "podman healthcheck" {
	podman_run -d --name "$NAME" --health-cmd 'test -e /tmp/well' --health-retries 1 \
		--health-interval disable -- sleep 1000
	run podman healthcheck run "$NAME"
	assert_status 1
	assert_equal "$output" unhealthy
	podman exec "$NAME" touch /tmp/well
	podman healthcheck run "$NAME"
	podman rm -f -t 0 "$NAME"
}

@test "podman top" {
	podman_run -d --name "$NAME" -- sleep 1000
	run podman top "$NAME" pid comm
	assert_contains "$output" sleep
	podman rm -f -t 0 "$NAME"
}

@test "podman run --userns keep-id" {
	need_rootless
	run podman_run --rm --userns keep-id -- id -u
	assert_equal "$output" "$(id -u)"
}

@test "podman run with a user namespace of its own" {
	need_root
	run podman_run --rm --uidmap 0:100000:5000 --gidmap 0:100000:5000 -- cat /proc/self/uid_map
	assert_status 0
	assert_equal "$(tr -s ' ' <<<"$output")" " 0 100000 5000"
}

@test "podman run --read-only" {
	run podman_run --rm --read-only --tmpfs /work -- sh -c 'touch /work/x && touch /x'
	assert_status 1
	assert_contains "$output" "Read-only file system"
}

@test "podman run: volumes, tmpfs, shm, host name, sysctl, devices, groups, capabilities" {
	run podman_run --rm --cap-drop all --security-opt no-new-privileges --tmpfs /small:size=1m \
		-v "$TREE:/tree:ro" --sysctl net.ipv4.ip_forward=1 --shm-size 1m --hostname inside \
		--device /dev/full --oom-score-adj 500 --group-add 7 -u 3:4 -- sh -c '
			grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; id -G; hostname
			df -m /small /dev/shm | awk "NR > 1 { print \$2 }"; test -c /dev/full
			touch /tree/x; cat /proc/self/oom_score_adj /proc/sys/net/ipv4/ip_forward'
	assert_status 0
	assert_contains "$output" $'CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2'
	assert_contains "$output" $'4 7\ninside\n1\n1\n'
	assert_contains "$output" "/tree/x: Read-only file system"
	assert_contains "$output" $'500\n1'
}

@test "podman run in the namespaces of another container" {
	podman_run -d --name "$NAME" --hostname first --ipc shareable -- sleep 1000
	run podman run --rm --pid "container:$NAME" --ipc "container:$NAME" --uts "container:$NAME" \
		--network "container:$NAME" "$CALLERS_IMAGE" sh -c 'tr "\0" " " </proc/1/cmdline; hostname'
	assert_status 0
	assert_equal "$output" "sleep 1000 first"
	podman rm -f -t 0 "$NAME"
}

@test "a pod with two containers" {
	local share=net,ipc,uts,pid
	need_root
	podman pod create --infra-image "$CALLERS_IMAGE" --name pod --share $share --network none
	run podman run --pod pod "$CALLERS_IMAGE" sh -c 'tr "\0" " " </proc/1/cmdline; hostname'
	assert_equal "$output" "sleep infinity pod"
	podman pod rm -f -t 0 pod
}

@test "podman run --privileged" {
	run podman_run --rm --privileged -- sh -c '
		grep -E "^Seccomp:" /proc/self/status; ls -l /dev/ptmx; mount -t tmpfs none /tmp && echo mounted'
	assert_status 0
	assert_contains "$output" $'Seccomp:\t0'
	assert_contains "$output" "/dev/ptmx -> pts/ptmx"
	assert_contains "$output" mounted
}

@test "podman run --cgroups=disabled: it stays in ours, and can be stopped" {
	podman_run -d --name "$NAME" --cgroups=disabled -- sleep 1000
	run podman exec "$NAME" cat /proc/self/cgroup
	assert_status 0
	[[ $output != *libpod-* ]]
	podman kill "$NAME"
	run podman wait "$NAME"
	assert_equal "$output" 137
	podman rm "$NAME"
}

@test "podman run --timeout ends it" {
	run podman_run --rm --timeout 1 -- sleep 1000
	[ "$status" -ne 0 ]
}

@test "podman run --preserve-fds" {
	run podman_run --rm --preserve-fds 1 -- sh -c 'cat <&3; ls /proc/self/fd | wc -l' 3<<<"by fd 3"
	assert_status 0
	assert_equal "${lines[0]}" "by fd 3"
}

@test "podman container checkpoint and restore, also from an archive" {
	need_root
	need_criu
	# shellcheck disable=SC2016
	podman_run -d --name "$NAME" -- sh -c 'i=0; while :; do i=$((i+1)); echo $i >/n; sleep 0.05; done'
	podman container checkpoint "$NAME"
	run podman inspect -f '{{.State.Status}} {{.State.Checkpointed}}' "$NAME"
	assert_equal "$output" "exited true"
	podman container restore "$NAME"
	podman exec "$NAME" cat /n >"$T/n"
	podman container checkpoint --export "$T/archive.tar.gz" "$NAME"
	podman rm "$NAME"
	podman container restore --import "$T/archive.tar.gz"
	run podman exec "$NAME" cat /n
	[ "$output" -gt "$(<"$T/n")" ] || fail "$output is not after $(<"$T/n")"
	podman rm -f -t 0 "$NAME"
}

# As CRI-O calls it: create by conmon, everything else by itself.
@test "conmon alone: pid file, log, exit status" {
	local id state=$T/conmon-state dir=$T/conmon
	id=$(new_id)
	mkdir -p "$dir"/{exits,sockets}
	make_bundle "$dir/bundle" sh -c 'echo out; echo err >&2; exit 6'
	conmon -c "$id" -n "$id" -u "$id" -r "$BRIG" -b "$dir/bundle" -p "$dir/pid" -l "k8s-file:$dir/log" \
		--exit-dir "$dir/exits" --socket-dir-path "$dir/sockets" --runtime-arg --root \
		--runtime-arg "$state"
	wait_for 5 test -s "$dir/pid"
	[[ $(od -An -c "$dir/pid" | tr -d ' ') =~ ^[0-9]+$ ]]
	"$BRIG" --root "$state" start "$id"
	wait_for 5 test -s "$dir/exits/$id"
	assert_equal "$(<"$dir/exits/$id")" 6
	"$BRIG" --root "$state" delete "$id"
	grep -q 'stdout F out$' "$dir/log"
	grep -q 'stderr F err$' "$dir/log"
}

@test "conmon with a terminal: attach sees what is written" {
	local id state=$T/conmon-state dir=$T/conmon-tty
	id=$(new_id tty)
	mkdir -p "$dir"/{exits,sockets}
	make_bundle "$dir/bundle" sh -c 'read x; tty; echo "got $x"; exit 5'
	edit_config "$dir/bundle" '.process.terminal = true'
	conmon -t -i -c "$id" -n "$id" -u "$id" -r "$BRIG" -b "$dir/bundle" -p "$dir/pid" \
		-l "k8s-file:$dir/log" --exit-dir "$dir/exits" --socket-dir-path "$dir/sockets" \
		--runtime-arg --root --runtime-arg "$state"
	wait_for 5 test -S "$dir/sockets/$id/attach"
	wait_for 10 test -s "$dir/pid" # the socket is there before the container is
	"$BRIG" --root "$state" start "$id"
	/usr/bin/python3 - "$dir/sockets/$id/attach" >"$dir/seen" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.settimeout(10)
s.send(b"hello\n")
seen = b""
while b"got hello" not in seen:
    packet = s.recv(8192)
    if not packet:
        break
    seen += packet[1:]
print(seen.decode())
END
	assert_contains "$(<"$dir/seen")" /dev/pts/0
	assert_contains "$(<"$dir/seen")" "got hello"
	wait_for 5 test -s "$dir/exits/$id"
	assert_equal "$(<"$dir/exits/$id")" 5
	"$BRIG" --root "$state" delete "$id"
}

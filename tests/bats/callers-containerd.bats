#!/usr/bin/env bats
# places: root
# containerd with its own runc shim, which is told to use brig. One daemon for the whole file.

load ../lib/common
load ../lib/callers
load ../lib/criu

setup_file() {
	find_criu # in the daemon's PATH too
	containerd_setup_file
}
teardown_file() { containerd_teardown_file; }
setup() { containerd_setup; }
teardown() { containerd_teardown; }

@test "ctr run: output, exit status, and the set-up that the image and containerd ask for" {
	run_apart ctr_run "$ID" --rm --env A=b --cwd /tmp --seccomp --cap-drop CAP_CHOWN -- \
		sh -c 'echo "$A $PWD $$ $(id -u)"; echo problem >&2
			grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; exit 7'
	assert_status 7
	assert_equal "$output" $'b /tmp 1 0\nCapEff:\t00000000a80425fa\nNoNewPrivs:\t1\nSeccomp:\t2'
	assert_equal "$stderr" problem
}

# Not until the end of file: ctr does not always pass that on.
@test "ctr run: standard input goes in" {
	run ctr_run "$ID" --rm -- head -n 1 <<<"through"
	assert_status 0
	assert_equal "$output" through
}

@test "ctr run: a program that is not there is containerd's error, with the name" {
	run ctr_run "$ID" --rm -- no-such-program
	[ "$status" -ne 0 ]
	assert_contains "$output" "no-such-program"
	assert_contains "$output" "executable file not found"
	assert_contains "$output" "OCI runtime create failed"
}

@test "ctr run --tty: a terminal of the right size" {
	on_pty "${BESIDE[@]}" ctr run --runc-binary "$BRIG" --rm --tty "$CALLERS_IMAGE" "$ID" \
		sh -c 'tty; sleep 0.3; stty size; ls /proc/self/fd | wc -l; test -c /dev/console; exit 3'
	assert_status 3
	assert_contains "$output" $'/dev/pts/0\n40 100\n4'
}

@test "ctr run --detach, task exec: status, user, directory, output" {
	start_task
	run_apart ctr tasks exec --exec-id e1 "$ID" sh -c 'echo out; echo err >&2; exit 7'
	assert_status 7
	assert_equal "$output" out
	assert_equal "$stderr" err
	run ctr tasks exec --exec-id e2 --user 5:6 --cwd /tmp "$ID" \
		sh -c 'echo "$(id -u) $(id -g) $PWD"; grep -c . /proc/self/cgroup; cat /proc/1/cmdline'
	assert_status 0
	assert_contains "$output" "5 6 /tmp"
	assert_contains "$output" "sleep"
	stop_task
}

@test "task exec: a program that is not there" {
	start_task
	run ctr tasks exec --exec-id e1 "$ID" no-such-program
	[ "$status" -ne 0 ]
	assert_contains "$output" "no-such-program"
	assert_contains "$output" "executable file not found"
	stop_task
}

@test "task exec --tty" {
	start_task
	on_pty "${BESIDE[@]}" ctr tasks exec --exec-id e1 --tty "$ID" sh -c 'tty; exit 4'
	assert_status 4
	assert_contains "$output" /dev/pts/0
	stop_task
}

@test "task kill: by name; the status says the signal; a second one finds nobody" {
	start_task
	ctr tasks kill -s USR1 "$ID"
	task_is "$ID" RUNNING
	ctr tasks kill -s KILL "$ID"
	wait_for 5 task_is "$ID" STOPPED
	run ctr tasks kill -s KILL "$ID"
	[ "$status" -ne 0 ]
	assert_contains "$output" "not found"
	run ctr tasks rm "$ID"
	assert_contains "$output" "exit code 137"
	ctr containers rm "$ID"
}

@test "task kill --all reaches processes that exec started" {
	start_task --with-ns "pid:/proc/$$/ns/pid"
	ctr tasks exec --exec-id e1 --detach "$ID" sleep 1000
	ctr tasks kill --all -s KILL "$ID"
	wait_for 5 task_is "$ID" STOPPED
	ctr tasks rm "$ID" || true
	ctr containers rm "$ID"
}

@test "task ps lists the processes" {
	start_task
	ctr tasks exec --exec-id e1 --detach "$ID" sleep 1000
	assert_equal "$(ctr tasks ps "$ID" | grep -c '^[0-9]')" 2
	stop_task
}

@test "ctr run --cgroup and --pid-file" {
	run ctr_run "$ID" --rm --cgroup "/$NS/sub/$ID" --pid-file "$T/pid" -- cat /proc/self/cgroup
	assert_status 0
	if cgroup2_only; then
		assert_contains "$output" "0::/$NS/sub/$ID"
	else
		assert_contains "$output" "memory:/$NS/sub/$ID"
	fi
	[[ $(<"$T/pid") =~ ^[0-9]+$ ]]
	remove_parent_cgroups "$NS/sub"
}

@test "ctr run --privileged --net-host, with namespaces to join by path" {
	sleep 1000 &
	local pid=$! host_net
	host_net=$(readlink /proc/self/ns/net)
	run ctr_run "$ID" --rm --privileged --net-host --with-ns "pid:/proc/$pid/ns/pid" \
		--with-ns "ipc:/proc/$pid/ns/ipc" --with-ns "uts:/proc/$pid/ns/uts" -- \
		sh -c "kill -0 $pid && echo sees it; for i in net ipc; do readlink /proc/self/ns/\$i; done; ls -l /dev/ptmx"
	kill $pid
	assert_status 0
	assert_contains "$output" $'sees it\n'"$host_net"$'\n'"$(readlink /proc/self/ns/ipc)"
	assert_contains "$output" "/dev/ptmx -> pts/ptmx"
}

@test "ctr run in a user namespace" {
	run ctr_run "$ID" --rm --uidmap 0:100000:1000 --gidmap 0:100000:1000 -- \
		sh -c 'cat /proc/self/uid_map; id -u; test -c /dev/null && echo x >/dev/null'
	assert_status 0
	assert_equal "$(tr -s ' ' <<<"$output")" $' 0 100000 1000\n0'
}

@test "ctr run --read-only with a read-only bind mount and a shared root" {
	run_apart ctr_run "$ID" --rm --read-only --rootfs-propagation shared \
		--mount "type=bind,src=$TREE,dst=/mnt,options=rbind:ro" -- \
		sh -c 'touch /x /mnt/x; test -e /mnt/configure.ac && grep -c " / / ro,.* shared:" /proc/self/mountinfo'
	assert_status 0
	assert_contains "$stderr" "touch: /x: Read-only file system"
	assert_contains "$stderr" "touch: /mnt/x: Read-only file system"
	assert_equal "$output" 1
}

@test "task checkpoint, and a task that goes on from it" {
	need_criu
	# shellcheck disable=SC2016
	ctr_run "$ID" --detach --rootfs-propagation private -- sh -c 'i=0; while :; do i=$((i+1)); echo $i >/n; sleep 0.05; done'
	ctr tasks checkpoint --image-path "$T/image" "$ID"
	[ -s "$T/image/inventory.img" ]
	ctr containers checkpoint --task --rw --image "$ID" "checkpoint/$ID"
	run ctr tasks exec --exec-id e1 "$ID" cat /n
	local n=$output
	stop_task
	ctr containers restore --live --rw "$ID" "checkpoint/$ID"
	task_is "$ID" RUNNING
	run ctr tasks exec --exec-id e2 "$ID" cat /n
	[ "$output" -ge "$n" ]
	stop_task
}

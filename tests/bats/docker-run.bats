#!/usr/bin/env bats
# places: root rootless
# `brig-docker run` in the foreground, as the payload sees it, and what is left of it.

load ../lib/common
load ../lib/docker

# The argv of zeroth's docker backend, with the limits where there are controllers.
zeroth() {
	local limits=()
	! has_controller memory || limits=(--cpus 0.5 --memory 64m --pids-limit 20)
	run_dk run --rm --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp \
		-v "$WORK:/tmp/zeroth-sandbox/${WORK##*/}" "${limits[@]}" --network none -e A=1 -e B=2 \
		-w "/tmp/zeroth-sandbox/${WORK##*/}" "$@"
}

@test "zeroth's hardened run: the work directory, the limits, nothing else" {
	WORK=$T/zeroth-sandbox-x && mkdir -m 700 "$WORK" && echo data >"$WORK/f"
	zeroth host sh -c 'pwd; cat f; echo z >z; touch /tmp/t && echo tmp; touch /t 2>&1
		grep " / " /proc/mounts | cut -d, -f1; grep "^tmpfs /tmp " /proc/mounts; echo $A$B
		grep -E "CapEff|NoNewPrivs|^Seccomp:" /proc/self/status | tr -d "\t"; exit 3'
	assert_status 3
	[ -z "$stderr" ] || fail "stderr: $stderr"
	assert_equal "$output" "/tmp/zeroth-sandbox/zeroth-sandbox-x
data
tmp
touch: cannot touch '/t': Read-only file system
brig-root / tmpfs ro
tmpfs /tmp tmpfs rw,nosuid,nodev,noexec,relatime$(in_rootless_options) 0 0
12
CapEff:0000000000000000
NoNewPrivs:1
Seccomp:2"
	assert_equal "$(cat "$WORK/z")" z
	if has_controller memory && [ "$EUID" = 0 ]; then
		zeroth host python3 -c 'print(len(bytearray(200 << 20)))'
		assert_status 137
		zeroth host sh -c 'for i in $(seq 40); do sleep 5 & done; wait' || true
		assert_contains "$stderr" fork
	fi
}

# A tmpfs in a user namespace of somebody else shows whose it is.
in_rootless_options() {
	[ "$EUID" = 0 ] || printf ',uid=%d,gid=%d' "$(id -u)" "$(id -g)"
}

@test "exit codes and streams are Docker's" {
	local words='unable to start container process: exec: '
	run_dk run --rm host sh -c 'echo out; echo err >&2; exit 7'
	assert_status 7
	assert_equal "$output,$stderr" out,err
	run_dk run --rm host nosuchcmd
	assert_status 127
	assert_contains "$stderr" "$words\"nosuchcmd\": executable file not found in \$PATH: unknown"
	run_dk run --rm host /no/such
	assert_status 127
	assert_contains "$stderr" "$words\"/no/such\": stat /no/such: no such file or directory: unknown"
	run_dk run --rm host /etc
	assert_status 126
	assert_contains "$stderr" "$words\"/etc\": permission denied: unknown"
	run_dk run --rm --entrypoint '' host
	assert_status 125
	assert_contains "$stderr" "docker: Error response from daemon: No command specified"
	run_dk run --rm --init host sh -c 'kill -9 $$'
	assert_status 137
	run_dk run --rm host sh -c 'kill -9 $$; echo pid $$' # pid 1 is safe from itself
	assert_equal "$output" "pid 1"
	printf garbage >"$T/bad" && chmod +x "$T/bad"
	run_dk run --rm -v "$T/bad:/bad" host /bad
	assert_status 1
	assert_equal "$stderr" "exec /bad: exec format error"
	# Memory grew by the square of the number of arguments, which an image may give, too.
	# shellcheck disable=SC2046
	(ulimit -v 2000000; dk run --rm host true $(seq 50000))
}

@test "standard input: nothing without -i, all of it with -i, a pipe where the configuration says so" {
	run_dk run --rm host cat <<<hello
	assert_equal "$output" ""
	run_dk run --rm host readlink /proc/self/fd/0
	assert_equal "$output" /dev/null
	run_dk run --rm -i host cat <<<hello
	assert_equal "$output" hello
	BRIG_DOCKER_STDIN=pipe run_dk run --rm host cat < <(echo hello)
	assert_equal "$output" hello
	run_dk run -t -i --rm host true </dev/null
	assert_status 1
	assert_equal "$stderr" "the input device is not a TTY"
}

@test "an image: written above its layers, read-only without a place to write" {
	docker_py
	run_dk run --rm py sh -c 'echo x >/new; rm /etc/os-release; ls /new /etc/os-release; echo $IMG; cat /etc/hostname'
	assert_equal "${lines[0]}" /new
	assert_equal "${lines[1]}" 1
	[ ${#lines[2]} = 12 ]
	[ -e "$("$TESTS_LIB/rootfs")/etc/os-release" ]
	run_dk run --rm --read-only py sh -c 'touch /new; ls -a / | grep -c dockerenv; echo $?'
	assert_contains "$stderr" "Read-only file system"
	# Mount points and a working directory that the image does not have.
	mkdir "$T/dir" && echo y >"$T/dir/y"
	run_dk run --rm --read-only -v "$T/dir:/not/there" -w /nor/here py sh -c 'pwd; cat /not/there/y; touch z'
	assert_equal "${lines[0]},${lines[1]}" /nor/here,y
	assert_contains "$stderr" "Read-only file system"
	run_dk run --rm -v "$T/made/here:/m" py sh -c 'echo z >/m/z'
	assert_equal "$(cat "$T/made/here/z")" z
}

@test "a user by the image's own files" {
	[ "$EUID" = 0 ] || skip "needs more than one id"
	docker_py
	run_dk run --rm -u nobody:0 py sh -c 'id -u; id -g; id -G; echo $HOME'
	assert_equal "${lines[*]:0:3}" "65534 0 0"
	run_dk run --rm -u 1234 --group-add 5 py sh -c 'id -u; id -g; id -G; echo $HOME'
	assert_equal "${lines[*]}" "1234 0 0 5 /"
	run_dk run --rm -u nosuch py true
	assert_status 125
	assert_contains "$stderr" "unable to find user nosuch: no matching entries in passwd file"
}

@test "the client's death is the container's, and the next command cleans up" {
	local pid name
	for name in kept gone; do
		local rm=() && [ $name = kept ] || rm=(--rm)
		"$BRIG_DOCKER" run --name $name "${rm[@]}" host sh -c 'echo up; sleep 1000' >"$T/out" &
		pid=$!
		wait_for 5 grep -q up "$T/out"
		kill -KILL $pid
		wait $pid || true
	done
	run_dk kill gone
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: Cannot kill container: gone: No such container: gone"
	assert_equal "$(record kept '.state | "\(.status) \(.exitCode)"')" "exited 137"
	run_dk rm kept
	assert_status 0
}

@test "signals go to the container; three of them end the client" {
	local pid
	"$BRIG_DOCKER" run --rm --init host sh -c 'echo up; sleep 1000' >"$T/out" &
	pid=$!
	wait_for 5 grep -q up "$T/out"
	kill -TERM $pid
	status=0 && wait $pid || status=$?
	assert_status 143
	"$BRIG_DOCKER" run --rm host sh -c 'echo up; sleep 1000' >"$T/out2" 2>"$T/err" &
	pid=$!
	wait_for 5 grep -q up "$T/out2"
	kill -TERM $pid && kill -INT $pid
	until ! kill -TERM $pid 2>/dev/null; do :; done
	status=0 && wait $pid || status=$?
	assert_status 1
	assert_contains "$(cat "$T/err")" "got 3 SIGTERM/SIGINTs, forcefully exiting"
}

@test "of several with one name one runs" {
	local i
	for i in 1 2 3 4 5 6; do
		{ "$BRIG_DOCKER" run -d --name one host sleep 1000 >"$T/out.$i" 2>"$T/err.$i" || echo $? >"$T/code.$i"; } &
	done
	wait
	assert_equal "$(sort "$T"/code.* | uniq -c | tr -s ' \n' ' ')" " 5 125 "
	assert_contains "$(cat "$T"/err.*)" 'Conflict. The container name "/one" is already in use by container "'
	dk rm -f one
}

@test "a full disk is an error, and leaves no container" {
	need_root
	run_apart unshare -m --propagation private bash -c "
		set -e
		mkdir $T/small && mount -t tmpfs -o size=64k,nr_inodes=20 tmpfs $T/small
		export BRIG_DOCKER_DATA=$T/small/data
		$BRIG_DOCKER run --rm host true
		head -c 1m /dev/zero >$T/small/fill 2>/dev/null || true
		! $BRIG_DOCKER create --name n1 host true
		rm $T/small/fill
		$BRIG_DOCKER create --name n1 host true && $BRIG_DOCKER rm n1"
	assert_status 0
	assert_contains "$stderr" "No space left on device"
}

# In a container whose root has the ids of the host's, or the caller's id.
@test "streams and device nodes: a container passes bytes, and cannot open or change what is behind them" {
	local try='for f in 0 1 2; do chmod 666 /proc/self/fd/$f 2>/dev/null && [ ! -p /proc/self/fd/$f ] && echo changed $f; done
		echo over 2>/dev/null >/proc/self/fd/0
		for f in /dev/null /dev/zero /dev/urandom /dev/tty; do chmod 666 $f 2>/dev/null && echo changed $f; done
		exec 3<>/dev/null && echo x >&3 && echo x >/dev/null && head -c3 /dev/zero | wc -c'
	local in=$T/in out=$T/out flags
	echo secret >"$in"
	for flags in --rm --name=kept; do
		(umask 077 && echo before >"$out")
		dk run "$flags" -i host sh -c "cat; $try" <"$in" >>"$out" 2>>"$out"
		assert_equal "$(cat "$in" "$out"),$(stat -c %a "$out")" "secret
before
secret
3,600"
	done
	run_dk rm kept
	run_dk run --rm host sh -c "$try" </dev/null
	assert_equal "$output" 3
	dk run --rm host sh -c "$try; exec 4>&1; readlink /proc/\$\$/fd/4 >&2; true" >/dev/null 2>"$out" </dev/null
	assert_equal "$(cat "$out")" /dev/null
	run_dk run -d --name running host sleep 100
	dk exec -i running sh -c "cat; $try" <"$in" >"$out" 2>&1
	assert_equal "$(cat "$in" "$out")" $'secret\nsecret\n3'
	# What is not read is not waited for, and no more is read than is taken.
	head -c 3000000 /dev/zero >"$in"
	dk exec -i running true <"$in"
	assert_equal "$(dk run --rm -i host wc -c <"$in")" 3000000
	run_dk rm -f running
}

# /proc/sys and /sys ask for the owner at a write, and the container's root is that.
@test "the host's kernel settings: nothing of /proc/sys and /sys can be written, and nothing that would allow it is given" {
	local flags writes='n=0; for f in $(find /proc/sys /sys/kernel /proc/sysrq-trigger /proc/irq -type f -perm -200 2>/dev/null | head -400); do
			(: >>$f) 2>/dev/null && echo $f; n=$((n + 1)); done; [ $n -gt 100 ] && echo done'
	run_dk run --rm host sh -c "$writes"
	assert_equal "$output" done
	for flags in "--cap-add SYS_ADMIN" "--cap-add ALL --cap-drop MKNOD" "--security-opt systempaths=unconfined" "--privileged"; do
		[ "$EUID" = 0 ] || [ "$flags" = --privileged ] || continue
		run_dk run --rm $flags host true
		assert_status 125
		assert_contains "$stderr" allow-privileged
		assert_equal "$(dk ps -aq)" ""
	done
	[ "$EUID" = 0 ] || return 0
	run_dk run --rm --userns private --cap-add SYS_ADMIN host sh -c "umount /proc/sys; $writes" # shows what the test sees
	assert_contains "$output" done
	[[ $output != *core_pattern* ]] || fail "$output"
	echo '{"allow-privileged": true}' >"$BRIG_DOCKER_CONFIG"
	run_dk run --rm --cap-add SYS_ADMIN host grep CapEff /proc/self/status
	assert_status 0
}

@test "CDI: the environment, devices and mounts that a file describes" {
	mkdir "$T/cdi"
	echo lib >"$T/lib"
	cat >"$T/cdi/thing.json" <<-END
		{"cdiVersion": "0.6.0", "kind": "brig.test/thing", "devices": [{"name": "all", "containerEdits": {
			"env": ["THING=all"], "deviceNodes": [{"path": "/dev/thing", "hostPath": "/dev/null"}],
			"mounts": [{"hostPath": "$T/lib", "containerPath": "/tmp/lib", "options": ["ro", "bind"]}]}}]}
	END
	export BRIG_CDI_DIRS=$T/cdi
	# shellcheck disable=SC2016
	run_dk run --rm --tmpfs /tmp --device brig.test/thing=all host \
		sh -c 'echo $THING; stat -c %t,%T /dev/thing; cat /tmp/lib; : >>/tmp/lib'
	assert_equal "$output" $'all\n1,3\nlib'
	assert_contains "$stderr" "Read-only file system"
}

@test "namespaces of the host are shared when asked for" {
	local ns
	for ns in pid ipc uts; do
		run_dk run --rm --$ns host host readlink /proc/self/ns/$ns
		assert_equal "$output" "$(readlink /proc/self/ns/$ns)"
		[ "$(dk run --rm host readlink /proc/self/ns/$ns)" != "$output" ] || fail "$ns is shared without being asked for"
	done
}

layered() {
	"$TESTS_LIB/layered-image" "$T/i.tar" layered:1 "$(command -v busybox)"
	dk load -qi "$T/i.tar" >/dev/null
}

@test "namespaces of other containers: the processes, /dev/shm, the errors; an overlay there has its marks" {
	layered
	dk run -d --name other --ipc shareable host sh -c 'echo shm >/dev/shm/x; exec sleep 60' >/dev/null
	dk run -d --name closed host sleep 60 >/dev/null
	run_dk run --rm --pid container:other host sh -c 'tr "\0" " " </proc/1/cmdline'
	assert_equal "$output" "sleep 60 "
	run_dk run --rm --ipc container:other --read-only -w /made/new layered:1 sh -c 'cat /dev/shm/x; echo 2 >/dev/shm/y; ls /opaque'
	assert_equal "$output" "shm
new"
	assert_equal "$(dk exec other cat /dev/shm/y)" 2
	assert_equal "$(dk run --rm --network container:other layered:1 ls /opaque)" new
	run_dk run --rm --ipc container:closed host true
	assert_contains "$stderr" "can't join IPC of container closed: non-shareable IPC (hint: use IpcMode:shareable for the donor container)"
	run_dk run --rm --ipc container:closed --pid container:other host true
	assert_status 125
	run_dk run --rm --pid container:nosuch host true
	assert_contains "$stderr" "Error response from daemon: No such container: nosuch"
	dk create --name later --pid container:other host true >/dev/null
	assert_equal "$(dk inspect -f '{{.HostConfig.PidMode}},{{.HostConfig.IpcMode}}' later other closed)" "container:other,private
,shareable
,private"
	dk stop -t 0 other >/dev/null
	run_dk start later
	assert_contains "$stderr" "container $(dk inspect -f '{{.Id}}' other) is not running"
	dk rm -f other closed later >/dev/null
	dk rmi layered:1 >/dev/null # what it has belongs to others, too
}

@test "namespaces of other containers: a container that moved its /dev/shm away leads nobody anywhere" {
	local what
	layered
	[ "$EUID" != 0 ] || echo '{"allow-privileged": true}' >"$BRIG_DOCKER_CONFIG"
	# shellcheck disable=SC2016
	for what in 'ln -s /proc/$$/cwd /dev' 'mkdir /dev; ln -s /t/shm /dev/shm' 'mkdir /dev; ln -s /proc/1/root/t/shm /dev/shm' \
		'mkdir -p /dev/shm' 'ln -s t /dev'; do
		dk run -d --name evil --ipc shareable --cap-add SYS_ADMIN layered:1 sh -c "mkdir /t; mount -t tmpfs tmpfs /t; mkdir /t/shm
			echo reached >/t/shm/file; cd /t; umount -l /dev; rm -rf /dev; ($what); echo done >/t/done; exec sleep 60" >/dev/null
		wait_for 10 dk exec evil cat /t/done >/dev/null
		run_dk run --rm --ipc container:evil host cat /dev/shm/file
		case $what in
		'ln -s t /dev') assert_equal "$output" reached ;; # a directory of its own, in its own root
		*)
			assert_status 125
			assert_contains "$stderr" "can't join IPC of container evil: its /dev/shm"
			;;
		esac
		dk rm -f evil >/dev/null
	done
	dk rmi layered:1 >/dev/null
}

@test "--userns private: other ids for the host's root, in the store those that the container sees" {
	need_root
	run_dk run --rm --userns private host cat /proc/self/uid_map
	read -r _ outside count <<<"$output"
	[ "$outside" -gt 0 ] && [ "$count" = 65536 ] || fail "$output"
	layered
	echo '{"userns": "private"}' >"$BRIG_DOCKER_CONFIG"
	dk run -d --name priv -v vol:/opaque layered:1 sh -c 'stat -c "%u:%g %a" /owned /setuid /opaque/new /etc/hosts
		echo 1 >/etc/f; busybox chown 5:6 /owned; busybox rm /etc/third; busybox touch /opaque/mine
		busybox chown 9:9 /opaque/mine; echo ready; exec sleep 60' >/dev/null
	wait_for 5 log_has priv ready
	assert_equal "$(dk logs priv)" "65000:7 644
123:456 4755
0:0 644
0:0 644
ready"
	assert_equal "$(dk run --rm --userns host -v vol:/v layered:1 stat -c %u:%g /v/mine /v/new)" "9:9
0:0"
	install -o 1000 -g 1000 /dev/null "$T/f"
	dk cp -q -a "$T/f" priv:/etc/copied
	assert_equal "$(dk exec priv stat -c %u:%g /etc/copied)" 1000:1000
	assert_equal "$(dk diff priv | sort | tr '\n' ,)" "A /etc/copied,C /etc,C /etc/f,C /owned,D /etc/third,"
	dk commit priv changed:1 >/dev/null
	assert_equal "$(dk run --rm --network container:priv changed:1 stat -c %u:%g /owned /etc/copied)" "5:6
1000:1000"
	dk export priv | tar tvf - --numeric-owner owned | grep -q "5/6" || fail "export has other ids"
	dk rm -f priv >/dev/null
	docker_py # a directory of this host, with set-id programs and files of others
	assert_equal "$(dk run --rm py stat -c %u:%g / /etc/passwd)" "0:0
0:0"
}

log_has() { dk logs "$1" 2>&1 | grep -q "$2"; }

@test "run: with too few descriptors, wherever they end, nothing is left of --rm, and else the record says what failed" {
	local n name
	for n in $(seq 5 26) 30 36 42 48 54; do
		for name in "r$n --rm" "k$n" "d$n -d"; do
			# shellcheck disable=SC2086
			(ulimit -n "$n" && exec timeout 20 "$BRIG_DOCKER" run --name $name host true) >/dev/null 2>>"$T/err" || true
		done
	done
	! grep warning "$T/err" || fail "something could not be ended"
	grep -q 'Too many open files' "$T/err"
	dk ps -aq | xargs -r "$BRIG_DOCKER" inspect -f '{{.Name}} {{.State.Status}} {{.State.ExitCode}} {{.State.Error}}' >"$T/records"
	! grep -v '^/[kd][0-9]* \(exited 0 $\|created 12[57] .*\(Too many open files\|/newuidmap: .*\)\)' "$T/records" || fail "$(cat "$T/records")"
	grep -q created "$T/records"
	dk ps -aq | xargs -r "$BRIG_DOCKER" rm >/dev/null
}

#!/usr/bin/env bats
# places: root rootless
# Detached containers: their monitor, exec, the commands about them, crashes.

load ../lib/common
load ../lib/docker

state() { record "$1" '.state | "\(.status) \(.exitCode)"'; }

@test "run -d, exec, stop, start, kill, wait, rm" {
	local id
	run_dk run -d --name life -e FOO=bar -w /tmp host sh -c 'echo out; echo err >&2; sleep 1000 & wait'
	assert_status 0
	[[ $output =~ ^[0-9a-f]{64}$ ]] || fail "no id: $output"
	id=$output
	run_dk exec life sh -c 'echo in; echo $FOO; pwd; exit 9'
	assert_status 9
	assert_equal "${lines[*]}" "in bar /tmp"
	run_dk exec -e FOO=over -w / "${id:0:12}" sh -c 'echo $FOO; pwd; grep -E "Seccomp:|NoNewPrivs" /proc/self/status | tr -d "\t"'
	assert_equal "${lines[*]}" "over / NoNewPrivs:0 Seccomp:2"
	run_dk exec -i life cat <<<stdin
	assert_equal "$output" stdin
	run -127 --separate-stderr dk exec life nosuch
	assert_contains "$output" 'OCI runtime exec failed: exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown'
	run_dk run --name life host true
	assert_status 125
	assert_contains "$stderr" "Conflict. The container name \"/life\" is already in use by container \"$id\"."
	run_dk rm life
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: You cannot remove a running container $id. Stop the container before attempting removal or force remove"
	run_dk stop -t 0 life
	assert_equal "$output,$(state life)" "life,exited 137"
	run_dk stop life
	assert_equal "$output,$status" life,0
	run_dk exec life true
	assert_equal "$status,$stderr" "1,Error response from daemon: Container $id is not running"
	run_dk start life
	assert_equal "$output,$(state life)" "life,running 0"
	run_dk kill life
	run_dk wait life
	assert_equal "$output" 137
	assert_equal "$(jq -r '.stream + ":" + .log' "$BRIG_DOCKER_DATA/containers/$id/$id-json.log" | sort | grep . | tr '\n' ' ')" \
		"stderr:err stderr:err stdout:out stdout:out "
	run_dk rename life other
	run_dk rm other nosuch
	assert_equal "$status,$output,$stderr" "1,other,Error response from daemon: No such container: nosuch"
}

@test "a container that could not start says why, and can be removed" {
	run -127 --separate-stderr dk run -d --name bad host nosuch
	[[ $output =~ ^[0-9a-f]{64}$ ]] || fail "no id: $output"
	assert_equal "$(state bad)" "created 127"
	assert_contains "$(record bad .state.error)" 'exec: "nosuch": executable file not found in $PATH: unknown'
	dk rm bad
	run -127 --separate-stderr dk run -d --rm host nosuch
}

@test "create, start -a and -i: output, input, exit code" {
	dk create --name made host sh -c 'echo hello; echo err >&2; exit 4'
	run_dk start -a made
	assert_equal "$status,$output,$stderr" "4,hello,err"
	dk create -i --name sh host sh
	run_dk start -ai sh < <(echo 'echo $((1+1)); exit 5')
	assert_equal "$status,$output" "5,2"
	run_dk start nosuch
	assert_equal "$status,$stderr" "1,Error response from daemon: No such container: nosuch
Error: failed to start containers: nosuch"
	dk rm made sh
}

@test "--rm -d removes itself; wait gets its code all the same" {
	dk run -d --rm --name eph host sh -c 'read x; exit 6' >/dev/null
	local id inode
	id=$(dk run -d --rm -i --name eph2 host sh -c 'sleep 1000 & wait; exit 6')
	dk wait eph2 >"$T/code" &
	# The lock that the monitor has and `wait` wants.
	inode=$(stat -c %i "$BRIG_DOCKER_RUN/docker-run/$id/owner")
	wait_for 5 grep -q -e "-> FLOCK.*:$inode " /proc/locks
	dk kill eph2
	wait $!
	assert_equal "$(cat "$T/code")" 137
	wait_for 5 nothing_of_docker
}

@test "restart policies: on failure as often as said, and not once it was stopped" {
	dk run -d --name fails --restart on-failure:2 host sh -c 'echo run; exit 3' >/dev/null
	wait_for 10 eval '[ "$(state fails)" = "exited 3" ]'
	assert_equal "$(record fails .state.restartCount)" 2
	dk run -d --name always --restart always host sh -c 'sleep 1000 & wait; exit 1' >/dev/null
	dk exec always sh -c 'kill -9 -1' || true
	wait_for 10 eval '[ "$(record always .state.restartCount) $(state always)" = "1 running 0" ]'
	dk stop -t 0 always
	assert_equal "$(state always)" "exited 137"
	dk rm fails always
}

@test "kill -9 of a monitor: the next command writes the end down" {
	local id pid
	id=$(dk run -d --name dead host sleep 1000)
	pid=$(monitor_of "$id")
	kill -KILL "$pid"
	wait_for 5 eval '! dk exec dead true 2>/dev/null'
	assert_equal "$(state dead)" "exited 137"
	dk start dead
	assert_equal "$(state dead)" "running 0"
	dk rm -f dead
}

@test "kill -9 of a rename: one name is left, that of the record" {
	local id
	id=$(dk create --name before host true)
	ln -s "$id" "$BRIG_DOCKER_DATA/names/after" # as when it was killed in between
	: >"$BRIG_DOCKER_RUN/docker-run/.rename-$id"
	dk ps -q
	assert_equal "$(ls "$BRIG_DOCKER_DATA/names")" before
	ln -s "$id" "$BRIG_DOCKER_DATA/names/after" && rm "$BRIG_DOCKER_RUN/docker-run/.swept" # and then the power failed
	dk rm before >/dev/null
	assert_equal "$(ls -A "$BRIG_DOCKER_DATA/names" "$BRIG_DOCKER_RUN/docker-run" | grep -v :)" "
.swept"
}

@test "kill -9 of clients and monitors at random: the store is whole, nothing is left" {
	local i pid pids=()
	for i in $(seq 24); do
		case $((i % 3)) in
		0) "$BRIG_DOCKER" run --rm host sh -c 'sleep 0.05' & ;;
		1) "$BRIG_DOCKER" run --rm --name "n$i" host true & ;;
		2) "$BRIG_DOCKER" run -d --rm --name "d$i" host sleep 0.1 >/dev/null & ;;
		esac
		pids+=($!)
		sleep "0.0$((RANDOM % 10))"
		for pid in "${pids[@]}"; do
			((RANDOM % 2)) || kill -KILL "$pid" 2>/dev/null || true
		done
	done
	for pid in $(marked_processes); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != brig-monitor ] || kill -KILL "$pid"
	done
	wait
	run_dk rm nosuch # any command repairs
	wait_for 5 nothing_of_docker
}

@test "a terminal: detaching leaves the container, leaving its client ends it" {
	cat >"$T/terminal.py" <<'PY'
import os, pty, sys
keys = [k.encode().decode('unicode_escape').encode() for k in sys.argv[1].split('|')]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
out = b''
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    out += data
    if out.endswith(b'> ') and keys:
        os.write(fd, keys.pop(0))
sys.stdout.write(out.decode().replace('\r\n', '\n'))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
	run python3 "$T/terminal.py" 'abc\n' "$BRIG_DOCKER" run --rm -it host sh -c 'tty; printf "> "; read x; echo got=$x; exit 5'
	assert_equal "$status,${lines[0]},${lines[-1]}" "5,/dev/pts/0,got=abc"
	run python3 "$T/terminal.py" '\x10\x11' "$BRIG_DOCKER" run -it --name term host sh -c 'printf "> "; read x; exit 5'
	assert_status 0
	assert_equal "$(state term)" "running 0"
	run python3 "$T/terminal.py" 'hi\n' "$BRIG_DOCKER" exec -it term sh -c 'tty; printf "> "; read x; echo $x; exit 6'
	assert_equal "$status,${lines[0]},${lines[-1]}" "6,/dev/pts/1,hi"
	dk rm -f term
	run_dk run -t --rm host sh -c 'echo out; echo err >&2'
	assert_equal "$output" $'out\r\nerr\r'
}

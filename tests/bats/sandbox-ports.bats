# places: root
# `brig sandbox --ports`: a way out for some TCP ports, and for nothing else.
load ../lib/common
load ../lib/sandbox
load ../lib/brigd
load ../lib/docker

PROBE='
import socket, sys
for address in ("203.0.113.1", 80), ("name.example", 80), ("203.0.113.1", 81), ("127.0.0.1", 82), ("192.0.0.1", 82), ("169.254.169.254", 80):
    s = socket.socket()
    s.settimeout(5)
    try:
        s.connect(address)
        print(*address, s.recv(100).decode())
    except OSError as e:
        print(*address, type(e).__name__)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    u.sendto(b"x", ("203.0.113.1", 9))
    print("udp goes out")
except OSError as e:
    print("udp", type(e).__name__)
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
except OSError as e:
    print("raw", type(e).__name__)
'

outside() {
	need_command pasta
	need_command nft
	[ -c /dev/net/tun ] || skip "no /dev/net/tun"
	run_apart timeout 100 unshare -nm "$TESTS_LIB/outside" "$@"
}

@test "sandbox: with --ports the named ports can be reached, by name too, and nothing else" {
	local waive=--best-effort=false
	limits_work || waive=--best-effort
	outside "$BRIG" --root "$BRIG_ROOT" sandbox $waive --ports 80,443 -- python3 -c "$PROBE"
	assert_status 0
	assert_stdout "203.0.113.1 80 port 80
name.example 80 port 80
203.0.113.1 81 ConnectionRefusedError
127.0.0.1 82 ConnectionRefusedError
192.0.0.1 82 ConnectionRefusedError
169.254.169.254 80 OSError
udp PermissionError
raw PermissionError"
}

@test "sandbox: with --ports all everything but what is the machine's own" {
	outside "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --ports all -- python3 -c "$PROBE"
	assert_status 0
	assert_contains "$(jget .stdout)" "203.0.113.1 81 port 81
127.0.0.1 82 ConnectionRefusedError"
	assert_contains "$(jget .stdout)" "169.254.169.254 80 OSError
udp goes out"
}

@test "sandbox: without --ports nothing can be reached; wrong ones are refused" {
	outside "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- python3 -c "$PROBE"
	assert_status 0
	assert_contains "$(jget .stdout)" "203.0.113.1 80 OSError"
	local ports
	for ports in 0 65536 80,,81 80, '80;443' '80 }' 0x50 -1; do
		sandbox --ports="$ports" -- true
		assert_status 125
		assert_contains "$(jget .error)" "ports"
	done
	sandbox --ports 80 --network host -- true
	assert_status 125
}

@test "sandbox: nothing of the network outlives a brig that is killed" {
	# shellcheck disable=SC2016
	outside sh -c '"$0" --root "$1" sandbox --best-effort --ports 80 -- sleep 300 &
		for i in $(seq 400); do pgrep -x sleep -P "$(pgrep -P $! | head -1)" >/dev/null && break; sleep 0.05; done
		pgrep -P $! >"$2/children"; kill -9 $!; wait' "$BRIG" "$BRIG_ROOT" "$T"
	# The first process of the sandbox, and the one that minds the network.
	assert_equal "$(wc -l <"$T/children")" 2
	nobody() { [ -z "$(marked_processes | grep -v "^$BASHPID$" | grep -xFf "$T/children")" ]; }
	wait_for 10 nobody
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- true >"$T/next"
}

@test "brigd: SANDBOX_OPEN_PORTS, and network_access" {
	need_brigd
	export BRIGD T BRIG_ROOT BRIGD_OPTIONS=--best-effort IMAGE=py:latest
	docker_py
	outside /usr/bin/python3 "$TESTS_LIB/brigd-ports"
	assert_status 0
}

@test "brigd: the same without root" {
	need_brigd
	as_user brigtest2 test -x "$BRIG" || skip "the account cannot read $TREE"
	mkdir -m 777 "$T/theirs"
	export BRIGD BRIGD_OPTIONS=--best-effort
	outside "$TESTS_LIB/as-user" brigtest2 env T="$T/theirs" BRIG_ROOT="$T/theirs/state" /usr/bin/python3 "$TESTS_LIB/brigd-ports"
	assert_status 0
}

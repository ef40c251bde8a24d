#!/usr/bin/env bats
# places: root rootless
# Networks of brig-docker as the containers see them: who reaches whom, by address and by name, the way
# out, published ports, and that nothing is left, whatever is killed.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	PORT=$((20000 + BASHPID % 10000))
}

need_egress() {
	[ -x /usr/bin/pasta ] || skip "no pasta (package passt)"
	[ -w /dev/net/tun ] || skip "/dev/net/tun may not be opened"
	ip route get 192.0.2.200 >/dev/null 2>&1 || skip "the host has no route to anywhere"
}

# A container that answers each connection to its port 80 with a word; ready when this returns.
serve() { # NAME RUN-OPTION...
	local name=$1
	shift
	dk run -d --name "$name" "$@" host python3 -c "
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('0.0.0.0', 80))
s.listen()
while True:
    c, a = s.accept()
    c.sendall(b'$name')
    c.close()" >/dev/null
	wait_for 10 is_ready "$name"
}

is_ready() { [ "$(dk exec "$1" python3 -c "$ask" 127.0.0.1 80)" = "$1" ]; }

# What who connects to HOST:PORT is told; "nothing" after a second.
ask='import socket, sys
try:
    print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 1).recv(99).decode() or "nothing")
except OSError:
    print("nothing")'

gone() { ! dk network inspect -f '{{json .Containers}}' "$1" | grep -q :; }

# A holder that lives has its file locked.
no_holders() {
	local file
	for file in "$BRIG_DOCKER_RUN"/networks/*/holder; do
		[ ! -e "$file" ] || flock -n "$file" true || return 1
	done
}

@test "an internal network: names, addresses, no way out; two networks apart" {
	dk network create --internal in >/dev/null
	dk network create --internal other >/dev/null
	serve srv --network in --network-alias web
	run_dk run --rm --network in host sh -c "getent hosts srv; ls /sys/class/net; ip route
		python3 -c '$ask' srv 80; python3 -c '$ask' web 80; python3 -c '$ask' 192.0.2.200 80"
	assert_equal "$output" "172.18.0.2      srv web $(dk inspect -f '{{slice .Id 0 12}}' srv)
eth0
lo
172.18.0.0/16 dev eth0 proto kernel scope link src 172.18.0.3 
srv
srv
nothing"
	run_dk run --rm --network other host python3 -c "$ask" 172.18.0.2 80
	assert_equal "$output" nothing
	run_dk network rm in
	assert_status 1
	assert_contains "$stderr" "error while removing network: network in id"
	assert_contains "$stderr" "has active endpoints"
	run_dk network inspect -f '{{range .Containers}}{{.Name}} {{.IPv4Address}}{{end}}' in
	assert_equal "$output" "srv 172.18.0.2/16"
	dk rm -f srv >/dev/null
	wait_for 5 no_holders
	run_dk network rm in other
	assert_equal "$output" "in
other"
}

@test "the bridge: out to the host's address but not to its loopback, in by published ports" {
	need_egress
	serve web --network bridge -p "127.0.0.1:$PORT:80" -p 80
	local host_ip free
	host_ip=$(ip -4 route get 192.0.2.200 | sed -n 's/.* src \([0-9.]*\).*/\1/p')
	assert_equal "$(python3 -c "$ask" 127.0.0.1 "$PORT")" web
	free=$(dk port web 80 | sed -n 's/^0.0.0.0://p')
	assert_equal "$(python3 -c "$ask" "$host_ip" "$free")" web
	assert_equal "$(dk port web | head -1)" "80/tcp -> 0.0.0.0:$free"
	run_dk run --rm --network bridge --add-host h:host-gateway host sh -c "
		python3 -c '$ask' h $free; python3 -c '$ask' h $PORT
		python3 -c '$ask' 172.17.0.1 $PORT; python3 -c '$ask' 127.0.0.1 $PORT; ip route | head -1"
	assert_equal "$output" "web
nothing
nothing
nothing
default via 172.17.0.1 dev eth0 "
	run_dk run --rm --network bridge -p "127.0.0.1:$PORT:80" host true
	assert_status 125
	assert_contains "$stderr" "Bind for 127.0.0.1:$PORT failed: port is already allocated"
	run_dk inspect -f '{{json .NetworkSettings.Ports}} {{.NetworkSettings.IPAddress}}' web
	assert_equal "$output" "{\"80/tcp\":[{\"HostIp\":\"127.0.0.1\",\"HostPort\":\"$PORT\"},{\"HostIp\":\"0.0.0.0\",\"HostPort\":\"$free\"},{\"HostIp\":\"::\",\"HostPort\":\"$free\"}]} 172.17.0.2"
	# the way out comes back by itself, and the gateway has the address that it had when others were there
	kill -KILL "$(pgrep -P "$(pgrep -P "$(cat "$BRIG_DOCKER_RUN"/networks/*/holder)")")"
	wait_for 5 eval '[ "$(dk exec web python3 -c "$ask" "$host_ip" "$free")" = web ]'
	dk rm -f web >/dev/null
	assert_equal "$(python3 -c "$ask" 127.0.0.1 "$PORT")" nothing
	wait_for 5 no_holders
}

@test "a container of another one's network; the host's" {
	dk network create --internal in >/dev/null
	serve srv --network in
	run_dk run --rm --network container:srv host sh -c "python3 -c '$ask' 127.0.0.1 80; cat /etc/hostname"
	assert_equal "$output" "srv
$(dk inspect -f '{{.Config.Hostname}}' srv)"
	run_dk run --rm --network container:nosuch host true
	assert_status 125
	assert_contains "$stderr" "No such container: nosuch"
	run_dk run --rm --network nosuchnet host true
	assert_status 125
	assert_contains "$stderr" "Error response from daemon: network nosuchnet not found"
	dk rm -f srv >/dev/null
	run_dk run --rm --network host host readlink /proc/self/ns/net
	assert_equal "$output" "$(readlink /proc/self/ns/net)"
}

@test "connect and disconnect while it runs" {
	dk network create --internal one >/dev/null
	dk network create --internal two >/dev/null
	serve srv --network two
	dk run -d --name cc --network one host sleep 60 >/dev/null
	run_dk network connect --alias also two cc
	assert_status 0
	run_dk exec cc sh -c "python3 -c '$ask' srv 80; ls /sys/class/net | tr '\n' ' '"
	assert_equal "$output" "srv
eth0 eth1 lo "
	assert_contains "$(dk exec srv getent hosts also)" also
	run_dk network connect two cc
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: endpoint with name cc already exists in network two"
	dk network disconnect two cc
	run_dk exec cc sh -c "getent hosts srv || ls /sys/class/net | tr '\n' ' '"
	assert_equal "$output" "eth0 lo "
	run_dk network disconnect two cc
	assert_equal "$stderr" "Error response from daemon: container $(dk inspect -f '{{.Id}}' cc) is not connected to network two"
	run_dk network connect nosuchnet cc
	assert_equal "$stderr" "Error response from daemon: network nosuchnet not found"
	dk rm -f cc srv >/dev/null
	wait_for 5 no_holders
}

@test "killed containers, clients and holders leave nothing" {
	dk network create --internal in >/dev/null
	"$BRIG_DOCKER" run --rm --network in host sleep 60 &
	local client=$!
	wait_for 10 eval '! gone in'
	kill -KILL $client
	wait $client || true
	wait_for 10 gone in
	dk run -d --name cc --network in host sleep 60 >/dev/null
	local holder
	holder=$(cat "$BRIG_DOCKER_RUN"/networks/*/holder)
	kill -KILL "$holder"
	dk run --rm --network in host true
	dk rm -f cc >/dev/null
	wait_for 5 no_holders
	run_dk network prune -f
	assert_equal "$output" "Deleted Networks:
in"
}

@test "an attached --rm container with a network: its address and ports are known; events; --network host" {
	SINCE=$(date +%s.%N)
	dk network create --internal noted >/dev/null
	dk volume create kept >/dev/null
	mkfifo "$T/stay"
	"$BRIG_DOCKER" run --rm -i --name att --network noted -p "127.0.0.1:$PORT:80" -v kept:/v host cat <"$T/stay" &
	exec 9>"$T/stay"
	wait_for 10 dk port att 80 2>/dev/null
	assert_equal "$(dk port att)" "80/tcp -> 127.0.0.1:$PORT"
	address=$(dk inspect -f '{{.NetworkSettings.Networks.noted.IPAddress}}' att)
	assert_equal "$(dk exec att hostname -i)" "$address"
	exec 9>&-
	wait $!
	dk network rm noted >/dev/null
	dk volume rm kept >/dev/null
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter type=network --filter type=volume \
		--format '{{.Type}} {{.Action}} {{.Actor.Attributes.name}}{{.Actor.Attributes.driver}}'
	assert_equal "$output" "network create noted<no value>
volume create <no value>local
network connect noted<no value>
volume mount <no value>local
network disconnect noted<no value>
volume unmount <no value>local
network destroy noted<no value>
volume destroy <no value>local"
	run_dk run --rm --network host -p "$PORT:80" host true
	assert_status 0
	assert_equal "$stderr" "WARNING: Published ports are discarded when using host network mode"
	# the name is a network's as well, and as in Docker that comes first where it is told apart by nothing
	assert_equal "$(dk inspect -f '{{.Driver}}' host)" host
	assert_equal "$(dk inspect -f '{{.Os}}{{len .RootFS.Layers}}' host)" linux0
}

@test "zeroth: the sidecar's network for each execution" {
	docker_py
	dk info >/dev/null
	dk network create --internal zeroth-sandbox-e1
	run_dk run --rm --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp \
		--network=zeroth-sandbox-e1 -e A=1 -w /workspace py python3 -c 'import os
print(os.getcwd(), os.environ["A"], sorted(os.listdir("/sys/class/net"))[0][:3])'
	assert_status 0
	assert_equal "$output" "/workspace 1 eth"
	dk network rm zeroth-sandbox-e1
	dk image rm py >/dev/null
}

@test "--link: an alias in the hosts file; variables in the network bridge; who is missing" {
	dk network create --internal linked >/dev/null
	dk run -d --name db --network linked host sleep 60 >/dev/null
	dk run -d --name web --network linked --link db:alias host sleep 60 >/dev/null
	assert_equal "$(dk exec web sh -c 'getent hosts alias | cut -d" " -f1; env | grep ALIAS')" "$(dk inspect -f '{{.NetworkSettings.Networks.linked.IPAddress}}' db)"
	assert_equal "$(dk inspect -f '{{.HostConfig.Links}}{{.NetworkSettings.Networks.linked.Links}}' web)" "[][db:alias]"
	run_dk run --rm --network linked --link nosuch host true
	assert_contains "$stderr" "could not get container for nosuch: No such container: nosuch"
	dk rm -f db web >/dev/null && dk network rm linked >/dev/null
	need_egress
	dk run -d --name db --network bridge --expose 5432 -e S=x host sleep 60 >/dev/null
	run_dk run --rm --network bridge --name web --link db:the-db host sh -c 'getent hosts the-db | cut -d" " -f1; env | grep THE_DB | sort'
	assert_equal "$output" "172.17.0.2
THE_DB_ENV_S=x
THE_DB_NAME=/web/the-db
THE_DB_PORT=tcp://172.17.0.2:5432
THE_DB_PORT_5432_TCP=tcp://172.17.0.2:5432
THE_DB_PORT_5432_TCP_ADDR=172.17.0.2
THE_DB_PORT_5432_TCP_PORT=5432
THE_DB_PORT_5432_TCP_PROTO=tcp"
	dk create --name web --network bridge --link db host true >/dev/null
	dk kill db >/dev/null
	run_dk start web
	assert_contains "$stderr" "Cannot link to a non running container: /db AS /web/db"
	dk rm db web >/dev/null
}

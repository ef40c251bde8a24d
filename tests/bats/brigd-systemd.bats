#!/usr/bin/env bats
# places: vm-systemd
# The units of contrib/systemd as they are, hardening included, under a booted systemd: the socket
# starts the service, its sandboxes have their limits, a stop drains.

load ../lib/common

SECRET=of-the-unit

setup() {
	local unit
	[ -x "${BRIG%/*}/brigd" ] || skip "brigd is not built: no libwebsockets"
	brig_setup
	# Nothing of it stays: the machine's writes are thrown away.
	install -m 755 "$BRIG" "${BRIG%/*}/brigd" /usr/local/bin/
	mkdir -p /etc/brig
	cp "$TREE/contrib/brigd.json" /etc/brig/
	echo "ZEROTH_SANDBOX_SIDECAR_SECRET=$SECRET" >/etc/brig/brigd.env
	# What the default dependencies order against is not there.
	for unit in service socket; do
		sed '/^\[Unit\]/a DefaultDependencies=no' "$TREE/contrib/systemd/brigd.$unit" >"/run/systemd/system/brigd.$unit"
	done
	systemctl daemon-reload
	systemctl start brigd.socket
}

teardown() {
	systemctl stop brigd.socket brigd.service
	rm -f /run/systemd/system/brigd.*
	brig_teardown
}

execute() {
	curl -sS -m 60 -H "X-Zeroth-Sandbox-Secret: $SECRET" -d "$1" http://127.0.0.1:8001/execute
}

snippet() {
	python3 - "$1" <<-'END'
		import asyncio, json, sys, websockets
		async def run():
		    async with websockets.connect("ws://127.0.0.1:9100/exec") as ws:
		        await ws.send(json.dumps({"code": sys.argv[1]}))
		        async for message in ws:
		            print(message)
		asyncio.run(run())
	END
}

@test "brigd, systemd: the units serve, and a stop drains" {
	run execute '{"execution_id": "a", "image": "host", "memory_mb": 50, "max_processes": 7, "cpu_cores": 0.5,
		"command": ["python3", "-c", "x = bytearray(200 << 20)"]}'
	assert_contains "$output" '"oom_killed":true'
	run snippet 'import os; print(os.getuid(), os.getcwd()); open("left", "w").write("x")'
	assert_contains "$output" "1001 /workspace"
	assert_contains "$output" '"name":"left"'
	assert_equal "$(systemctl show --property ActiveState --value brigd.service)" active
	# The sandboxes are in the service's own cgroup; the next one has waited for its code there.
	[ -n "$(find /sys/fs/cgroup/system.slice/brigd.service -name 'brig-sandbox-*')" ]
	execute '{"execution_id": "b", "image": "host", "command": ["sh", "-c", "echo on >&2; sleep 2; echo drained"]}' >"$T/answer" &
	local client=$!
	running() { curl -sS -H "X-Zeroth-Sandbox-Secret: $SECRET" http://127.0.0.1:8001/metrics | grep -qx 'brigd_running 1'; }
	wait_for 20 running
	systemctl stop brigd.socket brigd.service
	wait $client
	assert_contains "$(<"$T/answer")" '"stdout":"drained\n"'
	assert_equal "$(systemctl show --property Result --value brigd.service)" success
	assert_equal "$(find /sys/fs/cgroup -name 'brig-sandbox-*')" ""
}

# places: root
# brigd as a service: crashes, settings, socket activation, its page.
load ../lib/common
load ../lib/sandbox
load ../lib/brigd

best_effort() { limits_work && echo --best-effort=false || echo --best-effort; }

@test "brigd: kill -9 of brigd, of a brig, of the launcher: nothing is left" {
	brigd_check brigd-crash
	# Kept on purpose by the check.
	rm -r "$T"/brigd-*
}

@test "brigd: many executions and snippets leave nothing: memory, descriptors, cgroups, directories" {
	need_brigd
	run "$TREE/bench/brigd" --build "$(dirname "$BRIGD")" "$(best_effort)" --soak 120
	assert_status 0
}

@test "brigd: clients that do anything" {
	brigd_check brigd-hammer
}

@test "brigd: the addresses of one IPv6 network share their number of connections, those of IPv4 do not" {
	need_brigd
	unshare -n true 2>/dev/null || skip "no network namespace can be made here"
	export BRIGD T BRIG_ROOT BRIGD_OPTIONS=--best-effort
	run unshare -n sh -c 'ip link set lo up && ip -6 route add local 2001:db8::/32 dev lo &&
		exec /usr/bin/python3 "$0"' "$TESTS_LIB/brigd-peers"
	assert_status 0
}

@test "brigd: settings that are wrong end it with a sentence" {
	need_brigd
	local line options words
	run "$BRIGD" --help
	assert_status 0
	assert_contains "$output" "--max-exec-ms N"
	run "$BRIGD" --version
	assert_contains "$output" "brigd version"
	while IFS='|' read -r options words; do
		# shellcheck disable=SC2086
		run timeout 20 "$BRIGD" --tmp-root "$T" $options
		assert_status 1
		assert_contains "$output" "$words"
	done <<-EOF
		--nonsense|unknown option
		word|not an option
		--max-body|needs a value
		--max-body 5|not a number from 1024
		--max-body 1e6|not a number
		--listen localhost:80|is not IP:PORT
		--listen 127.0.0.1:99999|is not IP:PORT
		--listen 203.0.113.7:9|203.0.113.7:9
		--open-ports 80,65536|is not a list of ports
		--open-ports 80,|is not a list of ports
		--outputs relative|not an absolute path
		--brig /nowhere|no program brig
		--tmp-root /nowhere|/nowhere
		--tmp-root /nowhere|without a secret every /execute is refused
		--config $T/none.json|none.json
	EOF
	assert_equal "$(ls "$T")" ""
	echo '{"max_boddy": 5}' >"$T/c.json"
	run "$BRIGD" --config "$T/c.json"
	assert_contains "$output" "max_boddy: there is no such setting"
	echo '{"max_body": "5"}' >"$T/c.json"
	run "$BRIGD" --config "$T/c.json"
	assert_contains "$output" "max_body: is a string"
	echo secret >"$T/secret" && chmod 644 "$T/secret"
	run "$BRIGD" --sidecar-secret-file "$T/secret"
	assert_status 1
	assert_contains "$output" "chmod 600"
}

@test "brigd: a socket from systemd, a stop that drains, the example of a configuration" {
	need_brigd
	python3 "$TESTS_LIB/brigd-activated" "$T" "$BRIGD" --config "$TREE/contrib/brigd.json" \
		--state-root "$BRIG_ROOT" --tmp-root "$T" --access-log "$T/log" "$(best_effort)" &
	local pid=$!
	wait_for 20 test -S "$T/activated.sock"
	run curl -sS -m 20 --unix-socket "$T/activated.sock" http://localhost/health
	assert_equal "$output" '{"status":"ok","docker_available":true}'
	kill -TERM $pid
	wait $pid
	[ ! -e "$T"/brigd-runs-* ]
	# The units are what systemd takes them for.
	if command -v systemd-analyze >/dev/null; then
		sed "s|/usr/local/bin/brigd|$BRIGD|" "$TREE/contrib/systemd/brigd.service" >"$T/brigd.service"
		cp "$TREE/contrib/systemd/brigd.socket" "$T"
		run systemd-analyze verify --man=no "$T/brigd.service" "$T/brigd.socket"
		assert_status 0
		assert_equal "$output" ""
	fi
}

@test "brigd: the page, in a browser" {
	need_brigd
	need_command chromedriver
	local port=$((20000 + RANDOM % 10000)) pid
	"$BRIGD" "$(best_effort)" --listen 127.0.0.1:$port --state-root "$BRIG_ROOT" --tmp-root "$T" --access-log "$T/log" &
	pid=$!
	wait_for 20 curl -s -o "$T/page" http://127.0.0.1:$port/
	assert_contains "$(cat "$T/page")" "brig playground"
	# Nothing comes from elsewhere.
	run grep -nE '(src|href)="?(https?:)?//|@import|url\(' "$T/page"
	assert_status 1
	HOME=$T run timeout 120 python3 "$TESTS_LIB/brigd-browser" http://127.0.0.1:$port/ "$T"
	kill $pid
	wait $pid || true
	assert_status 0
	assert_contains "$output" "ok: a phone's width is enough"
}

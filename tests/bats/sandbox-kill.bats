# places: root rootless
# brig is killed at any moment, or many run at once: nothing stays, nothing waits for another.
load ../lib/common
load ../lib/sandbox

# What sandboxes of this test left, one a line; cgroups are looked for in teardown.
sandbox_leftovers() {
	local pid
	for pid in $(marked_processes); do
		! grep -aqE 'brig-init|424242' "/proc/$pid/cmdline" 2>/dev/null || echo "process $pid"
	done
	find "$BRIG_ROOT" -mindepth 1 -maxdepth 1 -name 'sandbox-*' 2>/dev/null || true
}

no_sandbox_left() { [ -z "$(sandbox_leftovers)" ]; }

gone() { ! pgrep -f "$1" >/dev/null; }

@test "sandbox: SIGKILL at 200 random moments, and the next call leaves nothing" {
	local i pid us
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- true >/dev/null 2>&1 # caches are warm
	for i in {1..200}; do
		"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- sh -c 'sleep 424242 & sleep 424242' \
			>/dev/null 2>&1 &
		pid=$!
		us=$((RANDOM * RANDOM % 60000))
		sleep "0.$(printf %06d $us)"
		kill -KILL $pid 2>/dev/null || true
		wait $pid 2>/dev/null || true
	done
	sandbox -- true
	assert_status 0
	wait_for 10 no_sandbox_left || fail "left:" "$(sandbox_leftovers)"
}

@test "sandbox: SIGKILL of brig ends the program at once" {
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- sh -c 'sleep 424242 & sleep 424242' \
		>/dev/null 2>&1 &
	local pid=$!
	wait_for 20 pgrep -f '[s]leep 424242' >/dev/null
	kill -KILL $pid
	wait $pid || true
	wait_for 5 gone '[s]leep 424242' || fail "the program outlived brig"
	sandbox -- true
}

@test "sandbox: 500 of them, 16 at a time, all succeed and leave nothing" {
	local waive=--best-effort failed
	mkdir "$T/out"
	seq 500 | xargs -P 16 -I{} sh -c "\"$BRIG\" --root \"$BRIG_ROOT\" sandbox $waive \
		--result $T/out/{} -- echo number {} 2>>$T/err || echo {} >>$T/failed"
	[ ! -e "$T/failed" ] || fail "failed: $(wc -l <"$T/failed"): $(sort -u "$T/err" | head -5)"
	failed=$(jq -r 'select(.status != "exited" or .returncode != 0) | .error' "$T"/out/* | head -5)
	assert_equal "$failed" ""
	assert_equal "$(cat "$T"/out/* | jq -r .stdout | grep -c '^number [0-9]*$')" 500
	assert_equal "$(sandbox_leftovers)" ""
}

@test "sandbox: no lock makes one start wait for another" {
	local i start took
	for i in {1..4}; do
		"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort -- sleep 3 >/dev/null 2>&1 &
	done
	sleep 1
	start=$(date +%s%N)
	sandbox -- true
	took=$((($(date +%s%N) - start) / 1000000))
	assert_status 0
	[ $took -lt 1500 ] || fail "took $took ms beside four running ones"
	wait
}

# Helpers for the tests of brigd. The clients are Python: Debian's, which has the WebSocket library.

BRIGD=${BRIGD:-$(dirname "$BRIG")/brigd}

need_brigd() {
	[ -x "$BRIGD" ] || skip "brigd is not built: no libwebsockets"
	/usr/bin/python3 -c 'import websockets' 2>/dev/null || skip "python3-websockets is not installed"
}

# brigd_check SCRIPT ARG...: one of tests/lib/brigd-*; what it prints is shown when it fails.
brigd_check() {
	local script=$1
	shift
	need_brigd
	export BRIGD T BRIG_ROOT LIMITS=0 BRIGD_OPTIONS=--best-effort
	! limits_work || LIMITS=1 BRIGD_OPTIONS=
	run /usr/bin/python3 "$TESTS_LIB/$script" "$@"
	assert_status 0
}

#!/usr/bin/env bats
# places: root
# The recorded commands of the real docker, replayed against brig-docker (tests/docker).

load ../lib/common

# It is hundreds of starts.
BATS_TEST_TIMEOUT=400

@test "brig-docker answers the recorded commands as docker does" {
	local docker=${BRIG_DOCKER:-$(dirname "$BRIG")/brig-docker}
	[ -x "$docker" ] || fail "no program $docker"
	run python3 "$TREE/tests/docker/records.py" --docker "$docker" --top "$T"
	echo "$output"
	[ "$status" = 0 ]
}

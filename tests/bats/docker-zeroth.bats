#!/usr/bin/env bats
# places: root rootless vm
# Zeroth's docker backend, step by step: the container that it asks for, then its units, many at a
# time, of which some take too long and lose their client.

load ../lib/common
load ../lib/docker

zeroth() { # IMAGE COUNT
	local limits=0
	! has_controller memory || limits=1
	dk run -d --name zeroth-sandbox --network none "$1" sleep infinity
	LIMITS=$limits run "$TESTS_LIB/zeroth" "$BRIG_DOCKER" "$2"
	dk rm -f zeroth-sandbox
	assert_status 0
	assert_equal "$(dk ps -aq)" ""
}

@test "zeroth: 64 units at a time, with limits, of which every fourth takes too long" {
	if in_vm; then
		zeroth host 64
	else
		docker_py
		zeroth py 64
	fi
}

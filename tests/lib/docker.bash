# Helpers for the bats files about brig-docker: a store of its own for each test, in $T.
#
#     load ../lib/common
#     load ../lib/docker
#
# dk ARG... runs brig-docker; run_dk also sets $status, $output (standard output) and $stderr.

BRIG_DOCKER=$(realpath "${BRIG_DOCKER:-$(dirname "$BRIG")/brig-docker}")

setup() { docker_setup; }
teardown() { docker_teardown; }

docker_setup() {
	brig_setup
	[ -x "$BRIG_DOCKER" ] || fail "no program $BRIG_DOCKER: build it, or set BRIG_DOCKER"
	export BRIG_DOCKER_DATA=$T/data BRIG_DOCKER_RUN=$T/run BRIG_DOCKER_CONFIG=$T/config.json
	echo '{}' >"$BRIG_DOCKER_CONFIG"
}

# A test that ends well has removed its containers; what is left of them is an error, too.
docker_teardown() {
	local status=0
	[ -n "${MARK:-}" ] || return 0
	docker_left_nothing || status=1
	brig_teardown || status=1
	return $status
}

docker_left() {
	find "$BRIG_DOCKER_DATA/containers" "$BRIG_DOCKER_DATA/names" "$BRIG_DOCKER_RUN/docker" \
		"$BRIG_DOCKER_RUN/docker-run" -mindepth 1 ! -name '.*' 2>/dev/null || true
}

nothing_of_docker() { [ -z "$(docker_left)" ]; }

docker_left_nothing() {
	wait_for 2 nothing_of_docker || {
		echo "left in the store:" "$(docker_left | head -20)" >&2
		[ -n "${KEEP:-}" ] || docker_kill_all
		return 1
	}
}

docker_kill_all() {
	local id
	for id in "$BRIG_DOCKER_DATA"/containers/*; do
		"$BRIG_DOCKER" rm -f "${id##*/}" >/dev/null 2>&1 || true
	done
}

dk() { "$BRIG_DOCKER" "$@"; }

run_dk() {
	run_apart "$BRIG_DOCKER" "$@"
}

# The image `py`: a root file system with Python, sh and coreutils, without copying it.
docker_py() {
	local root
	root=$("$TESTS_LIB/rootfs")
	printf '%s' '{"architecture":"amd64","os":"linux","config":{"Env":["IMG=1"],"Cmd":["sh"]},' \
		'"rootfs":{"type":"layers","diff_ids":[]}}' >"$T/document"
	"$(dirname "$BRIG_DOCKER")/brig-image" --data "$BRIG_DOCKER_DATA" import --document "$T/document" \
		--name docker.io/library/py:latest --link "$root" >/dev/null
}

# What the record of a container says; FILTER as of jq.
record() {
	local id
	id=$(readlink "$BRIG_DOCKER_DATA/names/$1")
	jq -r "$2" "$BRIG_DOCKER_DATA/containers/$id/record.json"
}

# The process that answers for a container, by its whole id.
monitor_of() {
	local file
	# The one that has the container's lock open.
	file=$(find /proc/[0-9]*/fd -lname "$BRIG_DOCKER_RUN/docker-run/$1/owner" 2>/dev/null | head -n 1)
	file=${file#/proc/}
	[ -n "$file" ] && echo "${file%%/*}"
}

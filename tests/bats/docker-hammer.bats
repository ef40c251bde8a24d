#!/usr/bin/env bats
# places: root
# The store under kill -9, many commands on one name, a full disk, very long command lines.
# BRIG_LONG=1: 300 rounds of kill -9 instead of 40.

load ../lib/common
load ../lib/docker

# What is in the store is whole: every record can be read, every name leads to one, and what does not run is
# said not to.
assert_whole() {
	local names
	run_dk ps -a --no-trunc --format '{{.ID}} {{.Names}} {{.State}}'
	assert_status 0
	[ -z "$stderr" ] || fail "$stderr"
	names=$(find "$BRIG_DOCKER_DATA/names" -mindepth 1 -printf '%l %f\n' | sort)
	assert_equal "$(awk 'NF {print $1, $2}' <<<"$output" | sort)" "$names"
	dk ps -aq | xargs -r "$BRIG_DOCKER" inspect >/dev/null
}

@test "kill -9 of client, monitor and both, at any moment: the store is whole, nothing leaks" {
	local rounds=40 i pid argv client
	[ -z "${BRIG_LONG:-}" ] || rounds=300
	for i in $(seq "$rounds"); do
		case $((i % 4)) in
		0) argv=(run -d --name n$((i % 8)) --health-cmd true --health-interval 20ms host sleep 1000) ;;
		1) argv=(run --name n$((i % 8)) host sh -c 'echo x; sleep 0.05') ;;
		2) argv=(run -d --rm --restart no host sleep 0.05) ;;
		3) argv=(rm -f n$(((i + 1) % 8)) n$(((i + 2) % 8))) ;;
		esac
		"$BRIG_DOCKER" "${argv[@]}" >/dev/null 2>&1 &
		client=$!
		sleep "0.0$((RANDOM % 10))"
		((RANDOM % 3)) || kill -KILL "$client" 2>/dev/null || true
		((RANDOM % 3)) || for pid in $(marked_processes); do
			[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != brig-monitor ] || kill -KILL "$pid" 2>/dev/null || true
		done
		((i % 20)) || { wait && assert_whole; }
	done
	wait
	assert_whole
	dk ps -aq | xargs -r "$BRIG_DOCKER" rm -f >/dev/null
	wait_for 5 nothing_of_docker
}

@test "commands on one name at once: each wins or loses whole" {
	local i
	for i in $(seq 4); do
		"$BRIG_DOCKER" run -d --name one host sleep 1000 >>"$T/ids" 2>"$T/err$i" &
	done
	wait
	assert_equal "$(dk ps -aq --no-trunc)" "$(cat "$T/ids" | sort -u | head -1)"
	assert_equal "$(grep -l 'is already in use by container' "$T"/err* | wc -l)" 3
	for i in $(seq 4); do
		"$BRIG_DOCKER" restart -t 0 one >/dev/null 2>&1 &
		"$BRIG_DOCKER" rename one two >/dev/null 2>&1 &
		"$BRIG_DOCKER" pause one >/dev/null 2>&1 &
		"$BRIG_DOCKER" update --restart no two >/dev/null 2>&1 &
	done
	wait
	assert_whole
	for i in $(seq 4); do
		"$BRIG_DOCKER" rm -f two >/dev/null 2>&1 &
	done
	wait
	wait_for 5 nothing_of_docker
}

@test "a full disk is an error, not a broken record" {
	local n
	mkdir "$T/small" && mount -t tmpfs -o size=1m brig-test "$T/small"
	export BRIG_DOCKER_DATA=$T/small/data
	dk create --name before host true >/dev/null
	dk run -d --name up host sh -c 'while :; do echo y; done' >/dev/null
	fill() { head -c 2000000 /dev/zero >"$T/small/fill" 2>/dev/null || true; }
	fill
	run_dk run --name more host true
	assert_status 125
	assert_contains "$stderr" "No space left on device"
	run_dk rename before after
	assert_status 1
	assert_equal "$(dk ps -a --format '{{.Names}}' | sort | tr '\n' ' ')" "before up "
	dk inspect before up >/dev/null
	dk rm -f up
	rm -f "$T/small/fill"
	dk run --rm host true
	dk rm before
	n=$(docker_left)
	umount "$T/small"
	assert_equal "$n" ""
}

@test "a megabyte of arguments and of environment" {
	local long n
	long=$(head -c 120000 /dev/zero | tr '\0' x)
	run_dk run --name long -e "A=$long" -e "B=$long" -e "C=$long" -e "D=$long" host \
		sh -c 'echo ${#A} ${#D} ${#1} ${#5}' sh "$long" "$long" "$long" "$long" "$long"
	assert_equal "$output" "120000 120000 120000 120000"
	assert_equal "$(dk inspect long | jq -r '.[0] | (.Config.Env | map(length) | max), (.Args | map(length) | add)' | tr '\n' ' ')" \
		"120002 600032 "
	dk start -a long >/dev/null
	dk rm long
}

# places: root
# What a run costs and leaks.
load ../lib/common

@test "run cost: brig itself stays below 2 MiB of memory" {
	make_bundle "$T/bundle" sleep 100
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)" &
	local pid=$! peak
	wait_for 10 is_recorded "$(new_id)"
	peak=$(sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
	run_brig kill "$(new_id)" KILL
	wait
	echo "peak: $peak KiB"
	[ "$peak" -lt 2048 ]
}

# with_fds WORDS...: brig run with descriptors 3, 5 and 9 open, and 4 when $four is set. (3 is bats' own.)
with_fds() {
	run_apart bash -c 'exec 4<&-; [ -z "$four" ] || exec 4</dev/null
		exec 3</dev/null 5</dev/null 9</dev/null "$@"' _ "$BRIG" --root "$BRIG_ROOT" run "$@"
}

@test "run cost: the program gets descriptors 0 to 2 and those it was promised" {
	# the list itself has one more, for the directory
	make_bundle "$T/bundle" sh -c 'ls /proc/self/fd | tr "\n" " "'
	export four=1
	with_fds -b "$T/bundle" "$(new_id)"
	assert_equal "$output" "0 1 2 3 "
	with_fds --preserve-fds 2 -b "$T/bundle" "$(new_id)"
	assert_equal "$output" "0 1 2 3 4 5 "
	unset four
	with_fds --preserve-fds 2 -b "$T/bundle" "$(new_id)"
	assert_status 125
	assert_contains "$stderr" "descriptor 4"
}

@test "run cost: two processes and a thread, and no more than 500 system calls" {
	command -v strace >/dev/null || skip "no strace on this machine"
	make_bundle "$T/bundle" true
	run_brig run -b "$T/bundle" "$(new_id)"
	strace -f -o "$T/trace" "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	echo "$(grep -c '(' "$T/trace") system calls"
	threads=$(grep -c CLONE_THREAD "$T/trace" || true)
	[ "$threads" -le 1 ]
	[ "$(cut -d' ' -f1 "$T/trace" | sort -u | wc -l)" = $((2 + threads)) ]
	[ "$(grep -c '(' "$T/trace")" -lt 500 ]
}

@test "run cost: valgrind finds nothing in what it can run" {
	command -v valgrind >/dev/null || skip "no valgrind on this machine"
	make_bundle "$T/bundle" true
	local words
	# Debian's valgrind knows none of the new mount calls, so no container starts under it
	for words in "plan -b $T/bundle" "spec --file -" "spec --rootless --file $T/spec.json" features "state absent" "sandbox --help"; do
		# shellcheck disable=SC2086
		valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
			"$BRIG" --root "$BRIG_ROOT" $words >/dev/null 2>"$T/errors" || [ $? = 1 ] || fail "$words" "$(cat "$T/errors")"
	done
}

# The beginning of a command that is to have one.
one_processor() { echo "taskset -c $(taskset -pc $$ | grep -oE '[0-9]+$')"; }

# With two processors it is made ahead, by a thread; with one the first process is born in it.
@test "a new network namespace has lo, up, and nothing else, whoever made it" {
	make_bundle "$T/bundle" sh -c 'readlink /proc/self/ns/net; ip -o link; ip -o addr'
	local one
	for one in "" "$(one_processor)"; do
		# shellcheck disable=SC2086
		run_apart $one "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
		assert_status 0
		[ "${lines[0]}" != "$(readlink /proc/self/ns/net)" ]
		[[ $output == *"1: lo: <LOOPBACK,UP,LOWER_UP> "*"inet 127.0.0.1/8 "* && $output != *"2: "* ]] || fail "$output"
	done
}

@test "lo is up for the hooks that the first process runs, whoever made the namespace" {
	make_bundle "$T/bundle" true
	edit_config "$T/bundle" '.hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c",
		"ip -o link show lo >" + $dir + "/seen"], env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}]' --arg dir "$T"
	local one
	for one in "" "$(one_processor)"; do
		# shellcheck disable=SC2086
		run_apart $one "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
		assert_status 0
		assert_contains "$(<"$T/seen")" "<LOOPBACK,UP,LOWER_UP>"
		rm "$T/seen"
	done
}

@test "a network namespace is made once, also where brig has to run itself again" {
	need_command strace
	make_bundle "$T/bundle" true
	strace -f -o "$T/trace" "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
	assert_equal "$(grep -cE '(unshare|clone3?)\(.*CLONE_NEWNET' "$T/trace")" 1
}

@test "no network namespace left: the error is the same, whoever makes it" {
	make_bundle "$T/bundle" true
	local one said=()
	for one in "" "$(one_processor)"; do
		# shellcheck disable=SC2086
		run_apart unshare -U -r -m bash -c 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"' _ \
			$one "$BRIG" --cgroup-manager disabled --root "$BRIG_ROOT/$EUID" run -b "$T/bundle" "$(new_id)"
		assert_status 125
		said+=("$stderr")
	done
	assert_contains "${said[0]}" "too many namespaces"
	assert_equal "${said[0]}" "${said[1]}"
	rm -rf "$BRIG_ROOT"
}

# It is sent to another processor, and called back from there when that one has no time for it.
@test "a start does not wait for a busy processor when its own is free" {
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	make_bundle "$T/bundle" true
	local own others hog since both=0 one=0 i
	own=$(taskset -pc $$ | grep -oE '[0-9]+$')
	others=$(python3 -c "import os; print(*os.sched_getaffinity(0) - {$own}, sep=',')")
	hog=()
	for i in ${others//,/ }; do
		taskset -c "$i" sh -c 'while :; do :; done' 3>&- &
		hog+=($!)
	done
	for i in {1..10}; do
		since=${EPOCHREALTIME/./}
		chrt -i 0 "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
		both=$((both + ${EPOCHREALTIME/./} - since)) since=${EPOCHREALTIME/./}
		chrt -i 0 taskset -c "$own" "$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$(new_id)"
		one=$((one + ${EPOCHREALTIME/./} - since))
	done
	kill "${hog[@]}"
	echo "with both: $both us, with its own: $one us"
	[ "$both" -lt $((5 * one + 200000)) ]
}

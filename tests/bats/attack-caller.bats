# places: root rootless
# A caller that gives us little: few descriptors, closed streams, no disk, odd signals.
load ../lib/common
load ../lib/sandbox

@test "attack: with every number of descriptors it works or says why, and leaves nothing" {
	local n
	for n in {4..60}; do
		# shellcheck disable=SC2016 # the inner shell's
		output=$(timeout -s KILL 20 sh -c 'ulimit -n $1; exec "$BRIG" --root "$BRIG_ROOT" sandbox \
			--best-effort -- echo fine' - "$n" 2>"$T/err") || [ $? != 137 ] || fail "hangs with $n"
		[[ $output == *'"stdout":"fine\n"'* || $output == *setup_failed*"Too many open files"* ||
			$(<"$T/err") == *"Too many open files"* || $(<"$T/err") == *"newuidmap: "* ]] || fail "$n: $output" "$(<"$T/err")"
	done
	sandbox -- true
	assert_status 0
}

@test "attack: closed standard streams, ignored signals" {
	"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --result "$T/result" -- \
		sh -c 'ls /proc/self/fd | wc -l' <&- >&- 2>&-
	assert_json .stdout 4 "$(<"$T/result")"
	(trap '' CHLD PIPE TERM HUP && "$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --result "$T/result" -- \
		sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status' 2>"$T/err") || fail "$(<"$T/err")"
	assert_json '.stdout | gsub("\t"; " ")' $'SigBlk: 0000000000000000\nSigIgn: 0000000000000000' \
		"$(<"$T/result")"
}

@test "attack: a full disk below the state is an error, not a half container" {
	need_root
	mkdir "$BRIG_ROOT"
	mount -t tmpfs -o size=16k,nr_inodes=8,mode=700 none "$BRIG_ROOT"
	head -c 20000 /dev/zero >"$BRIG_ROOT/fill" 2>/dev/null || true
	run_brig sandbox -- true
	assert_status 125
	assert_contains "$output" "No space left"
	rm "$BRIG_ROOT/fill"
	run_brig sandbox -- true
	assert_status 0
	umount "$BRIG_ROOT"
}

@test "attack: two starts with one id: one wins, the other says so" {
	need_root
	local i wins=0 said
	make_bundle "$T/b" sleep 0.3
	for i in {1..6}; do
		"$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" 2>"$T/err$i" &
	done
	for i in {1..6}; do
		! wait -n || wins=$((wins + 1))
	done
	said=$(cat "$T"/err* | grep -c 'already exists')
	[ $wins -ge 1 ] && [ $((wins + said)) = 6 ] || fail "$wins, $said" "$(cat "$T"/err*)"
}

@test "attack: the caller's umask is not the program's" {
	local mask=077
	# root reads what nobody may
	[ "$EUID" != 0 ] || mask=777
	output=$(umask $mask && "$BRIG" --root "$BRIG_ROOT/made" sandbox --best-effort -- sh -c umask 2>"$T/err") ||
		fail "$(<"$T/err")"
	assert_json .stdout 0022
	rm -r "$BRIG_ROOT"
}

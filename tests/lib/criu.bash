# The criu that works here, in front of PATH, or the reason why there is none. The container is `$id`, as in live.bash.
# shellcheck disable=SC2154

# For a file's setup_file: sets $CRIU_DIR, or $CRIU_WHY.
find_criu() {
	CRIU_WHY=$("$TESTS_LIB/criu-path" 2>&1 >"$BATS_FILE_TMPDIR/criu") || true
	CRIU_DIR=$(<"$BATS_FILE_TMPDIR/criu")
	export CRIU_DIR CRIU_WHY PATH="${CRIU_DIR:+$CRIU_DIR:}$PATH"
}

need_criu() { [ -n "${CRIU_DIR:-}" ] || skip "${CRIU_WHY:-no criu}"; }

# A container that counts in $T/count/n (a bind mount) and in its /tmp; of $T/bundle, if that is there.
start_counter() {
	# shellcheck disable=SC2016
	[ -d "$T/bundle" ] || make_bundle "$T/bundle" sh -c 'i=0; while :; do i=$((i+1)); echo $i >/count/n; echo $i >/tmp/n; sleep 0.05; done'
	mkdir -p "$T/count"
	chmod 777 "$T/count"
	edit_config "$T/bundle" '.mounts += [{destination: "/count", type: "bind", source: $t, options: ["bind"]},
		{destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid"]}]' --arg t "$T/count"
	start_container "$@"
	wait_for 5 test -s "$T/count/n"
}

checkpoint() {
	run_brig checkpoint --image-path "$T/image" --work-path "$T/work" "$@" "$id"
}

restore() {
	run_detached restore --detach --bundle "$T/bundle" --image-path "$T/image" --work-path "$T/work" \
		--pid-file "$T/restored" -no-subreaper "$@" "$id"
}

# It goes on where it was, and not from the beginning.
assert_goes_on() {
	local before=$1
	# shellcheck disable=SC2016
	wait_for 5 eval '[ "$(cat "$T/count/n" || echo 0)" -gt '"$((before + 2))"' ]'
}

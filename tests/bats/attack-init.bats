# places: root rootless
# The container's first process, which is brig until it has called exec, seen from inside.
load ../lib/common
load ../lib/sandbox

# One row a line: what is tried on pid 1, over and over, while its exec takes half a second.
try_pid1='import os, sys, time
def reach(name, flags):
    try: os.close(os.open("/proc/1/" + name, flags)); return True
    except OSError: return False
end, got = time.monotonic() + 0.8, set()
while time.monotonic() < end:
    for name, flags in ("mem", os.O_RDWR), ("maps", os.O_RDONLY), ("exe", os.O_RDONLY), ("exe", os.O_PATH), \
            ("fd/0", os.O_RDONLY), ("fd/3", os.O_RDONLY), ("environ", os.O_RDONLY), ("root/etc/passwd", os.O_RDONLY):
        if reach(name, flags): got.add(name)
print(sorted(got))'

@test "attack: the program cannot reach pid 1 while that is still brig" {
	local ids=(range single) kind
	need_command strace
	[ "$(id -u)" = 0 ] || ids=(single) # newuidmap gains nothing under strace
	for kind in "${ids[@]}"; do
		output=$(strace -f -o /dev/null -e trace=execveat -e inject=execveat:delay_enter=500000 \
			"$BRIG" --root "$BRIG_ROOT" sandbox --best-effort --userns "$kind" \
			--rootfs "$(python_rootfs)" -- python3 -c "$try_pid1" 2>"$T/err") || fail "$(<"$T/err")"
		assert_json .stdout '[]'
	done
}

@test "attack: a single id that is the caller's own reaches nothing of the caller's" {
	need_root
	need_command strace
	chmod 755 "$T"
	install -d -o brigtest1 -m 700 "$T/state-brigtest1"
	output=$(strace -f -o /dev/null -e trace=execveat -e inject=execveat:delay_enter=500000 \
		setpriv --reuid brigtest1 --regid brigtest1 --clear-groups \
		"$BRIG" --root "$T/state-brigtest1" sandbox --best-effort \
		--rootfs "$(python_rootfs)" -- python3 -c "$try_pid1" 2>"$T/err") || fail "$(<"$T/err")"
	assert_json .stdout '[]'
}

@test "attack: an image whose program is /proc/self/exe gets no brig that it can write" {
	need_root # only the host's root could write the file anyway
	make_bundle "$T/b" /bin/self sandbox --spec -
	ln -sf /proc/self/exe "$T/b/rootfs/bin/self"
	mkfifo "$T/never"
	exec 8<>"$T/never"
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" <&8 >/dev/null 2>&1 &
	wait_for 10 pid1_is_brig || fail "it does not run"
	# While it runs it is busy; what matters is afterwards.
	exec 7<"/proc/$PID1/exe"
	kill -KILL "$PID1"
	wait || true
	! : 2>"$T/err" >>/dev/fd/7 || fail "brig could be written to"
	[[ $(<"$T/err") != *busy* ]] || fail "$(<"$T/err")"
	exec 7<&- 8>&-
}

pid1_is_brig() {
	PID1=$("$BRIG" --root "$BRIG_ROOT" state "$(new_id)" 2>/dev/null | jq .pid)
	[ "${PID1:-0}" -gt 0 ] && tr '\0' ' ' <"/proc/$PID1/cmdline" | grep -q '^/bin/self sandbox'
}

# The first process has this executable and these mappings until its exec.
@test "attack: what brig runs from while it makes a container can be written by nobody" {
	need_root
	make_bundle "$T/b" sleep 100
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" &
	local pid=$! file fd fds=()
	wait_for 10 test -s "$BRIG_ROOT/$(new_id)/state.json"
	for file in "/proc/$pid/exe" "/proc/$pid/map_files/"*; do
		[[ $(readlink "$file") == */brig* || $(readlink "$file") == / ]] || continue
		exec {fd}<"$file"
		fds+=("$fd")
	done
	[ "${#fds[@]}" -ge 3 ] || fail "executable, code and data: ${#fds[@]} files"
	run_brig kill "$(new_id)" KILL
	wait || true
	for fd in "${fds[@]}"; do
		! : 2>"$T/err" >>"/dev/fd/$fd" || fail "brig could be written to"
		[[ $(<"$T/err") != *busy* ]] || fail "$(<"$T/err")"
		exec {fd}<&-
	done
}

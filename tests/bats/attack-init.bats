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
	[ "$EUID" = 0 ] || ids=(single) # newuidmap gains nothing under strace
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

# A program that nobody else runs: what another test runs is busy.
own_brig() {
	cp "$BRIG" "$T/brig"
	BRIG=$T/brig
}

# A container whose program is brig itself, waiting for its input on descriptor 8.
make_self_bundle() {
	make_bundle "$T/b" /bin/self sandbox --spec -
	ln -sf /proc/self/exe "$T/b/rootfs/bin/self"
	mkfifo "$T/never"
	exec 8<>"$T/never"
}

@test "attack: an image whose program is /proc/self/exe gets no brig that it can write" {
	need_root # only the host's root could write the file anyway
	own_brig
	make_self_bundle
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
	own_brig
	make_bundle "$T/b" sleep 100
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" &
	local pid=$! file fd fds=()
	wait_for 10 is_recorded "$(new_id)"
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

# A hook that tries to make the mount of its container's executable writable, by its descriptor, as whoever is
# root in a mount namespace of his own can, and says how that ended.
hook_remounts() {
	cat >"$T/remount" <<-END
	#!/usr/bin/python3
	import ctypes, errno, json, os, signal, struct, sys
	pid = json.load(sys.stdin)["pid"]
	fd = os.open("/proc/%d/exe" % pid, os.O_PATH)
	libc = ctypes.CDLL(None, use_errno=True)
	# mount_setattr with AT_EMPTY_PATH, MOUNT_ATTR_RDONLY cleared
	r = libc.syscall(442, fd, b"", 0x1000, struct.pack("4Q", 0, 1, 0, 0), 32)
	open("$T/result", "a").write("writable\n" if r == 0 else errno.errorcode[ctypes.get_errno()] + "\n")
	os.kill(pid, signal.SIGKILL)
	END
	chmod 755 "$T/remount"
}

# As long as the descriptor of a detached mount is open somewhere, the mount can be changed by whoever has a file on it.
@test "attack: the mount that brig runs from cannot be made writable, whichever way the host's root is left" {
	need_root # only the host's root could write the file anyway
	own_brig
	make_self_bundle
	hook_remounts
	local change option before userns='.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}] |
		.linux.gidMappings = .linux.uidMappings'
	# One row a line: the change of the configuration, the option of run, and what is before brig.
	while IFS=';' read -r change option before; do
		jq ".hooks = {poststart: [{path: \"$T/remount\"}]} | ${change:-.}" "$T/b/config.json" >"$T/config"
		rm -f "$T/result"
		run unshare -m --propagation private sh -c "${before:-:}"' && exec "$@"' _ \
			"$BRIG" --root "$BRIG_ROOT" run ${option:+"$option"} -b "$T/b" -f "$T/config" "$(new_id)" <&8
		assert_equal "$change $option $before: $(cat "$T/result" 2>&1 || echo "$output")" "$change $option $before: EINVAL"
	done <<-END
	;;
	;--no-pivot;
	.linux.rootfsPropagation = "rshared";;
	.linux.rootfsPropagation = "slave";;
	${userns//$'\n'/};;
	;;mount --bind /dev/null /proc/version;
	;;mount -t proc -o subset=pid proc /proc;
	END
	exec 8<&-
}

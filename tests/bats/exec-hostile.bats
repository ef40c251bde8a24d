#!/usr/bin/env bats
# places: root rootless
# A container whose processes wait for exec to join: what they can get hold of, and write.
load ../lib/common
load ../lib/live

teardown() {
	end_containers
	brig_teardown
}

# The attacker: opens the executable and the descriptors of every process that it sees, for as long
# as /tmp/stop is not there, tries to write the executables, and prints what it got.
attacker() {
	cat <<'END'
import errno, os
held, told = {}, set()
own = ("/usr/", "/lib/", "/bin/", "/etc/passwd", "/dev/null", "/tmp/")
def look(pid):
    for name in ["exe"] + [f"fd/{n}" for n in names(f"/proc/{pid}/fd")]:
        path = f"/proc/{pid}/{name}"
        try:
            target = os.readlink(path)
            if name != "exe":
                if target[0] == "/" and target != "/" and not target.startswith(own):
                    told.add("descriptor " + target)
                continue
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        st = os.fstat(fd)
        if (st.st_dev, st.st_ino) in held or target.startswith(("/usr/", "/bin/")):
            os.close(fd)
        else:
            held[st.st_dev, st.st_ino] = fd
            told.add("executable")
def names(path):
    try: return os.listdir(path)
    except OSError: return []
while not os.path.exists("/tmp/stop"):
    for pid in names("/proc"):
        if pid.isdigit() and pid != str(os.getpid()): look(pid)
    for fd in held.values():
        try:
            with open(f"/proc/self/fd/{fd}", "r+b", buffering=0) as f: f.write(b"#")
            told.add("WRITTEN")
        except OSError as e:
            told.add("write " + errno.errorcode[e.errno])
open("/tmp/result", "w").write("\n".join(sorted(told)) + "\n")
END
}

# make_hostile [FILTER]: all that a container of root can have, in the namespaces that the bundle has.
make_hostile() {
	make_python_bundle "$T/bundle" python3 /tmp/attacker
	mkdir -m 1777 "$T/tmp"
	attacker >"$T/tmp/attacker"
	printf '#!/proc/self/exe\n' >"$T/tmp/self"
	chmod 755 "$T/tmp/self"
	edit_config "$T/bundle" '.process.noNewPrivileges = false |
		(["CAP_SYS_PTRACE", "CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER",
		"CAP_CHOWN", "CAP_KILL", "CAP_SYS_CHROOT"] as $c |
		.process.capabilities = {bounding: $c, effective: $c, permitted: $c}) |
		.mounts += [{destination: "/tmp", type: "bind", source: $tmp, options: ["bind", "rw"]}]' \
		--arg tmp "$T/tmp"
	# A copy, for should it be written.
	cp "$BRIG" "$T/brig"
	chmod 755 "$T/brig"
	BRIG=$T/brig
	SUM=$(sha256sum <"$BRIG")
	start_container "${1:-}"
}

# attack SECONDS PROGRAM...: while these are run by exec, over and over.
attack() {
	local end=$((SECONDS + $1)) program
	shift
	while [ $SECONDS -lt $end ]; do
		for program; do
			"$BRIG" --root "$BRIG_ROOT" exec "$id" "$program" || true
		done
	done </dev/null >/dev/null 2>&1 3>&-
	: >"$T/tmp/stop"
	wait_for 10 test -s "$T/tmp/result"
}

@test "exec, hostile: our executable cannot be written, nor a descriptor of the host be found" {
	make_hostile
	attack 4 /tmp/self /bin/true
	assert_equal "$(sha256sum <"$BRIG")" "$SUM"
	run grep -E 'WRITTEN|descriptor' "$T/tmp/result"
	assert_equal "$output" ""
	# The attack was one: it had us in its hands at least once (not so from another user namespace).
	[ "$EUID" != 0 ] || grep -q executable "$T/tmp/result" || fail "it has seen nothing"
}

@test "exec, hostile: from another user namespace the joining process cannot be looked at" {
	need_root
	make_hostile '.linux.namespaces += [{type: "user"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	attack 2 /bin/true
	assert_equal "$(<"$T/tmp/result")" ""
	assert_equal "$(sha256sum <"$BRIG")" "$SUM"
}

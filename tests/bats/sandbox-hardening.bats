# places: root rootless
# What the program can see and do without anybody having asked for it.
load ../lib/common
load ../lib/sandbox

@test "sandbox hardening: the root, /usr and /proc/sys are read-only" {
	python 'import errno
for path in "/x", "/usr/x", "/etc/x", "/proc/sys/kernel/domainname", "/proc/sysrq-trigger":
    try: open(path, "w").write("x"); print(path, "written")
    except OSError as e: print(path, errno.errorcode[e.errno])'
	# A kernel may lack the last one, or refuse it by its mode.
	assert_json '.stdout | gsub("sysrq-trigger (ENOENT|EACCES|EPERM)"; "sysrq-trigger EROFS")' "/x EROFS
/usr/x EROFS
/etc/x EROFS
/proc/sys/kernel/domainname EROFS
/proc/sysrq-trigger EROFS"
}

@test "sandbox hardening: no network but lo" {
	python 'import socket, errno
print(sorted(n for i, n in socket.if_nameindex()))
s = socket.socket()
s.settimeout(5)
try: s.connect(("192.0.2.1", 80))
except OSError as e: print(errno.errorcode[e.errno])
t = socket.create_server(("127.0.0.1", 0))
socket.create_connection(t.getsockname()).close()
print("lo works")'
	assert_json .stdout $'[\'lo\']\nENETUNREACH\nlo works'
}

@test "sandbox hardening: no capability, no new privileges, a filter, no groups" {
	sandbox -- grep -E '^(Cap|NoNewPrivs|Seccomp:|Groups|Uid|Gid|Umask)' /proc/self/status
	# With a single id its group is mapped too, and cannot be given up.
	assert_json '.stdout | gsub("\t"; " ") | gsub("Groups:[ 0-9]*"; "Groups:")' "Umask: 0022
Uid: 1000 1000 1000 1000
Gid: 1000 1000 1000 1000
Groups:
CapInh: 0000000000000000
CapPrm: 0000000000000000
CapEff: 0000000000000000
CapBnd: 0000000000000000
CapAmb: 0000000000000000
NoNewPrivs: 1
Seccomp: 2"
}

@test "sandbox hardening: the dangerous system calls are refused" {
	python 'import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
calls = {"unshare user": (libc.unshare, 0x10000000), "unshare mount": (libc.unshare, 0x20000),
    "ptrace": (libc.ptrace, 0, 0, 0, 0), "mount": (libc.mount, b"none", b"/tmp", b"tmpfs", 0, 0),
    "umount": (libc.umount2, b"/tmp", 2), "chroot": (libc.chroot, b"/tmp"),
    "sethostname": (libc.sethostname, b"x", 1), "setns": (libc.setns, 0, 0),
    "keyctl": (libc.syscall, 250, 0, 0), "add_key": (libc.syscall, 248, b"user", b"a", b"b", 1, -3),
    "bpf": (libc.syscall, 321, 0, 0, 0), "io_uring": (libc.syscall, 425, 1, 0),
    "userfaultfd": (libc.syscall, 323, 0), "perf": (libc.syscall, 298, 0, 0, -1, -1, 0),
    "clone3": (libc.syscall, 435, 0, 0), "alg": (libc.socket, 38, 5, 0), "vsock": (libc.socket, 40, 1, 0),
    "packet": (libc.socket, 17, 3, 0), "mknod": (libc.mknod, b"/tmp/n", 0o20666, 0x103)}
for name, (f, *args) in calls.items():
    ctypes.set_errno(0)
    r = f(*args)
    print(name, "WORKS" if r >= 0 else "refused")'
	assert_status 0
	[[ $(jget .stdout) != *WORKS* ]] || fail "$(jget .stdout)"
	assert_equal "$(jget .stdout | grep -c refused)" 19
}

@test "sandbox hardening: TIOCSTI is refused on a terminal of its own" {
	python 'import os, fcntl, termios
m, s = os.openpty()
try: fcntl.ioctl(s, termios.TIOCSTI, b"x"); print("pushed")
except OSError: print("refused")
try: fcntl.ioctl(s, termios.TIOCSTI | 1 << 32, b"x"); print("pushed")
except (OSError, OverflowError): print("refused")'
	assert_json .stdout $'refused\nrefused'
}

@test "sandbox hardening: nothing of the caller's environment but the allowed keys" {
	SECRET_OF_CALLER=x ALLOWED=y run_brig_env
	assert_json '.stdout | split("\n") | sort | join(" ")' \
		" ALLOWED=y HOME=/tmp LANG=C.UTF-8 NEW=z PATH=/usr/local/bin:/usr/bin:/bin"
}

run_brig_env() { sandbox --env-allow ALLOWED --env-allow NOT_SET --env NEW=z -- /usr/bin/env; }

@test "sandbox hardening: a secret reaches the program and nothing else" {
	echo "very-secret-4711" >"$T/secret"
	exec 5<"$T/secret"
	mkdir -m 777 "$T/sync"
	"$BRIG" --debug --log "$T/log" --log-format json --root "$BRIG_ROOT" sandbox --best-effort \
		--secret KEY=fd:5 --secret FILE=file:"$T/secret" --result "$T/result.json" \
		--bind "$T/sync:/sync:rw" -- sh -c 'cat "$KEY_FILE" | wc -c; cmp $KEY_FILE $FILE_FILE && echo same
			echo "$KEY_FILE"; tr "\0" "\n" </proc/self/environ | grep -c "471[1]"; ls /proc/self/fd | wc -l
			: >/sync/ready; while [ ! -e /sync/go ]; do sleep 0.1; done' 2>"$T/stderr" &
	local pid=$!
	wait_for 20 test -e "$T/sync/ready"
	# While it runs: argv, environment, state.
	for file in /proc/$pid/cmdline /proc/$pid/environ $(find "$BRIG_ROOT" -type f); do
		! grep -q 4711 "$file" || fail "it is in $file"
	done
	: >"$T/sync/go"
	wait $pid
	output=$(cat "$T/result.json")
	assert_json .stdout $'17\nsame\n/run/secrets/KEY\n0\n4'
	for file in "$T/log" "$T/stderr" "$T/result.json"; do
		! grep -q 4711 "$file" || fail "it is in $file"
	done
	sandbox --plan --secret FILE=file:"$T/secret" -- true
	[[ $output != *4711* ]] || fail "it is in the plan"
}

@test "sandbox hardening: a secret can be read but not be changed or replaced" {
	echo s >"$T/secret"
	sandbox --secret KEY=file:"$T/secret" -- sh -c 'echo x >/run/secrets/KEY; echo x >/run/secrets/NEW; cat $KEY_FILE'
	assert_json .stdout s
	sandbox --secret ../x=file:"$T/secret" -- true
	assert_status 125
	sandbox --secret KEY=fd:77 -- true
	assert_status 125
	sandbox --secret KEY=file:/dev/zero -- true
	assert_status 125
}

@test "sandbox hardening: descriptors of the caller stay outside" {
	sandbox -- ls /proc/self/fd 7</etc/hostname 9</
	assert_json .stdout $'0\n1\n2\n3'
}

@test "sandbox hardening: pid 1 and the host's processes are out of sight" {
	python 'import os
print(sorted(int(p) for p in os.listdir("/proc") if p.isdigit()) == [os.getpid()])
for name in "mem", "maps", "environ", "fd/0", "root/etc/passwd", "exe":
    try: open("/proc/1/" + name, "rb").read(1); print(name)
    except OSError: pass
try: os.kill(1, 9)
except OSError: pass
print("alive")'
	assert_json .stdout $'True\nalive'
}

@test "sandbox hardening: what is hidden in /proc shows nothing" {
	python 'import os
for p in "kcore", "keys", "kmsg", "timer_list", "interrupts", "kallsyms", "slabinfo", "vmallocinfo", "sched_debug":
    try:
        if open("/proc/" + p, "rb").read(1): print(p, "is readable")
    except OSError: pass
for p in "acpi", "scsi", "bus", "fs", "asound":
    if os.path.isdir("/proc/" + p) and os.listdir("/proc/" + p): print(p, "is visible")
print(os.listdir("/sys") if os.path.isdir("/sys") else [])'
	assert_json .stdout '[]'
}

@test "sandbox hardening: mounts are nosuid and nodev, file systems of the host are not there" {
	sandbox -- cat /proc/self/mountinfo
	local line
	while read -r line; do
		[[ $line == *" / / "* || $line == *nosuid* || $line == */dev/* || $line == *" /proc/"* ]] ||
			fail "not nosuid: $line"
	done <<<"$(jget .stdout)"
	sandbox -- ls / /home /root /var /etc
	[[ $(jget .stdout) != *shadow* ]] || fail "$output"
	sandbox -- sh -c 'ls /boot /opt /srv /mnt /media /run/* /var/lib 2>/dev/null | wc -l'
	assert_stdout 0
}

@test "sandbox hardening: /dev has what is needed, and is no disk" {
	sandbox -- sh -c 'ls /dev | tr "\n" " "; echo x >/dev/null; head -c 3 /dev/zero | wc -c; echo x >/dev/new; tail -n 1 /proc/self/uid_map'
	assert_json '.stdout | split("\n")[0]' "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero 3"
	# With a single id the program is who made /dev; all it gains is 64 KiB.
	[[ $(jget .stdout) == *" 1" ]] || assert_contains "$(jget .stderr)" "/dev/new"
}

@test "sandbox hardening: the process has its own session, keyring, host name and limits" {
	python 'import os, resource as r, socket
print(os.getsid(0) > 0, socket.gethostname(), r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_MSGQUEUE),
      r.getrlimit(r.RLIMIT_NOFILE)[1] <= 1024, int(open("/proc/self/oom_score_adj").read()) >= 500)'
	assert_json .stdout "True sandbox (0, 0) (0, 0) True True"
}

@test "sandbox hardening: threads, subprocess, asyncio, multiprocessing and numpy's needs work" {
	python 'import threading, subprocess, asyncio, tempfile, sys, os
t = threading.Thread(target=lambda: print("thread", flush=True)); t.start(); t.join()
print(subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True).stdout.strip())
async def main():
    p = await asyncio.create_subprocess_exec("echo", "async", stdout=asyncio.subprocess.PIPE)
    print((await p.communicate())[0].decode().strip())
asyncio.run(main())
import multiprocessing as m
q = m.get_context("fork").Queue(); m.get_context("fork").Process(target=q.put, args=("process",)).start(); print(q.get())
with tempfile.NamedTemporaryFile() as f: f.write(b"x"); print(os.path.dirname(f.name))
print(os.cpu_count() >= 1, open("/proc/meminfo").read(8))'
	assert_json .stdout $'thread\n1\nasync\nprocess\n/tmp\nTrue MemTotal'
}

@test "sandbox hardening: no set-user-ID program gains anything" {
	sandbox -- sh -c 'for f in /usr/bin/su /usr/bin/passwd /usr/bin/newuidmap; do
		[ -u $f ] && $f --version; done; grep NoNewPrivs /proc/self/status'
	assert_contains "$(jget .stdout)" "NoNewPrivs:	1"
}

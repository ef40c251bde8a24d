"""What an untrusted program finds in the sandbox: run by ./quickstart, prints what it could do."""

import os
import resource
import socket
import tempfile


def attempt(what, action):
    try:
        print(f"{what:<28} {action()}")
    except OSError as error:
        print(f"{what:<28} refused: {error.strerror}")


def status(key):
    with open("/proc/self/status") as lines:
        return next(line.split()[1] for line in lines if line.startswith(key + ":"))


def limit(name):
    soft, hard = resource.getrlimit(name)
    return "unlimited" if soft == resource.RLIM_INFINITY else soft


def connect():
    with socket.create_connection(("192.0.2.1", 80), timeout=2):
        return "connected"


def write_root():
    with open("/usr/owned", "w"):
        return "written"


def write_tmp():
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        return f"{file.write(b'x' * 4096)} bytes written"


def other_processes():
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())]
    return f"{len(others)} visible" if others else "none visible"


print(f"{'user, group':<28} {os.getuid()}, {os.getgid()}")
print(f"{'capabilities':<28} {int(status('CapEff'), 16):#x} (bounding {int(status('CapBnd'), 16):#x})")
print(f"{'no new privileges, seccomp':<28} {status('NoNewPrivs')}, mode {status('Seccomp')}")
print(f"{'open files, core size':<28} {limit(resource.RLIMIT_NOFILE)}, {limit(resource.RLIMIT_CORE)}")
print(f"{'environment':<28} {' '.join(sorted(os.environ))}")
attempt("network interfaces", lambda: " ".join(name for _, name in socket.if_nameindex()))
attempt("connect to 192.0.2.1", connect)
attempt("write below /usr", write_root)
attempt("write below /tmp", write_tmp)
attempt("other processes", other_processes)
attempt("chroot, as root could", lambda: os.chroot("/tmp") or "done")
print(f"{'the work: sum of squares':<28} {sum(n * n for n in range(1_000_000))}")

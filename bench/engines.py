# SPDX-License-Identifier: Apache-2.0
"""Docker and podman with data of their own, for the benches. Both need root; nothing of the machine's is touched."""
import contextlib, os, subprocess, tempfile, time

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def rootfs():
    """The root file system of the tests: Debian with Python."""
    program = os.path.dirname(os.path.abspath(__file__)) + "/../tests/lib/rootfs"
    return subprocess.check_output([program], text=True).strip()


def import_image(prefix, name):
    """rootfs() as an image, without a file in between."""
    pack = subprocess.Popen(["tar", "-C", rootfs(), "-c", "."], stdout=subprocess.PIPE)
    subprocess.run([*prefix, "import", "-", name], stdin=pack.stdout, check=True, stdout=subprocess.DEVNULL)
    if pack.wait():
        raise Exception("tar failed")


def stop(process):
    process.terminate()
    process.wait()


@contextlib.contextmanager
def dockerd():
    """The command prefix of Debian's docker with a data root of its own, on a tmpfs; in a mount namespace, so that nothing stays mounted."""
    with tempfile.TemporaryDirectory() as d:
        script = """mount -t tmpfs tmpfs "$1/data" && exec dockerd --data-root "$1/data" --exec-root "$1/exec" \\
            --pidfile "$1/pid" -H "unix://$1/sock" --iptables=false --ip6tables=false --bridge=none"""
        os.mkdir(d + "/data")
        with open(d + "/log", "w") as log:
            process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "-", d], stdout=log, stderr=log)
        prefix = ["docker", "-H", "unix://%s/sock" % d]
        try:
            for i in range(300):
                if subprocess.run([*prefix, "info"], **QUIET).returncode == 0:
                    break
                time.sleep(0.2)
                if process.poll() is not None or i == 299:
                    raise Exception("dockerd does not start: " + open(d + "/log").read()[-1000:])
            yield prefix
        finally:
            stop(process)


PODMAN = """mount -t tmpfs tmpfs "$1/data" && mount -t tmpfs tmpfs /run && exec sleep infinity"""


@contextlib.contextmanager
def podman():
    """The command prefix of a podman with its storage on a tmpfs, and a /run of its own; crun wants no hybrid cgroups, so with runc."""
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + "/data")
        # Its own defaults are more than one may set who is not the machine's root.
        with open(d + "/containers.conf", "w") as file:
            file.write('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n')
        holder = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", PODMAN, "-", d])
        try:
            while open("/proc/%d/comm" % holder.pid).read() != "sleep\n":
                time.sleep(0.01)
            yield ["nsenter", "--mount=/proc/%d/ns/mnt" % holder.pid, "env", "CONTAINERS_CONF=" + d + "/containers.conf", "podman", "--root", d + "/data/root", "--runroot", "/run/podman-root",
                   "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--storage-driver", "overlay", "--events-backend", "none"]
        finally:
            stop(holder)

# SPDX-License-Identifier: Apache-2.0
"""Where brig-docker differs from the recorded docker on purpose, and what differs by machine.

An entry of DELIBERATE or MACHINE says which records, why, and what is expected instead: rc, out,
err, or `replace`, (pattern, text) pairs that are applied to the recorded streams.
"""
import os
import shutil
import subprocess

import expected

VERSION = r"\d+\.\d+\.\d+[\w.+~-]*"

# (records, (what stands in the record, pattern of what may stand there)): numbers without a
# name in the records.
VARY = [
    ("A-*", (r"28\.2\.2|20\.10\.24\+dfsg1", VERSION)),
    ("A-*", (r"e6534b4|5d6db84", r"[\w.+-]+")),
    ("A-03 A-04 A-57 M-13 M-15", (r"\b1\.(?:41 \(downgraded from 1\.50\)|41|50)", r"1\.\d+")),
    ("A-54", (r"ENDPOINT +ERROR", r"ENDPOINT +ERROR")),
    ("A-10", (r"extfs|23\.54GiB", r"[\w.<>]+")),
    ("A-12", (r'5YHA:[^"]*', r'[^"]*')),
    ("D2-*", (r"\b4619\b", r"\d+")),
    # `logs -t` and `events` write all nine digits.
    ("F-17 J-01", (r"<RFC3339NANO>", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")),
    ("C3-67", (r"\A8\b", r"\d+")),
    ("F-4[23]", (r"\b146(?:28|02) +", r"\d+ +")),
    # The time, or the day if that was yesterday.
    ("F-42", (r" {15}13:02", r" {15}(?:\d\d:\d\d|[A-Z][a-z][a-z]\d\d)")),
    ("F-4[67]", (r'\b0\.00%|"MemUsage":"0B / 0B"|"PIDs":"0"|0B / 0B 0',
                 r'\d+\.\d\d%|"MemUsage":"[\d.]+\w+ / [\d.]+\w+"|"PIDs":"\d+"'
                 r'|[\d.]+\w+ / [\d.]+\w+ \d+')),
    ("G-25", (r"2026-11-29 13:05", r"\d{4}-\d\d-\d\d \d\d:\d\d")),
    # Sorted by digests.
    ("H-30", (r"<HEX64>\.json\n(?:<HEX64>/.*\n)+",
              r"(?:<HEX64>\.json\n)?(?:<HEX64>/(?:VERSION|json|layer\.tar)?\n){4}"
              r"(?:<HEX64>\.json\n)?")),
    ("H-30", (r"<HEX64>", r"<HEX64>")),
    ("J-06", (r"\b65B( +)65B \(100%\)", r"[\d.]+[kM]?B +[\d.]+[kM]?B(?: \(\d+%\))?")),
    # Children that die at the same time.
    ("K-45", (r"Traceback[\s\S]*", r"(?:(?:Traceback|  File|TypeError: )[^\n]*\n)+")),
    ("K-55", (r"23\.1MiB / 128MiB( +)18\.05%", r"[\d.]+MiB / 128MiB +[\d.]+%")),
    ("K-55", (r"23\.1MiB|18\.05%|0\.00%", r"[\d.]+(?:MiB|%)")),
    # From a map of Go, in any order.
    ("M-03", (r"tmpfs /tmp tmpfs .*\ntmpfs /root .*\ntmpfs /run .*\n",
              r"(?:tmpfs /tmp tmpfs rw,nosuid,nodev,noexec,relatime,size=524288k 0 0\n"
              r"|tmpfs /root tmpfs rw,nosuid,nodev,relatime,size=1048576k 0 0\n"
              r"|tmpfs /run tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0\n){3}")),
    # The last digit of the id.
    ("B2-18", (r"(0000000   )b", r"\1[0-9a-f]")),
    # The recording machine had no bridge, and so no address of the host in it.
    ("C1-41 L-14", (r"<nil>", r"\d+\.\d+\.\d+\.\d+")),
    ("D2-40 D2-85", (r'<ROOT>/overlay2/[^"]*', r'[^"]*')),
    # The number of digits before moves where it is cut.
    ("D2-66", (r'"StartedAt\Z', r'"Start[^ ]*')),
    # The client and who killed its container end at the same time.
    ("M-02", (r"python311-uuid\nrun-rc=137\n",
              r"python311-uuid\nrun-rc=137\n|run-rc=137\npython311-uuid\n")),
    ("M-01", (r"\bvm\b", r"\S+")),
    # The kernel names a size unless it is its default, which half of an even number of pages is.
    ("C2-40", (r",size=12341812k", r"(?:,size=\d+k)?")),
]


def controllers():
    """Whether this machine has what the recording one had not: cgroup controllers."""
    if os.path.isdir("/sys/fs/cgroup/memory"):
        return True
    try:
        with open("/sys/fs/cgroup/cgroup.controllers") as file:
            return "memory" in file.read()
    except OSError:
        return False


# Sections A to J were recorded without cgroup controllers. What docker answers where they are was
# looked up with a real one (--engine).
RANGE = ("docker: Error response from daemon: Range of CPUs is from 0.01 to %d.00, as there are only"
         " %d CPUs available<HELP-RUN>" % (os.cpu_count(), os.cpu_count()))
MACHINE = [
    {"ids": "C3-01 C3-04 C3-05 C3-06 C3-07 C3-09 C3-28 C3-123",
     "replace": [(r"WARNING: Your kernel does not support [^\n]*\n", "")]},
    {"ids": "C3-17 C3-18 C3-19 C3-20 C3-27", "rc": 0, "err": ""},
    {"ids": "C3-24 C3-26", "err": RANGE},
    {"ids": "L-07", "replace": [('"EndpointID":"<HEX64>","Gateway":"","GlobalIPv6A',
                                 '"EndpointID":"","Gateway":"","GlobalIPv6A')]},
    {"ids": "D2-40 D2-85", "replace": [('"EndpointID":"<HEX64>","Gateway":"","GlobalIPv6A',
                                        '"EndpointID":"","Gateway":"","GlobalIPv6A'),
                                       (r'("MemorySwap": ?)-1', r"\g<1>0")]},
    {"ids": "C3-120", "err": "WARNING: OOM killer is disabled for the container, but no memory limit is"
                             " set, this can result in the system running out of resources.\n"},
] if controllers() else []
# It was recorded with DOCKER_HOST set.
MACHINE.append({"ids": "A-54", "err": ""})
# A race in docker: seen or not from one call to the next.
MACHINE.append({"ids": "G-09 G-10", "replace": [(r'time="[^\n]*\n', "")]})
# An error only where there is no process 9.
if not subprocess.run(["ps", "-Z9"], capture_output=True).returncode:
    MACHINE.append({"ids": "F-44", "rc": 0, "out": "%-20s%-20s%-20s%-20s%-20sCOMMAND\n" % (
        "LABEL", "PID", "TTY", "STAT", "TIME"),
                    "replace": [(r"Error response from daemon: ps: exit status 1\n", "")]})
if os.stat("/dev/null").st_uid:
    owner = "%d %d" % os.stat("/dev/null")[4:6]
    MACHINE.append({"ids": "C3-103", "replace": [("root root", owner)]})

# What is expected in the streams may have marks; `replace` sees the text behind them.
RUN_ERROR = "docker: Error response from daemon: %s<HELP-RUN>"
PRIVILEGED = ('privileged containers are not allowed here ("allow-privileged" in the configuration of'
              ' brig-docker)')
OUTGROWS = ("%s would give the container's root the host's kernel settings: it is allowed with"
            ' --userns=private, or by "allow-privileged" in the configuration of brig-docker')

NOT_THERE = [
    (r'("MergedDir": ?)"[^"]*"', r'\1""'), (r'"Runtime": ?"runc"', '"Runtime": "brig"'),
    (r'"<EXECROOT>/netns/[^"]*"', '"/proc/<N>/ns/net"'), (r'("none": ?\{[^}]*"EndpointID": ?)"[^"]*"', r'\1""'),
]
DELIBERATE = [
    # --- version and info ---
    {"ids": "A-03 A-57", "why": "there is no Go, no containerd and no runc, and nothing says when it"
     " was built", "replace": [(r"Go version:( +)go[\d.]+", r"Go version:\1none"),
                               (r" +Built: .*?\n", ""),
                               (r" containerd:[\s\S]*", " brig:\n  Version:          0\n  GitCommit:        \n"),
                               (r"Version:          0\n", "Version:          20.10.24+dfsg1\n")]},
    {"ids": "A-04", "why": "there is no Go, no containerd and no runc, and nothing says when it was"
     " built", "json": ["BuildTime", "Components", "GoVersion"]},
    {"ids": "A-10", "why": "what is true here",
     "err": "", "replace": [
         (r"Network: .*?\n", "Network: bridge host null\n"), (r"Log: .*?\n", "Log: json-file none\n"),
         (r"Runtimes: .*?\n", "Runtimes: brig\n"), (r"Runtime: runc", "Runtime: brig"),
         (r"docker-init", "brig-docker"), (r" (?:containerd|runc|init) version: .*?\n", ""),
         (r"  cgroupns", "  userns\n  cgroupns"), (r" Insecure Registries:\n.*\n", ""),
         (r"Enabled: false", "Enabled: true"), (r"Cgroup Version: 2", "Cgroup Version: <N>")]},
    {"ids": "A-14", "why": "every container has a user namespace",
     "replace": [(r"name=cgroupns", "name=userns name=cgroupns")]},
    {"ids": "A-15 A-20", "why": "every container has a user namespace",
     "replace": [(r'"name=cgroupns', '"name=userns","name=cgroupns')]},
    {"ids": "A-17", "why": "what is true here",
     "replace": [(r"ipvlan\nmacvlan\n", ""), (r"overlay\n", "")]},
    # --- life ---
    {"ids": "B4-04", "why": "an attached container dies with its client, also by SIGKILL",
     "replace": [(r"true\nbrigrec-s\n", "\n"), (r"pysand sleep 300\n", "pysand sleep 300\n"
                 "Error: No such object: brigrec-s\n"
                 "Error response from daemon: No such container: brigrec-s\n")]},
    {"ids": "M-07", "why": "an attached container dies with its client, also by SIGKILL",
     # which takes a moment: the first `kill` may or may not find it
     "vary": [(r"req2\nrc=1", r"(?:req2\n)?rc=1"), (r"bash: line 1: +\d+ Killed",
              r"(?:Error response from daemon: Cannot kill container: req2: [^\n]*\n)?"
              r"bash: line 1: +\d+ Killed")]},
    {"ids": "B4-05", "why": "an attached container dies with its client, also when that gives up",
     "err": "\ngot 3 SIGTERM/SIGINTs, forcefully exiting\nError response from daemon: Cannot kill"
            " container: brigrec-s: Container <ID99> is not running\n"},
    {"ids": "B4-07", "why": "an attached container dies with its client",
     "replace": [(r"true", "false")]},
    {"ids": "C3-67 M-09", "why": "our own init, not docker-init",
     "replace": [(r"/sbin/docker-init -- .*", "brig-init <N> <N> <N> <N> "),
                 (r"docker-init", "brig-init")]},
    {"ids": "K-61", "why": "streams that go to one place keep their order",
     "out": "o1\ne1\no2\ne2\no3\ne3\n"},
    # --- exec ---
    {"ids": "D1-07 D1-08 D1-16 D1-37", "why": "as newer engines: what is not there is 127",
     "rc": 127},
    {"ids": "M-04", "why": "exec leaves the soft limit of open files alone",
     "replace": [(r"2048", "1024")]},
    # --- isolation ---
    {"ids": "C3-51", "why": "--privileged is refused unless the configuration allows it",
     "err": RUN_ERROR % PRIVILEGED},
    {"ids": "D1-33", "why": "--privileged is refused unless the configuration allows it",
     "rc": 1, "out": "", "err": "Error response from daemon: %s\n" % PRIVILEGED},
    {"ids": "C3-46", "why": "the container's root is the host's, whose kernel settings these are",
     "rc": 125, "out": "", "err": RUN_ERROR % (OUTGROWS % "the capability SYS_ADMIN")},
    {"ids": "C3-60", "why": "the container's root is the host's, whose kernel settings these are",
     "rc": 125, "out": "", "err": RUN_ERROR % (OUTGROWS % "--security-opt systempaths=unconfined")},
    # --- mounts ---
    {"ids": "C2-04", "why": "a slave of a mount that is not shared is a private one: no error",
     "rc": 0, "err": ""},
    {"ids": "C2-20", "why": "the step that failed is in our words",
     "replace": [(r"mount <DIR>\S* \(via \S+ flags: 0x5000: ", "")]},
    {"ids": "C2-22", "why": "the root shows no paths of the host; binds are taken before, so listed first",
     "replace": [(r"overlay / .*\n(tmpfs .*\n)(<HOSTDEV>.*\n)", r"\2\1")]},
    # --- limits ---
    {"ids": "K-33", "why": "a quota below the kernel's least is seen before anything starts",
     "err": RUN_ERROR % "linux.resources.cpu.quota: 100 is not at least 1000 microseconds"},
    {"ids": "K-49", "why": "a limit that there is no controller for is an error, and so is a wrong one",
     "replace": [(r"WARNING: [^\n]*\n", expected.expand(RUN_ERROR)
                  % "Range of blkio weight is from 10 to 1000")]},
    # --- networks ---
    {"ids": "C3-130", "why": "as newer engines: --mac-address is taken", "rc": 0, "err": ""},
    {"ids": "I-13", "why": "names are in /etc/hosts; no server for them at 127.0.0.11",
     "replace": [(r"127\.0\.0\.11\noptions ndots:0", "10.255.255.53")]},
    {"ids": "L-09", "why": "names are in /etc/hosts; no server for them at 127.0.0.11",
     "replace": [(r"brigrec-p1\n", "brigrec-p1 hex12_other_\n"),
                 (r"(?<=hex12_other_\n)\Z", "172.17.0.2\tbrigrec-p1 hex12_other_\t# network hex12_other_\n"
                         "172.17.0.3\tword_word al hex12_other_\t# network hex12_other_\n")]},
    # --- images ---
    {"ids": "B-28", "why": "as newer engines: a first part with capitals is a registry's name",
     "replace": [(r"docker: Error response from daemon: ", "Unable to find image 'UPPER/x:latest' locally\n"
                  'docker: Error response from daemon: Error parsing image name "docker://UPPER/x:latest": ')]},
    {"ids": "H-30", "why": "as newer engines: saved in the form of OCI as well",
     "replace": [(r"<HEX64>\.json\n(<HEX64>/.*\n)+", "blobs/sha256/<<HEX64>>\n" * 3 + "index.json\n"),
                 (r"repositories", "oci-layout"), (r"<<HEX64>>", "<HEX64>")]},
    {"ids": "H-35", "why": "as newer engines: saved in the form of OCI as well", "out": "6\n"},
    {"ids": "H-37", "why": "as newer engines: saved in the form of OCI as well",
     "out": '[{"Config":"blobs/sha256/<IMG1>","RepoTags":["brigrec-s:1"],'
            '"Layers":["blobs/sha256/<HEX64>"]}]'},
    {"ids": "G-25", "why": "as newer engines: an archive has numbers for owners, no names",
     "replace": [(r"root/root DATE     ", "0/0 DATE           ")]},
    {"ids": "A-53 H-52", "why": "buildah builds, and says in its own words how it goes on",
     "replace": [(r"DEPRECATED: The legacy builder[\s\S]*?<DOCS-URL>\n\n", ""),
                 (r"Sending build context.*\r\r\n", ""),
                 (r"Step 1/3 [\s\S]*?(?=Successfully built)",
                  "STEP 1/3: FROM pysand\nSTEP 2/3: ENV Z=1\nSTEP 3/3: CMD [\"echo\",\"built\"]\nCOMMIT\n")]},
    {"ids": "H-51", "why": "there is no search", "rc": 1,
     "err": "docker: unknown command: docker search\n\nRun 'docker --help' for more information\n"},
    # --- inspect ---
    {"ids": "D2-30 L-07", "why": "there is no end in the network none, no file for a namespace",
     "replace": NOT_THERE},
    {"ids": "D2-40 D2-85", "why": "more is masked; one order for both forms; nothing is there of a"
     " merged directory, a file of the network namespace, or an end in the network none",
     "json": ["MaskedPaths", "ReadonlyPaths", "GwPriority", "DNSNames", "KernelMemory",
              "KernelMemoryTCP"], "replace": NOT_THERE},
]

# record: function that returns why it cannot run here, or nothing
NOT_HERE = dict.fromkeys(("A-53", "H-52"),
                         lambda: None if shutil.which("buildah") else "buildah is not installed")
# Words behind `docker` that are no command, on purpose.
NO_COMMANDS = {"nosuch", "compose", "buildx", "search", "daemon"}

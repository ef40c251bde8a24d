# SPDX-License-Identifier: Apache-2.0
"""Where brig-docker differs from the recorded docker on purpose, and what differs by machine.

An entry of DELIBERATE or MACHINE says which records, why, and what is expected instead: rc, out,
err, or `replace`, (pattern, text) pairs that are applied to the recorded streams.
"""
import os

VERSION = r"\d+\.\d+\.\d+[\w.+~-]*"

# (records, (what stands in the record, pattern of what may stand there)): numbers without a
# name in the records.
VARY = [
    ("A-*", (r"28\.2\.2|20\.10\.24\+dfsg1", VERSION)),
    ("A-*", (r"e6534b4", r"[\w.+-]+")),
    ("A-12", (r'5YHA:[^"]*', r'[^"]*')),
    ("D2-*", (r"\b4619\b", r"\d+")),
    # `logs -t` and `events` write all nine digits.
    ("F-17 J-01", (r"<RFC3339NANO>", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")),
    ("C3-67", (r"\A8\b", r"\d+")),
    ("F-4[23]", (r"\b146(?:28|02)\b", r"\d+")),
    ("F-42", (r" {15}13:02", r" {15}\d\d:\d\d")),
    ("F-4[67]", (r'\b0\.00%|"MemUsage":"0B / 0B"|"PIDs":"0"|0B / 0B 0',
                 r'\d+\.\d\d%|"MemUsage":"[\d.]+\w+ / [\d.]+\w+"|"PIDs":"\d+"'
                 r'|[\d.]+\w+ / [\d.]+\w+ \d+')),
    ("G-25", (r"2026-11-29 13:05", r"\d{4}-\d\d-\d\d \d\d:\d\d")),
    # Sorted by digests.
    ("H-30", (r"<HEX64>\.json\n(?:<HEX64>/.*\n)+",
              r"(?:[0-9a-f]{64}\.json\n)?(?:[0-9a-f]{64}/(?:VERSION|json|layer\.tar)?\n){4}"
              r"(?:[0-9a-f]{64}\.json\n)?")),
    ("J-06", (r"\b65B", r"\d+(?:\.\d+)?[kM]?B")),
    # Children that die at the same time.
    ("K-45", (r"Traceback[\s\S]*", r"(?:(?:Traceback|  File|TypeError: )[^\n]*\n)+")),
    ("K-55", (r"23\.1MiB|18\.05%|0\.00%", r"\d+\.?\d*(?:MiB|%)")),
    ("M-01", (r"\bvm\b", r"\S+")),
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
    {"ids": "C3-120", "err": "WARNING: OOM killer is disabled for the container, but no memory limit is"
                             " set, this can result in the system running out of resources.\n"},
] if controllers() else []
# A race in docker: seen or not from one call to the next.
MACHINE.append({"ids": "G-09 G-10", "replace": [(r'time="[^\n]*\n', "")]})
if os.stat("/dev/null").st_uid:
    owner = "%d %d" % os.stat("/dev/null")[4:6]
    MACHINE.append({"ids": "C3-103", "replace": [("root root", owner)]})

DELIBERATE = []

# record: function that returns why it cannot run here, or nothing
NOT_HERE = {}

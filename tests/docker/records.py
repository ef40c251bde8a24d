#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/docker/records.py [--docker PROGRAM] [--jobs N] [--verbose] [ID | SECTION ...]

Replays the recorded docker commands (records/*.json) against brig-docker, which is called through
a link named `docker`, and compares exit code, stdout and stderr. What brig-docker does differently
on purpose stands in differences.py; such a record is compared with what stands there. Exits 1 if
anything else differs.

A record is {id, run, rc, out, err}: one shell line, its exit code, what it printed ("" if left
out). See scenes.py for what is around them, expected.py for how texts are compared.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import differences  # noqa: E402
import expected  # noqa: E402
import scenes  # noqa: E402

TIMEOUT = 40


def load(pattern="records/*.json"):
    records = {}
    for path in sorted(glob.glob(os.path.join(HERE, pattern))):
        with open(path, encoding="utf-8") as file:
            records[os.path.basename(path)[:-5]] = json.load(file)
    return records


class Scene:
    """One place to run commands in: working directory, data and run roots, environment."""

    def __init__(self, name, top, options):
        self.name = name
        self.dir = os.path.join(top, name)
        self.work = os.path.join(self.dir, "work")
        self.data = os.path.join(self.dir, "data")
        self.run_root = os.path.join(self.dir, "run")
        self.docker = options.docker
        os.makedirs(os.path.join(self.dir, "bin"))
        os.makedirs(self.work)
        os.makedirs(self.run_root, 0o700)
        os.symlink(os.path.abspath(options.docker), os.path.join(self.dir, "bin", "docker"))
        config = os.path.join(self.dir, "docker.json")
        with open(config, "w") as file:
            json.dump({"default-network": "bridge"}, file)
        self.env = {
            "PATH": os.path.join(self.dir, "bin") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                    "/usr/bin:/sbin:/bin",
            "HOME": self.dir, "LANG": "C.UTF-8",
            "BRIG_DOCKER_DATA": self.data, "BRIG_DOCKER_RUN": self.run_root,
            "BRIG_DOCKER_CONFIG": config,
        }
        if options.engine:
            self.env["DOCKER_HOST"] = options.engine
        self.names = expected.Names({
            "<DIR>": self.work, "<ROOT>": self.data, "<EXECROOT>": self.run_root,
            "<HOST>": os.uname().nodename, "<KERNEL>": os.uname().release,
        })

    def shell(self, command, extra=None):
        """(exit code, stdout, stderr) of one shell line, None as the code if it took too long."""
        extra = extra or {}
        env = dict(self.env, **extra.get("env", {}))
        stdin = extra.get("stdin")
        child = subprocess.Popen(
            ["bash", "-c", command], cwd=self.work, env=env, start_new_session=True,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = child.communicate(None if stdin is None else stdin.encode("latin-1"), TIMEOUT)
            code = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = partial(child)
            code = None
        return code, out.decode("utf-8", "backslashreplace"), err.decode("utf-8", "backslashreplace")

    def on_pty(self, command, wait_for, text):
        """The same on a terminal: TEXT is typed when WAIT_FOR has been printed."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execvpe("bash", ["bash", "-c", command], self.env)
        out, end = b"", time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            out += data
            if text and wait_for.encode() in out:
                os.write(master, text.encode())
                text = ""
        else:
            os.kill(pid, signal.SIGKILL)
        os.close(master)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode(), ""


def partial(child):
    """What is in the pipes of a killed child; somebody else may still hold them."""
    texts = []
    for pipe in (child.stdout, child.stderr):
        os.set_blocking(pipe.fileno(), False)
        texts.append(pipe.read() or b"")
        pipe.close()
    child.wait()
    return texts


def names_it(ids, record):
    return any(fnmatch.fnmatchcase(record["id"], pattern) for pattern in ids.split())


def entry_of(record, table):
    """The entry of one of the lists of differences that RECORD stands in."""
    return next((entry for entry in table if names_it(entry["ids"], record)), None)


def changed(record, entry):
    """RECORD with what ENTRY says instead."""
    new = dict(record)
    for key in ("rc", "out", "err", "json"):
        if key in entry:
            new[key] = entry[key]
    for old, text in entry.get("replace", []):
        for key in ("out", "err"):
            new[key] = re.sub(old, lambda m, t=text: m.expand(t), expected.expand(new.get(key, "")))
    return new


def in_order(text, ignored):
    """Lines of JSON with sorted members, and without those of IGNORED."""
    def known(pairs):
        return {k: v for k, v in pairs if k not in ignored}
    try:
        if text.startswith("[\n"):
            text = json.dumps(json.loads(text)) + "\n"
        return "".join(json.dumps(json.loads(line, object_pairs_hook=known), sort_keys=True) + "\n"
                       if line.startswith(("{", "[")) else line + "\n" for line in text.splitlines())
    except ValueError:
        return text


def compare(record, actual, names, vary):
    """A list of what differs; empty if nothing does. Binds the ids on the way."""
    code, out, err = actual
    wrong = [] if code == record["rc"] else ["exit %s instead of %d" % (code, record["rc"])]
    for key, text in (("out", out), ("err", err)):
        want = record.get(key, "")
        if key == "out" and "json" in record:
            want, text = (in_order(t, record["json"]) for t in (want, text))
        pattern = names.pattern(expected.expand(want), vary)
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match:
            names.bind(match)
        else:
            wrong.append("%s\n   is     %r\n   not    %r" % (key, text, want))
        if not expected.aligned(text):
            wrong.append("%s: columns" % key)
    return wrong


class Commands:
    """Which commands the program has, by its help."""

    def __init__(self, docker):
        self.docker = docker
        self.known = {}

    def of(self, *group):
        if group not in self.known:
            text = subprocess.run([self.docker, *group, "--help"], stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            # Aliases have no line of their own.
            aliases = {"list", "ls", "ps", "remove"} if group else {"help"}
            self.known[group] = set(re.findall(r"(?m)^  ([a-z]+)\*?  +\S", text)) | aliases
        return self.known[group]

    def missing(self, line):
        if "docker --help" in line and "build" not in self.of():
            return "docker build"
        for word, second in re.findall(r"\bdocker (?:-H \S+ )?([a-z]+)(?: ([a-z]+)\b)?", line):
            if word not in self.of() and word not in differences.NO_COMMANDS:
                return "docker %s" % word
            groups = ("container", "image", "network", "volume", "system", "context")
            if word in groups and second and second not in self.of(word) | differences.NO_COMMANDS:
                return "docker %s %s" % (word, second)
        return None


class Report:
    """Results by kind, printed as they come."""

    def __init__(self, verbose, commands):
        self.commands = commands
        self.missing = set()
        self.lock = threading.Lock()
        self.verbose = verbose
        self.results = {"matched": [], "deliberate": [], "failed": [], "not runnable": []}
        self.seconds = []

    def add(self, kind, record, text="", seconds=0.0):
        with self.lock:
            self.results[kind].append(record["id"])
            self.seconds.append((seconds, record["id"]))
            if kind == "not runnable":
                self.missing.add(text)
            if kind == "failed" or self.verbose:
                print("%s %s: %s\n   %s" % (kind, record["id"], record["run"], text), flush=True)

    def end(self, seconds):
        for s, name in sorted(self.seconds)[-8:] if self.verbose else []:
            print("%5.1f s %s" % (s, name))
        for text in sorted(self.missing):
            print("not runnable: %s" % text)
        counts = ["%d %s" % (len(ids), kind) for kind, ids in self.results.items()]
        print("records: %s, in %.0f s" % (", ".join(counts), seconds))
        return 1 if self.results["failed"] else 0


def run_record(scene, record, options, report):
    extra = scenes.EXTRA.get(record["id"], {})
    entry = None if options.engine else entry_of(record, differences.DELIBERATE)
    skip = differences.NOT_HERE.get(record["id"], lambda: None)()
    missing = report.commands.missing(record["run"])
    if "before" in extra:
        scene.shell(extra["before"])
    if skip or missing:
        # What it makes is needed later.
        scene.shell(scene.names.fill(record["run"]))
        report.add("not runnable", record, skip or "%s is not there" % missing)
        return
    for name, (command, _) in extra.get("bind", {}).items():
        scene.names.ids[name] = scene.shell(command)[1].strip()
    command = scene.names.fill(record["run"])
    if "edit" in extra:
        command = command.replace(*extra["edit"])
    if "replace" in extra:
        old, name, digits = extra["replace"]
        command = command.replace(" " + old, " " + scene.names.ids.get(name, "f" * 64)[:digits])
        command = command.replace("=" + old, "=" + scene.names.ids.get(name, "f" * 64)[:digits])
    start = time.monotonic()
    if "pty" in extra:
        actual = scene.on_pty(command.replace("(on a pty) ", ""), *extra["pty"])
    else:
        actual = scene.shell(command, extra)
    seconds = time.monotonic() - start
    want = record
    for change in (entry_of(record, differences.MACHINE), entry):
        want = changed(want, change) if change else want
    vary = [v for ids, v in differences.VARY if names_it(ids, record)]
    vary += entry.get("vary", []) if entry else []
    wrong = compare(want, actual, scene.names, vary)
    if wrong:
        report.add("failed", record, "\n   ".join(wrong), seconds)
    else:
        report.add("deliberate" if entry else "matched", record, entry["why"] if entry else "", seconds)


def prepare(top, options):
    """A data root with the image in it, which every scene gets a copy of."""
    scene = Scene("base", top, options)
    if options.client:
        return scene
    if options.load:
        scene.shell("docker load -i %s" % options.load)
        scene.names.ids["IMG1"] = scene.shell(
            "tar -xOf %s manifest.json" % options.load)[1].split('"Config":"')[1][:64]
        return scene
    archive = subprocess.run([os.path.join(HERE, "make-image")], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    code, out, err = scene.shell("docker import - pysand:latest <%s" % archive)
    if code != 0:
        print("import of the image: %s%s" % (out, err))
    else:
        scene.names.ids["IMG1"] = out.strip()[len("sha256:"):]
    return scene


def play(name, base, options, records, each):
    """Makes the scene NAME and calls EACH with every record of it that is wanted."""
    sections, before, binds = scenes.SCENES[name]
    wanted = [r for s in sections for r in records.get(s, [])]
    if not any(selected(r, options.only) for r in wanted):
        return
    scene = Scene(name, os.path.dirname(base.dir), options)
    if os.path.isdir(base.data):
        # The layers are only read: the copies share them.
        subprocess.run(["cp", "-al", base.data, scene.data], check=True)
    scene.names.ids.update(base.names.ids)
    scene.names.ids["ID6"] = hashlib.sha256(bytes(range(256))).hexdigest()
    try:
        if not options.client:
            scene.shell("docker run -d --name zeroth-sandbox --network none pysand sleep infinity")
            code, out, err = scene.shell(before) if before else (0, "", "")
            if code not in (0, 3):
                print("%s: setup: exit %s %s%s" % (name, code, out, err))
        for key, container in binds.items():
            scene.names.ids[key] = scene.shell(
                "docker inspect -f '{{.Id}}' " + container)[1].strip()
        for record in wanted:
            if options.whole or selected(record, options.only):
                each(scene, record, options)
    finally:
        clean(scene)


def in_scenes(options, records, each):
    """Plays all scenes of RECORDS, some at a time."""
    top = tempfile.mkdtemp(prefix="brig-records.", dir=options.top)
    os.chmod(top, 0o755)
    try:
        base = prepare(top, options)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(play, name, base, options, records, each)
                    for name in scenes.SCENES]
            for job in jobs:
                job.result()
    finally:
        if not options.keep:
            shutil.rmtree(top, ignore_errors=True)


def clean(scene):
    scene.shell("docker ps -aq | xargs -r docker rm -f; docker network prune -f")


def selected(record, only):
    return not only or any(record["id"] == o or record["id"].rsplit("-", 1)[0] == o for o in only)


def parse(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[0][7:])
    parser.add_argument("--docker", default=os.environ.get("BRIG_DOCKER", "build/brig-docker"))
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--whole", action="store_true", help="run the whole scene of what is named")
    parser.add_argument("--engine", help="DOCKER_HOST, to see what a real docker says")
    parser.add_argument("--client", action="store_true", help="no image and no containers")
    parser.add_argument("--load", help="archive of the image, instead of `import`")
    parser.add_argument("--top", help="directory for everything")
    parser.add_argument("--keep", action="store_true", help="leave that directory there")
    parser.add_argument("only", nargs="*")
    return parser.parse_args(argv)


def main():
    options = parse(sys.argv[1:])
    start = time.monotonic()
    report = Report(options.verbose, Commands(options.docker))
    in_scenes(options, load(), lambda scene, record, _: run_record(scene, record, options, report))
    return report.end(time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())

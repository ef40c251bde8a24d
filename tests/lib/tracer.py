"""Runs a program under ptrace, tells which of its processes makes which system call in which row of the
step table, and lets one of them fail or kills the process there.

`brig --trace-steps` writes a line when a row is done. So the calls of a process between two of its lines
are those of the later one's row, or of the driver right before it; what a process makes before its exec that
has no line is of the row in which its parent was. Processes are named by their births: "0" is the program,
"0.1" the second child that it made.

A seccomp filter stops them at the calls that are asked for, which for a fault is one kind, so that they run
nearly as fast as without. Only x86-64: there PTRACE_POKEUSER changes the number and the result of a call.
"""
import collections
import ctypes
import os
import re
import signal
import struct

SEIZE, CONT, LISTEN, EVENTMSG, INFO, POKEUSER = 0x4206, 7, 0x4208, 0x4201, 0x420E, 6
OPTIONS = 2 | 4 | 8 | 16 | 0x80 | 0x100000  # FORK, VFORK, CLONE, EXEC, SECCOMP, EXITKILL
BIRTHS, EVENT_EXEC, EVENT_SECCOMP, EVENT_STOP = (1, 2, 3), 4, 7, 128
ORIG_RAX, RAX = 120, 80
WALL = 0x40000000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, IF_EQUAL, RETURN, ALLOW, TRACE = 0x20, 0x15, 0x06, 0x7FFF0000, 0x7FF00000
LINE = re.compile(rb"(parent|beside|init)\t\d+\.\d{3}\t([^\t\n]*)\t(\d+)\n")

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

# Calls that have no failure which anybody could name: nobody is stopped at them.
UNCOUNTED = ("close munmap madvise brk rt_sigprocmask rt_sigaction rt_sigreturn clock_gettime futex getpid gettid "
             "getppid getuid geteuid getgid getegid umask exit exit_group restart_syscall arch_prctl set_tid_address "
             "sched_yield nanosleep clock_nanosleep").split()


def call_numbers():
    numbers = {}
    for path in "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h":
        if os.path.exists(path):
            with open(path) as f:
                numbers.update((m[1], int(m[2])) for m in re.finditer(r"#define __NR_(\w+)\s+(\d+)", f.read()))
            break
    return numbers


NUMBER = call_numbers()
NAME = {n: name for name, n in NUMBER.items()}

# The nth call of this name of the process `path` after `rows` of its lines.
Call = collections.namedtuple("Call", "path rows name nth")
# A line: which process, after how many others of its own, and what it says.
Line = collections.namedtuple("Line", "path rows actor name number")


class Process:
    def __init__(self, pid, path):
        self.pid, self.path = pid, path
        self.children = self.rows = 0
        self.made = collections.Counter()  # calls since its last line
        self.foreign = path == "0"  # runs somebody else's program: the first is not the one to be traced yet


class Tracer:
    """fault: None, or (result, where): the call `where` is not made, and returns that; "kill": whose path is
    `victim` is killed there, by default who makes the call, which may be a Line (its write). hold: who makes
    this call waits in it until another one polls. answers: by the name of a call, who may give it a result
    instead (process, arguments)."""

    def __init__(self, fault=None, victim=None, hold=None, answers=None):
        self.fault, self.victim, self.hold, self.answers = fault, victim, hold, answers or {}
        self.hit = False
        self.held = None
        self.directories = []  # the names that mkdirat has got
        self.processes, self.unborn, self.ended = {}, {}, {}
        self.calls, self.lines = [], []

    # -- starting and waiting --

    def spawn(self, argv, output, traced, env=None, stdin="/dev/null"):
        """Its descriptor 3 is its standard input."""
        code = self.filter() if traced else None
        go, gone = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.read(go, 1)
                fd = os.open(stdin, os.O_RDONLY)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.dup2(fd, 0)
                os.dup2(fd, 3)
                if code:
                    stop_at(code)
                os.execve(argv[0], argv, {**os.environ, **(env or {})})
            finally:
                os._exit(99)
        if traced:
            self.processes[pid] = Process(pid, "0")
            self.ptrace(SEIZE, pid, 0, OPTIONS)
        os.write(gone, b"g")
        os.close(go)
        os.close(gone)
        return pid

    def filter(self):
        """The lines are always looked at."""
        code = [(LOAD, 0, 0, 16), (IF_EQUAL, 0, 3, 2), (LOAD, 0, 0, 0), (IF_EQUAL, 0, 1, NUMBER["write"]),
                (RETURN, 0, 0, TRACE), (LOAD, 0, 0, 0)]
        names = UNCOUNTED if self.fault is None else self.wanted()
        for name in names:
            code += [(IF_EQUAL, 0, 1, NUMBER[name]), (RETURN, 0, 0, ALLOW if self.fault is None else TRACE)]
        code.append((RETURN, 0, 0, TRACE if self.fault is None else ALLOW))
        return b"".join(struct.pack("HBBI", *i) for i in code)

    def wanted(self):
        where = self.fault[1]
        names = {"mkdirat", *self.answers} | ({where.name} if isinstance(where, Call) else set())
        return names | ({self.hold, "ppoll"} if self.hold else set())

    def wait(self, pid, seconds=10):
        """The wait status of pid, while everything that is traced goes on; None after that time."""
        self.go_on_until(lambda: pid in self.ended, seconds)
        return self.ended.get(pid)

    def wait_for_all(self, seconds=2):
        """The processes that are left after that time."""
        self.go_on_until(lambda: not self.processes, seconds)
        return list(self.processes.values())

    def kill_all(self):
        for p in self.processes.values():
            kill(p.pid)
        self.wait_for_all()

    def go_on_until(self, done, seconds):
        signal.signal(signal.SIGALRM, timeout)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            while not done():
                self.step()
        except (TimeoutError, ChildProcessError):
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def step(self):
        pid, status = os.waitpid(-1, WALL)
        if os.WIFSTOPPED(status):
            self.stopped(pid, status >> 8)
        else:
            self.ended[pid] = status
            self.processes.pop(pid, None)

    # -- what happens --

    def stopped(self, pid, what):
        p = self.processes.get(pid)
        if p is None:  # its mother's event is still to come
            self.unborn[pid] = what
            return
        sig, event = what & 0x7F, what >> 8
        if event == EVENT_STOP and sig != signal.SIGTRAP:
            self.ptrace(LISTEN, pid, 0, 0)
            return
        if event in BIRTHS:
            self.born(p)
        elif event == EVENT_EXEC:
            p.foreign = p.path != "0"
        elif event == EVENT_SECCOMP and not p.foreign:
            self.at_call(p)
        if p is not self.held:
            self.go_on(p, 0 if event else sig)

    def born(self, mother):
        message = ctypes.c_ulong()
        self.ptrace(EVENTMSG, mother.pid, 0, ctypes.addressof(message))
        pid = message.value
        p = Process(pid, "%s.%d" % (mother.path, mother.children))
        mother.children += 1
        p.foreign = mother.foreign
        self.processes[pid] = p
        if pid in self.unborn:
            self.stopped(pid, self.unborn.pop(pid))

    def at_call(self, p):
        buf = ctypes.create_string_buffer(88)
        if self.ptrace(INFO, p.pid, 88, ctypes.addressof(buf)) < 0:
            return
        number, *args = struct.unpack_from("7Q", buf.raw, 24)
        name = NAME.get(number, str(number))
        line = line_of(p, name, args)
        if line:
            where = Line(p.path, p.rows, line[1].decode(), line[2].decode(), int(line[3]))
            self.lines.append(where)
            self.act(p, where)
            p.rows += 1
            p.made.clear()
            return
        where = Call(p.path, p.rows, name, p.made[name])
        p.made[name] += 1
        if self.fault is None:
            self.calls.append((where, self.row_of(p)))
        self.act(p, where)
        self.look(p, name, args)

    def look(self, p, name, args):
        if name == "mkdirat":
            self.directories.append(text_at(p.pid, args[1]).decode(errors="replace"))
        result = self.answers[name](p, args) if name in self.answers and not self.hit else None
        if result is not None:
            self.replace(p, result)
        if self.hold and name == self.hold and not self.hit:
            self.held, self.hold = p, None
        elif self.held and name == "ppoll":
            self.release()

    def release(self):
        held, self.held = self.held, None
        if held:
            self.go_on(held)

    def row_of(self, p):
        """Whose row that is: the nearest ancestor's that has lines, with their number so far."""
        by_path = {q.path: q for q in self.processes.values()}
        path = p.path
        while not (path in by_path and by_path[path].rows) and "." in path:
            path = path.rpartition(".")[0]
        return path, by_path[path].rows if path in by_path else 0

    def act(self, p, where):
        if self.fault is None or self.hit or where != self.fault[1]:
            return
        self.hit = True
        self.release()
        if self.fault[0] != "kill":
            self.replace(p, self.fault[0])
            return
        for q in list(self.processes.values()):
            if q.path == (self.victim or p.path):
                kill(q.pid)

    def replace(self, p, result):
        self.ptrace(POKEUSER, p.pid, ORIG_RAX, -1)
        self.ptrace(POKEUSER, p.pid, RAX, result)

    def go_on(self, p, sig=0):
        self.ptrace(CONT, p.pid, 0, sig)

    @staticmethod
    def ptrace(request, pid, address, data):
        return libc.ptrace(request, pid, ctypes.c_void_p(address & (1 << 64) - 1), ctypes.c_void_p(data & (1 << 64) - 1))


def stop_at(code):
    text = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def line_of(p, name, args):
    if name != "write" or args[0] != 2 or not 10 < args[2] < 160:
        return None
    try:
        return LINE.fullmatch(bytes_at(p.pid, args[1], args[2]))
    except OSError:
        return None


def bytes_at(pid, address, n):
    with open("/proc/%d/mem" % pid, "rb", 0) as f:
        f.seek(address)
        return f.read(n)


def text_at(pid, address):
    """A string; what is behind it on its page may be missing."""
    try:
        return bytes_at(pid, address, min(256, 4096 - address % 4096)).split(b"\0")[0]
    except OSError:
        return b""


def put(pid, address, data):
    with open("/proc/%d/mem" % pid, "r+b", 0) as f:
        f.seek(address)
        f.write(data)


def timeout(*_):
    raise TimeoutError


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass

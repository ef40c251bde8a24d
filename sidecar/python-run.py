# What a snippet's interpreter runs: takes variables and code from its standard input, then is the
# program __main__; the rest of standard input is the program's.
def _start():
    import os, sys

    def take(n):
        parts = []
        while n:
            part = os.read(0, min(n, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    head = b""
    while not head.endswith(b"\n"):
        head += take(1)
    variables, code = (take(int(n)) for n in head.split())
    for entry in variables.split(b"\0")[:-1]:
        name, _, value = entry.partition(b"=")
        os.environb[name] = value
    sys.argv = ["main.py"]
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(line_buffering=True)
    return code.decode()


def _run(code, names):
    import linecache, sys, traceback

    lines = code.splitlines(True)
    linecache.cache["main.py"] = (len(code), None, lines, "main.py")
    try:
        exec(compile(code, "main.py", "exec", dont_inherit=True), names)
    except SystemExit:
        raise
    except BaseException as e:
        trace = e.__traceback__ and e.__traceback__.tb_next
        traceback.print_exception(type(e), e, trace)
        sys.exit(1)


_code = _start()
_r = _run
del _start, _run
_r(_code, {"__name__": "__main__", "__builtins__": __builtins__, "__file__": "main.py"})

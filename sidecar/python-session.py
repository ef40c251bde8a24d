# A session's interpreter. Requests come on standard input ("run NONCE BYTES" and the code, or
# "interrupt"); a request's end is told on both streams by a line of its own, between two \x1e.
def _serve():
    import ast, linecache, os, queue, signal, sys, threading, traceback

    control = os.fdopen(os.dup(0), "rb")
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(line_buffering=True)
    requests = queue.Queue()
    main = threading.main_thread().ident
    busy = False  # and no Event: an interrupt inside one of its methods leaves it locked
    decided = threading.Lock()

    def read():
        for line in control:
            words = line.split()
            if words[0] == b"run":
                requests.put((words[1].decode(), control.read(int(words[2])).decode()))
            elif words[0] == b"interrupt":
                with decided:
                    if busy:
                        signal.pthread_kill(main, signal.SIGINT)
        os._exit(0)

    names = {"__name__": "__main__", "__builtins__": __builtins__}

    def show(tree, name):
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec", dont_inherit=True), names)
        if last is not None:
            value = eval(compile(last, name, "eval", dont_inherit=True), names)
            if value is not None:
                names["_"] = value
                print(repr(value))

    def run(code, name):
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            show(ast.parse(code, name), name)
            return 0
        except SystemExit as e:
            return e.code if isinstance(e.code, int) else 0 if e.code is None else 1
        except KeyboardInterrupt:
            print("KeyboardInterrupt", file=sys.stderr)
            return 130
        except BaseException as e:
            trace = e.__traceback__
            while trace and trace.tb_frame.f_code.co_filename == "<string>":
                trace = trace.tb_next
            traceback.print_exception(type(e), e, trace)
            return 1

    def tell(nonce, status):
        for stream, fd in (sys.stdout, 1), (sys.stderr, 2):
            try:
                stream.flush()
            except (ValueError, OSError):
                pass
            os.write(fd, ("\x1e%s:%d\x1e\n" % (nonce, status)).encode())

    threading.Thread(target=read, daemon=True).start()
    count = 0
    while True:
        nonce, code = requests.get()
        count += 1
        status, begun, done = 130, False, False
        while not done:
            try:
                if not begun:
                    begun = busy = True
                    status = run(code, "message %d" % count)
                # An interrupt that comes this late is for nobody; until here it may come at any time.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                done = True
            except KeyboardInterrupt:
                pass
        with decided:
            busy = False
        tell(nonce, status)
        signal.signal(signal.SIGINT, signal.default_int_handler)


_s = _serve
del _serve
_s()

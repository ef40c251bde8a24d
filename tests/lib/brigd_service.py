# A brigd for the tests, on a unix socket in a directory of the test's own, and clients of it.
import asyncio, base64, hashlib, hmac, http.client, json, os, signal, socket, subprocess, sys, time, traceback

SECRET = "a secret that nobody guesses"
HEADER = "X-Zeroth-Sandbox-Secret"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Service:
    def __init__(self, *options, secret=SECRET, token_secret=None, name="brigd", tcp=None, **more):
        self.directory = os.environ["T"]
        self.socket = os.path.join(self.directory, name + ".sock")
        self.log = os.path.join(self.directory, name + ".log")
        self.errors = open(os.path.join(self.directory, name + ".err"), "w+")
        env = {k: v for k, v in os.environ.items() if k not in ("ZEROTH_SANDBOX_SIDECAR_SECRET", "SANDBOX_AUTH_SECRET")}
        if secret is not None:
            env["ZEROTH_SANDBOX_SIDECAR_SECRET"] = secret
        if token_secret is not None:
            env["SANDBOX_AUTH_SECRET"] = token_secret
        env.setdefault("SANDBOX_TMP_ROOT", self.directory)
        env.update(more)
        self.command = [
            os.environ["BRIGD"], "--listen", tcp or "unix:" + self.socket, "--brig", os.environ["BRIG"],
            "--state-root", os.environ["BRIG_ROOT"], "--access-log", self.log,
            *os.environ.get("BRIGD_OPTIONS", "").split(), *options]
        self.process = subprocess.Popen(self.command, env=env, stderr=self.errors)
        end = time.monotonic() + 30
        while not self.answers(tcp):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Exception("brigd does not come up: " + self.stderr())
            time.sleep(0.01)

    def answers(self, tcp):
        try:
            if tcp:
                host, port = tcp.rsplit(":", 1)
                socket.create_connection((host, int(port)), 1).close()
            else:
                UnixConnection(self.socket, 1).connect()
            return True
        except OSError:
            return False

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def connection(self, timeout=60):
        return UnixConnection(self.socket, timeout)

    def request(self, method, path, body=None, headers={}, secret=SECRET, connection=None):
        """status, parsed body (or bytes), headers"""
        c = connection or self.connection()
        sent = dict(headers)
        if secret is not None:
            sent[HEADER] = secret
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        c.request(method, path, body, sent)
        reply = c.getresponse()
        data = reply.read()
        if not connection:
            c.close()
        kind = reply.getheader("content-type", "")
        return reply.status, json.loads(data) if kind == "application/json" else data, reply.headers

    def execute(self, id, *command, **fields):
        fields = {"execution_id": id, "image": "host", "command": list(command), **fields}
        return self.request("POST", "/execute", fields)[:2]

    def metric(self, name):
        text = self.request("GET", "/metrics")[1].decode()
        for line in text.splitlines():
            if line.startswith("brigd_" + name + " "):
                return float(line.split()[-1])
        raise Exception("no metric %s in %s" % (name, text))

    def wait_idle(self):
        wait(lambda: self.metric("running") == 0 and self.metric("queue_length") == 0, "nothing runs")

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        equal(code, -number if number == signal.SIGKILL else 0, "exit code of brigd, which said: " + self.stderr())
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def wait(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Exception("not within %d s: %s" % (seconds, what))
        time.sleep(0.02)


def equal(have, want, what=""):
    if have != want:
        raise Exception("%s%r is not %r" % (what + ": " if what else "", have, want))


def contains(text, part):
    if part not in text:
        raise Exception("no %r in %r" % (part, text))


def token(claims, secret, header={"alg": "HS256", "typ": "JWT"}):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")
    text = part(header) + b"." + part(claims)
    mac = hmac.new(secret.encode(), text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


# ---- WebSockets, by a client that nobody here wrote ----

def ws_connect(service, path="/exec", **more):
    import websockets
    return websockets.unix_connect(service.socket, uri="ws://localhost" + path, max_size=None, **more)


async def ws_read(ws):
    """All messages with their times, and the close code."""
    import websockets
    messages = []
    try:
        while True:
            messages.append((await asyncio.wait_for(ws.recv(), 60), time.monotonic()))
    except websockets.ConnectionClosed as e:
        return messages, e.code


def snippet(service, message, path="/exec"):
    """What a snippet says: lines, end messages (parsed), close code."""
    async def run():
        async with ws_connect(service, path) as ws:
            await ws.send(json.dumps(message) if not isinstance(message, str) else message)
            return await ws_read(ws)
    messages, code = asyncio.run(run())
    lines, ends = [], []
    for text, _ in messages:
        if text.startswith("{") and ('"status"' in text or '"error"' in text):
            ends.append(json.loads(text))
        else:
            lines.append(text)
    return lines, ends, code


def main(checks, service):
    """Runs the functions; each gets the service."""
    failed = 0
    for check in checks:
        began = time.monotonic()
        try:
            check(service)
            print("ok %s (%.2f s)" % (check.__name__, time.monotonic() - began))
        except Exception:
            failed += 1
            print("not ok", check.__name__)
            traceback.print_exc(file=sys.stdout)
    try:
        service.stop()
    finally:
        service.kill()
    sys.exit(failed > 0)

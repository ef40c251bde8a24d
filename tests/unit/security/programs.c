/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real programs under the default filter, as far as they are installed here. Each prints "ok" when
 * all it tried worked. They run as the caller, so that only the filter is in their way.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "security/security.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct sec_plan plan = {.no_new_privs = true};

static void set_up(void)
{
	arena = arena_new();
	plan.filter = sec_filter_default(arena);
}

/* Runs it and checks that the last thing it prints is "ok". */
static void run(char *const *argv)
{
	auto_strbuf struct strbuf out = {0};
	int fds[2], fd, status;
	struct err e;
	pid_t pid;

	if (access(argv[0], X_OK) < 0) {
		printf("# skipped: no %s here\n", argv[0]);
		return;
	}
	CHECK(pipe(fds) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		if (sec_set_no_new_privs(&plan, &e) == 0 && sec_install_filter(&plan, &fd, &e) == 0)
			execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	CHECK(io_read_fd(fds[0], 1 << 20, &out, "pipe", &e) == 0);
	close(fds[0]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	CHECK(str_ends(strbuf_str(&out), "ok\n"));
	if (test_failed)
		printf("# %s\n", strbuf_str(&out));
}

static void shell(void)
{
	run((char *[]){"/bin/sh", "-c",
	    "d=$(mktemp -d) && cd \"$d\" && echo a | cat >f && mkfifo p && ln -s f l && cp f g && "
	    "mv g h && chmod 600 h && touch -d yesterday h && ls -l >/dev/null && rm -r \"$d\" && "
	    "(sleep 0 & wait) && find /usr/include -maxdepth 1 >/dev/null && echo ok", NULL});
	run((char *[]){"/bin/bash", "-c", "x=$(seq 3 | sort -r | tr -d '\\n'); "
	    "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} y; [ $x$y = 321hi ] && echo ok",
	    NULL});
}

static const char python_basics[] =
	"import threading, subprocess, asyncio, socket, ssl, sqlite3, tempfile, os, time, sys\n"
	"import mmap, select, signal, fcntl, resource, ctypes, random, shutil, pathlib, json\n"
	"r = []\n"
	"ts = [threading.Thread(target=r.append, args=(i,)) for i in range(20)]\n"
	"[t.start() for t in ts]; [t.join() for t in ts]; assert len(r) == 20\n"
	"assert subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout == b'x\\n'\n"
	"assert subprocess.run('exit 3', shell=True, start_new_session=True).returncode == 3\n"
	"async def main():\n"
	"    async def echo(rd, wr):\n"
	"        wr.write(await rd.readline()); await wr.drain(); wr.close()\n"
	"    s = await asyncio.start_server(echo, '127.0.0.1', 0)\n"
	"    rd, wr = await asyncio.open_connection(*s.sockets[0].getsockname())\n"
	"    wr.write(b'hello\\n'); assert await rd.readline() == b'hello\\n'\n"
	"    wr.close(); s.close()\n"
	"    p = await asyncio.create_subprocess_exec('/bin/true'); assert await p.wait() == 0\n"
	"    await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0)\n"
	"asyncio.run(main())\n"
	"a, b = socket.socketpair(); a.send(b'z'); assert b.recv(1) == b'z'\n"
	"socket.getaddrinfo('127.0.0.1', 80); ssl.create_default_context()\n"
	"u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); u.close()\n"
	"for family in (socket.AF_ALG, socket.AF_VSOCK, socket.AF_PACKET):\n"
	"    try: socket.socket(family, socket.SOCK_STREAM); raise SystemExit('opened')\n"
	"    except OSError as e: assert e.errno == 97, e\n"
	"d = tempfile.mkdtemp(); f = d + '/db'\n"
	"c = sqlite3.connect(f); c.execute('create table t(x)'); c.execute('pragma journal_mode=wal')\n"
	"c.executemany('insert into t values(?)', [(i,) for i in range(99)]); c.commit(); c.close()\n"
	"p = pathlib.Path(d, 'x'); p.write_text('y'); p.chmod(0o600); os.utime(p); p.rename(d + '/z')\n"
	"os.mkfifo(d + '/fifo'); os.symlink('z', d + '/l'); os.link(d + '/z', d + '/h')\n"
	"shutil.copytree(d, d + '2', ignore=shutil.ignore_patterns('fifo')); shutil.rmtree(d + '2')\n"
	"with open(d + '/z', 'r+b') as h:\n"
	"    os.posix_fallocate(h.fileno(), 0, 4096); mmap.mmap(h.fileno(), 4096).close()\n"
	"    fcntl.flock(h, fcntl.LOCK_EX)\n"
	"shutil.rmtree(d)\n"
	"resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.getrusage(resource.RUSAGE_SELF)\n"
	"select.epoll().close(); os.close(os.memfd_create('m')); os.sched_getaffinity(0)\n"
	"signal.setitimer(signal.ITIMER_REAL, 0); os.urandom(8); os.getloadavg(); os.times()\n"
	"fd = os.pidfd_open(os.getpid()); signal.pidfd_send_signal(fd, 0); os.close(fd)\n"
	"libc = ctypes.CDLL(None, use_errno=True)\n"
	"for call in ('unshare', 'setns', 'mount', 'chroot', 'ptrace', 'umount2'):\n"
	"    assert getattr(libc, call)(0x10000000, 0, 0, 0, 0) == -1\n"
	"    assert ctypes.get_errno() == 1, call\n"
	"assert libc.personality(0xffffffff) >= 0 and libc.personality(0x40000) == -1\n"
	"print('ok')\n";

static const char python_processes[] =
	"import multiprocessing as mp, concurrent.futures as cf, os, pty\n"
	"from multiprocessing import shared_memory\n"
	"def sq(x): return x * x\n"
	"if __name__ == '__main__':\n"
	"    for how in ('fork', 'spawn', 'forkserver'):\n"
	"        with mp.get_context(how).Pool(2) as p: assert p.map(len, ['a', 'bb']) == [1, 2]\n"
	"    with cf.ProcessPoolExecutor(2, mp.get_context('fork')) as x:\n"
	"        assert list(x.map(sq, range(5))) == [0, 1, 4, 9, 16]\n"
	"    m = shared_memory.SharedMemory(create=True, size=64); m.close(); m.unlink()\n"
	"    q = mp.Queue(); mp.Lock().acquire(); q.put(1); assert q.get() == 1\n"
	"    pid, fd = pty.fork()\n"
	"    if pid == 0: os.execv('/bin/true', ['true'])\n"
	"    assert os.waitpid(pid, 0)[1] == 0\n"
	"    pid = os.posix_spawn('/bin/true', ['true'], {}); assert os.waitpid(pid, 0)[1] == 0\n"
	"    print('ok', flush=True)\n";

static void python(void)
{
	run((char *[]){"/usr/bin/python3", "-c", (char *)python_basics, NULL});
	run((char *[]){"/usr/bin/python3", "-c", (char *)python_processes, NULL});
}

static void numpy(void)
{
	run((char *[]){"/usr/bin/python3", "-c",
	    "try:\n"
	    "    import numpy as np\n"
	    "    a = np.random.rand(300, 300); b = a @ np.linalg.inv(a)\n"
	    "    assert np.allclose(b, np.eye(300), atol=1e-6)\n"
	    "except ImportError: pass\n"
	    "print('ok')\n", NULL});
}

static void other_languages(void)
{
	run((char *[]){"/usr/bin/node", "-e",
	    "const { Worker } = require('worker_threads'); const cp = require('child_process');"
	    "const fs = require('fs'), net = require('net');"
	    "cp.execSync('true'); fs.readdirSync('/');"
	    "const s = net.createServer(c => c.end('x')).listen(0, () => {"
	    "  net.connect(s.address().port).on('data', () => {}).on('close', () => { s.close();"
	    "    new Worker('1', { eval: true }).on('exit', () => console.log('ok')); }); });",
	    NULL});
	run((char *[]){"/bin/sh", "-c",
	    "d=$(mktemp -d) && cd \"$d\" && cat >T.java <<'E'\n"
	    "public class T { public static void main(String[] a) throws Exception {\n"
	    "  Thread t = new Thread(() -> System.gc()); t.start(); t.join();\n"
	    "  new java.net.ServerSocket(0).close();\n"
	    "  if (new ProcessBuilder(\"true\").start().waitFor() == 0) System.out.println(\"ok\");\n"
	    "} }\n"
	    "E\n"
	    "if command -v java >/dev/null; then java T.java; else echo ok; fi; r=$?; rm -r \"$d\"; "
	    "exit $r", NULL});
	run((char *[]){"/usr/bin/perl", "-MSocket", "-e",
	    "socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; fork // die; wait; "
	    "system('true') == 0 or die; print \"ok\\n\" if getppid() != 0 && $$ > 0;"
	    "exit 0", NULL});
}

static void tear_down(void)
{
	arena_free(arena);
}

TEST_MAIN(TEST(set_up), TEST(shell), TEST(python), TEST(numpy), TEST(other_languages),
	  TEST(tear_down))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor on plain child processes: output within and beyond the limit, input, wall and CPU
 * time, a status from a pipe, pipes that others keep open.
 */
#include "runtime/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/unit/test.h"

#define MS 1000000ull

struct job {
	struct supervise_input in;
	struct supervise_output out;
	pid_t pid;
	int result;
	struct err e;
};

/* Starts `payload` in a child with 0, 1 and 2 on pipes. */
static void job_start(struct job *j, void (*payload)(void))
{
	int in[2], out[2], err[2];

	*j = (struct job){0};
	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
	      pipe2(err, O_CLOEXEC) == 0);
	j->pid = fork();
	if (j->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		sys_close_range(3, ~0u, 0);
		payload();
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	j->in = (struct supervise_input){
		.out_fd = out[0], .err_fd = err[0], .in_fd = in[1], .sigfd = -1, .status_fd = -1, .reader_fd = -1,
		.pidfd = sys_pidfd_open(j->pid, 0), .output_limit = 1 << 20, .cpus_milli = 1000,
		.start_ns = supervise_now(),
	};
}

static void job_run(struct job *j)
{
	j->result = supervise(&j->in, &j->out, &j->e);
	CHECK_INT(j->result, 0);
	close(j->in.out_fd);
	close(j->in.err_fd);
	close(j->in.pidfd);
}

static void say(int fd, const char *s)
{
	(void)!write(fd, s, strlen(s));
}

static void say_and_exit(void)
{
	say(1, "to out\n");
	say(2, "to err\n");
	_exit(5);
}

static void output_and_status(void)
{
	struct job j;

	job_start(&j, say_and_exit);
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_ENDED);
	CHECK(j.out.have_status && WIFEXITED(j.out.status));
	CHECK_INT(WEXITSTATUS(j.out.status), 5);
	CHECK_STR(strbuf_str(&j.out.out.data), "to out\n");
	CHECK_STR(strbuf_str(&j.out.err.data), "to err\n");
	CHECK(j.out.wall_ns > 0 && j.out.wall_ns < 5000 * MS);
	supervise_free(&j.out);
}

static void write_much(void)
{
	char block[4096];

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 100 << 8; i++) /* 100 MiB */
		if (write(1, block, sizeof(block)) != sizeof(block))
			_exit(1);
	_exit(0);
}

static void output_is_cut(void)
{
	struct job j;

	job_start(&j, write_much);
	j.in.output_limit = 100000;
	job_run(&j);
	CHECK_INT(j.out.out.data.len, 100000);
	CHECK_INT(j.out.out.total, 100 << 20);
	CHECK(j.out.have_status && j.out.status == 0);
	CHECK(j.out.out.data.cap <= 256 * 1024);
	supervise_free(&j.out);
}

static void output_limit_kills(void)
{
	struct job j;

	job_start(&j, write_much);
	j.in.output_limit = 100000;
	j.in.kill_on_output = true;
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_OUTPUT);
	CHECK_INT(j.out.out.data.len, 100000);
	CHECK(WIFSIGNALED(j.out.status));
	supervise_free(&j.out);
}

/* Exactly the limit is not too much. */
static void output_of_exactly_the_limit(void)
{
	struct job j;

	job_start(&j, say_and_exit);
	j.in.output_limit = 7;
	j.in.kill_on_output = true;
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_ENDED);
	CHECK_INT(j.out.out.total, 7);
	supervise_free(&j.out);
}

static void copy_input(void)
{
	char buf[5000];
	ssize_t n;

	poll(NULL, 0, 20); /* let the pipe fill */
	while ((n = read(0, buf, sizeof(buf))) > 0)
		if (write(1, buf, (size_t)n) != n)
			_exit(1);
	_exit(n < 0);
}

static void input_is_fed(void)
{
	size_t n = 700000;
	char *text = malloc(n);
	struct job j;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 23);
	job_start(&j, copy_input);
	j.in.in = text;
	j.in.in_len = n;
	job_run(&j);
	CHECK_INT(j.out.out.data.len, n);
	CHECK(memcmp(j.out.out.data.p, text, n) == 0);
	supervise_free(&j.out);
	free(text);
}

static void close_input(void)
{
	close(0);
	say(1, "done");
	_exit(0);
}

/* A payload that does not read its input: no SIGPIPE, no hang, and not an error. */
static void input_is_not_read(void)
{
	size_t n = 700000;
	char *text = calloc(1, n);
	struct job j;

	job_start(&j, close_input);
	j.in.in = text;
	j.in.in_len = n;
	job_run(&j);
	CHECK_STR(strbuf_str(&j.out.out.data), "done");
	CHECK_INT(j.out.status, 0);
	supervise_free(&j.out);
	free(text);
}

static void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

static void sleep_long(void)
{
	say(1, "begin");
	poll(NULL, 0, 60000);
}

static void wall_time(void)
{
	struct job j;

	job_start(&j, sleep_long);
	j.in.wall_ns = 100 * MS;
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_WALL_TIME);
	CHECK(j.out.wall_ns >= 100 * MS && j.out.wall_ns < 3000 * MS);
	CHECK_STR(strbuf_str(&j.out.out.data), "begin");
	supervise_free(&j.out);
}

/* Two writers that never rest must not keep the clock from being read. */
static void wall_time_with_output(void)
{
	struct job j;

	job_start(&j, write_much);
	j.in.wall_ns = 5 * MS;
	job_run(&j);
	CHECK(j.out.end == SUPERVISE_WALL_TIME || j.out.out.total == 100 << 20);
	supervise_free(&j.out);
}

static int readings;

static int64_t cpu_of_process(void *arg)
{
	struct timespec t;
	clockid_t clock;

	readings++;
	if (clock_getcpuclockid(*(pid_t *)arg, &clock) || clock_gettime(clock, &t) < 0)
		return -ESRCH;
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void cpu_time(void)
{
	struct job j;

	job_start(&j, spin);
	j.in.cpu_ns = 200 * MS;
	j.in.cpus_milli = 4000;
	j.in.cpu_usec = cpu_of_process;
	j.in.arg = &j.pid;
	readings = 0;
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_CPU_TIME);
	CHECK(j.out.usage.ru_utime.tv_sec * 1000000 + j.out.usage.ru_utime.tv_usec +
	      j.out.usage.ru_stime.tv_usec >= 190000);
	CHECK(readings < 100);
	supervise_free(&j.out);
}

static int64_t no_cpu_time(void *arg)
{
	(void)arg;
	return -EIO;
}

/* A limit that can no longer be watched ends the payload. */
static void cpu_time_unreadable(void)
{
	struct job j;

	job_start(&j, spin);
	j.in.cpu_ns = 10 * MS;
	j.in.cpu_usec = no_cpu_time;
	CHECK_INT(supervise(&j.in, &j.out, &j.e), -EIO);
	CHECK(waitpid(j.pid, NULL, 0) < 0 && errno == ECHILD);
	close(j.in.out_fd);
	close(j.in.err_fd);
	close(j.in.pidfd);
	supervise_free(&j.out);
}

static void term_ends_payload(void)
{
	sigset_t set, old;
	struct job j;

	job_start(&j, sleep_long);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	j.in.sigfd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	raise(SIGTERM);
	job_run(&j);
	close(j.in.sigfd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK_INT(j.out.end, SUPERVISE_STOPPED);
	CHECK_INT(j.out.stop_signal, SIGTERM);
	supervise_free(&j.out);
}

/* Who waited for the result has gone. */
static void reader_is_gone(void)
{
	struct job j;
	int result[2];

	CHECK(pipe2(result, O_CLOEXEC) == 0);
	job_start(&j, sleep_long);
	j.in.reader_fd = result[1];
	close(result[0]);
	job_run(&j);
	CHECK_INT(j.out.end, SUPERVISE_STOPPED);
	CHECK_INT(j.out.stop_signal, 0);
	supervise_free(&j.out);
	close(result[1]);
}

/* The status comes from the pipe; ours keeps a write end, so end of file never comes. */
static void status_from_pipe(void)
{
	int status[2], written = W_EXITCODE(77, 0);
	struct job j;

	CHECK(pipe2(status, O_CLOEXEC) == 0);
	job_start(&j, say_and_exit);
	j.in.status_fd = status[0];
	CHECK(write(status[1], &written, sizeof(written)) == sizeof(written));
	job_run(&j);
	CHECK(j.out.have_status);
	CHECK_INT(j.out.status, written);
	supervise_free(&j.out);

	job_start(&j, say_and_exit); /* INIT died without a word */
	j.in.status_fd = status[0];
	job_run(&j);
	CHECK(!j.out.have_status);
	supervise_free(&j.out);
	close(status[0]);
	close(status[1]);
}

/* A process outside of the supervision that holds the output pipe does not hold us. */
static void pipe_kept_open(void)
{
	int out[2], extra;
	struct job j;

	job_start(&j, say_and_exit);
	CHECK(pipe2(out, O_CLOEXEC) == 0);
	extra = dup(out[1]);
	close(j.in.out_fd);
	j.in.out_fd = out[0];
	say(extra, "left behind");
	job_run(&j);
	CHECK_STR(strbuf_str(&j.out.out.data), "left behind");
	supervise_free(&j.out);
	close(extra);
	close(out[1]);
}

TEST_MAIN(TEST(output_and_status), TEST(output_is_cut), TEST(output_limit_kills),
	  TEST(output_of_exactly_the_limit), TEST(input_is_fed), TEST(input_is_not_read),
	  TEST(wall_time), TEST(wall_time_with_output), TEST(cpu_time), TEST(cpu_time_unreadable),
	  TEST(term_ends_payload), TEST(reader_is_gone), TEST(status_from_pipe), TEST(pipe_kept_open))

// SPDX-License-Identifier: MIT
/*
 * See reads.h.  An atomic counter assigns the log's slots to processes.  A process stores end_ns as
 * the last field of an entry.  If the process is killed before that, the parent recognises the
 * incomplete entry and drops it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "complain.h"
#include "options.h"
#include "reads.h"

#define STACK_BYTES 65536

struct shared_log {
	uint64_t next; /* assigned slots, including those beyond the log's end */
	uint64_t failed;
	struct reads_entry entries[];
};

static struct shared_log *log_shared;
static uint64_t log_slots;

bool reads_option(struct reads_options *options, int option, const char *value)
{
	if (option == 'p')
		options->processes =
			option_number("--processes", value, 1, PROCESSES_MAX);
	else if (option == 's')
		options->seed = option_number("--seed", value, 0, UINT64_MAX);
	else if (option == 'c')
		options->cgroup = value;
	else if (option == 'l')
		options->log_path = value;
	else if (option == 'm')
		options->log_max = option_number("--log-max", value, 1, UINT32_MAX);
	else
		return false;
	return true;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The log. */

static size_t log_bytes(void)
{
	return sizeof(*log_shared) + log_slots * sizeof(struct reads_entry);
}

static int log_open(const struct reads_options *options)
{
	log_slots = options->log_path ? options->log_max : 0;
	log_shared = mmap(NULL, log_bytes(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (log_shared == MAP_FAILED)
		return complain("memory for the log of reads");
	return 0;
}

static void log_add(uint32_t owner, uint64_t start_ns, uint64_t end_ns, uint64_t offset,
		    long result)
{
	uint64_t slot = __atomic_fetch_add(&log_shared->next, 1, __ATOMIC_RELAXED);
	struct reads_entry *entry;

	if (result < 0)
		__atomic_fetch_add(&log_shared->failed, 1, __ATOMIC_RELAXED);
	if (slot >= log_slots)
		return;
	entry = &log_shared->entries[slot];
	entry->start_ns = start_ns;
	entry->offset = offset;
	entry->owner = owner;
	entry->result = (int32_t)result;
	__atomic_store_n(&entry->end_ns, end_ns, __ATOMIC_RELEASE);
}

void reads_log_failure(const struct reads_process *process, uint64_t logged_offset,
		       int error)
{
	uint64_t now_ns = clock_ns();

	log_add(process->id, now_ns, now_ns, logged_offset, -error);
}

/* Moves the complete entries to the front of the log, and returns their number. */
static uint32_t log_compact(void)
{
	uint64_t taken = log_shared->next < log_slots ? log_shared->next : log_slots;
	uint32_t whole = 0;

	for (uint64_t i = 0; i < taken; i++)
		if (log_shared->entries[i].end_ns)
			log_shared->entries[whole++] = log_shared->entries[i];
	return whole;
}

static int write_all(int fd, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes) {
		ssize_t written = write(fd, from, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		from += written;
		bytes -= (size_t)written;
	}
	return 0;
}

static int log_write(const char *path, uint32_t count)
{
	struct reads_header header = { .magic = { 'U', 'S', 'R', 'E', 'A', 'D', 'S',
						  '1' },
				       .entry_bytes = sizeof(struct reads_entry),
				       .count = count };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return complain(path);
	if (write_all(fd, &header, sizeof(header)) ||
	    write_all(fd, log_shared->entries, count * sizeof(struct reads_entry))) {
		complain(path);
		close(fd);
		return EXIT_FAILED;
	}
	return close(fd) ? complain(path) : 0;
}

static int log_close(const struct reads_options *options)
{
	uint32_t count = log_compact();
	uint64_t lost = options->log_path && log_shared->next > log_slots
				? log_shared->next - log_slots
				: 0;

	if (options->log_path && log_write(options->log_path, count))
		return EXIT_FAILED;
	printf("done %u %llu %llu\n", count, (unsigned long long)log_shared->failed,
	       (unsigned long long)lost);
	fflush(stdout);
	if (!lost)
		return 0;
	fprintf(stderr,
		"%s: the log was full, %llu reads are not in it: raise --log-max\n",
		options->log_path, (unsigned long long)lost);
	return EXIT_FAILED;
}

/* Functions that the processes call. */

void *reads_sectors_buffer(uint32_t sectors)
{
	void *memory = mmap(NULL, sectors * 512ul, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		_exit(complain_of("memory for a request", ENOMEM));
	return memory;
}

void *reads_buffer(void)
{
	return reads_sectors_buffer(PAGE_BYTES / 512);
}

long reads_sectors(const struct reads_process *process, int fd, void *buffer,
		   uint32_t sectors, uint64_t offset, bool write,
		   uint64_t logged_offset)
{
	uint64_t start_ns = clock_ns();
	long result = call(write ? SYS_pwrite64 : SYS_pread64, fd, (long)buffer,
			   sectors * 512l, (long)offset);

	log_add(process->id, start_ns, clock_ns(), logged_offset, result);
	return result;
}

long reads_page(const struct reads_process *process, int fd, void *page,
		uint64_t offset, bool write, uint64_t logged_offset)
{
	return reads_sectors(process, fd, page, PAGE_BYTES / 512, offset, write,
			     logged_offset);
}

void reads_sleep(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u) };

	while (call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&left,
		    (long)&left) == -EINTR)
		;
}

/* The processes. */

struct herd {
	uint32_t count;
	pid_t *pids; /* 0: not running */
	uint32_t ready;
	int arrived[2]; /* pipe: each process writes a byte when it is ready */
	int go[2]; /* pipe: the parent closes it to start all processes */
	int signals; /* a signalfd */
	pid_t parent;
	const struct reads_options *options;
	const struct reads_play *play;
};

static int herd_open(struct herd *herd)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &caught, NULL))
		return complain("sigprocmask");
	herd->signals = signalfd(-1, &caught, SFD_CLOEXEC);
	if (herd->signals < 0)
		return complain("signalfd");
	if (pipe2(herd->arrived, O_CLOEXEC) || pipe2(herd->go, O_CLOEXEC))
		return complain("pipe");
	herd->parent = getpid();
	herd->pids = calloc(herd->options->processes, sizeof(*herd->pids));
	return herd->pids ? 0 : complain("memory for the processes");
}

/*
 * All processes share the parent's memory, so the kernel charges their page cache to the parent's
 * control group.  The parent joins the group after touching the log's memory, and leaves the group
 * before writing the log.  So the group's memory limit applies to the page cache, but not to the
 * log.
 */
static int join_group(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write_all(fd, "0", 1) || close(fd))
		return complain(path);
	return 0;
}

static int leave_group(const char *folder)
{
	char above[4000];

	snprintf(above, sizeof(above), "%s/..", folder);
	return join_group(above);
}

struct child {
	const struct herd *herd;
	struct reads_process process;
};

static void child_check(const char *what, long result)
{
	if (result < 0)
		_exit(complain_of(what, (int)-result));
}

static void child_settle(const struct herd *herd)
{
	sigset_t all;

	sigfillset(&all);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* the parent handles Ctrl-C */
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	child_check("prctl", call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0));
	child_check("prctl", call(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0));
	if (getppid() != herd->parent)
		_exit(EXIT_FAILED);
	close(herd->arrived[0]);
	close(herd->go[1]);
	close(herd->signals);
}

static void child_wait_for_go(const struct herd *herd)
{
	char byte = 0;

	child_check("barrier", call(SYS_write, herd->arrived[1], (long)&byte, 1, 0));
	close(herd->arrived[1]);
	while (call(SYS_read, herd->go[0], (long)&byte, 1, 0) == -EINTR)
		;
	close(herd->go[0]);
}

static int child_main(void *argument)
{
	struct child *child = argument;
	const struct reads_play *play = child->herd->play;

	child_settle(child->herd);
	child->process.id = (uint32_t)getpid();
	if (play->prepare)
		play->prepare(play->context, child->process.draw);
	child_wait_for_go(child->herd);
	play->run(play->context, &child->process);
	fprintf(stderr, "process %u came to an end\n", child->process.id);
	_exit(EXIT_FAILED);
}

/*
 * Starts a process on a separate stack.  The process's arguments are at the lower end of the stack.
 */
static pid_t child_start(const struct herd *herd, uint32_t number)
{
	struct child *child = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (child == MAP_FAILED)
		return -1;
	child->herd = herd;
	child->process.number = number;
	draw_seed(&child->process.draw, herd->options->seed, number);
	return clone(child_main, (char *)child + STACK_BYTES, CLONE_VM | SIGCHLD,
		     child);
}

static int herd_start(struct herd *herd)
{
	for (; herd->count < herd->options->processes; herd->count++) {
		pid_t pid = child_start(herd, herd->count);

		if (pid < 0)
			return complain("clone");
		herd->pids[herd->count] = pid;
	}
	close(herd->arrived[1]);
	return 0;
}

/* Removes the process from the herd.  Returns whether it was in the herd. */
static bool herd_forget(struct herd *herd, pid_t pid)
{
	for (uint32_t i = 0; i < herd->count; i++) {
		if (herd->pids[i] != pid)
			continue;
		herd->pids[i] = 0;
		return true;
	}
	return false;
}

static void say_how_it_ended(pid_t pid, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "process %d was killed by signal %d\n", (int)pid,
			WTERMSIG(status));
	else
		fprintf(stderr, "process %d ended with exit code %d\n", (int)pid,
			WEXITSTATUS(status));
}

/* Returns EXIT_FAILED if a process has ended although the parent did not stop it. */
static int herd_check(struct herd *herd)
{
	int status, failed = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (!herd_forget(herd, pid))
			continue;
		say_how_it_ended(pid, status);
		failed = EXIT_FAILED;
	}
	return failed;
}

static void herd_end(struct herd *herd)
{
	for (uint32_t i = 0; i < herd->count; i++)
		if (herd->pids[i])
			kill(herd->pids[i], SIGTERM);
	for (uint32_t i = 0; i < herd->count; i++)
		if (herd->pids[i])
			while (waitpid(herd->pids[i], NULL, 0) < 0 && errno == EINTR)
				;
}

/* Reads a byte of input; returns true at the end of a line or of the input. */
static bool input_says_go(void)
{
	char byte;
	ssize_t got = read(STDIN_FILENO, &byte, 1);

	return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN) ||
	       (got == 1 && byte == '\n');
}

/* Reads the pipe; returns true at the pipe's end, when each process is ready or dead. */
static bool all_arrived(struct herd *herd)
{
	char bytes[256];
	ssize_t got = read(herd->arrived[0], bytes, sizeof(bytes));

	if (got > 0)
		herd->ready += (uint32_t)got;
	return got == 0;
}

static int say_ready(const struct herd *herd)
{
	if (herd->ready != herd->count) {
		fprintf(stderr, "only %u of %u processes are ready\n", herd->ready,
			herd->count);
		return EXIT_FAILED;
	}
	printf("ready\n");
	fflush(stdout);
	return 0;
}

enum { SIGNALS, ARRIVED, INPUT, WATCHED };

/* Handles one event; returns WATCH_ON to continue, or else the exit code. */
#define WATCH_ON (-1)

static int watch_signals(struct herd *herd)
{
	struct signalfd_siginfo info;

	if (read(herd->signals, &info, sizeof(info)) != sizeof(info))
		return complain("signalfd");
	if (info.ssi_signo != SIGCHLD)
		return 0;
	return herd_check(herd) ? EXIT_FAILED : WATCH_ON;
}

static int watch_once(struct herd *herd, struct pollfd *polled)
{
	if (poll(polled, WATCHED, -1) < 0)
		return errno == EINTR ? WATCH_ON : complain("poll");
	if (polled[SIGNALS].revents)
		return watch_signals(herd);
	if (polled[ARRIVED].revents && all_arrived(herd)) {
		polled[ARRIVED].fd = -1;
		polled[INPUT].fd = STDIN_FILENO;
		return say_ready(herd) ? EXIT_FAILED : WATCH_ON;
	}
	if (polled[INPUT].revents && input_says_go()) {
		polled[INPUT].fd = -1;
		close(herd->go[1]);
	}
	return WATCH_ON;
}

/* Runs until SIGTERM or SIGINT, or until a process ends. */
static int herd_watch(struct herd *herd)
{
	struct pollfd polled[WATCHED] = {
		[SIGNALS] = { .fd = herd->signals, .events = POLLIN },
		[ARRIVED] = { .fd = herd->arrived[0], .events = POLLIN },
		[INPUT] = { .fd = -1, .events = POLLIN },
	};
	int outcome;

	do {
		outcome = watch_once(herd, polled);
	} while (outcome == WATCH_ON);
	return outcome;
}

static int herd_play(struct herd *herd)
{
	const char *cgroup = herd->options->cgroup;
	int failed;

	if (cgroup && join_group(cgroup))
		return EXIT_FAILED;
	failed = herd_start(herd);
	if (!failed)
		failed = herd_watch(herd);
	herd_end(herd);
	if (cgroup && leave_group(cgroup))
		return EXIT_FAILED;
	return failed;
}

int reads_run(const struct reads_options *options, const struct reads_play *play)
{
	struct herd herd = { .options = options, .play = play };
	int failed = log_open(options);

	if (!failed)
		failed = herd_open(&herd);
	if (failed)
		return failed;
	failed = herd_play(&herd);
	free(herd.pids);
	return log_close(options) || failed ? EXIT_FAILED : 0;
}

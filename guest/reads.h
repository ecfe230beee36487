/* SPDX-License-Identifier: MIT */
/*
 * The processes of a workload, and the log of their requests: each pread and pwrite, timed by the
 * clock of the process that called it.  The log is a check on the throttle's records, so it shares
 * no code with them.
 *
 * The processes share one address space, like threads, because in an emulator each switch between
 * two address spaces costs as much as a request.  For the kernel, and for the scheduler under test,
 * each is a process with its own I/O context.  They do not use errno or any part of libc that keeps
 * state (guest/call.h).
 *
 * Life of a workload: the parent starts the processes, prints "ready" and waits for a line (or the
 * end) of its input.  Then all processes begin together and run for ever.  On SIGTERM or SIGINT the
 * parent ends them, writes the log and prints one line: "done LOGGED FAILED LOST".
 */
#ifndef UNDERSTUDY_GUEST_READS_H
#define UNDERSTUDY_GUEST_READS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../core/draw.h"

#define PAGE_BYTES 4096
#define PROCESSES_MAX 10000
#define LOG_MAX_DEFAULT (1u << 20)

/*
 * The log's file, all little-endian: this header, then `count` entries in the order
 * of their completion.  understudy/platforms/reads.py reads it.
 */
struct reads_header {
	char magic[8]; /* "USREADS1" */
	uint32_t entry_bytes;
	uint32_t count;
};

struct reads_entry {
	uint64_t start_ns; /* CLOCK_MONOTONIC right before the call ... */
	uint64_t end_ns; /* ... and right after it */
	uint64_t offset; /* see each program: surge and random */
	uint32_t owner; /* process id */
	int32_t result; /* bytes, or a negative errno */
};

struct reads_options {
	uint32_t processes;
	uint64_t seed;
	const char *log_path; /* NULL: no log */
	uint32_t log_max;
	const char *cgroup; /* folder of their control group, or NULL */
};

/* The options that all workloads share. */
#define READS_LONG_OPTIONS                                  \
	{ "processes", required_argument, NULL, 'p' },      \
		{ "seed", required_argument, NULL, 's' },   \
		{ "cgroup", required_argument, NULL, 'c' }, \
		{ "log", required_argument, NULL, 'l' },    \
	{                                                   \
		"log-max", required_argument, NULL, 'm'     \
	}
#define READS_USAGE                                             \
	"       [--processes N] [--seed 1] [--cgroup FOLDER]\n" \
	"       [--log FILE [--log-max ENTRIES]]\n"

/* Takes one of these options; returns false for any other.  A wrong value ends the program. */
bool reads_option(struct reads_options *options, int option, const char *value);

/* A process's own data. */
struct reads_process {
	struct draw draw;
	uint32_t number; /* from 0 */
	uint32_t id;
};

/*
 * The work of a process: `run` never returns.  `prepare` is called before "ready" and may be NULL.
 * Both get the same stream of draws from its start.
 */
struct reads_play {
	void (*prepare)(void *context, struct draw draw);
	void (*run)(void *context, struct reads_process *process);
	void *context;
};

/* Returns the program's exit code. */
int reads_run(const struct reads_options *options, const struct reads_play *play);

/* Reads or writes one page, timed and logged.  Returns bytes, or a negative errno. */
long reads_page(const struct reads_process *process, int fd, void *page,
		uint64_t offset, bool write, uint64_t logged_offset);

/* As reads_page, for sectors of 512 bytes. */
long reads_sectors(const struct reads_process *process, int fd, void *buffer,
		   uint32_t sectors, uint64_t offset, bool write,
		   uint64_t logged_offset);

/* Logs a failure without a page, such as that of an open. */
void reads_log_failure(const struct reads_process *process, uint64_t logged_offset,
		       int error);

/* Sleep on CLOCK_MONOTONIC. */
void reads_sleep(uint64_t ns);

/* A page-aligned buffer of one page, zeroed; exits when there is no memory. */
void *reads_buffer(void);

/* As reads_buffer, for sectors. */
void *reads_sectors_buffer(uint32_t sectors);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The processes of a workload, and the log of what they saw: each pread and pwrite
 * timed by the clock of the process that asked.  This is the second witness of the
 * throttle's records, so it shares no code with them.
 *
 * The processes share one address space, like threads, because in an emulator each
 * switch between two costs as much as a request; for the kernel, and for the scheduler
 * under test, each is a process with an I/O context of its own.  They use no errno and
 * nothing of libc that keeps a state (guest/call.h).
 *
 * Life of a workload: the parent starts the processes, prints "ready" and waits for
 * a line (or the end) of its input; then all processes begin together and run for
 * ever.  SIGTERM or SIGINT to the parent ends them, writes the log and prints one
 * line: "done LOGGED FAILED LOST".
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
	const char *cgroup; /* folder of the group that they run in, or NULL */
};

/* What all workloads have on their command line. */
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

/* Takes the option if it is one of these; what is wrong ends the program. */
bool reads_option(struct reads_options *options, int option, const char *value);

/* One process, as it sees itself. */
struct reads_process {
	struct draw draw;
	uint32_t number; /* from 0 */
	uint32_t id;
};

/*
 * What process number `process` (from 0) does; it never returns.  `prepare` comes
 * before "ready" and may be NULL; both get the same stream of draws from its start.
 */
struct reads_play {
	void (*prepare)(void *context, struct draw draw);
	void (*run)(void *context, struct reads_process *process);
	void *context;
};

/* Returns the program's exit code. */
int reads_run(const struct reads_options *options, const struct reads_play *play);

/* One timed and logged page; bytes, or a negative errno. */
long reads_page(const struct reads_process *process, int fd, void *page,
		uint64_t offset, bool write, uint64_t logged_offset);

/* The same of so many sectors of 512 bytes. */
long reads_sectors(const struct reads_process *process, int fd, void *buffer,
		   uint32_t sectors, uint64_t offset, bool write,
		   uint64_t logged_offset);

/* A failure that is not a page's: an open, say. */
void reads_log_failure(const struct reads_process *process, uint64_t logged_offset,
		       int error);

/* Sleep on CLOCK_MONOTONIC. */
void reads_sleep(uint64_t ns);

/* A page-aligned buffer of one page, zeroed; exits when there is no memory. */
void *reads_buffer(void);

/* The same of so many sectors. */
void *reads_sectors_buffer(uint32_t sectors);

#endif

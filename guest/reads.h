/* SPDX-License-Identifier: MIT */
/*
 * The processes of a workload, and the log of their requests: each pread and pwrite, with times
 * from the clock of the calling process.  The log is used to check the throttle's records, so the
 * log and the throttle share no code.
 *
 * The processes share one address space, like threads: in an emulator, a switch between two address
 * spaces costs as much as a request.  To the kernel and to the scheduler under test, each one is a
 * process with its own I/O context.  The processes do not use errno or any part of libc that keeps
 * state (guest/call.h).
 *
 * A workload runs as follows.  The parent starts the processes, prints "ready" and waits for a line
 * on its standard input, or for the end of the input.  Then all processes begin together and run
 * until they are killed.  On SIGTERM or SIGINT the parent kills them, writes the log and prints one
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
 * The log file, in little-endian order: this header, then `count` entries in the order in which the
 * requests completed.  understudy_devices/platforms/reads.py reads the file.
 */
struct reads_header {
	char magic[8]; /* "USREADS1" */
	uint32_t entry_bytes;
	uint32_t count;
};

struct reads_entry {
	uint64_t start_ns; /* CLOCK_MONOTONIC right before the system call ... */
	uint64_t end_ns; /* ... and right after it */
	uint64_t offset; /* defined in surge.c, random.c and steps.c */
	uint32_t owner; /* process id */
	int32_t result; /* bytes, or a negative errno */
};

struct reads_options {
	uint32_t processes;
	uint64_t seed;
	const char *log_path; /* NULL: no log */
	uint32_t log_max;
	const char *cgroup; /* folder of the processes' control group, or NULL */
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

/*
 * Handles one of the options above; returns false for any other option.  Ends the program if the
 * value is wrong.
 */
bool reads_option(struct reads_options *options, int option, const char *value);

/* The private data of a process. */
struct reads_process {
	struct draw draw;
	uint32_t number; /* from 0 */
	uint32_t id;
};

/*
 * What a process does.  `prepare` is called before "ready" is printed, and may be NULL.  `run`
 * never returns.  `prepare` gets a copy of the process's random numbers, so `run` sees the same
 * numbers again.
 */
struct reads_play {
	void (*prepare)(void *context, struct draw draw);
	void (*run)(void *context, struct reads_process *process);
	void *context;
};

/* Runs the workload, and returns the program's exit code. */
int reads_run(const struct reads_options *options, const struct reads_play *play);

/*
 * Reads or writes one page, and logs the request with its times.  Returns the number of bytes, or a
 * negative errno.
 */
long reads_page(const struct reads_process *process, int fd, void *page,
		uint64_t offset, bool write, uint64_t logged_offset);

/* Like reads_page, but for a number of sectors of 512 bytes. */
long reads_sectors(const struct reads_process *process, int fd, void *buffer,
		   uint32_t sectors, uint64_t offset, bool write,
		   uint64_t logged_offset);

/* Logs a failure other than a failed read or write, such as a failed open. */
void reads_log_failure(const struct reads_process *process, uint64_t logged_offset,
		       int error);

/* Sleeps for `ns` nanoseconds of CLOCK_MONOTONIC. */
void reads_sleep(uint64_t ns);

/* Returns a zeroed, page-aligned buffer of one page; ends the program if there is no memory. */
void *reads_buffer(void);

/* Like reads_buffer, but for a number of sectors. */
void *reads_sectors_buffer(uint32_t sectors);

#endif

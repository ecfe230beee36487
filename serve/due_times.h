/* SPDX-License-Identifier: MIT */
/*
 * When requests are due, by the same drive and array as in the kernel's throttle and the
 * simulator (Jones 2010 section 4.3): a drive serves one at a time, from its arrival on if it is
 * free; what comes meanwhile waits in the drive's queue (core/drive/command_queue.h), from which it
 * chooses when it is free, so that one that waits has no due time yet.  An array begins with
 * the oldest as soon as a server is free, so each has its due time at once.
 *
 * It reads no clock and takes no lock.  Instants are on the model's clock and never go back.
 */
#ifndef UNDERSTUDY_SERVE_DUE_TIMES_H
#define UNDERSTUDY_SERVE_DUE_TIMES_H

#include "../core/drive/array.h"
#include "../core/drive/command_queue.h"

enum timed_op {
	TIMED_READ,
	TIMED_WRITE,
	TIMED_WRITE_THROUGH, /* on the medium when it is complete (FUA) */
	TIMED_FLUSH,
	TIMED_NOTHING, /* no time of its own; it still waits for its turn */
};

/**
 * struct timed_request - one request, in memory of who asks
 * @op, @sector, @sectors: set by who asks; the places of reads and writes
 * @waits: in the drive's queue: the rest is not known yet
 * @service_ns: what the model takes for it
 * @due_ns: when it is complete
 * @hit: the drive's cache held it
 * @command: its place in the queue
 */
struct timed_request {
	enum timed_op op;
	u64 sector;
	u32 sectors;
	bool waits;
	u64 service_ns;
	u64 due_ns;
	bool hit;
	struct command command;
};

/**
 * struct due_times - a drive, or an array, in motion
 * @drive: the drive; NULL: it is the array
 * @queue: what waits for it
 * @free_ns: and it is free then
 * @array, @draw, @servers: the array, its service times, and until when each server is busy
 */
struct due_times {
	struct drive *drive;
	struct command_queue queue;
	u64 free_ns;
	struct array array;
	struct draw draw;
	struct servers servers;
};

/* A drive that has been checked; it is reset. */
void due_times_of_drive(struct due_times *times, struct drive *drive);

/* `free_ns` has room for all servers. */
void due_times_of_array(struct due_times *times, const struct array *array, u64 seed,
			u64 *free_ns);

/* The next one that waited and that the drive has begun with by then; NULL: no more. */
struct timed_request *due_times_next(struct due_times *times, u64 by_ns);

/* A request arrives.  What the drive begins with by then has been asked for. */
void due_times_give(struct due_times *times, struct timed_request *request, u64 now_ns);

#endif

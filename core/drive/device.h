/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A storage device in time: a drive with its command queue, or an array.  Its host (the simulator,
 * the throttle, the served disk) gives it commands and learns when each begins and is due.
 *
 * A drive serves one command at a time.  A command that is given to a free drive begins at once.
 * One that is given to a busy drive waits in its queue and has no due time yet: when the command
 * in service is due, the drive chooses the next one (core/drive/command_queue.h), which begins at
 * that due time, however late the host asks.  An array begins with the oldest command as soon as a
 * server is free (core/drive/array.h), so each has its due time at once; what moves no data takes
 * no server and no time.
 *
 * The host passes the time in, calls in order of time, and calls device_next() until that returns
 * NULL before it gives a command: so a drive chooses among those that it had at the due time.  The
 * host owns the commands; one that waits must stay where it is.
 *
 * The drive's own clock runs k times slower than the host's.
 */
#ifndef UNDERSTUDY_DEVICE_H
#define UNDERSTUDY_DEVICE_H

#include "array.h"
#include "command_queue.h"

#define DEVICE_SCALE_MILLI_MAX 1000000ull

/**
 * struct timed_device - a device in motion; the host sets the first four, and may change them
 * @drive: the drive, unless there are servers
 * @array: the array; its servers count from the next restart on
 * @array_seed: of its service times; likewise
 * @scale_milli: k in thousandths, from 1 on; changed by device_set_scale()
 * @queue: what waits for the drive
 * @busy: the drive serves a command, or the host has not asked what it did after that
 * @free_ns: the drive is free from then on
 * @drive_ns: what the drive's clock said when a command began last, ...
 * @at_ns: ... and the host's clock
 * @draw: the array's service times
 * @servers: until when each of the array's servers is busy; none: it is the drive
 */
struct timed_device {
	struct drive drive;
	struct array array;
	u64 array_seed;
	u64 scale_milli;
	struct command_queue queue;
	bool busy;
	u64 free_ns;
	u64 drive_ns;
	u64 at_ns;
	struct draw draw;
	struct servers servers;
};

/*
 * From the beginning, and free from now on: the drive is reset, draws are repeated.  Nothing may
 * wait.  free_ns: room for the array's servers, or NULL if it is never given more than it has.
 */
void device_restart(struct timed_device *device, u64 *free_ns, u64 now_ns);

/* Give it a command, of which sector, sectors, op and through are set. */
void device_give(struct timed_device *device, struct command *command, u64 now_ns);

/*
 * The same, where the way to the device took until now: a drive that is free begins at start_ns,
 * which is from device_free_ns() on.  No command is due before now.
 */
void device_give_late(struct timed_device *device, struct command *command,
		      u64 start_ns, u64 now_ns);

/* The same for an array, by a host that knows the service time. */
void device_serve_for(struct timed_device *device, struct command *command,
		      u64 service_ns, u64 now_ns);

/* The next command that waited and with which the drive has begun by then; NULL: no more. */
struct command *device_next(struct timed_device *device, u64 by_ns);

/* When the drive chooses the next one; U64_MAX: none waits. */
u64 device_next_ns(const struct timed_device *device);

/* A command that may wait does so no longer. */
void device_withdraw(struct timed_device *device, struct command *command);

/* Is it a drive that would begin at once? */
static inline bool device_is_free(const struct timed_device *device)
{
	return !device->busy && !device->servers.nr;
}

/* A drive that is free has been so since then. */
u64 device_free_ns(const struct timed_device *device);

/* k times as long; U64_MAX if that is less. */
u64 device_scaled_ns(const struct timed_device *device, u64 ns);

/* What is in service keeps its due time, and the drive's clock goes on from there. */
void device_set_scale(struct timed_device *device, u64 scale_milli, u64 now_ns);

/*
 * What the request would wait, now or once the drive is free, until its first sector is under the head:
 * struct sched_limits hands it to a scheduler (core/scheduler.h).  There must be a drive.
 */
u64 device_positioning_ns(void *device, const struct io_request *rq, u64 now_ns);

#endif

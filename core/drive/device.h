/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A storage device in time: a drive with its command queue, or an array. Its host (the simulator,
 * the throttle, the served disk) gives it commands and learns when each begins and is due.
 *
 * A drive serves one command at a time. A free drive begins with a command at once. In a busy drive
 * the command waits in the queue and has no due time yet. When the command in service is due, the
 * drive chooses the next one (core/drive/command_queue.h), which begins at that due time, however
 * late the host calls. An array begins with the oldest command as soon as a server is free
 * (core/drive/array.h), so each command has its due time at once. Commands that move no data take
 * no server and no time.
 *
 * The host passes the time in and makes its calls in order of time. Before it gives a command, it
 * calls device_next() until that returns NULL. So a drive chooses among the commands that it had at
 * the due time. The host owns the commands; a pending command must stay where it is in memory.
 *
 * The drive's own clock runs k times slower than the host's.
 */
#ifndef UNDERSTUDY_DEVICE_H
#define UNDERSTUDY_DEVICE_H

#include "array.h"
#include "command_queue.h"

#define DEVICE_SCALE_MILLI_MAX 1000000ull

/**
 * struct timed_device - a device and its state; the host sets the first four, and may change them
 * @drive: the drive; unused if there are servers
 * @array: the array; a change of its servers takes effect with the next restart
 * @array_seed: seed of its service times; likewise
 * @scale_milli: k in thousandths, at least one; changed by device_set_scale()
 * @queue: commands pending in the drive
 * @busy: the drive serves a command, or the host has not yet called device_next() after it
 * @free_ns: when the drive becomes free
 * @drive_ns: the drive's clock when a command last began, ...
 * @at_ns: ... and the host's clock at that moment
 * @draw: generator of the array's service times
 * @servers: until when each of the array's servers is busy; no servers: the device is the
 *	drive
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
 * Start afresh, with a device free from now on: resets the drive and restarts the draws. No command
 * may be pending. free_ns: memory for the array's servers, or NULL if the array never has more
 * commands than servers.
 */
void device_restart(struct timed_device *device, u64 *free_ns, u64 now_ns);

/* Give the device a command with sector, sectors, op and through set. */
void device_give(struct timed_device *device, struct command *command, u64 now_ns);

/*
 * The same for a command that took until now_ns to reach the device: a free drive begins at
 * start_ns, which is not before device_free_ns(). No command is due before now_ns.
 */
void device_give_late(struct timed_device *device, struct command *command,
		      u64 start_ns, u64 now_ns);

/* The same for an array, by a host that knows the service time. */
void device_serve_for(struct timed_device *device, struct command *command,
		      u64 service_ns, u64 now_ns);

/* The next pending command that the drive began by by_ns; NULL: no more. */
struct command *device_next(struct timed_device *device, u64 by_ns);

/* When the drive chooses the next command; U64_MAX: none is pending. */
u64 device_next_ns(const struct timed_device *device);

/* Remove a command from the queue if it is pending. */
void device_withdraw(struct timed_device *device, struct command *command);

/* Is the device a drive that would begin at once? */
static inline bool device_is_free(const struct timed_device *device)
{
	return !device->busy && !device->servers.nr;
}

/* Since when a free drive has been free. */
u64 device_free_ns(const struct timed_device *device);

/* A time multiplied by k; at most U64_MAX. */
u64 device_scaled_ns(const struct timed_device *device, u64 ns);

/* Change k. The command in service keeps its due time; the drive's clock goes on from there. */
void device_set_scale(struct timed_device *device, u64 scale_milli, u64 now_ns);

/*
 * How long the request would wait, if it began now or once the drive is free, until its first
 * sector is under the head: the positioning time that struct sched_limits gives to a scheduler
 * (core/scheduler.h). The device must be a drive.
 */
u64 device_positioning_ns(void *device, const struct io_request *rq, u64 now_ns);

#endif

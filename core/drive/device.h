/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The timing of a storage device: a drive with its command queue, or an array. Its host (the
 * simulator, the throttle, the served disk) passes commands to it and learns when each begins and
 * is due.
 *
 * A drive serves one command at a time. If the drive is free, it begins with a command at once. If
 * the drive is busy, the command waits in the queue and has no due time yet. When the command in
 * service is due, the drive chooses the next one (core/drive/command_queue.h), which begins at that
 * due time even if the host calls later. An array begins with the oldest command as soon as a
 * server is free (core/drive/array.h), so each command has its due time at once. In an array,
 * commands that move no data need no server and no time.
 *
 * The host passes the current time to each call, and makes its calls in order of time. Before it
 * passes a command, it calls device_next() until that function returns NULL. So a drive chooses
 * among the commands that it had at the due time. The host owns the commands; a pending command
 * must stay where it is in memory.
 *
 * The drive's own clock runs k times slower than the host's.
 */
#ifndef UNDERSTUDY_DEVICE_H
#define UNDERSTUDY_DEVICE_H

#include "array.h"
#include "command_queue.h"

#define DEVICE_SCALE_MILLI_MAX 1000000ull

/**
 * struct timed_device - a device and its state; the host sets the first four members, and may
 * change them
 * @drive: the drive; unused if the device is an array
 * @array: the array; a change of its number of servers takes effect at the next restart
 * @array_seed: seed of the array's service times; a change takes effect at the next restart
 * @scale_milli: k in thousandths, at least one; changed by device_set_scale()
 * @queue: commands pending in the drive
 * @busy: the drive serves a command, or has completed it but the host has not yet called
 *	device_next()
 * @free_ns: when the drive becomes free
 * @drive_ns: the drive's clock when a command last began, ...
 * @at_ns: ... and the host's clock at that moment
 * @draw: generator of the array's service times
 * @servers: the time until which each of the array's servers is busy; no servers: the device is the
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
 * Restart the device, free from now on: reset the drive and restart the random generators. No
 * command may be pending. free_ns: memory for the array's servers, or NULL if the array never has
 * more commands than servers.
 */
void device_restart(struct timed_device *device, u64 *free_ns, u64 now_ns);

/* Pass a command, whose sector, sectors, op and through are set, to the device. */
void device_give(struct timed_device *device, struct command *command, u64 now_ns);

/*
 * The same for a command that reached the device late, at now_ns: a free drive begins at start_ns,
 * which is not before device_free_ns(). No command is due before now_ns.
 */
void device_give_late(struct timed_device *device, struct command *command,
		      u64 start_ns, u64 now_ns);

/* The same for an array, with a service time that the host provides. */
void device_serve_for(struct timed_device *device, struct command *command,
		      u64 service_ns, u64 now_ns);

/* The next pending command with which the drive began by by_ns; NULL: there are no more. */
struct command *device_next(struct timed_device *device, u64 by_ns);

/* When the drive chooses the next command; U64_MAX: no command is pending. */
u64 device_next_ns(const struct timed_device *device);

/* Remove a command from the queue if it is pending. */
void device_withdraw(struct timed_device *device, struct command *command);

/* Is the device a drive that would begin with a command at once? */
static inline bool device_is_free(const struct timed_device *device)
{
	return !device->busy && !device->servers.nr;
}

/* The time since which a drive that is free has been free. */
u64 device_free_ns(const struct timed_device *device);

/* A time multiplied by k; at most U64_MAX. */
u64 device_scaled_ns(const struct timed_device *device, u64 ns);

/*
 * Change k. The command in service keeps its due time; the drive's clock continues from its current
 * time.
 */
void device_set_scale(struct timed_device *device, u64 scale_milli, u64 now_ns);

/*
 * How long the request would wait until its first sector is under the head, if the drive began with
 * it now or as soon as the drive is free. Schedulers call this function as positioning_ns in struct
 * sched_limits (core/scheduler.h). The device must be a drive.
 */
u64 device_positioning_ns(void *device, const struct io_request *rq, u64 now_ns);

#endif

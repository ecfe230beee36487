/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The timing of a storage device: a drive with its command queue, or an array. A host (the
 * simulator, the throttle, the served disk) passes commands to the device and learns when each
 * command begins and when it is due, that is when it completes.
 *
 * A drive serves one command at a time. A free drive begins to serve a command at once. If the
 * drive is busy, the command is queued, and its due time is not known yet. When the command in
 * service is due, the drive chooses the next command (core/drive/command_queue.h). The next command
 * begins at that due time even if the host calls later. An array serves commands in order of
 * arrival, each as soon as a server is free (core/drive/array.h), so the due time of a command is
 * known at once. In an array, commands that move no data need no server and no time.
 *
 * The host passes the current time to each call, and makes its calls in order of time. Before the
 * host passes a command, it calls device_next() until that function returns NULL. So when a command
 * is due, the drive chooses among the commands that it had by then. The host owns the commands, and
 * must not move a pending command in memory.
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
 * @busy: the drive serves a command, or has completed one and the host has not yet called
 *	device_next()
 * @free_ns: when the drive becomes free
 * @drive_ns: the drive's clock at @at_ns
 * @at_ns: the host's clock when a command last began or k last changed
 * @draw: generator of the array's service times
 * @servers: the array's servers, and until when each is busy; if there are none, the device is the
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
 * Restart the device: reset the drive, restart the random generators, and make the device free from
 * now_ns on. There must be no pending command. free_ns: memory for the array's servers, or NULL if
 * the array never has more commands than servers.
 */
void device_restart(struct timed_device *device, u64 *free_ns, u64 now_ns);

/*
 * Pass a command to the device. The caller has set sector, sectors, op and through of the command.
 */
void device_give(struct timed_device *device, struct command *command, u64 now_ns);

/*
 * Pass a command that reaches the device late, at now_ns: a free drive begins it at start_ns, which
 * is not before device_free_ns(). The command is due at now_ns or later.
 */
void device_give_late(struct timed_device *device, struct command *command,
		      u64 start_ns, u64 now_ns);

/* Pass a command to an array, with a service time that the host provides. */
void device_serve_for(struct timed_device *device, struct command *command,
		      u64 service_ns, u64 now_ns);

/*
 * Let the drive begin the next pending command if it becomes free by by_ns. Return that command, or
 * NULL if the drive begins none.
 */
struct command *device_next(struct timed_device *device, u64 by_ns);

/* Return when the drive chooses the next command; U64_MAX if no command is pending. */
u64 device_next_ns(const struct timed_device *device);

/* Remove a command from the queue if it is pending. */
void device_withdraw(struct timed_device *device, struct command *command);

/* Return whether the device is a drive that would begin a command at once. */
static inline bool device_is_free(const struct timed_device *device)
{
	return !device->busy && !device->servers.nr;
}

/* Return since when a free drive has been free. */
u64 device_free_ns(const struct timed_device *device);

/* Return a time multiplied by k, or U64_MAX if the product does not fit. */
u64 device_scaled_ns(const struct timed_device *device, u64 ns);

/*
 * Change k. The command in service keeps its due time. The drive's clock continues from its current
 * value.
 */
void device_set_scale(struct timed_device *device, u64 scale_milli, u64 now_ns);

/*
 * Return how long the request would wait until its first sector is under the head, if the drive
 * began it now or, when busy, as soon as it becomes free. Schedulers call this function as
 * positioning_ns in struct sched_limits (core/scheduler.h). The device must be a drive.
 */
u64 device_positioning_ns(void *device, const struct io_request *rq, u64 now_ns);

#endif

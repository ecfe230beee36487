// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "device.h"
#include "../least.h"

#define SCALE_ONE 1000

void device_restart(struct timed_device *device, u64 *free_ns, u64 now_ns)
{
	drive_reset(&device->drive);
	array_seed(&device->draw, device->array_seed);
	servers_reset(&device->servers, free_ns, device->array.servers);
	device->busy = false;
	device->free_ns = now_ns;
	device->drive_ns = 0;
	device->at_ns = 0;
}

u64 device_free_ns(const struct timed_device *device)
{
	return later(device->free_ns, device->at_ns);
}

u64 device_scaled_ns(const struct timed_device *device, u64 ns)
{
	u64 product;

	if (device->scale_milli == SCALE_ONE)
		return ns;
	if (__builtin_mul_overflow(ns, device->scale_milli, &product))
		return U64_MAX;
	return product / SCALE_ONE;
}

static u64 drive_clock_ns(const struct timed_device *device, u64 at_ns)
{
	u64 since_ns;

	if (at_ns <= device->at_ns)
		return device->drive_ns;
	since_ns = at_ns - device->at_ns;
	if (device->scale_milli == SCALE_ONE)
		return device->drive_ns + since_ns;
	/* Limit since_ns to 213 days, so that the quotient fits a u64 even with the smallest k. */
	return device->drive_ns + port_mul_div(nearer(since_ns, U64_MAX / SCALE_ONE),
					       SCALE_ONE, device->scale_milli);
}

static void move_drive_clock(struct timed_device *device, u64 at_ns)
{
	device->drive_ns = drive_clock_ns(device, at_ns);
	device->at_ns = at_ns;
}

void device_set_scale(struct timed_device *device, u64 scale_milli, u64 now_ns)
{
	move_drive_clock(device, later(now_ns, device->free_ns));
	device->scale_milli = scale_milli;
}

static u64 serve(struct drive *drive, const struct command *command, u64 start_ns,
		 bool *hit)
{
	if (command->op >= IO_OPS)
		return command->op == COMMAND_FLUSH ? drive_flush(drive, start_ns) : 0;
	return drive_serve_command(drive, command, start_ns, hit);
}

static inline void begun(const struct timed_device *device, struct command *command,
			 u64 start_ns, u64 service_ns, bool hit)
{
	command->waits = false;
	command->hit = hit;
	command->start_ns = start_ns;
	command->service_ns = service_ns;
	command->due_ns = start_ns + device_scaled_ns(device, service_ns);
}

static inline void begin(struct timed_device *device, struct command *command,
			 u64 start_ns)
{
	bool hit = false;
	u64 service_ns;

	move_drive_clock(device, start_ns);
	service_ns = serve(&device->drive, command, device->drive_ns, &hit);
	begun(device, command, start_ns, service_ns, hit);
	device->busy = true;
	device->free_ns = command->due_ns;
}

static void wait(struct timed_device *device, struct command *command, u64 now_ns)
{
	command->waits = true;
	command->given_ns = drive_clock_ns(device, now_ns);
	command_queue_give(&device->queue, &device->drive, command);
}

void device_serve_for(struct timed_device *device, struct command *command,
		      u64 service_ns, u64 now_ns)
{
	begun(device, command, servers_start_ns(&device->servers, now_ns), service_ns,
	      false);
	servers_occupy(&device->servers, command->due_ns);
}

static void give_array(struct timed_device *device, struct command *command, u64 now_ns)
{
	if (command->op < IO_OPS)
		device_serve_for(device, command,
				 array_service_ns(&device->array, &device->draw),
				 now_ns);
	else
		begun(device, command, now_ns, 0, false);
}

static inline void give(struct timed_device *device, struct command *command,
			u64 start_ns, u64 now_ns)
{
	if (device->servers.nr)
		give_array(device, command, now_ns);
	else if (device->busy)
		wait(device, command, now_ns);
	else
		begin(device, command, start_ns);
}

void device_give(struct timed_device *device, struct command *command, u64 now_ns)
{
	give(device, command, now_ns, now_ns);
}

void device_give_late(struct timed_device *device, struct command *command,
		      u64 start_ns, u64 now_ns)
{
	give(device, command, start_ns, now_ns);
	if (!command->waits && command->due_ns < now_ns)
		command->due_ns = device->free_ns = now_ns;
}

struct command *device_next(struct timed_device *device, u64 by_ns)
{
	struct command *command;
	u64 start_ns = device->free_ns;

	if (!device->busy || start_ns > by_ns)
		return NULL;
	device->busy = device->queue.oldest;
	if (!device->busy)
		return NULL;
	command = command_queue_take(&device->queue, &device->drive,
				     drive_clock_ns(device, start_ns));
	begin(device, command, start_ns);
	return command;
}

u64 device_next_ns(const struct timed_device *device)
{
	return device->queue.oldest ? device->free_ns : U64_MAX;
}

void device_withdraw(struct timed_device *device, struct command *command)
{
	if (command->waits)
		command_queue_remove(&device->queue, command);
	command->waits = false;
}

u64 device_positioning_ns(void *of, const struct io_request *rq, u64 now_ns)
{
	struct timed_device *device = of;
	u64 start_ns = later(now_ns, device->free_ns);
	u64 ns = estimate_ns(&device->drive, rq->op, rq->sector, rq->sectors,
			     drive_clock_ns(device, start_ns));

	return device_scaled_ns(device, ns);
}

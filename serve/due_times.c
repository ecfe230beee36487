// SPDX-License-Identifier: MIT
#include "due_times.h"

#include "../core/request.h"

void due_times_of_drive(struct due_times *times, struct drive *drive)
{
	*times = (struct due_times){ .drive = drive };
	drive_reset(drive);
}

void due_times_of_array(struct due_times *times, const struct array *array, u64 seed,
			u64 *free_ns)
{
	*times = (struct due_times){ .array = *array };
	array_seed(&times->draw, seed);
	servers_reset(&times->servers, free_ns, array->servers);
}

static u64 drive_takes_ns(struct drive *drive, struct timed_request *request,
			  u64 start_ns)
{
	switch (request->op) {
	case TIMED_FLUSH:
		return drive_flush(drive, start_ns);
	case TIMED_WRITE_THROUGH:
		return drive_serve_through(drive, request->sector, request->sectors,
					   start_ns);
	case TIMED_READ:
	case TIMED_WRITE:
		return drive_serve(
			drive, request->op == TIMED_READ ? IO_READ : IO_WRITE,
			request->sector, request->sectors, start_ns, &request->hit);
	default:
		return 0;
	}
}

static void serve(struct due_times *times, struct timed_request *request, u64 start_ns)
{
	request->waits = false;
	request->service_ns = drive_takes_ns(times->drive, request, start_ns);
	request->due_ns = start_ns + request->service_ns;
	times->free_ns = request->due_ns;
}

static u8 command_op(const struct timed_request *request)
{
	switch (request->op) {
	case TIMED_READ:
		return IO_READ;
	case TIMED_WRITE:
	case TIMED_WRITE_THROUGH:
		return IO_WRITE;
	default:
		return IO_OPS;
	}
}

static void queue_up(struct due_times *times, struct timed_request *request, u64 now_ns)
{
	request->waits = true;
	request->command = (struct command){
		.sector = request->sector,
		.given_ns = now_ns,
		.sectors = request->sectors,
		.op = command_op(request),
		.through = request->op == TIMED_WRITE_THROUGH,
	};
	command_queue_give(&times->queue, times->drive, &request->command);
}

static struct timed_request *of_command(struct command *command)
{
	return (void *)((char *)command - offsetof(struct timed_request, command));
}

struct timed_request *due_times_next(struct due_times *times, u64 by_ns)
{
	struct timed_request *request;

	if (!times->queue.oldest || times->free_ns > by_ns)
		return NULL;
	request = of_command(
		command_queue_take(&times->queue, times->drive, times->free_ns));
	serve(times, request, times->free_ns);
	return request;
}

/* Only what moves data takes a server. */
static void serve_in_array(struct due_times *times, struct timed_request *request,
			   u64 now_ns)
{
	request->due_ns = now_ns;
	if (command_op(request) == IO_OPS)
		return;
	request->service_ns = array_service_ns(&times->array, &times->draw);
	request->due_ns =
		servers_start_ns(&times->servers, now_ns) + request->service_ns;
	servers_occupy(&times->servers, request->due_ns);
}

void due_times_give(struct due_times *times, struct timed_request *request, u64 now_ns)
{
	if (!times->drive)
		serve_in_array(times, request, now_ns);
	else if (times->free_ns <= now_ns)
		serve(times, request, now_ns);
	else
		queue_up(times, request, now_ns);
}

// SPDX-License-Identifier: MIT
#include "../core/drive/estimate.h"
#include "../core/least.h"
#include "device.h"

static u32 nr_servers(const struct device *device)
{
	return device->target ? 1 : device->array.servers;
}

static int copy_drive(struct device *device, const struct drive *drive)
{
	device->drive = port_zalloc(sizeof(*drive));
	if (!device->drive)
		return -ENOMEM;
	*device->drive = *drive;
	drive_reset(device->drive);
	return 0;
}

static int add_servers(struct device *device)
{
	u32 nr = nr_servers(device);
	u64 *free_ns = port_zalloc(nr * sizeof(*free_ns));

	if (!free_ns)
		return -ENOMEM;
	servers_reset(&device->servers, free_ns, nr);
	return 0;
}

int device_init(struct device *device, const struct drive *drive, target_fn *target,
		const struct array *array, u32 depth, u64 seed)
{
	*device = (struct device){ .target = target, .array = *array };
	array_seed(&device->draw, seed);
	if (drive && copy_drive(device, drive))
		return -ENOMEM;
	return !drive && depth > nr_servers(device) ? add_servers(device) : 0;
}

void device_exit(struct device *device)
{
	port_free(device->drive);
	port_free(device->servers.free_ns);
}

u64 device_cost_ns(struct device *device, u64 given_ns)
{
	if (device->drive || device->target)
		return 0;
	if (given_ns)
		return given_ns;
	return array_service_ns(&device->array, &device->draw);
}

static void serve(struct device *device, u8 op, u64 sector, u32 sectors, u64 now_ns,
		  struct service *service)
{
	service->start_ns = now_ns;
	service->model_ns =
		drive_serve(device->drive, op, sector, sectors, now_ns, &service->hit);
	device->busy = true;
	device->free_ns = now_ns + service->model_ns;
}

/* One of equal servers, or a target: nobody chooses among those that wait. */
static struct service serve_in_order(struct device *device, const struct io_request *rq,
				     u64 cost_ns, u64 now_ns)
{
	struct service service = { .start_ns = now_ns, .model_ns = cost_ns };
	struct servers *servers = &device->servers;

	if (servers->nr)
		service.start_ns = servers_start_ns(servers, now_ns);
	if (device->target)
		service.model_ns =
			device->target(rq, service.start_ns) - service.start_ns;
	if (servers->nr)
		servers_occupy(servers, service.start_ns + service.model_ns);
	return service;
}

bool device_give(struct device *device, const struct io_request *rq, u64 cost_ns,
		 struct command *command, struct service *service, u64 now_ns)
{
	if (!device->drive) {
		*service = serve_in_order(device, rq, cost_ns, now_ns);
		return true;
	}
	if (!device->busy) {
		serve(device, rq->op, rq->sector, rq->sectors, now_ns, service);
		return true;
	}
	*command = (struct command){
		.sector = rq->sector,
		.given_ns = now_ns,
		.sectors = rq->sectors,
		.op = rq->op,
	};
	command_queue_give(&device->queue, device->drive, command);
	return false;
}

struct command *device_next(struct device *device, struct service *service, u64 now_ns)
{
	struct command *command;

	if (!device->drive)
		return NULL;
	device->busy = false;
	command = command_queue_take(&device->queue, device->drive, now_ns);
	if (command)
		serve(device, command->op, command->sector, command->sectors, now_ns,
		      service);
	return command;
}

u64 device_positioning_ns(void *of, const struct io_request *rq, u64 now_ns)
{
	struct device *device = of;

	return estimate_ns(device->drive, rq->op, rq->sector, rq->sectors,
			   later(now_ns, device->free_ns));
}

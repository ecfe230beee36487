/* SPDX-License-Identifier: MIT */
/*
 * What serves the requests: a disk, which is one server whose time depends on where its
 * head is and what its cache holds (core/drive/drive.h), or an array, which is a number of
 * equal servers with service times of their own (core/drive/array.h), or a target, which somebody else models
 * and who is asked once for each request.  Each may accept more requests than it can serve
 * at once; those wait inside: on a disk in its command queue (core/drive/command_queue.h), elsewhere
 * in the order in which they came, so that what they meet is known beforehand.
 */
#ifndef UNDERSTUDY_DEVICE_H
#define UNDERSTUDY_DEVICE_H

#include "../core/drive/array.h"
#include "../core/drive/command_queue.h"

/* A target's answer: when a request that it begins with at start_ns completes. */
typedef u64 target_fn(const struct io_request *rq, u64 start_ns);

/**
 * struct device - a device in motion
 * @drive: the disk, or NULL
 * @target: one server that is asked, or NULL
 * @array: what it is otherwise
 * @queue: what waits for the disk
 * @busy: the disk serves something
 * @free_ns: and is free then
 * @draw: for the array's service times
 * @servers: until when each server is busy; none if no request ever has to wait for one
 */
struct device {
	struct drive *drive;
	target_fn *target;
	struct array array;
	struct command_queue queue;
	bool busy;
	u64 free_ns;
	struct draw draw;
	struct servers servers;
};

/* What one request met. */
struct service {
	u64 start_ns;
	u64 model_ns;
	bool hit;
};

/**
 * device_init - an idle device
 * @drive: to be copied and reset, or NULL
 * @target: to be asked if there is no drive, or NULL
 * @array: used if there is neither
 * @depth: most requests that it will be given at once
 *
 * Returns: 0 or -ENOMEM.
 */
int device_init(struct device *device, const struct drive *drive, target_fn *target,
		const struct array *array, u32 depth, u64 seed);

/* Also fit for a device whose init failed. */
void device_exit(struct device *device);

/* Service time that is known when a request arrives, ns; 0 on a disk or a target. */
u64 device_cost_ns(struct device *device, u64 given_ns);

/*
 * Give it a request, which takes cost_ns on an array.  False: it waits for the disk, and
 * device_next will return its command.  Else it is complete at start_ns + model_ns.
 */
bool device_give(struct device *device, const struct io_request *rq, u64 cost_ns,
		 struct command *command, struct service *service, u64 now_ns);

/* A request is complete: the one that waited for it and is served now, or NULL. */
struct command *device_next(struct device *device, struct service *service, u64 now_ns);

/* What struct sched_limits hands to a scheduler; there must be a disk. */
u64 device_positioning_ns(void *device, const struct io_request *rq, u64 now_ns);

#endif

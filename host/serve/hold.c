// SPDX-License-Identifier: MIT
/*
 * A thread sleeps until shortly before its request is due, and spins until the due time. The lead
 * is the time between the wake-up and the due time. It adapts so that half of the wake-ups are in
 * time. So the lead is close to the time that a wake-up takes on this machine.
 *
 * When a request is due, the drive chooses its next request. The choice is computed by the thread
 * of the due request, or by the thread of the first request that arrives after the due time. If
 * either thread is delayed, all choices and due times remain the same (core/drive/device.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../../core/least.h"
#include "../../kernel/vpt/record.h"
#include "hold.h"

#define LEAD_MAX_NS 100000u
#define LEAD_STEP_NS 1000u

static struct timed_disk *disk;
static int records;
static u64 lead_ns = LEAD_MAX_NS / 2; /* accesses are relaxed */

/* Guards disk->device, disk->lateness and the following variables. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u64 last_id;

static u64 clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

int hold_init(struct timed_disk *given, int record_file)
{
	struct timed_device *device = &given->device;
	u64 *free_ns = NULL;

	disk = given;
	records = record_file;
	prctl(PR_SET_TIMERSLACK, 1);
	if (!device->scale_milli ||
	    (!device->array.servers && drive_check(&device->drive)))
		return -EINVAL;
	if (device->array.servers) {
		free_ns = calloc(device->array.servers, sizeof(*free_ns));
		if (!free_ns)
			return -ENOMEM;
	}
	device_restart(device, free_ns, 0);
	return 0;
}

/* Let the drive begin requests up to the time by_ns, and notify the threads of these requests. */
static void begin_until(u64 by_ns)
{
	struct command *command;

	while ((command = device_next(&disk->device, by_ns))) {
		struct held *held =
			(void *)((char *)command - offsetof(struct held, command));

		pthread_cond_signal(&held->begun);
	}
}

void hold_arrived(struct held *held)
{
	pthread_cond_init(&held->begun, NULL);
	pthread_mutex_lock(&lock);
	held->arrival_ns = clock_ns();
	held->id = ++last_id;
	begin_until(held->arrival_ns);
	device_give(&disk->device, &held->command, held->arrival_ns);
	held->queued = held->command.waits;
	pthread_mutex_unlock(&lock);
}

/*
 * Return whether the request's data was transferred only after its due time. If the request is
 * queued in the drive, wait until the drive begins it, which sets the due time.
 */
static bool is_late(struct held *held)
{
	u64 now_ns = clock_ns();
	bool late;

	if (!held->queued)
		return now_ns > held->command.due_ns;
	pthread_mutex_lock(&lock);
	begin_until(now_ns);
	late = !held->command.waits && now_ns > held->command.due_ns;
	while (held->command.waits)
		pthread_cond_wait(&held->begun, &lock);
	pthread_mutex_unlock(&lock);
	return late;
}

static void sleep_until(u64 at_ns)
{
	struct timespec at = { at_ns / 1000000000u, at_ns % 1000000000u };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void wait_until(u64 due_ns)
{
	u64 lead = __atomic_load_n(&lead_ns, __ATOMIC_RELAXED);

	if (clock_ns() + lead < due_ns) {
		sleep_until(due_ns - lead);
		if (clock_ns() > due_ns)
			lead = nearer(lead + LEAD_STEP_NS, LEAD_MAX_NS);
		else
			lead -= nearer(lead, LEAD_STEP_NS);
		__atomic_store_n(&lead_ns, lead, __ATOMIC_RELAXED);
	}
	while (clock_ns() < due_ns)
		;
}

static void count(const struct held *held)
{
	struct lateness *lateness = &disk->lateness;
	u64 late_ns = held->answer_ns - held->command.due_ns;
	u64 service_ns = device_scaled_ns(&disk->device, held->command.service_ns);

	moments_add(&lateness->all, late_ns);
	histogram_add(&lateness->distribution, late_ns);
	lateness->late += held->late;
	if (service_ns < TIMED_ENOUGH_NS)
		return;
	moments_add(&lateness->service, service_ns);
	moments_add(&lateness->service_late, late_ns);
}

static void record(const struct held *held, int error)
{
	const struct command *command = &held->command;
	struct vpt_record row = {
		.arrival_ns = held->arrival_ns,
		.pick_ns = held->arrival_ns,
		.dispatch_ns = held->arrival_ns,
		.due_ns = command->due_ns,
		.completion_ns = held->answer_ns,
		.sector = command->sector,
		.request_id = held->id,
		.model_service_ns = command->service_ns,
		.sectors = command->sectors,
		.error = -error,
		.flags = (command->hit ? VPT_HIT : 0) | (held->late ? VPT_LATE : 0),
		.op = command->op < IO_OPS ? command->op : VPT_OP_OTHER,
	};

	if (write(records, &row, sizeof(row)) != sizeof(row))
		disk->record_error = errno ?: EIO;
}

void hold_until_due(struct held *held, int error)
{
	held->late = is_late(held);
	if (!held->late)
		wait_until(held->command.due_ns);
	pthread_mutex_lock(&lock);
	held->answer_ns = clock_ns();
	begin_until(held->answer_ns);
	count(held);
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&held->begun);
	if (records >= 0 && !disk->record_error)
		record(held, error);
}

// SPDX-License-Identifier: MIT
/*
 * A thread sleeps until shortly before its request is due, and spins for the rest.  How much
 * before follows the wake-ups: half of them come in time, so what is spun away is the time
 * that a wake-up takes here, and not more.
 *
 * The drive's next choice is made by whose request is due then, or by whoever arrives first
 * after that: both ask for what was begun by then, on the model's clock, so neither's own delay
 * changes a choice or a due time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../core/least.h"
#include "../kernel/vpt/record.h"
#include "hold.h"

#define LEAD_MAX_NS 100000u
#define LEAD_STEP_NS 1000u

static struct timed_disk *disk;
static int records;
static u64 lead_ns = LEAD_MAX_NS / 2; /* relaxed: any recent value will do */

/* Guards the rest, and disk->lateness. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct due_times times;
static u64 last_id;

static u64 clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

static u64 model_ns(u64 at_ns)
{
	return port_mul_div(at_ns, 1000, disk->scale_milli);
}

static u64 scaled_ns(u64 ns)
{
	return port_mul_div(ns, disk->scale_milli, 1000);
}

/* On ours, not before: then the model's clock says at least that. */
static u64 clock_of_ns(u64 at_model_ns)
{
	u64 at_ns = scaled_ns(at_model_ns);

	return model_ns(at_ns) < at_model_ns ? at_ns + 1 : at_ns;
}

static int init_array(void)
{
	u64 *free_ns = calloc(disk->array.servers, sizeof(*free_ns));

	if (!free_ns)
		return -ENOMEM;
	due_times_of_array(&times, &disk->array, disk->array_seed, free_ns);
	return 0;
}

int hold_init(struct timed_disk *given, int record_file)
{
	disk = given;
	records = record_file;
	prctl(PR_SET_TIMERSLACK, 1);
	if (!disk->scale_milli)
		return -EINVAL;
	if (disk->array.servers)
		return init_array();
	if (drive_check(&disk->drive))
		return -EINVAL;
	due_times_of_drive(&times, &disk->drive);
	return 0;
}

static struct held *of_request(struct timed_request *request)
{
	return (void *)((char *)request - offsetof(struct held, request));
}

static void set_due(struct held *held)
{
	held->due_ns = later(held->arrival_ns, clock_of_ns(held->request.due_ns));
}

/* Tell those with which the drive has begun by then. */
static void begin_until(u64 by_ns)
{
	struct timed_request *request;

	while ((request = due_times_next(&times, model_ns(by_ns)))) {
		set_due(of_request(request));
		pthread_cond_signal(&of_request(request)->begun);
	}
}

void hold_arrived(struct held *held)
{
	pthread_cond_init(&held->begun, NULL);
	pthread_mutex_lock(&lock);
	held->arrival_ns = clock_ns();
	held->id = ++last_id;
	begin_until(held->arrival_ns);
	due_times_give(&times, &held->request, model_ns(held->arrival_ns));
	held->queued = held->request.waits;
	if (!held->queued)
		set_due(held);
	pthread_mutex_unlock(&lock);
}

/* Is it due already, now that its data is there?  One that waits in the drive gets its due time. */
static bool is_late(struct held *held)
{
	u64 now_ns = clock_ns();
	bool late;

	if (!held->queued)
		return now_ns > held->due_ns;
	pthread_mutex_lock(&lock);
	begin_until(now_ns);
	late = !held->request.waits && now_ns > held->due_ns;
	while (held->request.waits)
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
	u64 late_ns = held->answer_ns - held->due_ns;
	u64 service_ns = scaled_ns(held->request.service_ns);

	moments_add(&lateness->all, late_ns);
	histogram_add(&lateness->distribution, late_ns);
	lateness->late += held->late;
	if (service_ns < TIMED_ENOUGH_NS)
		return;
	moments_add(&lateness->service, service_ns);
	moments_add(&lateness->service_late, late_ns);
}

static u8 recorded_op(enum timed_op op)
{
	switch (op) {
	case TIMED_READ:
		return IO_READ;
	case TIMED_WRITE:
	case TIMED_WRITE_THROUGH:
		return IO_WRITE;
	default:
		return VPT_OP_OTHER;
	}
}

static void record(const struct held *held, int error)
{
	const struct timed_request *request = &held->request;
	struct vpt_record row = {
		.arrival_ns = held->arrival_ns,
		.pick_ns = held->arrival_ns,
		.dispatch_ns = held->arrival_ns,
		.due_ns = held->due_ns,
		.completion_ns = held->answer_ns,
		.sector = request->sector,
		.request_id = held->id,
		.model_service_ns = request->service_ns,
		.sectors = request->sectors,
		.error = -error,
		.flags = (request->hit ? VPT_HIT : 0) | (held->late ? VPT_LATE : 0),
		.op = recorded_op(request->op),
	};

	if (write(records, &row, sizeof(row)) != sizeof(row))
		disk->record_error = errno ?: EIO;
}

void hold_until_due(struct held *held, int error)
{
	held->late = is_late(held);
	if (!held->late)
		wait_until(held->due_ns);
	pthread_mutex_lock(&lock);
	held->answer_ns = clock_ns();
	begin_until(held->answer_ns);
	count(held);
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&held->begun);
	if (records >= 0 && !disk->record_error)
		record(held, error);
}

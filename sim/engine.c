// SPDX-License-Identifier: MIT
#include "fields.h"
#include "sim.h"

/*
 * Limit of the number of events at one point in time, with EACH_PROCESS_MAX more for each process.
 */
#define EVENTS_AT_ONCE_MAX 1000000

void sim_schedule(struct sim *sim, u64 time_ns, enum event_kind kind, u32 id)
{
	struct event event = { .time_ns = time_ns, .priority = kind, .id = id };

	if (time_ns > TIME_MAX_NS)
		sim->error = -ETIME;
	else if (event_queue_add(&sim->events, event))
		sim->error = -ENOMEM;
}

static void handle(struct sim *sim, struct event event)
{
	switch ((enum event_kind)event.priority) {
	case EVENT_COMPLETION:
		requests_complete(sim, event.id);
		break;
	case EVENT_ASK:
		process_ask(sim, event.id);
		break;
	case EVENT_RESUME:
		process_resume(sim, event.id);
		break;
	case EVENT_ENQUIRE:
		sim->settled = false;
		break;
	}
}

/* Handle all events of the next point in time. */
static void advance(struct sim *sim)
{
	u64 left = with_processes(sim, EVENTS_AT_ONCE_MAX);

	sim->now_ns = event_queue_first(&sim->events)->time_ns;
	do {
		sim->input->watch->events++;
		handle(sim, event_queue_take(&sim->events));
		if (!--left)
			sim->error = -ELOOP;
	} while (!sim->error && sim->events.count &&
		 event_queue_first(&sim->events)->time_ns == sim->now_ns);
}

static int simulate(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->input->world.processes && !sim->error; i++)
		process_next_step(sim, i);
	while (!sim->error && sim->summary->completed < sim->target &&
	       sim->events.count) {
		advance(sim);
		if (!sim->error)
			requests_dispatch(sim);
	}
	return sim->error;
}

/* Initialise and free. */

static int init_workload(struct sim *sim)
{
	const struct workload *workload = sim->workload;

	sim->workload_state = port_zalloc(workload->state_size);
	if (!sim->workload_state)
		return -ENOMEM;
	fields_set(sim->workload_state, workload->parameters, workload->nr_parameters,
		   sim->input->parameters);
	return workload->init(sim->workload_state, &sim->input->world);
}

static void exit_workload(struct sim *sim)
{
	if (!sim->workload_state)
		return;
	sim->workload->exit(sim->workload_state);
	port_free(sim->workload_state);
}

static int init_pool(struct sim *sim)
{
	u32 count = sim->input->max_pending;
	u32 processes = sim->input->world.processes;
	u32 i;

	sim->pool = port_zalloc(count * sizeof(*sim->pool));
	sim->process = port_zalloc(processes * sizeof(*sim->process));
	if (!sim->pool || !sim->process)
		return -ENOMEM;
	for (i = 0; i < processes; i++)
		sim->process[i].whole = NO_SLOT;
	if (slots_init(&sim->slots, count) ||
	    (sim->input->each && wholes_init(&sim->wholes, count)))
		return -ENOMEM;
	return event_queue_init(&sim->events, processes + 64);
}

/* An array needs memory for its servers only if requests may have to wait for a free server. */
static int init_device(struct sim *sim)
{
	const struct sim_input *input = sim->input;
	struct timed_device *device = &sim->device;
	u64 *free_ns = NULL;

	device->scale_milli = 1000;
	device->array_seed = input->world.seed;
	if (input->drive)
		device->drive = *input->drive;
	else if (input->target)
		device->array.servers = 1;
	else
		device->array = input->array;
	if (device->array.servers && input->depth > device->array.servers) {
		free_ns = port_zalloc(device->array.servers * sizeof(*free_ns));
		if (!free_ns)
			return -ENOMEM;
	}
	device_restart(device, free_ns, 0);
	return 0;
}

#define BUNDLE_STREAM (U64_MAX - 2) /* no process or device uses this stream */

static int set_up(struct sim *sim)
{
	const struct sim_input *input = sim->input;

	draw_seed(&sim->bundle, input->world.seed, BUNDLE_STREAM);
	return init_pool(sim)
		       ?: init_device(sim)
		       ?: processes_init_pages(sim)
		       ?: elevator_init(&sim->elevator, input, sim->pool, &sim->device)
		       ?: init_workload(sim);
}

static void take_down(struct sim *sim)
{
	exit_workload(sim);
	elevator_exit(&sim->elevator, sim->summary);
	processes_exit_pages(sim);
	port_free(sim->device.servers.free_ns);
	event_queue_exit(&sim->events);
	wholes_exit(&sim->wholes);
	slots_exit(&sim->slots);
	port_free(sim->process);
	port_free(sim->pool);
}

int sim_run(const struct sim_input *input, struct sim_summary *summary)
{
	struct sim sim = {
		.input = input,
		.summary = summary,
		.workload = input->workload,
		.wake_ns = U64_MAX,
		.target = input->requests,
	};
	int error = set_up(&sim) ?: simulate(&sim);

	take_down(&sim);
	return error;
}

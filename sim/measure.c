// SPDX-License-Identifier: MIT
#include "measure.h"

static void write_row(const struct sim_columns *columns, const struct pending *part,
		      const struct pending *pending, u64 completion_ns)
{
	const struct io_request *io = &pending->io;
	const struct bio *bio = &part->bio;
	u64 row = bio->row;

	columns->arrival_ns[row] = bio->arrival_ns;
	columns->dispatch_ns[row] = pending->dispatch_ns;
	columns->start_ns[row] = pending->command.start_ns;
	columns->completion_ns[row] = completion_ns;
	columns->sector[row] = bio->sector;
	columns->request_id[row] = io->id;
	columns->model_service_ns[row] = pending->command.service_ns;
	columns->idle_ns[row] = pending->idle_ns;
	columns->sectors[row] = bio->sectors;
	columns->owner[row] = bio->owner;
	columns->op[row] = part->io.op; /* a bundle may have reads and writes */
	columns->reason[row] = io->reason;
	columns->hit[row] = pending->command.hit;
}

static void sum_up_bio(struct sim_summary *summary, const struct bio *bio,
		       u64 completion_ns)
{
	u64 response_ns = completion_ns - bio->arrival_ns;

	summary->completed++;
	summary->last_completion_ns = completion_ns;
	summary->sectors += bio->sectors;
	moments_add(&summary->response, response_ns);
	histogram_add(&summary->responses, response_ns);
}

/*
 * Add the measured bios to their processes' figures. A split request counts once its last piece is
 * served.
 */
static void sum_up_each(struct sim *sim, const struct pending *part)
{
	for (; part; part = part->next) {
		const struct bio *bio = &part->bio;
		struct sim_process *process = &sim->input->each[bio->process];
		u64 response_ns = sim->now_ns - bio->arrival_ns + bio->waited_ns;

		if (bio->row == NOT_MEASURED)
			continue;
		process->pieces++;
		if (bio->whole != NO_SLOT &&
		    !wholes_served(&sim->wholes, bio->whole, &response_ns))
			continue;
		moments_add(&process->response, response_ns);
		histogram_add(&process->responses, response_ns);
		if (part->io.op != IO_WRITE)
			continue;
		moments_add(&process->write_response, response_ns);
		histogram_add(&process->write_responses, response_ns);
	}
}

static void sum_up_request(struct sim_summary *summary, const struct pending *pending,
			   u64 completion_ns, u64 previous_completion_ns)
{
	const struct io_request *io = &pending->io;
	u64 from_ns = pending->dispatch_ns;

	if (from_ns < previous_completion_ns)
		from_ns = previous_completion_ns;
	summary->hits += pending->command.hit;
	summary->predicted += io->reason == PICK_HIT;
	summary->predicted_hits += pending->command.hit && io->reason == PICK_HIT;
	summary->reason[io->reason]++;
	moments_add(&summary->service, completion_ns - from_ns);
	moments_add(&summary->device, completion_ns - pending->dispatch_ns);
	moments_add(&summary->model, pending->command.service_ns);
	demand_add(&summary->demand, io, pending->idle_ns, previous_completion_ns);
}

void measure_completion(struct sim *sim, const struct pending *pending)
{
	const struct sim_columns *columns = sim->input->columns;
	struct sim_summary *summary = sim->summary;
	u64 now_ns = sim->now_ns;
	const struct pending *part;
	bool measured = false;

	for (part = pending; part; part = part->next) {
		if (part->bio.row == NOT_MEASURED)
			continue;
		if (columns)
			write_row(columns, part, pending, now_ns);
		sum_up_bio(summary, &part->bio, now_ns);
		measured = true;
	}
	if (!measured)
		return;
	sum_up_request(summary, pending, now_ns, sim->last_completion_ns);
	if (sim->input->each)
		sum_up_each(sim, pending);
	__atomic_store_n(&sim->input->watch->completed, summary->completed,
			 __ATOMIC_RELAXED);
}

// SPDX-License-Identifier: MIT
#include "../fields.h"
#include "serve.h"
#include "steps.h"

#define STEPS_AT_ONCE 512

static void introduce(struct line_self *self, const struct workload *workload)
{
	serve_copy(self->name, sizeof(self->name), workload->name);
	serve_copy(self->summary, sizeof(self->summary), workload->summary);
	self->needs_model = workload->open;
	self->nr_tunables = workload->nr_parameters;
	if (workload->nr_parameters <= SCHED_FIELDS_MAX)
		serve_copy_fields(self->tunables, workload->parameters,
				  workload->nr_parameters);
}

static bool write_process(const struct workload *workload, void *state, u32 process,
			  u32 steps, int replies)
{
	static struct step made[STEPS_AT_ONCE];
	bool more = true;
	u32 done, i;

	for (done = 0; done < steps; done += i) {
		for (i = 0; i < STEPS_AT_ONCE && done + i < steps; i++) {
			made[i] = (struct step){ 0 };
			more = more && workload->step(state, process, &made[i]);
			if (!more)
				made[i].op = IO_OPS;
		}
		if (!line_write(replies, made, i * sizeof(*made)))
			return false;
	}
	return true;
}

int steps_serve(const struct workload *workload, const char *words, int asks,
		int replies)
{
	static struct line_self self;
	struct steps_ask ask;
	struct world world = { 0 };
	void *state;
	int error;
	u32 i;

	serve_copy(self.words, sizeof(self.words), words);
	self.error = workload ? 0 : -ENOEXEC;
	if (workload)
		introduce(&self, workload);
	serve_self(&self);
	if (!workload || !line_read(asks, &ask, sizeof(ask)))
		return 0;
	world.capacity_sectors = ask.capacity_sectors;
	world.seed = ask.seed;
	world.processes = ask.processes;
	state = serve_zalloc(workload->state_size);
	if (!state)
		return ENOMEM;
	fields_set(state, workload->parameters, workload->nr_parameters, ask.values);
	error = workload->init(state, &world);
	if (error)
		return -error;
	for (i = 0; i < ask.processes; i++) {
		if (!write_process(workload, state, i, ask.steps, replies))
			break;
	}
	workload->exit(state);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Bytes become a program of arrivals, merges, questions, completions and time,
 * which every scheduler runs; the host of the tests checks each answer.
 */
#include <stddef.h>

#include "../../sim/registry.h"
#include "../core/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes still to come; zeros follow the last one. */
struct program {
	const u8 *byte;
	const u8 *end;
};

static u32 take(struct program *program, u32 below)
{
	return program->byte < program->end ? *program->byte++ % below : 0;
}

static void arrive(struct host *host, struct program *program)
{
	u8 op = take(program, 3) == 2;
	u64 sector = take(program, 256) * 16 + take(program, 4);

	if (host->nr_pending < HOST_PENDING && host->count < HOST_REQUESTS)
		host_add(host, op, sector, 1 + take(program, 24), take(program, 3));
}

static void merge(struct host *host, struct program *program)
{
	u32 i = take(program, 256);

	if (i >= host->count || !host->pending[i])
		return;
	if (take(program, 2))
		host_take_back(host, &host->request[i]);
	else
		host_grow(host, &host->request[i], take(program, 64));
}

static void tune(struct host *host, struct program *program)
{
	const struct scheduler *scheduler = host->scheduler;
	const struct sched_field *field;
	u64 value = (u64)take(program, 256) << take(program, 40);

	if (!scheduler->nr_tunables)
		return;
	field = &scheduler->tunables[take(program, scheduler->nr_tunables)];
	if (value < field->min)
		value = field->min;
	if (value > field->max)
		value = field->max;
	host_set(host, field->name, value);
}

static void drain(struct host *host)
{
	while (host->nr_pending) {
		struct io_request *rq = host_ask(host);

		if (rq)
			host_finish(host, rq, MS);
		else
			host->now_ns = host->wake_ns;
	}
}

static void run(const char *scheduler, struct program program)
{
	struct io_request *in_service = NULL;
	static struct host host;

	host_init(&host, scheduler);
	while (program.byte < program.end) {
		switch (take(&program, 10)) {
		case 0:
		case 1:
		case 2:
			arrive(&host, &program);
			break;
		case 3:
			merge(&host, &program);
			break;
		case 4:
		case 5:
			if (!in_service)
				in_service = host_ask(&host);
			break;
		case 6:
		case 7:
			if (in_service)
				host_finish(&host, in_service,
					    take(&program, 64) * MS / 4);
			in_service = NULL;
			break;
		case 8:
			host.now_ns += (u64)take(&program, 256) << take(&program, 24);
			break;
		case 9:
			tune(&host, &program);
			break;
		}
	}
	if (in_service)
		host_finish(&host, in_service, MS);
	drain(&host);
	host_exit(&host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 i;

	for (i = 0; i < registry_count(); i++)
		run(registry_get(i)->name, (struct program){ data, data + size });
	return 0;
}

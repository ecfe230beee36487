// SPDX-License-Identifier: MIT
/*
 * Turn bytes into a sequence of arrivals, merges, calls of next, completions and time steps.  Every
 * scheduler runs it, and the tests' host checks each answer.
 */
#include <stddef.h>

#include "../core/schedulers.h"
#include "../core/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The remaining bytes; zeros follow the last byte. */
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

	struct io_request *rq;

	if (host->nr_pending == HOST_PENDING || host->count == HOST_REQUESTS)
		return;
	rq = host_new(host, op, sector, 1 + take(program, 24), take(program, 3));
	rq->io_class = 1 + (1 + take(program, 4)) % IO_CLASS_IDLE;
	rq->level = take(program, IO_LEVELS);
	rq->weight = 1 + take(program, 256);
	rq->cost_ns = take(program, 2) * MS;
	host_put_back(host, rq);
}

static void merge(struct host *host, struct program *program)
{
	u32 i = take(program, 256);
	u32 other = take(program, 256);

	if (i >= host->count || !host->pending[i])
		return;
	if (other < host->count && other != i && host->pending[other])
		host_unite(host, &host->request[i], &host->request[other]);
	else if (take(program, 2))
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

/* The requests in service, in no particular order. */
struct service {
	struct io_request *rq[HOST_REQUESTS];
	u32 count;
};

static bool ask(struct host *host, struct service *service)
{
	struct io_request *rq = NULL;

	if (host->in_service < host->depth)
		rq = host_ask(host);
	if (rq)
		service->rq[service->count++] = rq;
	return rq;
}

/* Ask, and then ask for more requests to go with the chosen one. */
static void ask_for_more(struct host *host, struct service *service,
			 struct program *program)
{
	u32 most = take(program, 4);
	struct io_request *rq;

	if (!ask(host, service))
		return;
	rq = service->rq[service->count - 1];
	while (most-- && (rq = host_ask_more(host, rq)))
		service->rq[service->count++] = rq;
}

static void finish(struct host *host, struct service *service, u32 i, u64 service_ns)
{
	struct io_request *rq = service->rq[i];

	service->rq[i] = service->rq[--service->count];
	host_finish(host, rq, service_ns);
}

static void drain(struct host *host, struct service *service)
{
	while (host->nr_pending || service->count) {
		if (ask(host, service))
			continue;
		if (service->count)
			finish(host, service, 0, MS);
		else
			host->now_ns = host->wake_ns;
	}
}

static void run(const char *scheduler, struct program program)
{
	static struct host host;
	struct service service = { .count = 0 };

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
			ask(&host, &service);
			break;
		case 5:
			ask_for_more(&host, &service, &program);
			break;
		case 6:
		case 7:
			if (service.count)
				finish(&host, &service, take(&program, service.count),
				       take(&program, 64) * MS / 4);
			break;
		case 8:
			host.now_ns += (u64)take(&program, 256) << take(&program, 24);
			break;
		case 9:
			tune(&host, &program);
			break;
		}
	}
	drain(&host, &service);
	host_exit(&host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 i;

	for (i = 0; i < scheduler_count(); i++)
		run(scheduler_get(i)->name, (struct program){ data, data + size });
	return 0;
}

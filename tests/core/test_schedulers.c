// SPDX-License-Identifier: MIT
/*
 * What is true of every scheduler, also of one that was written a minute ago: it
 * serves each request once, never sleeps without saying until when (the host
 * checks both), and says sensible things about itself.
 */
#include <string.h>

#include "../../sim/registry.h"
#include "host.h"

static const char *scheduler;

/* Any priority, any share, and a cost that may be known. */
static void set_priority(struct host *host, struct draw *draw, struct io_request *rq)
{
	rq->io_class = 1 + draw_below(draw, IO_CLASS_IDLE);
	rq->level = draw_below(draw, IO_LEVELS);
	rq->weight = 1 + draw_below(draw, 1000);
	rq->cost_ns = draw_below(draw, 2) * draw_below(draw, 10 * MS);
}

static void random_case(struct draw *draw)
{
	static struct host host;
	struct host_load load = {
		.requests = 1 + draw_below(draw, 300),
		.owners = 1 + draw_below(draw, 8),
		.writes_percent = draw_below(draw, 101),
		.merges_percent = draw_below(draw, 50),
		.unites_percent = 50,
		.arriving = set_priority,
		.gap_ns = draw_below(draw, 20 * MS),
		.sectors =
			1 + draw_below(draw, draw_below(draw, 2) ? 300 : HOST_CAPACITY),
	};

	host_init(&host, scheduler);
	host_run(&host, draw, &load);
	host_exit(&host);
}

static void check_fields(const struct sched_field *fields, u32 n, size_t state_size)
{
	u32 i, k;

	for (i = 0; i < n; i++) {
		CHECK(strlen(fields[i].name) && strlen(fields[i].help));
		CHECK(strspn(fields[i].name, "abcdefghijklmnopqrstuvwxyz_0123456789") ==
		      strlen(fields[i].name));
		CHECK(fields[i].offset + sizeof(u64) <= state_size);
		CHECK(fields[i].min <= fields[i].initial);
		CHECK(fields[i].initial <= fields[i].max);
		for (k = 0; k < i; k++) {
			CHECK(strcmp(fields[i].name, fields[k].name));
			CHECK(fields[i].offset != fields[k].offset);
		}
	}
}

static void check_description(const struct scheduler *s)
{
	CHECK(strlen(s->name) && strlen(s->summary));
	CHECK(registry_find(s->name) == s);
	check_fields(s->tunables, s->nr_tunables, s->state_size);
	check_fields(s->counters, s->nr_counters, s->state_size);
}

/* Every allocation of init fails once; nothing leaks and nothing is used. */
static void no_memory(const struct scheduler *s)
{
	struct sched_limits limits = { HOST_CAPACITY, HOST_PENDING };
	int error = -ENOMEM;
	u32 granted;

	for (granted = 0; error; granted++) {
		void *state = registry_new_state(s);

		port_grant(granted);
		error = s->init ? s->init(state, &limits) : 0;
		port_grant(U32_MAX);
		CHECK(error == 0 || error == -ENOMEM);
		if (!error && s->exit)
			s->exit(state);
		port_free(state);
	}
}

int main(void)
{
	u32 i;

	CHECK(registry_count() >= 4);
	CHECK(!registry_find("nobody"));
	for (i = 0; i < registry_count(); i++) {
		scheduler = registry_get(i)->name;
		check_description(registry_get(i));
		no_memory(registry_get(i));
		check_seeds(200, random_case);
	}
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * SPTF by hand: the host's disk takes 0.25 ms and 5 ms over its whole way, HOST_CAPACITY sectors,
 * from host.head, which stays where the test puts it.
 */
#include "host.h"
#include "schedulers.h"

static struct host host;

static void begin(u64 age_permille)
{
	host_init(&host, "sptf");
	host_set(&host, "age_permille", age_permille);
}

static struct io_request *arrives(u64 sector)
{
	return host_add(&host, IO_READ, sector, 8, 1);
}

static void the_nearest_goes_first(void)
{
	struct io_request *far, *near, *middle;

	begin(0);
	far = arrives(900000);
	near = arrives(100000);
	middle = arrives(500000);
	host_expect(&host, near, PICK_ORDER, MS);
	host_expect(&host, middle, PICK_ORDER, MS);
	host.head = 999999;
	near = arrives(800000);
	host_expect(&host, far, PICK_ORDER, MS);
	host_expect(&host, near, PICK_ORDER, MS);
	CHECK(!host_ask(&host));
	CHECK_EQ(host_counter(&host, "aged"), 0);
	host_exit(&host);
}

static void of_two_alike_the_older_goes_first(void)
{
	struct io_request *first, *second;

	begin(10);
	host.head = 500000;
	first = arrives(400000);
	second = arrives(600000);
	host_expect(&host, first, PICK_ORDER, MS);
	host_expect(&host, second, PICK_ORDER, MS);
	host_exit(&host);
}

/* 2 ms farther, at 10 in a thousand: after 200 ms more it goes before. */
static void waiting_counts(void)
{
	struct io_request *far, *near;

	begin(10);
	far = arrives(400000);
	host.now_ns = 200 * MS - 1;
	near = arrives(0);
	host_expect(&host, near, PICK_ORDER, 1);
	near = arrives(0);
	host_expect(&host, far, PICK_ORDER, MS);
	host_expect(&host, near, PICK_ORDER, MS);
	CHECK_EQ(host_counter(&host, "aged"), 1);
	CHECK_EQ(host_counter(&host, "positioning_ns"), 3 * (MS / 4) + 4 * 5 * MS / 10);
	host_exit(&host);
}

static void without_it_one_waits_for_ever(void)
{
	u32 i;

	begin(0);
	arrives(400000);
	for (i = 0; i < 300; i++)
		host_expect(&host, arrives(0), PICK_ORDER, 100 * MS);
	host_exit(&host);
}

static void one_that_is_taken_back_is_not_given(void)
{
	struct io_request *kept, *gone;

	begin(10);
	gone = arrives(0);
	kept = arrives(900000);
	host_take_back(&host, gone);
	host_expect(&host, kept, PICK_ORDER, MS);
	CHECK(!host_ask(&host));
	host_exit(&host);
}

static void who_has_no_model_is_refused(void)
{
	const struct scheduler *sptf = registry_find("sptf");
	struct sched_limits limits = { .capacity_sectors = HOST_CAPACITY,
				       .max_requests = HOST_PENDING };
	struct contract contract;
	void *state = registry_new_state(sptf);

	CHECK_EQ(contract_init(&contract, sptf, state, &limits, host.request,
			       sizeof(host.request[0]), HOST_REQUESTS),
		 -ENODEV);
	CHECK(!contract_is_broken(&contract));
	contract_exit(&contract);
	port_free(state);
}

int main(void)
{
	the_nearest_goes_first();
	of_two_alike_the_older_goes_first();
	waiting_counts();
	without_it_one_waits_for_ever();
	one_that_is_taken_back_is_not_given();
	who_has_no_model_is_refused();
	return 0;
}

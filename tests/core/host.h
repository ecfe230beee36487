/* SPDX-License-Identifier: MIT */
/*
 * A host in virtual time for tests of schedulers.  The host keeps the contract of
 * core/scheduler.h.  Through core/contract.h it checks that the scheduler does too: the
 * test ends with the rule that was broken.
 *
 * A test drives the host by hand (add, ask, finish), or lets it run a random load.
 */
#ifndef UNDERSTUDY_TEST_HOST_H
#define UNDERSTUDY_TEST_HOST_H

#include "../../core/contract.h"
#include "check.h"

#define HOST_REQUESTS 512
#define HOST_PENDING 64
#define HOST_CAPACITY 1000000ull
#define MS 1000000ull

struct host {
	const struct scheduler *scheduler;
	void *state;
	struct contract contract;
	u64 capacity_sectors; /* grows with the requests */
	u64 now_ns;
	u64 wake_ns; /* set by the last call of next */
	u32 depth; /* limit of requests in service at once; initially none */
	struct io_request request[HOST_REQUESTS]; /* ids are indices, unless united */
	bool pending[HOST_REQUESTS];
	u64 due_ns[HOST_REQUESTS]; /* in a random load: when service ends, or 0 */
	u32 count; /* requests so far */
	u32 nr_pending;
	u32 in_service;
	u64 head;
};

void host_init(struct host *host, const char *scheduler);
void host_init_on(struct host *host, const char *scheduler, u64 capacity_sectors);
void host_init_deep(struct host *host, const char *scheduler, u32 depth);
void host_exit(struct host *host);
void host_set(struct host *host, const char *tunable, u64 value);
u64 host_counter(const struct host *host, const char *counter);

/* The positioning time that the scheduler asks its disk for; the test sets host->head. */
u64 host_positioning_ns(void *host, const struct io_request *rq, u64 now_ns);

/* A request arrives now. */
struct io_request *host_add(struct host *host, u8 op, u64 sector, u32 sectors,
			    u32 owner);

/*
 * host_add in two steps: make a request, which the test may change, and pass it to the
 * scheduler.
 */
struct io_request *host_new(struct host *host, u8 op, u64 sector, u32 sectors,
			    u32 owner);
void host_put_back(struct host *host, struct io_request *rq);

/*
 * Merges: take back removes rq from the pending requests; grow extends rq at its end;
 * unite merges gone into rq, which takes the arrival time of the older of the two.
 */
void host_take_back(struct host *host, struct io_request *rq);
void host_grow(struct host *host, struct io_request *rq, u32 by);
void host_unite(struct host *host, struct io_request *rq, struct io_request *gone);

/* Let the scheduler choose; check the contract, and set host->wake_ns if the choice is NULL. */
struct io_request *host_ask(struct host *host);

/* Return another request of the same owner to dispatch with the one just chosen, or NULL. */
struct io_request *host_ask_more(struct host *host, const struct io_request *chosen);

/* Complete a request after service_ns. */
void host_finish(struct host *host, const struct io_request *rq, u64 service_ns);

/* Expect the scheduler to choose this request for this reason, then finish it after service_ns. */
#define host_expect(host, rq, reason, service_ns) \
	host_expect_at(__FILE__, __LINE__, host, rq, reason, service_ns)
void host_expect_at(const char *file, int line, struct host *host,
		    const struct io_request *rq, enum pick_reason reason,
		    u64 service_ns);

/* The parameters of a random load, and callbacks for its events. */
struct host_load {
	u32 requests;
	u32 owners;
	u32 writes_percent;
	u32 merges_percent;
	u32 unites_percent; /* merges that unite two requests; others take one back */
	u64 gap_ns; /* mean time between arrivals */
	u64 sectors; /* positions are below it */
	void (*arriving)(struct host *host, struct draw *draw, struct io_request *rq);
	void (*added)(struct host *host, const struct io_request *rq);
	void (*removed)(struct host *host, const struct io_request *rq);
	void (*picked)(struct host *host, const struct io_request *rq);
};

/* Run the load until every request has been served exactly once. */
void host_run(struct host *host, struct draw *draw, const struct host_load *load);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A scheduler at work, held to what core/scheduler.h asks of it.
 *
 * A host makes each call through a struct contract.  The first rule that the scheduler
 * breaks is put into words; from then on it is not called any more, and what is pending
 * is handed out in order of arrival, so a host that cannot stop at once goes on safely.
 * It learns of requests that were given twice, never, not at all, or with another sector than
 * was asked for: that is put right again.  It can do nothing about a scheduler that does not
 * return or writes into other memory that is not its own.
 *
 * The requests lie in an array of the host's; a place in it is one request, from the
 * call of add until remove or completed.  A host that uses the places in turn, so that
 * each stays empty for long, learns more of a scheduler that returns one twice.
 */
#ifndef UNDERSTUDY_CONTRACT_H
#define UNDERSTUDY_CONTRACT_H

#include "scheduler.h"

/* Room for the words about a broken rule, with the zero at their end. */
#define CONTRACT_TEXT 160

/* For so long any scheduler may hold everything back; see next in core/scheduler.h. */
#define CONTRACT_HOLD_NS 10000000000ull

/* The first group of a request, as the host wrote it. */
struct contract_asked {
	u64 word[REQUEST_HOST_BYTES / sizeof(u64)];
};

/**
 * struct contract - a scheduler and what it has to answer for
 * @broken: what it did, for people, such as "next returned request 17 twice"; empty
 *	while it keeps the rules
 * @init_error: what its init returned
 * @scheduler: which one
 * @state: its own
 * @pending: requests that it has
 * @in_service: requests that it handed out and that were not completed
 * @hold_ns: for so long it may hold everything back, with the longest times that its
 *	tunables had
 * @held: it did so when it was asked last
 * @since_ns: since when
 * @first: the request in the first place
 * @stride: bytes from one place to the next
 * @places: how many there are
 * @is: where the request of each place is
 * @asked: what the host asked for in each place
 */
struct contract {
	char broken[CONTRACT_TEXT];
	s32 init_error;
	const struct scheduler *scheduler;
	void *state;
	u32 pending;
	u32 in_service;
	u64 hold_ns;
	bool held;
	u64 since_ns;
	char *first;
	size_t stride;
	u32 places;
	u8 *is;
	struct contract_asked *asked;
};

/**
 * contract_check_declaration - hold a scheduler to what can be seen without calling it
 * @scheduler: which one
 * @broken: the words about the first rule that it breaks; empty if it keeps them
 *
 * Before this nothing that it declares may be used.
 *
 * Returns: whether it keeps the rules.
 */
bool contract_check_declaration(const struct scheduler *scheduler,
				char broken[CONTRACT_TEXT]);

/**
 * contract_init - set a scheduler to work
 * @contract: to be made
 * @scheduler: one whose declaration was checked
 * @state: its state, with the tunables in it
 * @limits: what it may know
 * @first: the request in the first of the host's places, one for each that may be
 *	pending or in service
 * @stride: bytes from one place to the next
 * @places: how many
 *
 * Returns: 0, -ENOMEM, -ENODEV if the scheduler needs a model that the limits do not have, or
 * what its init returned.
 */
int contract_init(struct contract *contract, const struct scheduler *scheduler,
		  void *state, const struct sched_limits *limits,
		  struct io_request *first, size_t stride, u32 places);

/* Also fit for one whose init failed, or that is zeroed.  The words stay. */
void contract_exit(struct contract *contract);

/* The host gave a tunable another value. */
void contract_tuned(struct contract *contract);

/* The operations of struct scheduler. */
void contract_grown(struct contract *contract, u64 capacity_sectors);
void contract_add(struct contract *contract, struct io_request *rq, u64 now_ns);
void contract_remove(struct contract *contract, struct io_request *rq);
struct io_request *contract_next(struct contract *contract, u64 now_ns, u64 *wake_ns);
struct io_request *contract_more(struct contract *contract,
				 const struct io_request *chosen, u64 now_ns);
void contract_completed(struct contract *contract, struct io_request *rq, u64 now_ns);

/* Also if only the scheduler says so: next will show. */
bool contract_has_work(struct contract *contract);

/* The one that came first of those that it has, or NULL. */
struct io_request *contract_oldest(const struct contract *contract);

static inline bool contract_is_broken(const struct contract *contract)
{
	return contract->broken[0];
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs a scheduler and enforces the rules of core/scheduler.h.
 *
 * A host makes each call through a struct contract. At the first rule that the scheduler breaks,
 * the contract writes a message and stops calling the scheduler. From then on it hands out the
 * pending requests in order of arrival, so a host that cannot stop at once continues safely.
 *
 * The contract detects requests that the scheduler returns twice, that were never added or that it
 * never returns, and changes to the host's fields of a request, which it reverts. It cannot help
 * with a scheduler that does not return, or that writes into other memory.
 *
 * The requests are in an array of the host's. A place in the array is one request, from add until
 * remove or completed. The contract detects a request returned twice more reliably if the host uses
 * the places in turn, so that each stays empty for long.
 */
#ifndef UNDERSTUDY_CONTRACT_H
#define UNDERSTUDY_CONTRACT_H

#include "scheduler.h"

/* Size of the message about a broken rule, including the final zero. */
#define CONTRACT_TEXT 160

/* Every scheduler may hold all requests back for this long; see next in core/scheduler.h. */
#define CONTRACT_HOLD_NS 10000000000ull

/* The first group of a request, as the host filled it in. */
struct contract_asked {
	u64 word[REQUEST_HOST_BYTES / sizeof(u64)];
};

/**
 * struct contract - a scheduler and the state of its obligations
 * @broken: the broken rule, as a message for people such as "next returned request 17 twice";
 *	empty while the scheduler keeps the rules
 * @init_error: the return value of its init
 * @scheduler: the scheduler
 * @state: the scheduler's state
 * @pending: number of requests that the scheduler has
 * @in_service: number of requests that it handed out and that have not completed
 * @hold_ns: how long it may hold all requests back, from the largest values that its tunables
 *	had
 * @held: its last call of next held all requests back
 * @since_ns: since when
 * @first: the request in the first place
 * @stride: bytes from one place to the next
 * @places: number of places
 * @is: the whereabouts of each place's request
 * @asked: the host's fields of each place's request
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
 * contract_check_declaration - check a scheduler as far as possible without calling it
 * @scheduler: the scheduler
 * @broken: a message about the first rule that it breaks; empty if it keeps the rules
 *
 * Nothing that the scheduler declares may be used before this check.
 *
 * Returns: whether it keeps the rules.
 */
bool contract_check_declaration(const struct scheduler *scheduler,
				char broken[CONTRACT_TEXT]);

/**
 * contract_init - start a scheduler
 * @contract: set up by this function
 * @scheduler: a scheduler with a checked declaration
 * @state: its state, with the tunables set
 * @limits: what it may know
 * @first: the first of the host's places; each request pending or in service takes one
 * @stride: bytes from one place to the next
 * @places: number of places
 *
 * Returns: 0, -ENOMEM, -ENODEV if the scheduler needs a model that the limits do not have, or the
 * return value of its init.
 */
int contract_init(struct contract *contract, const struct scheduler *scheduler,
		  void *state, const struct sched_limits *limits,
		  struct io_request *first, size_t stride, u32 places);

/* Valid also if init failed or the contract is zeroed. The message stays. */
void contract_exit(struct contract *contract);

/* The host has changed the value of a tunable. */
void contract_tuned(struct contract *contract);

/* The operations of struct scheduler. */
void contract_grown(struct contract *contract, u64 capacity_sectors);
void contract_add(struct contract *contract, struct io_request *rq, u64 now_ns);
void contract_remove(struct contract *contract, struct io_request *rq);
struct io_request *contract_next(struct contract *contract, u64 now_ns, u64 *wake_ns);
struct io_request *contract_more(struct contract *contract,
				 const struct io_request *chosen, u64 now_ns);
void contract_completed(struct contract *contract, struct io_request *rq, u64 now_ns);

/* True also if only the scheduler says so; a call of next then settles it. */
bool contract_has_work(struct contract *contract);

/* The oldest request that the scheduler has, or NULL. */
struct io_request *contract_oldest(const struct contract *contract);

static inline bool contract_is_broken(const struct contract *contract)
{
	return contract->broken[0];
}

#endif

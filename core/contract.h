/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs a scheduler and enforces the rules of core/scheduler.h.
 *
 * The host makes each call to the scheduler through a struct contract. At the first rule that the
 * scheduler breaks, the contract writes a message and stops calling the scheduler. From then on the
 * contract returns the pending requests in order of arrival, so a host that cannot stop at once can
 * safely continue.
 *
 * The contract detects a request that the scheduler returns twice, returns although it was never
 * added, or never returns. The contract also detects changes to the host's fields of a request, and
 * reverts them. The contract cannot detect that an operation of the scheduler never returns or
 * writes into other memory.
 *
 * The requests are in an array in the host's memory. An element of the array, here called a place,
 * holds one request from the call of add until the call of remove or completed. The host should use
 * the places in turn, so that each place stays empty for a long time. Then a request that the
 * scheduler returns twice is more likely to be detected.
 */
#ifndef UNDERSTUDY_CONTRACT_H
#define UNDERSTUDY_CONTRACT_H

#include "broken.h"
#include "scheduler.h"

/*
 * How long every scheduler may delay all pending requests; tunables can raise this limit (see next
 * in core/scheduler.h).
 */
#define CONTRACT_HOLD_NS 10000000000ull

/* The host's fields of a request, as the host filled them in. */
struct contract_asked {
	u64 word[REQUEST_HOST_BYTES / sizeof(u64)];
};

/**
 * struct contract - a scheduler and the state of its obligations
 * @broken: message about the broken rule, such as "next returned request 17 twice"; empty while the
 *	scheduler keeps the rules
 * @init_error: the return value of the scheduler's init
 * @scheduler: the scheduler
 * @state: the scheduler's state
 * @pending: number of requests that were added and that the scheduler has not yet returned
 * @in_service: number of requests that the scheduler has returned and that have not completed
 * @hold_ns: how long the scheduler may delay all pending requests, computed from the largest values
 *	that its tunables have had
 * @held: the last call of next returned NULL while requests were pending and none was in service
 * @since_ns: time of the first of the successive calls of next that did so
 * @first: address of the request in place 0
 * @stride: bytes from one place to the next
 * @places: number of places
 * @is: the state of the request in each place
 * @asked: the host's fields of the request in each place
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
 * @broken: a message about the first rule that the scheduler breaks; empty if it keeps the rules
 *
 * Before this check, the host must not use anything that the scheduler declares.
 *
 * Returns: whether the scheduler keeps the rules.
 */
bool contract_check_declaration(const struct scheduler *scheduler,
				char broken[CONTRACT_TEXT]);

/**
 * contract_init - start a scheduler
 * @contract: the contract to set up
 * @scheduler: a scheduler with a checked declaration
 * @state: its state, with the tunables set
 * @limits: passed to the scheduler's init
 * @first: the first of the host's places; each request that is pending or in service occupies one
 *	place
 * @stride: bytes from one place to the next
 * @places: number of places
 *
 * Returns: 0; -ENOMEM; -ENODEV if the scheduler needs a model and @limits has none; or the error of
 * its init, which is -EINVAL if init returned a positive value.
 */
int contract_init(struct contract *contract, const struct scheduler *scheduler,
		  void *state, const struct sched_limits *limits,
		  struct io_request *first, size_t stride, u32 places);

/*
 * May be called even if contract_init() failed or the contract is zeroed. The message in @broken is
 * kept.
 */
void contract_exit(struct contract *contract);

/* Notify the contract that the host has changed the value of a tunable. */
void contract_tuned(struct contract *contract);

/* The operations of struct scheduler. */
void contract_grown(struct contract *contract, u64 capacity_sectors);
void contract_add(struct contract *contract, struct io_request *rq, u64 now_ns);
void contract_remove(struct contract *contract, struct io_request *rq);
struct io_request *contract_next(struct contract *contract, u64 now_ns, u64 *wake_ns);
struct io_request *contract_more(struct contract *contract,
				 const struct io_request *chosen, u64 now_ns);
void contract_completed(struct contract *contract, struct io_request *rq, u64 now_ns);

/*
 * Return whether a request is pending or the scheduler claims to have work. The next call of
 * contract_next() detects a false claim.
 */
bool contract_has_work(struct contract *contract);

/* Return the oldest pending request, or NULL. */
struct io_request *contract_oldest(const struct contract *contract);

static inline bool contract_is_broken(const struct contract *contract)
{
	return contract->broken[0];
}

#endif

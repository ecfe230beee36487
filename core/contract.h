/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs a scheduler and enforces the rules of core/scheduler.h.
 *
 * A host makes each call through a struct contract. At the first rule that the scheduler breaks,
 * the contract writes a message and stops calling the scheduler. From then on it hands out the
 * pending requests in order of arrival, so a host that cannot stop at once continues safely.
 *
 * The contract detects requests that the scheduler returns twice, that it returns although they
 * were never added, or that it never returns. It also detects changes to the host's fields of a
 * request, and reverts them. It cannot detect that an operation of the scheduler does not return,
 * or writes into other memory.
 *
 * The requests are in an array in the host's memory. An element of the array, called a place here,
 * holds one request from add until remove or completed. The contract detects a request that is
 * returned twice more reliably if the host uses the places in turn, so that each place stays empty
 * for a long time.
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
 * @pending: number of requests that the scheduler has and has not handed out
 * @in_service: number of requests that it handed out and that have not completed
 * @hold_ns: how long it may hold all requests back, computed from the largest values that its
 *	tunables have had
 * @held: its last call of next held all requests back
 * @since_ns: the time of that call
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
 * The host must not use anything that the scheduler declares before this check.
 *
 * Returns: whether the scheduler keeps the rules.
 */
bool contract_check_declaration(const struct scheduler *scheduler,
				char broken[CONTRACT_TEXT]);

/**
 * contract_init - start a scheduler
 * @contract: set up by this function
 * @scheduler: a scheduler with a checked declaration
 * @state: its state, with the tunables set
 * @limits: what the scheduler may know
 * @first: the first of the host's places; each request that is pending or in service occupies one
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

/*
 * Returns true also if only the scheduler claims to have work; the next call of next then shows
 * whether that is correct.
 */
bool contract_has_work(struct contract *contract);

/* The oldest pending request, or NULL. */
struct io_request *contract_oldest(const struct contract *contract);

static inline bool contract_is_broken(const struct contract *contract)
{
	return contract->broken[0];
}

#endif

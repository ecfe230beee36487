/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs a replacement policy and enforces the rules of core/replacement.h.
 *
 * The host makes each call to the policy through a struct replacement_contract, which also keeps
 * the state of each slot. At the first rule that the policy breaks, the contract writes a message
 * and stops calling the policy. From then on the contract evicts the page in the lowest slot, so a
 * host that cannot stop at once can safely continue. The contract cannot detect that an operation
 * never returns or writes into other memory.
 */
#ifndef UNDERSTUDY_REPLACEMENT_CONTRACT_H
#define UNDERSTUDY_REPLACEMENT_CONTRACT_H

#include "broken.h"
#include "replacement.h"

enum slot_state { SLOT_EMPTY = 0, SLOT_COMING, SLOT_THERE };

/**
 * struct replacement_contract - a replacement policy and the state of its obligations
 * @broken: message about the broken rule, such as "victim returned slot 3, whose page is being
 *	fetched"; empty while the policy keeps the rules
 * @init_error: the return value of the policy's init
 * @replacer: the policy
 * @state: its state
 * @slots: number of slots
 * @there: number of slots with a page that may be evicted
 * @is: enum slot_state of each slot
 */
struct replacement_contract {
	char broken[CONTRACT_TEXT];
	s32 init_error;
	const struct replacer *replacer;
	void *state;
	u32 slots;
	u32 there;
	u8 *is;
};

/* As contract_check_declaration (core/contract.h). */
bool replacement_check_declaration(const struct replacer *replacer,
				   char broken[CONTRACT_TEXT]);

/*
 * Start a policy with a checked declaration; @tunables are the values of its tunables. Returns 0,
 * -ENOMEM, or the error of its init, which is -EINVAL if init returned a positive value.
 */
int replacement_contract_init(struct replacement_contract *contract,
			      const struct replacer *replacer, const u64 *tunables,
			      const struct replacement_limits *limits);

/*
 * May be called even if init failed or the contract is zeroed. The message in @broken is kept.
 * Read the counters before.
 */
void replacement_contract_exit(struct replacement_contract *contract);

/* A page is being fetched into an empty slot. */
static inline void replacement_contract_coming(struct replacement_contract *contract,
					       u32 slot)
{
	contract->is[slot] = SLOT_COMING;
}

static inline bool
replacement_contract_is_there(const struct replacement_contract *contract, u32 slot)
{
	return contract->is[slot] == SLOT_THERE;
}

/* The operations of struct replacer. */
void replacement_contract_add(struct replacement_contract *contract, u32 slot,
			      struct page_id page);
void replacement_contract_used(struct replacement_contract *contract, u32 slot);
void replacement_contract_remove(struct replacement_contract *contract, u32 slot);

/* At least one page must be there. */
u32 replacement_contract_victim(struct replacement_contract *contract,
				struct page_id incoming);

static inline bool replacement_is_broken(const struct replacement_contract *contract)
{
	return contract->broken[0];
}

#endif

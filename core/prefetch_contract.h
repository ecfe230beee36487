/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs a prefetcher and enforces the rules of core/prefetch.h.
 *
 * The host makes each call to the prefetcher through a struct prefetch_contract. At the first rule
 * that the prefetcher breaks, the contract writes a message and stops calling the prefetcher. From
 * then on nothing is prefetched, so a host that cannot stop at once can safely continue. The
 * contract cannot detect that an operation never returns or writes into other memory.
 */
#ifndef UNDERSTUDY_PREFETCH_CONTRACT_H
#define UNDERSTUDY_PREFETCH_CONTRACT_H

#include "broken.h"
#include "prefetch.h"

/* The last range of a stream, and how many different reads in succession had it. */
struct prefetch_last {
	struct page_id read;
	struct page_range range;
	u32 same;
};

/**
 * struct prefetch_contract - a prefetcher and the state of its obligations
 * @broken: message about the broken rule, such as "read(page 3 of file 0) prefetches page 20 of 20";
 *	empty while the prefetcher keeps the rules
 * @init_error: the return value of the prefetcher's init
 * @prefetcher: the prefetcher
 * @state: its state
 * @most_pages: most pages of a range
 * @last: the last range of each stream
 */
struct prefetch_contract {
	char broken[CONTRACT_TEXT];
	s32 init_error;
	const struct prefetcher *prefetcher;
	void *state;
	u32 most_pages;
	struct prefetch_last *last;
};

/* As contract_check_declaration (core/contract.h). */
bool prefetch_check_declaration(const struct prefetcher *prefetcher,
				char broken[CONTRACT_TEXT]);

/*
 * Start a prefetcher with a checked declaration; @tunables are the values of its tunables. Returns
 * 0, -ENOMEM, or the error of its init, which is -EINVAL if init returned a positive value.
 */
int prefetch_contract_init(struct prefetch_contract *contract,
			   const struct prefetcher *prefetcher, const u64 *tunables,
			   const struct prefetch_limits *limits);

/*
 * May be called even if init failed or the contract is zeroed. The message in @broken is kept.
 * Read the counters before.
 */
void prefetch_contract_exit(struct prefetch_contract *contract);

/* The operations of struct prefetcher. */
struct page_range prefetch_contract_read(struct prefetch_contract *contract,
					 const struct page_read *read);
void prefetch_contract_wasted(struct prefetch_contract *contract, u32 stream,
			      struct page_id page);

static inline bool prefetch_is_broken(const struct prefetch_contract *contract)
{
	return contract->broken[0];
}

#endif

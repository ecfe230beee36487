/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The busdriver (Geist, Steele and Westall; PERFORM 2010 section 2.2): after serving a request of
 * an owner, wait a little for the same owner's next request, which is likely to be near.
 *
 * A wait is won if that request arrives in time, lost if the time runs out, and cut if another
 * request is served first. A wait is counted only if it held a request back; in that case the
 * caller sets @held.
 */
#ifndef UNDERSTUDY_BUSDRIVER_H
#define UNDERSTUDY_BUSDRIVER_H

#include "sorted_queue.h"

/**
 * struct busdriver - a wait, and the outcomes of earlier ones
 * @longest_ns: longest wait; 0: never wait
 * @won: number of waits won
 * @lost: number of waits lost
 * @cut: number of waits cut
 * @waits: is there an owner to wait for?
 * @held: did the wait hold a request back?
 * @paid: a wait was won and nothing has been served since
 * @owner: the owner for which it waits
 * @until_ns: end of the wait
 */
struct busdriver {
	u64 longest_ns;
	u64 won;
	u64 lost;
	u64 cut;
	bool waits;
	bool held;
	bool paid;
	u32 owner;
	u64 until_ns;
};

/* For a scheduler whose state has a member "busdriver". */
#define BUSDRIVER_TUNABLE(type)                                                       \
	{                                                                             \
		.name = "busdriver_ns",                                               \
		.help = "longest wait for the next request of the owner just served", \
		.offset = offsetof(struct type, busdriver.longest_ns),                \
		.initial = 7000000, .min = 0, .max = 3600000000000ull                 \
	}

#define BUSDRIVER_COUNTER(type, member, help_)                              \
	{                                                                   \
		.name = "waits_" #member, .help = "busdriver waits " help_, \
		.offset = offsetof(struct type, busdriver.member)           \
	}

/*
 * A request of the owner was served: wait for the owner, unless the owner has another request
 * pending.
 */
void busdriver_begin(struct busdriver *busdriver, u32 owner,
		     const struct sorted_queue *pending, u64 now_ns);

/* A request of the owner arrived. */
void busdriver_see(struct busdriver *busdriver, u32 owner, u64 now_ns);

/* Call this before reading @waits. */
void busdriver_look_at_clock(struct busdriver *busdriver, u64 now_ns);

/* Another request is served. */
void busdriver_leave(struct busdriver *busdriver);

#endif

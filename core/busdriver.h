/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The busdriver (Geist, Steele and Westall; PERFORM 2010 section 2.2): after a request of an owner
 * is served, the scheduler waits a little for the same owner's next request, which is likely to be
 * near.
 *
 * A wait is won if the owner's next request arrives in time, lost if the time runs out, and cut if
 * another request is served first. A wait is counted only if it delayed a pending request; the
 * caller then sets @held.
 */
#ifndef UNDERSTUDY_BUSDRIVER_H
#define UNDERSTUDY_BUSDRIVER_H

#include "sorted_queue.h"

/**
 * struct busdriver - the current wait, and the outcomes of earlier waits
 * @longest_ns: longest wait; 0: never wait
 * @won: number of waits won
 * @lost: number of waits lost
 * @cut: number of waits cut
 * @waits: is a wait going on?
 * @held: did this wait delay a pending request?
 * @paid: a wait was won, and no request has been served since
 * @owner: the owner whose next request is awaited
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

/* Tunable of a scheduler whose state has a member named busdriver. */
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
 * After a request of the owner was served, begin to wait for the owner's next request, unless
 * @pending already holds one.
 */
void busdriver_begin(struct busdriver *busdriver, u32 owner,
		     const struct sorted_queue *pending, u64 now_ns);

/* Record the arrival of a request of the owner; it may end the wait. */
void busdriver_see(struct busdriver *busdriver, u32 owner, u64 now_ns);

/* Update the wait to now_ns; call this before reading @waits. */
void busdriver_look_at_clock(struct busdriver *busdriver, u64 now_ns);

/* End the wait, because another request is served. */
void busdriver_leave(struct busdriver *busdriver);

#endif

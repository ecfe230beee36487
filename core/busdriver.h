/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The busdriver (Geist, Steele and Westall; PERFORM 2010 section 2.2): when somebody
 * was served, wait a little for the same owner's next request, which is likely to be
 * near.
 *
 * A wait is won if that request arrives in time, lost if time runs out, and cut if
 * something else is served.  It counts only if somebody was held back for it; the
 * caller says so.
 */
#ifndef UNDERSTUDY_BUSDRIVER_H
#define UNDERSTUDY_BUSDRIVER_H

#include "sorted_queue.h"

/**
 * struct busdriver - a wait, and what became of earlier ones
 * @longest_ns: longest wait; 0 for none
 * @won: counter
 * @lost: counter
 * @cut: counter
 * @waits: is there an owner to wait for?
 * @held: was somebody held back for it?
 * @paid: a wait was won and nothing has been served since
 * @owner: who
 * @until_ns: how long
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

/* For a scheduler that has a member "busdriver". */
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

/* The owner was served: wait for it, unless it has a request pending already. */
void busdriver_begin(struct busdriver *busdriver, u32 owner,
		     const struct sorted_queue *pending, u64 now_ns);

/* The owner's next request is pending. */
void busdriver_see(struct busdriver *busdriver, u32 owner, u64 now_ns);

/* To be called before @waits is looked at. */
void busdriver_look_at_clock(struct busdriver *busdriver, u64 now_ns);

/* Something is served. */
void busdriver_leave(struct busdriver *busdriver);

#endif

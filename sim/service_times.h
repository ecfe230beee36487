/* SPDX-License-Identifier: MIT */
/*
 * Service times that are drawn from Markovian arrival processes, one for each class of
 * requests: phases that carry on from one time to the next, so that times are correlated
 * as they were measured (ICPE 2011, section 4.2.2).  A time is the sum of the stays in
 * the phases that it goes through.
 */
#ifndef UNDERSTUDY_SERVICE_TIMES_H
#define UNDERSTUDY_SERVICE_TIMES_H

#include "../core/draw.h"

#define SERVICE_TICK_BITS 16 /* a stay counts ticks of 2^-16 ns */
#define SERVICE_STAGES_MAX 65536
#define SERVICE_STAY_MAX (1ull << 57) /* ticks: 37 minutes on the average */

/**
 * struct service_phase - one phase
 * @mean: stay in each stage, ticks
 * @stages: exponential ones, one after the other; 0: it is left at once
 * @first: of its outcomes
 * @outcomes: how many
 */
struct service_phase {
	u64 mean;
	u32 stages;
	u32 first;
	u32 outcomes;
	u32 unused;
};

/**
 * struct service_outcome - where the chain goes when it leaves a phase
 * @last: the largest uniform draw of 64 bits that takes it, if none of the phase's
 *	outcomes before it was taken; U64_MAX in the last one
 * @phase: which comes next
 * @ends: with it a service time ends
 */
struct service_outcome {
	u64 last;
	u32 phase;
	u32 ends;
};

/**
 * struct service_times - the processes of all classes; every array is the caller's
 * @start: of each class: the phase in which its chain begins
 */
struct service_times {
	u32 phases;
	u32 outcomes;
	const u32 *start;
	const struct service_phase *phase;
	const struct service_outcome *outcome;
};

/* One class on its way through its phases. */
struct service_chain {
	struct draw draw;
	u32 phase;
};

/* NULL, or what is wrong with the processes of so many classes, in words. */
const char *service_times_check(const struct service_times *times, u32 classes);

/* A class, and the stream of the seed that it draws from. */
void service_chain_begin(struct service_chain *chain, const struct service_times *times,
			 u32 class, u64 seed, u64 stream);

/*
 * The next time, rounded to whole ns, from 1 to 2^46.  It ends after a million phases,
 * whatever the process says.
 */
u64 service_chain_draw(struct service_chain *chain, const struct service_times *times);

/* So many, one after the other. */
void service_chain_draw_all(struct service_chain *chain,
			    const struct service_times *times, u64 count, u64 *time_ns);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Service times sampled from Markovian arrival processes, one process for each class of requests.
 * Each service time starts in the phase in which the last one ended, so that successive service
 * times are correlated as the measured ones were (ICPE 2011, section 4.2.2). A service time is the
 * sum of the times that the chain stays in its phases.
 */
#ifndef UNDERSTUDY_SERVICE_TIMES_H
#define UNDERSTUDY_SERVICE_TIMES_H

#include "../core/draw.h"

#define SERVICE_TICK_BITS 16 /* stays are in ticks of 2^-16 ns */
#define SERVICE_STAGES_MAX 65536
#define SERVICE_STAY_MAX (1ull << 57) /* ticks: 37 minutes on average */

/**
 * struct service_phase - one phase of a chain
 * @mean: mean stay in each stage, in ticks
 * @stages: number of successive exponential stages; 0: the chain leaves the phase at once
 * @first: index of its first outcome
 * @outcomes: number of its outcomes
 */
struct service_phase {
	u64 mean;
	u32 stages;
	u32 first;
	u32 outcomes;
	u32 unused;
};

/**
 * struct service_outcome - a possible move of the chain when it leaves a phase
 * @last: a uniform 64-bit random number chooses the phase's first outcome whose @last is not below
 *	it; U64_MAX in the last outcome
 * @phase: the next phase
 * @ends: does a service time end with this outcome?
 */
struct service_outcome {
	u64 last;
	u32 phase;
	u32 ends;
};

/**
 * struct service_times - the processes of all classes; every array is in the caller's memory
 * @start: the phase in which each class's chain begins
 */
struct service_times {
	u32 phases;
	u32 outcomes;
	const u32 *start;
	const struct service_phase *phase;
	const struct service_outcome *outcome;
};

/* The chain of one class and its current phase. */
struct service_chain {
	struct draw draw;
	u32 phase;
};

/* Check the processes of this many classes; return NULL or an error message. */
const char *service_times_check(const struct service_times *times, u32 classes);

/* Begin the chain of a class; its random numbers come from this stream of the seed. */
void service_chain_begin(struct service_chain *chain, const struct service_times *times,
			 u32 class, u64 seed, u64 stream);

/*
 * Sample the next service time, rounded to whole ns, from 1 to 2^46. The service time ends after at
 * most a million phases.
 */
u64 service_chain_draw(struct service_chain *chain, const struct service_times *times);

/* Sample `count` successive service times. */
void service_chain_draw_all(struct service_chain *chain,
			    const struct service_times *times, u64 count, u64 *time_ns);

#endif

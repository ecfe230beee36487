// SPDX-License-Identifier: MIT
#include "service_times.h"

#define MOVES_MAX 1000000
#define TICKS_MAX (1ull << (46 + SERVICE_TICK_BITS))
#define HALF_A_NS (1ull << (SERVICE_TICK_BITS - 1))

static const char *check_outcomes(const struct service_times *times,
				  const struct service_phase *phase)
{
	const struct service_outcome *outcome = &times->outcome[phase->first];
	u32 i;

	for (i = 0; i < phase->outcomes; i++) {
		if (outcome[i].phase >= times->phases)
			return "a service time leads to an unknown phase";
	}
	return outcome[i - 1].last == U64_MAX ? NULL
					      : "a phase's probabilities end below 1";
}

static const char *check_phase(const struct service_times *times,
			       const struct service_phase *phase)
{
	if (!phase->outcomes || phase->first > times->outcomes ||
	    phase->outcomes > times->outcomes - phase->first)
		return "a phase of a service time has no outcomes";
	if (phase->stages > SERVICE_STAGES_MAX)
		return "a phase of a service time has more than 65536 stages";
	if (phase->stages && phase->mean >= SERVICE_STAY_MAX / phase->stages)
		return "a phase of a service time lasts 2^41 ns or more";
	return check_outcomes(times, phase);
}

const char *service_times_check(const struct service_times *times, u32 classes)
{
	const char *wrong = NULL;
	u32 i;

	if (!times->start)
		return NULL;
	for (i = 0; i < classes; i++) {
		if (times->start[i] >= times->phases)
			return "a service time begins in an unknown phase";
	}
	for (i = 0; !wrong && i < times->phases; i++)
		wrong = check_phase(times, &times->phase[i]);
	return wrong;
}

void service_chain_begin(struct service_chain *chain, const struct service_times *times,
			 u32 class, u64 seed, u64 stream)
{
	draw_seed(&chain->draw, seed, stream);
	chain->phase = times->start[class];
}

/* Choose an outcome of the phase; a single outcome needs no random number. */
static const struct service_outcome *leave(const struct service_phase *phase,
					   const struct service_outcome *outcome,
					   struct draw *draw)
{
	outcome += phase->first;
	if (phase->outcomes > 1) {
		u64 drawn = draw_u64(draw);

		while (drawn > outcome->last)
			outcome++;
	}
	return outcome;
}

u64 service_chain_draw(struct service_chain *chain, const struct service_times *times)
{
	const struct service_outcome *outcome;
	u64 ticks = 0;
	u32 moves = 0;

	do {
		const struct service_phase *phase = &times->phase[chain->phase];

		if (phase->stages)
			ticks += draw_erlang(&chain->draw, phase->stages, phase->mean);
		if (ticks > TICKS_MAX)
			ticks = TICKS_MAX;
		outcome = leave(phase, times->outcome, &chain->draw);
		chain->phase = outcome->phase;
	} while (!outcome->ends && ++moves < MOVES_MAX);
	return (ticks + HALF_A_NS) >> SERVICE_TICK_BITS ?: 1;
}

void service_chain_draw_all(struct service_chain *chain,
			    const struct service_times *times, u64 count, u64 *time_ns)
{
	u64 i;

	for (i = 0; i < count; i++)
		time_ns[i] = service_chain_draw(chain, times);
}

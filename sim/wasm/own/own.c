// SPDX-License-Identifier: MIT
/*
 * The simulator with one scheduler, a user's. The page compiles the scheduler with clang's
 * -fsanitize-coverage=trace-pc, so the scheduler calls __sanitizer_cov_trace_pc() at each branch. From
 * there the page learns that the scheduler runs, and ends it if it makes no progress.
 */
#undef SCHEDULERS_IN_A_LIST /* the user's file registers module_scheduler */
#include "../../registry.h"
#include "../module.h"

#define BRANCHES (1u << 16) /* from one call of tick() to the next: less than 1 ms */

u32 scheduler_count(void)
{
	return 1;
}

const struct scheduler *scheduler_get(u32 index)
{
	return module_scheduler;
}

/* The page's function; it gets the number of events handled, and may end the simulation. */
__attribute__((import_module("page"), import_name("tick"))) void tick(u64 events);

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	static u32 branches;

	if (++branches % BRANCHES == 0)
		tick(module_events());
}

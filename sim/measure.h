/* SPDX-License-Identifier: MIT */
/* What is left of a request that completed: rows of the records, and figures. */
#ifndef UNDERSTUDY_MEASURE_H
#define UNDERSTUDY_MEASURE_H

#include "engine.h"
#include "pending.h"

/* A bio has a row, if it is measured; a request counts if any of its bios does. */
void measure_completion(const struct sim_input *input, struct sim_summary *summary,
			const struct pending *pending, u64 now_ns,
			u64 previous_completion_ns);

#endif

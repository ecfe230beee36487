/* SPDX-License-Identifier: MIT */
/* What is left of a request that completed: rows of the records, and figures. */
#ifndef UNDERSTUDY_MEASURE_H
#define UNDERSTUDY_MEASURE_H

#include "sim.h"

/* Now.  A bio has a row, if it is measured; a request counts if any of its bios does. */
void measure_completion(struct sim *sim, const struct pending *pending);

#endif

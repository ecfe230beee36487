/* SPDX-License-Identifier: MIT */
/* Records a completed request: rows of the records, and figures. */
#ifndef UNDERSTUDY_MEASURE_H
#define UNDERSTUDY_MEASURE_H

#include "sim.h"

/* Completed now. Each measured bio has a row; a request counts if any of its bios is measured. */
void measure_completion(struct sim *sim, const struct pending *pending);

#endif

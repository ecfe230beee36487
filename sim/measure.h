/* SPDX-License-Identifier: MIT */
/* Adds completed requests to the results: to the rows and to the figures. */
#ifndef UNDERSTUDY_MEASURE_H
#define UNDERSTUDY_MEASURE_H

#include "sim.h"

/*
 * Add a request that completed now. Each of its measured bios has a row; the request counts in the
 * figures if at least one of its bios is measured.
 */
void measure_completion(struct sim *sim, const struct pending *pending);

#endif

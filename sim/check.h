/* SPDX-License-Identifier: MIT */
/* Is the input of a simulation something that the engine can run? */
#ifndef UNDERSTUDY_SIM_CHECK_H
#define UNDERSTUDY_SIM_CHECK_H

#include "engine.h"

/**
 * sim_check - look at everything before anything runs
 * @input: what is asked for; a scheduler that is NULL, as in a program that has none,
 *is not looked at
 * @rows: how many rows the columns of the table have
 * @extents: the same for the layout's
 *
 * Returns: NULL, or what is wrong, in words: "a request ends past the end of the disk".
 */
const char *sim_check(const struct sim_input *input, u64 rows, u64 extents);

#endif

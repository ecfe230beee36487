/* SPDX-License-Identifier: MIT */
/* Checks whether the engine can run a simulation with this input. */
#ifndef UNDERSTUDY_SIM_CHECK_H
#define UNDERSTUDY_SIM_CHECK_H

#include "engine.h"

/**
 * sim_check - check the whole input before anything runs
 * @input: the input; if its scheduler is NULL, as in a program without schedulers, the scheduler is
 *	not checked
 * @rows: number of rows in the columns of the table
 * @extents: number of extents in the columns of the layout
 *
 * Returns: NULL, or an error message, for example "a request ends past the end of the disk".
 */
const char *sim_check(const struct sim_input *input, u64 rows, u64 extents);

#endif

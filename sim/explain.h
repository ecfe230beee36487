/* SPDX-License-Identifier: MIT */
/* Why a simulation ended early, in words. */
#ifndef UNDERSTUDY_EXPLAIN_H
#define UNDERSTUDY_EXPLAIN_H

#include "engine.h"

#define EXPLAIN_BYTES 512

/*
 * Return the words for an error of sim_run(), in a text of EXPLAIN_BYTES. They are about the part
 * summary->part or, in most cases, the scheduler, whose name the caller puts before them. NULL: the
 * error is none of sim_run()'s, but of an init.
 */
const char *sim_explain(const struct sim_input *input,
			const struct sim_summary *summary, int error, char *text);

#endif

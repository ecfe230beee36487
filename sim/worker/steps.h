/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a workload want, as a table: the process of somebody's workload writes it.
 *
 * First it says what it is: a struct line_reply and a struct line_self, whose needs_model stands for
 * an open workload.  Then it reads a struct steps_ask and writes, for each process, that many of
 * struct step; where there are none left, the operation is IO_OPS.
 */
#ifndef UNDERSTUDY_STEPS_H
#define UNDERSTUDY_STEPS_H

#include "../workload.h"
#include "line.h"

/**
 * struct steps_ask - which ones
 * @capacity_sectors: size of the disk
 * @seed: process i draws from stream i of it
 * @values: of the parameters
 * @processes: how many
 * @steps: how many of each
 */
struct steps_ask {
	u64 capacity_sectors;
	u64 seed;
	u64 values[SCHED_FIELDS_MAX];
	u32 processes;
	u32 steps;
};

/**
 * steps_serve - write them
 * @workload: whose; NULL if there is none
 * @words: why
 * @asks: pipe from the starter
 * @replies: pipe to it
 *
 * Returns: 0, or what the workload's init returned, made positive.
 */
int steps_serve(const struct workload *workload, const char *words, int asks,
		int replies);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Writes the steps of the processes of a user's workload as a table, in a separate process.
 *
 * That process first sends the workload's declaration: a struct line_reply and a struct line_self,
 * whose needs_model is true for an open workload. Then it reads a struct steps_ask, and for each
 * process of the workload it writes @steps structures of type struct step. If a process has fewer
 * steps, @op is IO_OPS in its remaining structures.
 */
#ifndef UNDERSTUDY_STEPS_H
#define UNDERSTUDY_STEPS_H

#include "../workload.h"
#include "line.h"

/**
 * struct steps_ask - which steps to write
 * @capacity_sectors: size of the disk
 * @seed: process i of the workload uses random stream i of this seed
 * @values: values of the parameters
 * @processes: number of processes
 * @steps: number of steps of each process
 */
struct steps_ask {
	u64 capacity_sectors;
	u64 seed;
	u64 values[SCHED_FIELDS_MAX];
	u32 processes;
	u32 steps;
};

/**
 * steps_serve - write the steps
 * @workload: the workload; NULL if there is none
 * @words: the reason if there is none
 * @asks: pipe from the starter
 * @replies: pipe to the starter
 *
 * Returns: 0, or the errno of the workload's init as a positive number.
 */
int steps_serve(const struct workload *workload, const char *words, int asks,
		int replies);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The steps of the processes of a workload, as a table: a process with a user's workload writes it.
 *
 * First it sends its declaration: a struct line_reply and a struct line_self, where needs_model
 * stands for an open workload. Then it reads a struct steps_ask and writes that many struct step
 * for each process; after a process's last step, the operation is IO_OPS.
 */
#ifndef UNDERSTUDY_STEPS_H
#define UNDERSTUDY_STEPS_H

#include "../workload.h"
#include "line.h"

/**
 * struct steps_ask - which steps to write
 * @capacity_sectors: size of the disk
 * @seed: process i draws from stream i of this seed
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
 * @words: in that case the reason
 * @asks: pipe from the starter
 * @replies: pipe to it
 *
 * Returns: 0, or the return value of the workload's init, made positive.
 */
int steps_serve(const struct workload *workload, const char *words, int asks,
		int replies);

#endif

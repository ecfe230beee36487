/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A command: a request as a drive has been given it, with what is always the same about it, and
 * what became of it.
 */
#ifndef UNDERSTUDY_COMMAND_H
#define UNDERSTUDY_COMMAND_H

#include "../request.h"

/* Besides enum io_op: what moves no data, has no place to go to and is next. */
enum command_op {
	COMMAND_FLUSH = IO_OPS, /* until all that was written is on the medium */
	COMMAND_NOTHING, /* takes no time of its own */
};

/**
 * struct command - one that is given to a drive or an array
 * @sector: first sector
 * @given_ns: when it had to wait, on the drive's clock
 * @sectors: length
 * @op: enum io_op or command_op
 * @through: a write that is to be on the medium when it is complete
 * @waits: in the drive's queue; what it meets there is not known yet
 * @hit: the drive's cache held it
 * @start_ns: when it began
 * @service_ns: what it takes by the model, without k
 * @due_ns: when it is complete
 * @place: of the arm, for its first sector; known where angles are (core/drive/platter.h), once
 *	estimate_aim() has been called
 * @angle: where on the turn that begins; likewise
 * @before, @after: of those that wait
 */
struct command {
	u64 sector;
	u64 given_ns;
	u32 sectors;
	u8 op;
	bool through;
	bool waits;
	bool hit;
	u64 start_ns;
	u64 service_ns;
	u64 due_ns;
	u64 place;
	u64 angle;
	struct command *before, *after;
};

#endif

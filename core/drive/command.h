/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A command: a request as a drive has been given it, with what is always the same about it.
 */
#ifndef UNDERSTUDY_COMMAND_H
#define UNDERSTUDY_COMMAND_H

#include "../port.h"

/**
 * struct command - one that waits
 * @sector: first sector
 * @given_ns: when the drive was given it, on the drive's clock
 * @sectors: length
 * @op: enum io_op, or IO_OPS: neither, which has no place to go to and is next
 * @through: a write that is to be on the medium when it is complete
 * @place: of the arm, for its first sector; known where angles are (core/drive/platter.h), once
 *	plan_aim() has been called
 * @angle: where on the turn that begins; likewise
 * @before, @after: of those that wait
 */
struct command {
	u64 sector;
	u64 given_ns;
	u32 sectors;
	u8 op;
	bool through;
	u64 place;
	u64 angle;
	struct command *before, *after;
};

#endif

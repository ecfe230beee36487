/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A command: a request as given to a drive, with its fixed properties and its outcome. */
#ifndef UNDERSTUDY_COMMAND_H
#define UNDERSTUDY_COMMAND_H

#include "../request.h"

/*
 * Operations in addition to enum io_op. They move no data and have no sector. They go before all
 * other commands from which the drive chooses.
 */
enum command_op {
	COMMAND_FLUSH = IO_OPS, /* complete when all data written is on the medium */
	COMMAND_NOTHING, /* takes no service time */
};

/**
 * struct command - a command given to a drive or an array
 * @sector: first sector
 * @given_ns: when it was queued, on the drive's clock
 * @sectors: number of sectors
 * @op: enum io_op or command_op
 * @through: a write that must be on the medium when it completes (FUA)
 * @waits: the command is in the drive's queue, and its service time is not known yet
 * @hit: the command was a hit in the drive's cache
 * @start_ns: when service began
 * @service_ns: modelled service time, before it is multiplied by k
 * @due_ns: when it completes
 * @place: arm position for the first sector; set by plan_aim() where angles are known
 *	(core/drive/platter.h)
 * @angle: the angle at which the first sector begins; also set by plan_aim()
 * @before, @after: neighbours in the queue
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

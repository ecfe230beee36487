/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How a drive puts away what was written: when it has nothing else to do, or has to.
 */
#ifndef UNDERSTUDY_PUT_AWAY_H
#define UNDERSTUDY_PUT_AWAY_H

#include "drive.h"

/* Everything that has happened until then. */
void put_away_until(struct drive *drive, u64 now_ns);

/* Wait until the arm is free; when that is.  Nothing is read on while a write is under way. */
u64 put_away_wait(struct drive *drive, u64 now_ns);

/* Wait until the arm is free; when it begins with a command of that time. */
u64 put_away_begin_ns(struct drive *drive, u64 now_ns);

/* Have one put away, wanted or not; when that is done.  There must be one. */
/* The arm goes for a write that has come, from start_ns on, if it is free and the drive destages as
 * they come; the data are there by ready_ns. */
void put_away_coming(struct drive *drive, u64 start_ns, u64 ready_ns);

u64 put_away_one(struct drive *drive, u64 now_ns);

#endif

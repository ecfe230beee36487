/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Carry out a plan (core/drive/plan.h) in a drive with a buffer. */
#ifndef UNDERSTUDY_COMMIT_H
#define UNDERSTUDY_COMMIT_H

#include "plan.h"

/*
 * Return when the command completes, and set *hit to whether the buffer held it. The plan must have
 * been made for now_ns.
 */
u64 commit_plan(struct drive *drive, const struct command *command,
		struct drive_plan plan, u64 now_ns, bool *hit);

#endif

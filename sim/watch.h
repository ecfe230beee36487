/* SPDX-License-Identifier: MIT */
/* Progress of a run, visible to other threads while it runs. */
#ifndef UNDERSTUDY_WATCH_H
#define UNDERSTUDY_WATCH_H

#include "../core/port.h"

/**
 * struct sim_watch - progress
 * @completed: measured requests that have completed
 * @events: events handled; as long as this number grows, the scheduler's operations still return
 */
struct sim_watch {
	u64 completed;
	u64 events;
};

#endif

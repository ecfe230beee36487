/* SPDX-License-Identifier: MIT */
/* What others may look at while something runs. */
#ifndef UNDERSTUDY_WATCH_H
#define UNDERSTUDY_WATCH_H

#include "../core/port.h"

/**
 * struct sim_watch - how far it is
 * @completed: measured requests
 * @events: that were dealt with: while they grow, the scheduler comes back
 */
struct sim_watch {
	u64 completed;
	u64 events;
};

#endif

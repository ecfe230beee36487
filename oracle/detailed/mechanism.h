// SPDX-License-Identifier: MIT
/*
 * Arm and platters: the time to reach a sector and to pass over a run of sectors.
 *
 * The platters are at angle 0 at time 0 and never change their speed, so the time determines the
 * angle (RW94, "Rotational latency").
 */
#ifndef DRIVES_MECHANISM_H
#define DRIVES_MECHANISM_H

#include "layout.h"

struct arm {
	uint32_t cylinder;
	uint32_t head;
};

/* Sectors that pass under the head one after the other, on one track. */
struct run {
	struct arm arm; /* the arm at that time */
	double settled_ns; /* when the head has settled on the track */
	double begin_ns; /* when the first sector begins to pass */
	double sector_ns;
	uint32_t sectors;
};

/* A bus that sends sectors one by one, each after it has passed under the head. */
struct bus {
	double free_ns;
	double sector_ns;
};

double mechanism_seek_ns(const struct detailed_parameters *p, uint32_t cylinders);

/*
 * Find the first run of [sector, end). The arm may move from now_ns on, and the run begins at
 * ready_ns at the earliest.
 */
void mechanism_find_run(const struct layout *layout, const struct arm *arm,
			double now_ns, double ready_ns, uint64_t sector, uint64_t end,
			int write, struct run *run);

/* When the run ends. */
double run_end_ns(const struct run *run);

/*
 * Pass over [sector, end), track by track. If `bus` is not NULL, each sector is sent over the bus
 * while later sectors pass. Returns the time at which the last sector has passed.
 */
double mechanism_pass(const struct layout *layout, struct arm *arm, double now_ns,
		      double ready_ns, uint64_t sector, uint64_t end, int write,
		      struct bus *bus);

#endif

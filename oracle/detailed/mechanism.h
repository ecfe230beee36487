// SPDX-License-Identifier: MIT
/*
 * Arm and platters: how long it takes to get to a sector and over a run of them.
 *
 * The platters stand at angle 0 at time 0 and never change their speed, so the angle is
 * known at all times (RW94, "Rotational latency").
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
	struct arm arm; /* where it is then */
	double settled_ns; /* the head is on the track */
	double begin_ns; /* the first sector begins to pass */
	double sector_ns;
	uint32_t sectors;
};

/* A bus that carries sectors one by one, each once it is there. */
struct bus {
	double free_ns;
	double sector_ns;
};

double mechanism_seek_ns(const struct detailed_parameters *p, uint32_t cylinders);

/*
 * The first run of [sector, end) for an arm that may move from now_ns on; the sectors
 * themselves may not be touched before ready_ns.
 */
void mechanism_find_run(const struct layout *layout, const struct arm *arm,
			double now_ns, double ready_ns, uint64_t sector, uint64_t end,
			int write, struct run *run);

/* When a run is over. */
double run_end_ns(const struct run *run);

/*
 * Pass over [sector, end), track by track; on a read the sectors go out over the bus (or
 * NULL) while the next ones pass.  When the last of them has passed.
 */
double mechanism_pass(const struct layout *layout, struct arm *arm, double now_ns,
		      double ready_ns, uint64_t sector, uint64_t end, int write,
		      struct bus *bus);

#endif
